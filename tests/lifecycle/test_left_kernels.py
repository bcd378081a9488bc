"""kill -9 of the real program while its cell runs behind a real server: nothing is lost and nothing is run twice."""

from __future__ import annotations

import signal
import textwrap
from pathlib import Path
from typing import Any

import pytest

from cli.shell import Shell, wait_until
from kernel.servers import Server
from kernel.servers import gateway as gateway
from kernel.servers import stock as stock
from notebook_bcc.cli.codes import Exit
from notebook_bcc.notebook.reading import read_notebook

LINES = 2_000


class Killed:
    """A run of three cells behind a server. The second waits for `go`; each leaves its mark in `marks`."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.shell = Shell(folder)
        self.server = server
        self.go = folder / "go"
        self.marks = folder / "marks"
        self.url = ("--kernel-url", server.url)
        self.token = {"BACKEND_TOKEN": server.token}
        self._before = server.kernel_ids()

    def write(self, *cells: str) -> None:
        actions = "".join(
            f"              - code: |\n{textwrap.indent(cell, ' ' * 18)}\n                id: c{number}\n"
            for number, cell in enumerate(cells)
        )
        text = f"stages:\n  - id: s\n    steps:\n      - id: one\n        behaviors:\n          - actions:\n{actions}"
        self.shell.write("script.yaml", text)

    def mark(self, text: str) -> str:
        return f"with open({str(self.marks)!r}, 'a') as file: file.write('{text}\\n')"

    @property
    def marked(self) -> list[str]:
        return self.marks.read_text().splitlines() if self.marks.exists() else []

    def kill_when(self, marks: int, *command: str) -> bool:
        """Type a command, and kill -9 it as soon as there are that many marks; False if it was done before."""
        with self.shell.background(*command, **self.token) as run:
            wait_until(lambda: len(self.marked) >= marks or run.process.poll() is not None)
            run.process.kill()
            code = run.exit_code()
        assert code in (-signal.SIGKILL, Exit.COMPLETED), run.said
        return code != Exit.COMPLETED

    def run_and_kill(self) -> set[str]:
        """The kernels that are left of a run which was killed in its second cell."""
        waiting = f"import pathlib, time\nwhile not pathlib.Path({str(self.go)!r}).exists(): time.sleep(0.01)"
        lines = f"for i in range({LINES}): print('line', i, flush=i % 100 == 0)"
        self.write(
            f"{self.mark('first')}\nnumber = 41",
            f"print('begun', flush=True)\n{self.mark('begun')}\n{waiting}\n{lines}\n{self.mark('ended')}\nnumber += 1",
            f"{self.mark('third')}\nprint(number)",
        )
        assert self.kill_when(2, "run", "script.yaml", "--no-verify", *self.url)
        return self.left

    @property
    def left(self) -> set[str]:
        """The kernels on the server that were not there at first."""
        return self.server.kernel_ids() - self._before

    def records(self, *kinds: str) -> list[dict[str, Any]]:
        return [entry for entry in self.shell.json("show", "last") if entry["kind"] in kinds]

    def outputs(self) -> list[str]:
        """The text that each code cell of the notebook has printed."""
        cells = read_notebook(self.shell.runs[0] / "notebook.ipynb").document.cells
        return ["".join(output.get("text", "") for output in cell.outputs) for cell in cells]


WHOLE = ["", "begun\n" + "".join(f"line {i}\n" for i in range(LINES)), "42\n"]


@pytest.mark.parametrize("kind", ["stock", "gateway"])
@pytest.mark.parametrize("ends", ["while nobody is there", "after the resume"])
def test_a_cell_that_ran_when_the_process_was_killed_is_received_whole_and_not_run_again(
    tmp_path: Path, request: pytest.FixtureRequest, kind: str, ends: str
) -> None:
    killed = Killed(tmp_path, request.getfixturevalue(kind))
    left = killed.run_and_kill()
    assert len(left) == 1
    if ends == "while nobody is there":
        killed.go.touch()
        wait_until(lambda: "ended" in killed.marked)
        done = killed.shell("resume", "last", "--no-verify", **killed.token)
        assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
        said = done.stdout
    else:
        with killed.shell.background("resume", "last", "--no-verify", **killed.token) as run:
            wait_until(lambda: bool(killed.records("kernel_attached")) or run.process.poll() is not None)
            killed.go.touch()
            assert run.exit_code() == Exit.COMPLETED, run.said
            said = run.said
    assert "followed to its end" in said
    assert killed.marked == ["first", "begun", "ended", "third"]
    assert killed.outputs() == WHOLE
    assert [entry["kind"] for entry in killed.records("kernel_started", "kernel_attached", "cell_rerun")] == [
        "kernel_started",
        "kernel_attached",
    ]
    assert not killed.left


def test_a_run_killed_over_and_over_runs_each_cell_once(tmp_path: Path, stock: Server) -> None:
    killed = Killed(tmp_path, stock)
    count = 60
    cells = [f"{killed.mark(str(i))}\ntotal += {i}\nprint({i}, total)\ntime.sleep(0.03)" for i in range(count)]
    killed.write("import time\ntotal = 0", *cells)
    assert killed.kill_when(7, "run", "script.yaml", "--no-verify", *killed.url)
    for more in (4, 1, 18, 17, count):
        if not killed.kill_when(len(killed.marked) + more, "resume", "last", "--no-verify"):
            break
    assert len(killed.records("kernel_attached")) >= 2
    assert killed.marked == [str(i) for i in range(count)]
    assert killed.outputs()[1:] == [f"{i} {i * (i + 1) // 2}\n" for i in range(count)]
    assert not killed.records("cell_rerun", "kernel_abandoned")
    assert not killed.left


@pytest.mark.parametrize(
    ("method", "path", "reason", "ended"),
    [
        ("POST", "/restart", "knows nothing of this session", True),
        ("DELETE", "", "has no kernel", False),
    ],
)
def test_a_kernel_that_is_not_the_same_any_more_is_rebuilt_and_ended(
    tmp_path: Path, stock: Server, method: str, path: str, reason: str, ended: bool
) -> None:
    killed = Killed(tmp_path, stock)
    (left,) = killed.run_and_kill()
    stock.ask(method, f"api/kernels/{left}{path}")
    killed.go.touch()
    done = killed.shell("resume", "last", "--no-verify", **killed.token)
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    (abandoned,) = killed.records("kernel_abandoned")
    assert reason in abandoned["reason"]
    assert abandoned.get("ended", False) is ended
    assert reason in done.stdout
    assert killed.records("cell_rerun", "kernel_attached")[0]["kind"] == "cell_rerun"
    assert killed.outputs() == WHOLE
    assert not killed.left


def test_cancelling_a_killed_run_ends_the_kernel_it_left(tmp_path: Path, stock: Server) -> None:
    killed = Killed(tmp_path, stock)
    (left,) = killed.run_and_kill()
    assert killed.shell("cancel", "last", **killed.token).returncode == Exit.COMPLETED
    assert left not in stock.kernel_ids()
    (abandoned,) = killed.records("kernel_abandoned")
    assert (abandoned["ended"], abandoned["reason"]) == (True, "the run was cancelled")


def test_a_run_that_goes_on_elsewhere_ends_the_kernel_it_left(tmp_path: Path, stock: Server) -> None:
    killed = Killed(tmp_path, stock)
    (left,) = killed.run_and_kill()
    killed.go.touch()
    done = killed.shell("resume", "last", "--no-verify", "--kernel-url", "local", **killed.token)
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    assert left not in stock.kernel_ids()
    assert killed.outputs() == WHOLE


def test_a_run_that_stops_in_order_leaves_no_kernel_and_rebuilds(tmp_path: Path, stock: Server) -> None:
    killed = Killed(tmp_path, stock)
    killed.write(killed.mark("first"), killed.mark("second"))
    limit = ("--max-actions", "2")
    done = killed.shell("run", "script.yaml", "--no-verify", *limit, *killed.url, **killed.token)
    assert done.returncode == Exit.STOPPED, done.stdout + done.stderr
    assert not killed.left
    done = killed.shell("resume", "last", "--no-verify", "--max-actions", "0", **killed.token)
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    assert killed.marked == ["first", "first", "second"]
    assert not killed.records("kernel_abandoned", "kernel_attached"), "it was ended in order: nothing to tell"
