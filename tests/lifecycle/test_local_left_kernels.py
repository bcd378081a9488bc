"""kill -9 of the real program, its kernel, its supervisor: what outlives it is taken up, and nothing is done twice."""

from __future__ import annotations

import os
import signal
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from cli.shell import Background, Shell, wait_until
from notebook_bcc.cli.codes import Exit
from notebook_bcc.notebook.reading import read_notebook

LINES = 2_000
WHOLE = ["", "begun\n" + "".join(f"line {i}\n" for i in range(LINES)), "42\n"]


class Killed:
    """A run of three cells. The second waits for `go`; each leaves its mark in `marks`, outside of the kernel."""

    def __init__(self, folder: Path, temporary: str) -> None:
        self.shell = Shell(folder)
        self.go = folder / "go"
        self.marks = folder / "marks"
        self.more = {"NBCC_KERNEL_IDLE": "120", "TMPDIR": temporary}
        self._temporary = temporary

    def write(self, *cells: str) -> None:
        actions = "".join(
            f"              - code: |\n{textwrap.indent(cell, ' ' * 18)}\n                id: c{number}\n"
            for number, cell in enumerate(cells)
        )
        text = f"stages:\n  - id: s\n    steps:\n      - id: one\n        behaviors:\n          - actions:\n{actions}"
        self.shell.write("script.yaml", text)

    def write_usual(self) -> None:
        waiting = f"import pathlib, time\nwhile not pathlib.Path({str(self.go)!r}).exists(): time.sleep(0.01)"
        lines = f"for i in range({LINES}): print('line', i, flush=i % 100 == 0)"
        self.write(
            f"{self.mark('first')}\nnumber = 41",
            f"print('begun', flush=True)\n{self.mark('begun')}\n{waiting}\n{lines}\n{self.mark('ended')}\nnumber += 1",
            f"{self.mark('third')}\nprint(number)",
        )

    def mark(self, text: str) -> str:
        return f"with open({str(self.marks)!r}, 'a') as file: file.write('{text}\\n')"

    @property
    def marked(self) -> list[str]:
        return self.marks.read_text().splitlines() if self.marks.exists() else []

    def run_and_kill(self) -> None:
        """A run that was killed in its second cell."""
        self.write_usual()
        with self.shell.background("run", "script.yaml", "--no-verify", **self.more) as run:
            self.kill_when(2, run)

    def kill_when(self, marks: int, run: Background) -> bool:
        """kill -9 as soon as there are that many marks; False if it had ended before."""
        wait_until(lambda: len(self.marked) >= marks or run.process.poll() is not None)
        run.process.kill()
        code = run.exit_code()
        assert code in (-signal.SIGKILL, Exit.COMPLETED), run.said
        return code != Exit.COMPLETED

    def resume(self, *arguments: str) -> str:
        done = self.shell("resume", "last", "--no-verify", *arguments, **self.more)
        assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
        return done.stdout

    @property
    def supervisors(self) -> list[psutil.Process]:
        """Those whose kernels' sockets are in our folder for temporary files."""
        return [process for process in psutil.process_iter() if self._is_ours(process)]

    def all_have_ended(self) -> bool:
        """A supervisor says that its kernel has ended, and is gone a moment later."""
        return not psutil.wait_procs(self.supervisors, timeout=30)[1]

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            return "supervise.py" in " ".join(process.cmdline()) and process.cwd().startswith(self._temporary)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            return False

    def records(self, *kinds: str) -> list[dict[str, Any]]:
        return [entry for entry in self.shell.json("show", "last") if entry["kind"] in kinds]

    def outputs(self) -> list[str]:
        cells = read_notebook(self.shell.runs[0] / "notebook.ipynb").document.cells
        return ["".join(output.get("text", "") for output in cell.outputs) for cell in cells]


@pytest.fixture
def killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Killed]:
    with tempfile.TemporaryDirectory(prefix="t", dir="/tmp") as temporary:
        # For the commands that are carried out in this process.
        monkeypatch.setattr("tempfile.tempdir", temporary)
        place = Killed(tmp_path, temporary)
        yield place
        left = place.supervisors
        for process in left:
            os.kill(process.pid, signal.SIGTERM)
        psutil.wait_procs(left, timeout=30)


@pytest.mark.parametrize("ends", ["while nobody is there", "after the resume"])
def test_a_cell_that_ran_when_nbcc_was_killed_is_received_whole_and_not_run_again(killed: Killed, ends: str) -> None:
    killed.run_and_kill()
    if ends == "while nobody is there":
        killed.go.touch()
        wait_until(lambda: "ended" in killed.marked)
        said = killed.resume()
    else:
        with killed.shell.background("resume", "last", "--no-verify", **killed.more) as run:
            wait_until(lambda: bool(killed.records("kernel_attached")) or run.process.poll() is not None)
            killed.go.touch()
            assert run.exit_code() == Exit.COMPLETED, run.said
            said = run.said
    assert "followed to its end" in said
    assert killed.marked == ["first", "begun", "ended", "third"]
    assert killed.outputs() == WHOLE
    kinds = [entry["kind"] for entry in killed.records("kernel_started", "kernel_attached", "cell_rerun")]
    assert kinds == ["kernel_started", "kernel_attached"]
    assert killed.all_have_ended(), "a completed run leaves no kernel"


def test_a_run_killed_over_and_over_runs_each_cell_once(killed: Killed) -> None:
    count = 40
    cells = [f"{killed.mark(str(i))}\ntotal += {i}\nprint({i}, total)\ntime.sleep(0.02)" for i in range(count)]
    killed.write("import time\ntotal = 0", *cells)
    command = ("run", "script.yaml")
    for more in (5, 3, 1, 7, count):
        with killed.shell.background(*command, "--no-verify", **killed.more) as run:
            if not killed.kill_when(len(killed.marked) + more, run):
                break
        command = ("resume", "last")
    assert len(killed.records("kernel_attached")) >= 2
    assert killed.marked == [str(i) for i in range(count)]
    assert killed.outputs()[1:] == [f"{i} {i * (i + 1) // 2}\n" for i in range(count)]
    assert not killed.records("cell_rerun", "kernel_abandoned")
    assert killed.all_have_ended()


@pytest.mark.parametrize("victim", ["kernel", "supervisor", "both"])
def test_what_was_killed_with_nbcc_is_rebuilt_and_the_cause_told(killed: Killed, victim: str) -> None:
    killed.run_and_kill()
    (supervisor,) = killed.supervisors
    (kernel,) = supervisor.children()
    # The supervisor first, which would note the end of its kernel; the kernel may have ended with it by then.
    for process in {"kernel": [kernel], "supervisor": [supervisor], "both": [supervisor, kernel]}[victim]:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs([kernel, supervisor], timeout=30)
    killed.go.touch()
    said = killed.resume()
    assert killed.marked == ["first", "begun", "first", "begun", "ended", "third"]
    assert killed.outputs() == WHOLE
    (abandoned,) = killed.records("kernel_abandoned")
    assert ("exit code -9" if victim == "kernel" else "is not there any more") in abandoned["reason"]
    assert abandoned["reason"] in said
    assert killed.all_have_ended()


def test_a_run_that_stopped_in_order_goes_on_with_nothing_run_again(killed: Killed) -> None:
    killed.write(killed.mark("first"), killed.mark("second"))
    done = killed.shell("run", "script.yaml", "--no-verify", "--max-actions", "2", **killed.more)
    assert done.returncode == Exit.STOPPED, done.stdout + done.stderr
    (stopped,) = killed.records("run_stopped")
    assert stopped["kernel_left"] is True
    killed.resume("--max-actions", "0")
    assert killed.marked == ["first", "second"]
    assert killed.all_have_ended()


def test_ctrl_c_twice_leaves_the_cell_to_its_kernel(killed: Killed) -> None:
    killed.write_usual()
    with killed.shell.background("run", "script.yaml", "--no-verify", **killed.more) as run:
        wait_until(lambda: len(killed.marked) >= 2)
        run.press(signal.SIGINT, until="pausing")
        run.press(signal.SIGINT, until="stopping")
        assert run.exit_code() == Exit.STOPPED, run.said
    killed.go.touch()
    wait_until(lambda: "ended" in killed.marked)
    killed.resume()
    assert killed.marked == ["first", "begun", "ended", "third"]
    assert killed.outputs() == WHOLE


def test_kernels_lists_what_was_left_and_ends_it_and_logs_says_so(killed: Killed) -> None:
    killed.run_and_kill()
    (one,) = killed.shell.json("kernels", **killed.more)
    assert one["run"] == str(killed.shell.runs[0].resolve())
    assert one["left_at"] > 0
    assert one["busy_seconds"] > 0
    run = killed.shell.runs[0].name
    listed = killed.shell("kernels", **killed.more).stdout
    assert listed.startswith(f"{run}: left ")
    assert ", a cell has run for " in listed
    assert killed.shell("kernels", "end", **killed.more).returncode == Exit.USAGE
    assert killed.shell("kernels", "end", "last", **killed.more).stdout == "1 kernel ended\n"
    assert killed.shell("kernels", **killed.more).stdout == "no kernels\n"
    assert "has ended, or there was none" in killed.shell("kernels", "end", "last", **killed.more).stderr
    assert killed.shell("kernels", "end", "--all", **killed.more).stdout == "0 kernels ended\n"
    said = killed.shell("logs", "last", **killed.more).stdout
    assert said.endswith("(it said nothing)\n--- ended: ended by `nbcc kernels end`\n")
    killed.go.touch()
    assert "ended by `nbcc kernels end`" in killed.resume()


def test_cancelling_a_run_that_nobody_carries_out_ends_its_kernel(killed: Killed) -> None:
    killed.run_and_kill()
    assert killed.supervisors
    assert killed.shell("cancel", "last", **killed.more).returncode == Exit.COMPLETED
    assert killed.all_have_ended()
    (abandoned,) = killed.records("kernel_abandoned")
    assert (abandoned["ended"], abandoned["reason"]) == (True, "the run was cancelled")
