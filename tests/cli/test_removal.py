"""`nbcc delete` and `nbcc prune`: what goes, and what never does."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cli.shell import Shell
from notebook_bcc.cli.codes import Exit
from notebook_bcc.journal.lock import RunLock
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.lifecycle.server_copy import CopyRecord, keep_copy_record

GOOD = "goal: Good\nstages: [{id: a, steps: [{id: b, behaviors: [{actions: [{text: done}]}]}]}]\n"
BAD = "goal: Bad\nstages: [{id: a, steps: [{id: b, behaviors: [{actions: [{action: {action: unheard_of}}]}]}]}]\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four runs without a kernel, oldest first: a and b completed, c failed, d completed."""
    shell = Shell(tmp_path_factory.mktemp("made"))
    shell.write("good.yaml", GOOD)
    shell.write("bad.yaml", BAD)
    for name, script in (("a", "good"), ("b", "good"), ("c", "bad"), ("d", "good")):
        done = shell("run", f"{script}.yaml", "--id", name, "--no-verify", "--strict-actions", "--on-error", "fail")
        assert done.returncode == (Exit.FAILED if name == "c" else Exit.COMPLETED), done.stdout + done.stderr
    return shell.folder


@pytest.fixture
def runs(shell: Shell, made: Path) -> Shell:
    shutil.copytree(made, shell.folder, dirs_exist_ok=True)
    return shell


def left(shell: Shell) -> list[str]:
    return [path.name for path in shell.runs]


def test_runs_are_deleted_by_name_after_a_question(runs: Shell) -> None:
    asked = runs("delete", "a")
    assert asked.returncode == Exit.USAGE
    assert "--yes" in asked.stderr
    assert left(runs) == ["a", "b", "c", "d"]
    done = runs("delete", "a", "last", "a", "--yes")
    assert done.returncode == 0, done.stderr
    assert "2 runs deleted" in done.stdout
    assert left(runs) == ["b", "c"]


def test_a_copy_on_a_server_is_named_when_its_run_is_deleted(runs: Shell) -> None:
    folder = RunFolder(runs.runs[0])
    keep_copy_record(folder, CopyRecord("a.ipynb", url="http://server:8888", path="a-1.ipynb", written="digest"))
    done = runs("delete", folder.run_id, "--yes")
    assert "stays on the server: a-1.ipynb (http://server:8888)" in done.stdout


def test_a_run_that_is_carried_out_is_not_deleted_and_the_others_are(runs: Shell) -> None:
    with RunLock(runs.folder / "nbcc-runs" / "b" / "run.lock"):
        done = runs("delete", "a", "b", "c", "--yes")
        assert done.returncode == Exit.LOCKED
        assert left(runs) == ["b", "d"]
        assert "b" not in runs("prune", "--keep", "0", "--yes").stdout.split()
    assert left(runs) == ["b"]


def test_nothing_outside_the_folder_of_runs_is_deleted(runs: Shell, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "run"
    shutil.copytree(runs.folder / "nbcc-runs" / "a", elsewhere)
    (runs.folder / "nbcc-runs" / "link").symlink_to(elsewhere)
    for word in (str(elsewhere), "link"):
        done = runs("delete", word, "--yes")
        assert done.returncode == Exit.USAGE
        assert "not in the runs folder" in done.stderr
    assert (elsewhere / "journal.sqlite").exists()


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (("--keep", "2"), ["c", "d"]),
        (("--keep", "9"), ["a", "b", "c", "d"]),
        (("--status", "failed"), ["a", "b", "d"]),
        (("--keep", "1", "--status", "completed"), ["c", "d"]),
        (("--older-than", "1"), ["a", "b", "c", "d"]),
        (("--older-than", "0"), []),
        (("--older-than", "0", "--status", "failed", "--status", "paused"), ["a", "b", "d"]),
    ],
)
def test_pruning_deletes_what_all_of_its_options_describe(
    runs: Shell, options: tuple[str, ...], kept: list[str]
) -> None:
    told = runs("prune", *options, "--dry-run")
    assert told.returncode == 0
    assert left(runs) == ["a", "b", "c", "d"]
    gone = [name for name in ("d", "c", "b", "a") if name not in kept]
    assert told.stdout.splitlines()[:-1] == gone
    assert runs("prune", *options, "--yes").returncode == 0
    assert left(runs) == kept


def test_pruning_everything_has_to_be_said(runs: Shell) -> None:
    done = runs("prune", "--yes")
    assert done.returncode == Exit.USAGE
    assert "say which runs may go" in done.stderr
    assert len(left(runs)) == 4


def test_a_run_whose_journal_is_broken_can_be_deleted(runs: Shell) -> None:
    (runs.folder / "nbcc-runs" / "a" / "journal.sqlite").write_bytes(b"broken")
    assert runs("delete", "a", "--yes").returncode == 0
    assert left(runs) == ["b", "c", "d"]


def test_a_status_that_no_run_can_have_is_refused_with_the_one_that_is_meant(runs: Shell) -> None:
    done = runs("prune", "--status", "complete", "--yes")
    assert done.returncode == Exit.USAGE
    assert "--status 'complete': no run is ever that; did you mean 'completed'?" in done.stderr
    assert "interrupted" in done.stderr
    assert left(runs) == ["a", "b", "c", "d"]
