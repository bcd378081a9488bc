"""Commands that a message names can be typed as they stand, also where runs are kept elsewhere with `--runs`."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from cli.shell import HELLO, Shell
from notebook_bcc.cli.codes import Exit
from notebook_bcc.journal.lock import RunLock
from notebook_bcc.lifecycle.run_names import typed

PLACE = "kept elsewhere/runs"
CHANGING = """
stages:
  - id: only
    steps:
      - id: one
        behaviors:
          - actions:
              - action: {action: update_stage_steps, stage_id: only, updated_steps: [{id: one}, {id: two}, {id: three}]}
      - id: two
        behaviors: [{actions: [{text: Done.}]}]
"""


def named(text: str, command: str) -> str:
    """The arguments of the command that a text names, to the end of its line."""
    _, found, rest = text.partition(f"nbcc {command} ")
    assert found, text
    return f"{command} {rest.splitlines()[0]}".rstrip("`. ")


@pytest.fixture
def elsewhere(shell: Shell) -> Shell:
    shell.write("hello.yaml", HELLO)
    done = shell("run", "hello.yaml", "--max-actions", "1", "--runs", PLACE, "--name", "kept")
    assert done.returncode == Exit.STOPPED, done.stdout + done.stderr
    return shell


def folder(shell: Shell) -> Path:
    (found,) = (shell.folder / PLACE).iterdir()
    return found


def test_the_last_words_and_the_status_of_a_run_name_its_place(elsewhere: Shell) -> None:
    status = elsewhere("status", "last", "--runs", PLACE).stdout
    wanted = f"resume {folder(elsewhere).name} --runs '{PLACE}'"
    assert named(status, "resume") == wanted
    done = elsewhere(*shlex.split(wanted), "--max-actions", "2")
    assert named(done.stdout, "resume") == wanted


def test_the_note_in_a_notebook_that_has_stopped_can_be_typed(elsewhere: Shell) -> None:
    note = (folder(elsewhere) / "notebook.ipynb").read_text(encoding="utf-8")
    done = elsewhere(*shlex.split(named(note, "resume").partition("`")[0]), "--max-actions", "0", "--no-verify")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_note_of_a_cancelled_run_can_be_typed(elsewhere: Shell) -> None:
    assert elsewhere("cancel", "last", "--runs", PLACE).returncode == 0
    note = (folder(elsewhere) / "notebook.ipynb").read_text(encoding="utf-8")
    command = named(note, "resume").partition("`")[0]
    assert command.endswith("--restart reset")
    assert elsewhere(*shlex.split(command), "--max-actions", "0", "--no-verify").returncode == 0


def test_a_run_that_somebody_else_carries_out_can_be_cancelled_as_it_is_said(elsewhere: Shell) -> None:
    with RunLock(folder(elsewhere) / "run.lock"):
        done = elsewhere("resume", "last", "--runs", PLACE)
    assert done.returncode == Exit.LOCKED
    assert named(done.stderr, "cancel") == f"cancel {folder(elsewhere).name} --runs '{PLACE}'"


def test_a_run_that_is_not_there_is_looked_for_where_it_was_sought(elsewhere: Shell) -> None:
    done = elsewhere("status", "nowhere", "--runs", PLACE)
    assert f"`nbcc list --runs '{PLACE}'` shows the runs there are" in done.stderr
    assert "`nbcc list` shows the runs there are" in elsewhere("status", "nowhere").stderr


def test_a_change_that_was_answered_before_says_how_to_go_on(shell: Shell) -> None:
    shell.write("changing.yaml", CHANGING)
    done = shell("run", "changing.yaml", "--confirm", "ask", "--runs", PLACE)
    assert done.returncode == Exit.STOPPED, done.stdout + done.stderr
    assert named(done.stdout, "confirm") == f"confirm {folder(shell).name} --runs '{PLACE}' --resume"
    assert shell("confirm", "last", "--runs", PLACE).returncode == 0
    done = shell("confirm", "last", "--runs", PLACE)
    assert named(done.stderr, "resume") == f"resume {folder(shell).name} --runs '{PLACE}'"


def test_where_runs_usually_are_the_id_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert typed(tmp_path / "nbcc-runs" / "a") == "a"
    assert typed(tmp_path / "other" / "a") == "a --runs other"
    assert typed(tmp_path / "other" / "a", usual=Path("other")) == "a"
    assert typed(Path("/elsewhere/a")) == "a --runs /elsewhere"
