"""Planner and kernel in processes of their own: the same notebook as with everything in one."""

from __future__ import annotations

import re
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.services import COUNTING, command_at, ear
from cli.shell import Shell
from kernel.servers import Server, free_port
from notebook_bcc.cli.codes import Exit
from notebook_bcc.notebook.reading import NotebookFile, read_notebook

TOKEN = "a-token-of-good-length"
READING = COUNTING.replace("goal: Count", "files: [data.csv]\ngoal: Count", 1).replace(
    "rows = [3, 5, 8]", 'rows = [int(line) for line in open("data.csv")]'
)
# What names the run, its time, and who planned it; all the rest of the two notebooks is the same.
STATED = {"run_id", "started_at", "saved_at", "planner"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("service")
    written(Shell(folder))
    with command_at(folder, "serve", "reading.yaml", "--port", "0", DSLC_TOKEN=TOKEN) as (_, url):
        yield url


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> NotebookFile:
    """The notebook of the run with everything in one process."""
    shell = Shell(tmp_path_factory.mktemp("embedded"))
    written(shell)
    done = shell("run", "reading.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    return read_notebook(shell.runs[0] / "notebook.ipynb")


def written(shell: Shell) -> None:
    shell.write("data.csv", "3\n5\n8\n")
    shell.write("reading.yaml", READING)


def same(one: NotebookFile, other: NotebookFile) -> None:
    assert one.document == other.document
    assert _facts(one) == _facts(other)
    assert one.metadata["kernelspec"] == other.metadata["kernelspec"]


def _facts(file: NotebookFile) -> dict[str, Any]:
    facts = {name: value for name, value in file.run.items() if name not in STATED}
    return {**facts, "verified": {**facts["verified"], "at": ""}}


@pytest.mark.parametrize("dialect", ["v2", "v1"])
def test_a_run_planned_over_http_gives_the_same_notebook(
    shell: Shell, service: str, embedded: NotebookFile, dialect: str
) -> None:
    written(shell)
    # The script's own run has no sandbox either.
    options = ("--planner", service, "--dialect", dialect, "--sandbox", "off")
    done = shell("run", "reading.yaml", *options, DSLC_TOKEN=TOKEN)
    assert done.returncode == 0, done.stdout + done.stderr
    file = read_notebook(shell.runs[0] / "notebook.ipynb")
    same(file, embedded)
    assert file.run["planner"] == (service if dialect == "v2" else f"v1+{service}")
    for path in shell.runs[0].rglob("*"):
        assert not path.is_file() or TOKEN.encode() not in path.read_bytes(), path


def test_planner_and_kernel_over_the_wire_give_the_same_notebook(
    tmp_path: Path, service: str, embedded: NotebookFile
) -> None:
    shell = Shell(tmp_path / "mine")
    with command_at(shell.folder, "backend", "--port", str(free_port())) as (command, url):
        written(shell)
        (token,) = re.findall(r"^token .*: (\S+)$", command.said, re.MULTILINE)
        remote = {"USE_REMOTE_EXECUTION": "true", "BACKEND_BASE_URL": url, "BACKEND_TOKEN": token, "DSLC_TOKEN": TOKEN}
        done = shell("run", "reading.yaml", "--planner", "remote", DSLC_BASE_URL=service, **remote)
        assert done.returncode == 0, done.stdout + done.stderr
        same(read_notebook(shell.runs[0] / "notebook.ipynb"), embedded)
        entries = shell.json("show", "last")
        assert entries[0]["kernel_spec"] == {"kind": "jupyter_server", "url": url}
        (started,) = [entry for entry in entries if entry["kind"] == "kernel_started"]
        assert re.fullmatch(r"[0-9a-f-]{36}/[0-9a-f]{32}", started["session"])
        server = Server(url=url, port=0, token=token, root=shell.folder)
        assert server.kernel_ids() == set()
        assert [path.name for path in shell.runs[0].iterdir() if path.name.startswith("nbcc-verify")] == []
        done = shell("verify", "last", BACKEND_TOKEN=token)
        assert done.returncode == 0, done.stdout + done.stderr
        command.process.send_signal(signal.SIGTERM)
        assert command.exit_code() == Exit.COMPLETED
    done = shell("verify", "last", BACKEND_TOKEN=token)
    assert (done.returncode, "cannot be reached" in done.stderr) == (Exit.FAILED, True)


def test_a_goal_is_enough_and_resume_finds_the_planner_again(shell: Shell, service: str) -> None:
    shell.write("data.csv", "1\n")
    goal = ("--goal", "Count what there is")
    done = shell("run", "--planner", service, *goal, "--max-actions", "1", "--lang", "zh", DSLC_TOKEN=TOKEN)
    assert done.returncode == Exit.STOPPED, done.stdout + done.stderr
    assert shell.runs[0].name.endswith("-count-what-there-is")
    done = shell("resume", "last", "--max-actions", "2", DSLC_TOKEN=TOKEN)
    assert "the limit of 2 actions is reached" in done.stdout, done.stderr
    done = shell("resume", "last", "--max-actions", "0")
    assert done.returncode != Exit.COMPLETED, "without its token nobody answers"
    assert "HTTP 401" in done.stdout


def test_one_ctrl_c_does_not_wait_for_a_planner_that_says_nothing(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with shell.background("run", "--planner", url, "--goal", "Count") as command:
            asked, _ = listening.accept()
            with asked:
                assert asked.recv(4) == b"POST"
                command.press(signal.SIGINT, until="Resume with: nbcc resume")
                # The connection is still open: whoever waited for an answer would wait now.
                assert command.exit_code() == Exit.STOPPED, command.said
    (facts,) = shell.json("status", "last")
    assert (facts["stopped"], facts["state"]) == ("paused", "idle")


def test_another_planner_takes_over_and_is_remembered(shell: Shell, tmp_path: Path) -> None:
    shell.write("counting.yaml", COUNTING)
    with ear() as server:
        done = shell("run", "counting.yaml", "--planner", server.url)
        assert (done.returncode, len(server.heard)) == (Exit.STOPPED, 1), done.stdout
        with command_at(tmp_path / "other", "serve", str(shell.folder / "counting.yaml"), "--port", "0") as (_, url):
            assert shell("resume", "last", "--planner", url, "--max-actions", "1").returncode == Exit.STOPPED
            assert shell("resume", "last", "--max-actions", "2").returncode == Exit.STOPPED
            assert len(server.heard) == 1
            specs = [entry["planner_spec"] for entry in shell.json("show", "last") if "planner_spec" in entry]
            assert [spec["url"] for spec in specs] == [server.url, url]
        done = shell("resume", "last", "--planner", "script", "--max-actions", "0")
        assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr


def test_a_recorded_run_is_served_again(shell: Shell, tmp_path: Path, finished: Shell) -> None:
    recorded = finished.runs[0]
    with command_at(tmp_path / "other", "serve", "--replay", str(recorded), "--port", "0") as (_, url):
        done = shell("run", "--planner", url, "--goal", "Say hello and count")
    assert done.returncode == 0, done.stdout + done.stderr
    mine, theirs = (read_notebook(folder / "notebook.ipynb") for folder in (shell.runs[0], recorded))
    assert mine.document == theirs.document


def test_what_cannot_begin_leaves_nothing_behind(shell: Shell) -> None:
    shell.write("counting.yaml", COUNTING)
    for arguments, message in (
        (("--planner", "http://127.0.0.1:1"), "or --planner and --goal"),
        (("--goal", "x"), "or --planner and --goal"),
        (("counting.yaml", "--planner", "planner:28600"), "--planner 'planner:28600' cannot be used"),
        (("counting.yaml", "--planner", "http://me:hush@planner"), "holds credentials"),
        (("counting.yaml", "--dialect", "v1"), "--dialect is for a planner at an address"),
        (("counting.yaml", "--kernel-url", "gpu"), "--kernel-url 'gpu' cannot be used"),
        (("counting.yaml", "--planner", "remote", "--token-file", "nowhere"), "token file nowhere"),
    ):
        done = shell("run", *arguments)
        assert (done.returncode, message in done.stderr) == (Exit.USAGE, True), (arguments, done.stderr)
        assert "hush" not in done.stderr
        assert shell.runs == []


def test_a_kernel_that_cannot_be_reached_stops_the_run_and_resume_may_go_local(shell: Shell) -> None:
    shell.write("counting.yaml", COUNTING)
    nowhere = f"http://127.0.0.1:{free_port()}"
    done = shell("run", "counting.yaml", "--kernel-url", nowhere)
    assert done.returncode == Exit.FAILED, done.stdout + done.stderr
    assert f"the Jupyter server at {nowhere} cannot be reached" in done.stdout
    done = shell("resume", "last", "--no-verify", USE_REMOTE_EXECUTION="false")
    assert done.returncode == Exit.FAILED, "the run stays where it was"
    done = shell("resume", "last", "--kernel-url", "local", "--no-verify")
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr


def test_no_password_of_an_address_and_no_token_reaches_a_file_of_the_run(shell: Shell) -> None:
    shell.write("data.csv", "1\n")
    with ear() as server:
        planner = server.url.replace("http://", "http://me:hush-planner@")
        done = shell(
            *("run", "--planner", "remote", "--goal", "Count"),
            DSLC_BASE_URL=f"{planner}?key=hush-query",
            DSLC_TOKEN="hush-token",
            USE_REMOTE_EXECUTION="true",
            BACKEND_BASE_URL="http://me:hush-kernel@127.0.0.1:9/lab?token=hush-query",
            BACKEND_TOKEN="hush-token",
        )
        heard = server.heard
    assert done.returncode == Exit.STOPPED, done.stdout + done.stderr
    assert heard, "the planner was asked"
    started = shell.json("show", "last")[0]
    assert started["planner_spec"] == {"kind": "remote", "url": server.url}
    assert started["kernel_spec"] == {"kind": "jupyter_server", "url": "http://127.0.0.1:9/lab"}
    files = [path for path in shell.runs[0].rglob("*") if path.is_file()]
    assert shell.runs[0] / "journal.sqlite" in files
    assert [path for path in files if b"hush" in path.read_bytes()] == []
