from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from notebook_bcc.lifecycle.deliverables import delivered_files, hand_out, hand_over, is_own, products, read_summary
from notebook_bcc.lifecycle.folder import Input, RunFolder, create_folder, fill_folder
from notebook_bcc.lifecycle.whole_values import LARGEST_VALUE, read_answer
from notebook_bcc.protocol.deliverables import AnswerItem, RunAnswer

AT = datetime(2026, 11, 15, 20, 47, 12, tzinfo=UTC)


def make(root: Path, *, out_folder: Path | None = None, **files: str) -> RunFolder:
    """A run that has written these files (`__` stands for a dot, `___` for a slash)."""
    source = root / "train.csv"
    source.write_text("a,b\n")
    folder = create_folder(root / "runs", name="x", at=AT)
    fill_folder(folder, inputs=[Input(source, "train.csv")], out_folder=out_folder)
    for name, text in files.items():
        path = folder.work / name.replace("___", "/").replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_what_the_run_made_is_found_and_nothing_else(tmp_path: Path) -> None:
    folder = make(tmp_path, model__pkl="m", figures___b__png="b", figures___a__png="a", summary__md="s", z__txt="z")
    for name in (".hidden", "__pycache__/x.pyc", "y.pyc", ".cache/y"):
        (folder.work / name).parent.mkdir(exist_ok=True)
        (folder.work / name).write_text("no")
    (folder.work / "link").symlink_to("/etc/hostname")
    os.mkfifo(folder.work / "pipe")
    assert products(folder) == ["summary.md", "model.pkl", "z.txt", "figures/a.png", "figures/b.png"]


def test_an_input_that_the_run_has_changed_is_its_product(tmp_path: Path) -> None:
    folder = make(tmp_path)
    assert products(folder) == []
    (folder.work / "train.csv").write_text("a,b,c\n")
    assert products(folder) == ["train.csv"]
    assert (folder.inputs / "train.csv").read_text() == "a,b\n"


def test_products_are_handed_over_into_the_runs_folder_again_and_again(tmp_path: Path) -> None:
    folder = make(tmp_path, model__pkl="m", figures___a__png="a")
    for _ in range(2):
        handover = hand_over(folder)
        assert [(one.name, one.path, one.size) for one in handover.files] == [
            ("model.pkl", folder.path / "model.pkl", 1),
            ("figures/a.png", folder.path / "figures/a.png", 1),
        ]
        assert handover.problems == ()
    assert delivered_files(folder) == handover.files
    (folder.path / "model.pkl").unlink()
    assert [one.name for one in delivered_files(folder)] == ["figures/a.png"]


def test_the_runs_own_files_are_never_replaced(tmp_path: Path) -> None:
    folder = make(tmp_path, notebook__html="mine", journal__sqlite="mine", inputs___a="mine", report__html="mine")
    folder.html.write_text("ours")
    handover = hand_over(folder)
    assert handover.files == ()
    assert len(handover.problems) == 4
    assert folder.html.read_text() == "ours"
    assert not folder.journal.exists()
    assert list(folder.inputs.iterdir()) == [folder.inputs / "train.csv"]


@pytest.mark.parametrize("name", ["Journal.SQLITE", "journal.sqlite-wal", "work/x", "run.lock", "playbook/a"])
def test_names_of_our_own_are_known_in_any_case(name: str) -> None:
    assert is_own(name)
    assert not is_own("journal.csv")


def test_a_folder_of_the_users_gets_copies_of_its_own(tmp_path: Path) -> None:
    folder = make(tmp_path, out_folder=tmp_path / "results", prepare__py="p = 1", figures___a__png="a")
    folder.notebook.write_text("{}")
    files = hand_over(folder).files
    assert [one.path for one in files] == [tmp_path / "results/prepare.py", tmp_path / "results/figures/a.png"]
    assert hand_out(folder, files, whole=True) == []
    assert (tmp_path / "results/train.csv").read_text() == "a,b\n", "the notebook can be run there"
    (tmp_path / "results/prepare.py").write_text("changed by its new owner")
    assert (folder.work / "prepare.py").read_text() == "p = 1"
    assert (folder.path / "prepare.py").read_text() == "p = 1"


def test_a_large_input_is_linked_to_the_users_own_file(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("a,b\n")
    folder = create_folder(tmp_path / "runs", name="x", at=AT)
    given = [Input(tmp_path / "train.csv", "train.csv")]
    fill_folder(folder, inputs=given, out_folder=tmp_path / "results", largest_copy=3)
    folder.notebook.write_text("{}")
    assert hand_out(folder, whole=True) == []
    assert os.readlink(tmp_path / "results/train.csv") == "../train.csv"


def test_a_file_that_cannot_be_put_there_is_told_and_the_others_come(tmp_path: Path) -> None:
    folder = make(tmp_path, model__pkl="m", figures___a__png="a")
    (folder.path / "figures").write_text("a file where a folder is needed")
    handover = hand_over(folder)
    assert [one.name for one in handover.files] == ["model.pkl"]
    assert "figures/a.png was not delivered" in handover.problems[0]


def test_a_run_says_how_good_its_result_is_in_a_file_of_its_own(tmp_path: Path) -> None:
    folder = make(tmp_path, summary__json='{"metric": "rmse", "score": 3, "interval_95": [2, 4], "more": {"kept": 1}}')
    found = read_summary(folder)
    assert found is not None
    assert (found.metric, found.score, found.interval_95, found.naive_forecast) == ("rmse", 3.0, (2.0, 4.0), None)


@pytest.mark.parametrize(
    "written",
    [
        "",
        "[]",
        "{",
        '{"model": null}',
        '{"metric": "rmse", "score": NaN}',
        '{"metric": "rmse", "score": "good"}',
        '{"metric": "rmse", "score": 1, "interval_95": [1]}',
        '{"metric": "rmse", "score": 1}' + " " * 1_000_000,
    ],
)
def test_a_summary_that_says_nothing_is_none(tmp_path: Path, written: str) -> None:
    assert read_summary(make(tmp_path)) is None
    assert read_summary(make(tmp_path, summary__json=written)) is None


def test_a_summary_that_the_run_was_given_is_not_its_own(tmp_path: Path) -> None:
    given = tmp_path / "summary.json"
    given.write_text('{"metric": "rmse", "score": 1}')
    folder = create_folder(tmp_path / "runs", name="x", at=AT)
    fill_folder(folder, inputs=[Input(given, "summary.json")])
    assert read_summary(folder) is None
    (folder.work / "summary.json").write_text('{"metric": "rmse", "score": 2.5}')
    assert read_summary(folder) is not None


def test_a_value_that_was_written_to_a_file_stands_whole_in_the_answer_up_to_a_size(tmp_path: Path) -> None:
    large = json.dumps(["x" * LARGEST_VALUE])
    folder = make(tmp_path, values___groups__json='{"a": 1}', values___huge__json=large, values___torn__json="{")
    items = [AnswerItem(name=name, produced=True, value="dict(300)") for name in ("groups", "huge", "torn", "plain")]
    hand_over(folder, answer=RunAnswer(run_id="x", deliverables=tuple(items)))
    answer = read_answer(folder)
    assert answer is not None
    assert [(one.value, one.file) for one in answer.deliverables] == [
        ({"a": 1}, None),
        ("dict(300)", "values/huge.json"),
        ("dict(300)", None),
        ("dict(300)", None),
    ]
