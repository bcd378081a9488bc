"""Runs that an earlier version left on disk: each can be looked at and replayed, and the killed ones go on."""

from __future__ import annotations

import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from cli.shell import Shell
from notebook_bcc.cli.codes import Exit
from notebook_bcc.journal.sqlite.journal import SqliteJournal
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.lifecycle.history import load_state, read_entries
from notebook_bcc.lifecycle.operations import started
from notebook_bcc.lifecycle.recording import equal_notebooks, read_recording
from notebook_bcc.lifecycle.session import Interaction
from notebook_bcc.notebook.reading import read_notebook
from notebook_bcc.protocol.specs import LocalKernelSpec
from notebook_bcc.protocol.vocabulary import State
from notebook_bcc.wiring import journals, replay_order, run_factories

GOLDEN = Path(__file__).parents[1] / "fixtures" / "golden"
KILLED = ["killed-playbook", "killed-script"]
FINISHED = ["jupyter-server", "llm", "playbook", "remote", "remote-v1", "replay", "script"]


def unpacked(name: str, shell: Shell) -> RunFolder:
    root = shell.folder / "nbcc-runs"
    root.mkdir()
    with tarfile.open(GOLDEN / f"{name}.tar.xz") as archive:
        # Python 3.11.2, Debian 12's own, knows no filters yet.
        if hasattr(tarfile, "data_filter"):
            archive.extractall(root, filter="data")
        else:
            archive.extractall(root)
    (run,) = root.iterdir()
    return RunFolder(run)


def test_every_recorded_run_has_a_test() -> None:
    assert sorted(path.name.removesuffix(".tar.xz") for path in GOLDEN.glob("*.tar.xz")) == sorted(FINISHED + KILLED)


@pytest.mark.anyio
@pytest.mark.parametrize("name", FINISHED)
async def test_a_finished_run_of_an_earlier_version_folds_to_the_notebook_it_wrote(name: str, shell: Shell) -> None:
    folder = unpacked(name, shell)
    state = await load_state(folder, journals())
    assert state.fsm is State.WORKFLOW_COMPLETED
    assert state.stopped is not None
    assert state.stopped.reason == "completed"
    kept = read_notebook(folder.notebook).document
    assert [cell.source for cell in state.document.cells] == [cell.source for cell in kept.cells]


@pytest.mark.parametrize("name", [*FINISHED, *KILLED])
def test_a_run_of_an_earlier_version_is_listed_and_shown(name: str, shell: Shell) -> None:
    folder = unpacked(name, shell)
    (listed,) = shell.json("list")
    assert listed["run_id"] == folder.run_id
    assert listed["status"] == ("killed" if name in KILLED else "completed")
    entries = shell.json("show", "last")
    assert entries[0]["kind"] == "run_started"


@pytest.mark.parametrize("name", [one for one in FINISHED if one != "jupyter-server"])
def test_a_finished_run_of_an_earlier_version_is_replayed_to_the_same_notebook(name: str, shell: Shell) -> None:
    folder = unpacked(name, shell)
    done = shell("replay", folder.run_id)
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr


@pytest.mark.anyio
async def test_a_run_behind_a_server_that_is_gone_is_replayed_on_a_local_kernel(shell: Shell) -> None:
    folder = unpacked("jupyter-server", shell)
    recording = await read_recording(read_entries(folder, journals()))
    order = replace(replay_order(folder, recording, name="replay"), kernel_spec=LocalKernelSpec())
    interaction = Interaction(person=None, warn=pytest.fail)
    async with started(
        order, root=shell.folder / "again", factories=run_factories(), interaction=interaction
    ) as session:
        async for _ in session.entries():
            pass
        assert equal_notebooks(recording.state.document, session.state.document)


@pytest.mark.parametrize("name", KILLED)
def test_a_run_that_was_killed_under_an_earlier_version_goes_on_to_its_end(name: str, shell: Shell) -> None:
    folder = unpacked(name, shell)
    (folder.work / "go").touch()
    done = shell("resume", folder.run_id, "--no-verify")
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    outputs = [output for cell in read_notebook(folder.notebook).document.cells for output in cell.outputs]
    assert [one["text"] for one in outputs][-1] == "went on\n"


@pytest.mark.anyio
async def test_looking_at_a_run_of_an_earlier_version_does_not_change_its_journal(shell: Shell) -> None:
    folder = unpacked("script", shell)
    before = folder.journal.read_bytes()
    reader = SqliteJournal.reader(folder.journal)
    assert len([entry async for entry in reader.read()]) > 10
    await reader.close()
    assert folder.journal.read_bytes() == before
