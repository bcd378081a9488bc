from __future__ import annotations

import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from notebook_bcc.errors import NotebookFailed, RunNotFound, RunRefused
from notebook_bcc.lifecycle.folder import (
    Input,
    RunFolder,
    check_inputs,
    check_writable,
    create_folder,
    fill_folder,
    find_run,
    note_start,
    run_folders,
    run_id,
)
from notebook_bcc.lifecycle.handover import place_files

AT = datetime(2026, 11, 15, 20, 47, 12, tzinfo=UTC)


def make_run(root: Path, name: str, *, at: datetime = AT) -> RunFolder:
    folder = create_folder(root, name=name, at=at)
    folder.journal.touch()
    return folder


def test_a_runs_folder_and_its_copies_of_inputs_are_the_users_alone(tmp_path: Path) -> None:
    source = tmp_path / "data.csv"
    source.write_text("a\n1\n")
    source.chmod(0o644)
    before = os.umask(0o002)
    try:
        folder = create_folder(tmp_path / "runs", name="private", at=AT)
        fill_folder(folder, inputs=[Input(source, "inputs/data.csv")])
    finally:
        os.umask(before)

    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (folder.path, folder.inputs, folder.work)}
    assert set(modes.values()) == {0o700}
    copies = [folder.inputs / "data.csv", folder.work / "inputs" / "data.csv"]
    assert [stat.S_IMODE(path.stat().st_mode) for path in copies] == [0o600, 0o600]


def test_a_large_input_of_a_confined_run_has_no_second_name_that_its_cells_could_write_to(tmp_path: Path) -> None:
    source = tmp_path / "data.csv"
    source.write_text("a\n1\n")
    folder = create_folder(tmp_path / "runs", name="private", at=AT)

    fill_folder(folder, inputs=[Input(source, "inputs/data.csv")], confined=True, large=1)

    used, kept = folder.work / "inputs" / "data.csv", folder.inputs / "data.csv"
    assert used.is_symlink()
    assert used.samefile(kept)
    assert kept.stat().st_nlink == 1
    assert stat.S_IMODE(kept.stat().st_mode) == 0o400


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Bike demo", "20261115-204712-bike-demo"),
        ("a/b\\c: d?", "20261115-204712-a-b-c-d"),
        ("../../etc", "20261115-204712-etc"),
        ("数据 分析", "20261115-204712-数据-分析"),
        ("", "20261115-204712-run"),
        ("x" * 300, "20261115-204712-" + "x" * 40),
    ],
)
def test_an_id_is_readable_sortable_and_safe_as_a_folder(name: str, expected: str) -> None:
    assert run_id(name, AT) == expected


def test_runs_of_the_same_second_get_folders_of_their_own(tmp_path: Path) -> None:
    names = [create_folder(tmp_path, name="demo", at=AT).run_id for _ in range(3)]
    assert names == ["20261115-204712-demo", "20261115-204712-demo-2", "20261115-204712-demo-3"]


def test_a_root_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunRefused, match="--runs"):
        create_folder(tmp_path / "file" / "runs", name="x", at=AT)


def test_the_newest_run_is_first_and_other_folders_are_not_runs(tmp_path: Path) -> None:
    old = make_run(tmp_path, "old", at=AT.replace(hour=1))
    new = make_run(tmp_path, "new")
    (tmp_path / "notes").mkdir()
    (tmp_path / "file.txt").touch()
    assert [folder.path for folder in run_folders(tmp_path)] == [new.path, old.path]
    assert run_folders(tmp_path / "nowhere") == []


def test_of_two_runs_of_one_second_the_one_filled_later_is_newer(tmp_path: Path) -> None:
    first, second = make_run(tmp_path, "zebra"), make_run(tmp_path, "ant")
    for number, folder in enumerate((first, second)):
        fill_folder(folder)
        os.utime(folder.inputs, (number, number))
    assert [folder.run_id for folder in run_folders(tmp_path)] == [second.run_id, first.run_id]


def test_a_run_is_found_by_id_start_path_file_and_as_the_last(tmp_path: Path) -> None:
    make_run(tmp_path, "old", at=AT.replace(hour=1))
    run = make_run(tmp_path, "new")
    run.notebook.touch()
    for word in (run.run_id, "20261115-2047", str(run.path), str(run.notebook), str(run.journal), "last"):
        assert find_run(tmp_path, word).path == run.path


def test_what_names_no_run_is_not_found(tmp_path: Path) -> None:
    for word in ("last", "nothing", "", str(tmp_path)):
        with pytest.raises(RunNotFound):
            find_run(tmp_path, word)
    make_run(tmp_path, "a")
    for word in ("nothing", "", str(tmp_path), str(tmp_path / "missing")):
        with pytest.raises(RunNotFound):
            find_run(tmp_path, word)


def test_the_start_of_several_ids_is_refused_with_their_names(tmp_path: Path) -> None:
    make_run(tmp_path, "one")
    make_run(tmp_path, "two")
    with pytest.raises(RunRefused, match=r"2 runs \(20261115-204712-\w+, 20261115-204712-\w+\)"):
        find_run(tmp_path, "20261115")


def test_inputs_are_kept_as_they_were_beside_the_copies_to_work_with(tmp_path: Path) -> None:
    source = tmp_path / "data.csv"
    source.write_text("a,b\n")
    folder = create_folder(tmp_path, name="x", at=AT)
    fill_folder(folder, inputs=[Input(source, "data/day.csv")], script=source)
    (folder.work / "data/day.csv").write_text("changed")
    assert (folder.inputs / "data/day.csv").read_text() == "a,b\n"
    assert folder.script.read_text() == "a,b\n"


def test_the_path_that_is_wanted_is_remembered_and_the_run_keeps_a_notebook_of_its_own(tmp_path: Path) -> None:
    folder = create_folder(tmp_path, name="x", at=AT)
    fill_folder(folder, out=tmp_path / "mine.ipynb")
    assert folder.delivered == tmp_path / "mine.ipynb"
    assert folder.delivered_html == tmp_path / "mine.html"
    assert folder.notebook == folder.path / "notebook.ipynb"


def test_data_lies_in_a_folder_of_its_own_beside_the_notebook_and_in_the_working_directory(tmp_path: Path) -> None:
    source = tmp_path / "data.csv"
    source.write_text("a,b\n")
    folder = create_folder(tmp_path, name="x", at=AT)
    fill_folder(folder, inputs=[Input(source, "inputs/data.csv")])
    assert (folder.path / "inputs/data.csv").read_text() == "a,b\n"
    assert (folder.work / "inputs/data.csv").read_text() == "a,b\n"
    assert folder.inputs_place == "inputs"
    script = create_folder(tmp_path, name="y", at=AT)
    fill_folder(script, inputs=[Input(source, "data.csv"), Input(source, "inputs/data.csv")])
    (script.work / "inputs").mkdir(exist_ok=True)
    assert script.inputs_place == ""


def test_of_a_large_input_there_is_one_copy_that_nobody_may_change(tmp_path: Path) -> None:
    source = tmp_path / "data.csv"
    source.write_text("a,b\n")
    folder = create_folder(tmp_path, name="x", at=AT)
    fill_folder(folder, inputs=[Input(source, "data.csv")], large=4)
    assert (folder.work / "data.csv").samefile(folder.inputs / "data.csv")
    assert (folder.work / "data.csv").stat().st_mode & 0o222 == 0
    assert not (folder.work / "data.csv").samefile(source)
    assert source.stat().st_mode & 0o200


def test_a_wanted_folder_is_made_and_remembered(tmp_path: Path) -> None:
    folder = create_folder(tmp_path, name="x", at=AT)
    fill_folder(folder, out_folder=tmp_path / "a" / "results")
    assert folder.delivered == tmp_path / "a" / "results" / "notebook.ipynb"
    assert folder.delivered_report == tmp_path / "a" / "results" / "report.html"
    assert folder.destination.folder == tmp_path / "a" / "results"
    assert (tmp_path / "a" / "results").is_dir()


@pytest.mark.parametrize("name", ["../up.csv", "/absolute.csv", "a/../../up.csv"])
def test_an_input_stays_inside_the_working_directory(tmp_path: Path, name: str) -> None:
    source = tmp_path / "data.csv"
    source.touch()
    with pytest.raises(RunRefused, match="outside"):
        check_inputs([Input(source, name)])


def test_a_missing_input_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunRefused, match="does not exist"):
        check_inputs([Input(tmp_path / "none.csv", "none.csv")])


def test_a_path_that_can_be_written_passes_and_nothing_is_left_there(tmp_path: Path) -> None:
    check_writable(tmp_path / "a.ipynb")
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_cannot_be_written_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder.ipynb").mkdir()
    cases = {
        tmp_path / "missing" / "a.ipynb": "does not exist",
        tmp_path / "file" / "a.ipynb": "nothing can be written",
        tmp_path / "folder.ipynb": "this is a folder",
        tmp_path / "a.txt": r"ends in \.ipynb",
        Path("/proc/a.ipynb"): "nothing can be written",
    }
    for path, reason in cases.items():
        with pytest.raises(NotebookFailed, match=reason):
            check_writable(path)


def test_a_delivered_folder_and_what_lies_in_it_name_their_run(tmp_path: Path) -> None:
    run = make_run(tmp_path / "runs", "houses")
    results = tmp_path / "results"
    results.mkdir()
    (results / "model.pkl").touch()
    with pytest.raises(RunNotFound):
        find_run(tmp_path / "runs", str(results))
    place_files(results, {}, whole=True, run_id=run.run_id)
    assert find_run(tmp_path / "runs", str(results)).path == run.path
    assert find_run(tmp_path / "runs", str(results / "model.pkl")).path == run.path
    with pytest.raises(RunNotFound, match=r"was delivered by run '20261115-204712-houses', which is not in .*--runs"):
        find_run(tmp_path / "other", str(results))


@pytest.mark.parametrize("given", ["nightly-7", "房价.v2", "a", "A_1.b-c", "x" * 80])
def test_an_id_of_the_callers_own_is_the_name_of_the_folder(given: str, tmp_path: Path) -> None:
    assert create_folder(tmp_path, name="ignored", at=AT, given_id=given).path == tmp_path / given


@pytest.mark.parametrize("given", ["last", "..", ".", ".x", "a/b", "../a", "a\\b", "-x", "x" * 81, "a b", "x.", "a\n"])
def test_an_id_that_is_no_folders_name_is_refused(given: str, tmp_path: Path) -> None:
    with pytest.raises(RunRefused, match="cannot be the id of a run"):
        create_folder(tmp_path, name="x", at=AT, given_id=given)
    assert list(tmp_path.iterdir()) == []


def test_the_newest_run_is_the_one_that_began_last_whatever_its_id_is(tmp_path: Path) -> None:
    for hours, given in enumerate(("zebra", "", "nightly", "20990101-000000-x", "apple")):
        at = AT + timedelta(hours=hours)
        folder = create_folder(tmp_path, name="made", at=at, given_id=given)
        note_start(folder, at)
        folder.lock.touch()
    found = [folder.run_id for folder in run_folders(tmp_path)]
    assert found == ["apple", "20990101-000000-x", "nightly", f"{AT + timedelta(hours=1):%Y%m%d-%H%M%S}-made", "zebra"]
    assert find_run(tmp_path, "last").run_id == "apple"
