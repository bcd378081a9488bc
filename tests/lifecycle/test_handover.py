"""Files handed to a person: nothing of theirs is lost, nothing of an earlier delivery is mixed with the new one."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from notebook_bcc.lifecycle.handover import MANIFEST, delivered_by, is_unedited, note_delivered, place_files


def files(root: Path, **texts: str) -> dict[str, Path]:
    """Files to deliver, by name (`__` stands for a dot, `___` for a slash)."""
    made = {}
    for name, text in texts.items():
        shown = name.replace("___", "/").replace("__", ".")
        path = root / "run" / shown
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        made[shown] = path
    return made


def content(folder: Path) -> dict[str, str]:
    found = [path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST]
    return {path.relative_to(folder).as_posix(): path.read_text() for path in found}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def test_what_is_delivered_follows_the_umask_although_a_runs_own_files_are_private(tmp_path: Path, out: Path) -> None:
    kept = tmp_path / "kept.csv"
    kept.write_text("1")
    kept.chmod(0o600)
    before = os.umask(0o022)
    try:
        place_files(out, {"kept.csv": kept})
    finally:
        os.umask(before)
    assert stat.S_IMODE((out / "kept.csv").stat().st_mode) == 0o644
    assert (out / "kept.csv").stat().st_mtime_ns == kept.stat().st_mtime_ns


def test_an_edited_file_is_kept_under_another_name_and_an_unedited_one_is_replaced(tmp_path: Path, out: Path) -> None:
    place_files(out, files(tmp_path, notebook__ipynb="1", report__html="1"), whole=True)
    (out / "notebook.ipynb").write_text("mine")
    placed = place_files(out, files(tmp_path, notebook__ipynb="2", report__html="2"), whole=True)
    assert placed.kept == {"notebook.ipynb": "notebook.edited.ipynb"}
    assert content(out) == {"notebook.ipynb": "2", "report.html": "2", "notebook.edited.ipynb": "mine"}
    (out / "notebook.ipynb").write_text("mine again")
    placed = place_files(out, files(tmp_path, notebook__ipynb="3"), whole=True)
    assert placed.kept == {"notebook.ipynb": "notebook.edited-2.ipynb"}
    assert content(out) == {
        "notebook.ipynb": "3",
        "notebook.edited.ipynb": "mine",
        "notebook.edited-2.ipynb": "mine again",
    }


def test_a_whole_delivery_removes_what_an_earlier_one_has_left_but_nothing_else(tmp_path: Path, out: Path) -> None:
    place_files(out, files(tmp_path, a__txt="a", figures___b__png="b", c__txt="c"), whole=True)
    (out / "mine.txt").write_text("mine")
    (out / "c.txt").write_text("edited")
    place_files(out, files(tmp_path, a__txt="a"), whole=True)
    assert content(out) == {"a.txt": "a", "mine.txt": "mine", "c.txt": "edited"}
    assert not (out / "figures").exists()


def test_a_part_of_a_delivery_leaves_the_rest_alone(tmp_path: Path, out: Path) -> None:
    place_files(out, files(tmp_path, a__txt="a", b__txt="b"), whole=True)
    place_files(out, files(tmp_path, a__txt="2"))
    assert content(out) == {"a.txt": "2", "b.txt": "b"}
    place_files(out, files(tmp_path, a__txt="2"), whole=True)
    assert content(out) == {"a.txt": "2"}


def test_a_file_that_was_never_delivered_counts_as_a_persons_own(tmp_path: Path, out: Path) -> None:
    (out / "a.txt").write_text("mine")
    assert place_files(out, files(tmp_path, a__txt="new")).kept == {"a.txt": "a.edited.txt"}
    (out / "b.txt").write_text("the same")
    assert place_files(out, files(tmp_path, b__txt="the same")).kept == {}


def test_what_we_changed_ourselves_is_not_an_edit(tmp_path: Path, out: Path) -> None:
    place_files(out, files(tmp_path, a__txt="1"))
    assert is_unedited(out / "a.txt")
    (out / "a.txt").write_text("stamped")
    assert not is_unedited(out / "a.txt")
    note_delivered(out / "a.txt")
    assert is_unedited(out / "a.txt")
    assert not is_unedited(out / "none.txt")


def test_a_link_is_relative_and_replaced_by_what_comes_after_it(tmp_path: Path, out: Path) -> None:
    large = tmp_path / "large.csv"
    large.write_text("l")
    place_files(out, {}, links={"inputs/large.csv": large}, whole=True)
    assert (out / "inputs/large.csv").readlink() == Path("../../large.csv")
    place_files(out, files(tmp_path, inputs___large__csv="small now"), whole=True)
    assert (out / "inputs/large.csv").read_text() == "small now"
    assert large.read_text() == "l"
    place_files(out, {}, links={"inputs/large.csv": large}, whole=True)
    place_files(out, {}, whole=True)
    assert not (out / "inputs").exists()
    assert large.read_text() == "l"


@pytest.mark.parametrize("name", ["../outside.txt", "/outside.txt", "a/../../outside.txt"])
def test_a_manifest_of_somebody_else_reaches_nothing_outside_of_its_folder(
    tmp_path: Path, out: Path, name: str
) -> None:
    (tmp_path / "outside.txt").write_text("x")
    digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    (out / MANIFEST).write_text(json.dumps({"files": {name: digest}}))
    place_files(out, files(tmp_path, a__txt="a"), whole=True)
    assert (tmp_path / "outside.txt").exists()


@pytest.mark.parametrize("manifest", ["", "[]", '{"files": 1}', '{"files": {"a.txt": 1}}', "\x00"])
def test_a_manifest_that_cannot_be_read_makes_every_file_a_persons_own(
    tmp_path: Path, out: Path, manifest: str
) -> None:
    (out / MANIFEST).write_text(manifest)
    (out / "a.txt").write_text("mine")
    assert place_files(out, files(tmp_path, a__txt="new"), whole=True).kept == {"a.txt": "a.edited.txt"}


def test_what_cannot_be_placed_is_told_and_the_rest_comes(tmp_path: Path, out: Path) -> None:
    (out / "figures").write_text("a file where a folder is needed")
    placed = place_files(out, files(tmp_path, figures___a__png="a", b__txt="b"))
    assert list(placed.failed) == ["figures/a.png"]
    assert (out / "b.txt").read_text() == "b"


def test_a_file_that_somebody_asked_for_stays_when_the_whole_is_delivered_again(tmp_path: Path, out: Path) -> None:
    place_files(out, files(tmp_path, a__txt="a"), whole=True)
    place_files(out, files(tmp_path, page__md="1"), asked_for=True)
    place_files(out, files(tmp_path, a__txt="a2"), whole=True)
    assert content(out) == {"a.txt": "a2", "page.md": "1"}
    assert is_unedited(out / "page.md")
    assert place_files(out, files(tmp_path, page__md="2"), asked_for=True).kept == {}
    (out / "page.md").write_text("mine")
    assert place_files(out, files(tmp_path, page__md="3"), asked_for=True).kept == {"page.md": "page.edited.md"}


def test_the_manifest_names_the_run_until_another_one_delivers(tmp_path: Path, out: Path) -> None:
    assert delivered_by(out) == ""
    place_files(out, files(tmp_path, a__txt="1"), whole=True, run_id="first")
    assert delivered_by(out) == "first"
    place_files(out, files(tmp_path, page__md="1"), asked_for=True)
    note_delivered(out / "a.txt")
    assert delivered_by(out) == "first"
    place_files(out, files(tmp_path, a__txt="1"), whole=True, run_id="second")
    assert delivered_by(out) == "second"
    (out / MANIFEST).write_text('{"run": 1}')
    assert delivered_by(out) == ""
