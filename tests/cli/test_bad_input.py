"""Bad input gets a clear error and loses nothing: each row of the table, through the real command line."""

from __future__ import annotations

import resource
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

from cli.shell import COMMAND, DEADLINE, HELLO, Shell, wait_until
from kernel.servers import free_port
from notebook_bcc.cli.codes import Exit
from notebook_bcc.notebook.reading import read_notebook

ONE_STEP = "stages: [{id: s, steps: [{id: t, behaviors: [{actions: [%s]}]}]}]"


def copied(finished: Shell, shell: Shell) -> Path:
    """A run of its own, to be damaged."""
    folder = shell.folder / "nbcc-runs" / finished.runs[0].name
    shutil.copytree(finished.runs[0], folder)
    return folder


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("stages: [{id: s, steps: [", "line"),
        ("\tgoal: tabs\n", "line"),
        ("- just\n- a list\n", "a script is a mapping"),
        ("goal: no stages\n", "stages"),
        ("stages: [{id: s, steps: [{id: t}]}]\nwings: 2\n", "wings"),
        ("stages: [{id: s, steps: [{id: t, behaviors: [{actions: [{fly: high}]}]}]}]", "actions"),
        ("stages: [{id: a, steps: [{id: t}]}, {id: a, steps: [{id: t}]}]", "'a' is used twice"),
        ("stages: [{id: a, steps: [{id: t}, {id: t}]}]", "'t' is used twice"),
        ("files: [missing.csv]\nstages: [{id: a, steps: [{id: t}]}]", "missing.csv"),
    ],
)
def test_a_bad_script_is_refused_before_anything_exists(shell: Shell, script: str, message: str) -> None:
    shell.write("bad.yaml", script)
    done = shell("run", "bad.yaml")
    assert done.returncode == Exit.USAGE, done.stdout + done.stderr
    assert message in done.stderr
    assert "bad.yaml" in done.stderr
    assert "Traceback" not in done.stderr
    assert shell.runs == []


def test_a_bad_script_is_said_in_one_plain_sentence(shell: Shell) -> None:
    shell.write("bad.yaml", "stages: {}\n")
    done = shell("run", "bad.yaml")
    assert (done.returncode, done.stderr) == (Exit.USAGE, "nbcc: bad.yaml, line 1: stages must be a list\n")


def test_a_planner_that_does_not_run_stops_the_run_with_how_to_go_on(shell: Shell) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    done = shell("run", "--planner", address, "--goal", "look")
    assert done.returncode == Exit.STOPPED, done.stdout + done.stderr
    said = (done.stdout + done.stderr).splitlines()
    assert any(line.endswith(f"Stopped: planner {address} refused the connection. Is it running?") for line in said)
    assert any(line.endswith(f"Resume with: nbcc resume {shell.runs[0].name}") for line in said)


def test_a_script_that_is_not_there_is_refused(shell: Shell) -> None:
    done = shell("run", "none.yaml")
    assert (done.returncode, "none.yaml" in done.stderr, shell.runs) == (Exit.USAGE, True, [])


def test_a_kernel_that_is_not_installed_is_refused_before_anything_exists(shell: Shell) -> None:
    shell.write("hello.yaml", HELLO)
    done = shell("run", "hello.yaml", "--kernel", "klingon")
    assert (done.returncode, shell.runs) == (Exit.FAILED, [])
    assert "klingon" in done.stderr
    assert "python3" in done.stderr


@pytest.mark.parametrize(
    ("action", "message"),
    [("{exec: nowhere}", "'nowhere'"), ("{raw: {content: x}}", "no type"), ("{raw: [1]}", "an action is an object")],
)
def test_a_bad_action_is_an_error_of_the_run_and_loses_nothing(shell: Shell, action: str, message: str) -> None:
    shell.write("bad.yaml", ONE_STEP % f"{{text: kept}}, {action}")
    done = shell("run", "bad.yaml")
    assert done.returncode == Exit.FAILED, done.stdout + done.stderr
    assert message in done.stdout
    assert "nbcc resume" in done.stdout
    assert "kept" in shell("show", "last").stdout


def test_an_unknown_action_is_a_warning_unless_it_shall_be_an_error(shell: Shell) -> None:
    shell.write("odd.yaml", ONE_STEP % "{raw: {action: dance}}, {text: kept}")
    done = shell("run", "odd.yaml", "--no-verify")
    assert (done.returncode, "dance" in done.stdout) == (Exit.COMPLETED, True)
    assert shell("run", "odd.yaml", "--strict-actions").returncode == Exit.FAILED


@pytest.mark.parametrize("path", ["missing/a.ipynb", "file/a.ipynb", "/proc/a.ipynb", "a.txt", "folder.ipynb"])
def test_a_notebook_path_that_cannot_be_written_is_refused_before_the_run(shell: Shell, path: str) -> None:
    shell.write("hello.yaml", HELLO)
    shell.write("file", "")
    (shell.folder / "folder.ipynb").mkdir()
    done = shell("run", "hello.yaml", "--out", path)
    assert done.returncode == Exit.USAGE
    assert done.stderr.startswith("nbcc: notebook ")
    assert shell.runs == []


def test_a_folder_that_vanishes_while_the_run_goes_on_is_made_again(shell: Shell) -> None:
    (shell.folder / "out").mkdir()
    shell.write("gone.yaml", ONE_STEP % "{code: 'import shutil; shutil.rmtree(\"../../../out\")'}, {code: print(1)}")
    done = shell("run", "gone.yaml", "--out", "out/a.ipynb", "--no-verify")
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    assert len(read_notebook(shell.folder / "out" / "a.ipynb").document.cells) == 2


def test_a_full_disk_stops_the_run_and_resume_goes_on_when_there_is_room(shell: Shell) -> None:
    shell.write("big.yaml", ONE_STEP % "{code: a = 1}, {code: 'print(\"x\" * 200_000)'}, {code: print(a)}")
    limit = 150_000
    done = subprocess.run(
        [*COMMAND, "run", "big.yaml", "--no-verify"],
        cwd=shell.folder,
        env=shell.environment(),
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        stdin=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        check=False,
    )
    assert done.returncode == Exit.STOPPED, done.stdout + done.stderr
    assert "Free some room, then resume" in done.stderr
    assert "Traceback" not in done.stderr
    again = shell("resume", "last", "--no-verify")
    assert again.returncode == Exit.COMPLETED, again.stdout + again.stderr
    (facts,) = shell.json("status", "last")
    assert facts["actions"] == 6


def test_a_run_that_another_process_carries_out_is_locked(shell: Shell) -> None:
    shell.write(
        "slow.yaml",
        ONE_STEP % "{code: 'import pathlib; pathlib.Path(\"waiting\").touch(); import time; time.sleep(600)'}",
    )
    with shell.background("run", "slow.yaml", "--no-verify") as command:
        wait_until(lambda: bool(shell.runs) and (shell.runs[0] / "work" / "waiting").exists())
        done = shell("resume", "last")
        assert done.returncode == Exit.LOCKED
        assert f"process {command.process.pid} on " in done.stderr
        assert f"nbcc cancel {shell.runs[0].name}" in done.stderr
        assert shell.json("status", "last")[0]["pid"] == command.process.pid


@pytest.mark.parametrize("command", [["resume"], ["status"], ["show"], ["export"], ["cancel"], ["replay"]])
def test_a_journal_of_a_newer_version_is_left_alone(finished: Shell, shell: Shell, command: list[str]) -> None:
    folder = copied(finished, shell)
    with sqlite3.connect(folder / "journal.sqlite") as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    before = (folder / "journal.sqlite").read_bytes()
    done = shell(*command, "last")
    assert done.returncode == Exit.JOURNAL, done.stdout + done.stderr
    assert "format 99" in done.stderr
    assert "upgrade" in done.stderr
    assert (folder / "journal.sqlite").read_bytes() == before


@pytest.mark.parametrize("command", [["resume"], ["status"], ["show"], ["export"], ["cancel"], ["replay"]])
def test_a_corrupt_journal_is_said_to_be_one_and_left_alone(finished: Shell, shell: Shell, command: list[str]) -> None:
    folder = copied(finished, shell)
    content = bytearray((folder / "journal.sqlite").read_bytes())
    place = content.index(b"workflow_completed")
    content[place : place + 8] = b"WORKFLOW"
    (folder / "journal.sqlite").write_bytes(content)
    done = shell(*command, "last")
    assert done.returncode == Exit.JOURNAL, done.stdout + done.stderr
    assert "corrupt" in done.stderr
    assert (folder / "journal.sqlite").read_bytes() == bytes(content)


def test_a_broken_run_does_not_hide_the_others(finished: Shell, shell: Shell) -> None:
    folder = copied(finished, shell)
    whole = folder.with_name("20200101-000000-whole")
    shutil.copytree(folder, whole)
    (folder / "journal.sqlite").write_bytes(b"rubbish")
    done = shell("list")
    assert done.returncode == 0
    assert "broken" in done.stdout
    assert "completed" in done.stdout
    assert {one["run_id"]: one["status"] for one in shell.json("list")} == {
        folder.name: "broken",
        whole.name: "completed",
    }


def test_a_run_that_does_not_exist_is_not_found(shell: Shell) -> None:
    for command in ("resume", "status", "show", "export", "cancel", "pause", "confirm", "reject", "replay", "verify"):
        done = shell(command, "nobody")
        assert (done.returncode, "no run 'nobody'" in done.stderr) == (Exit.USAGE, True), command
