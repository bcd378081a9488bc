from __future__ import annotations

from pathlib import Path

import pytest

from notebook_bcc.errors import RunRefused
from notebook_bcc.lifecycle.data_files import (
    DataSpec,
    answer_inputs,
    data_inputs,
    default_goal,
    default_name,
    format_of,
    inputs_variable,
    is_script,
)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.csv", "csv"),
        ("A.CSV", "csv"),
        ("a.tsv", "csv"),
        ("a.txt", "csv"),
        ("a.csv.gz", "csv"),
        ("a.csv.zip", "csv"),
        ("a.csv.bz2", "csv"),
        ("a.csv.xz", "csv"),
        ("a.feather", "feather"),
        ("train.zip", "csv"),
        ("房价.xlsx", "excel"),
        ("a.xls", "excel"),
        ("a.parquet", "parquet"),
        ("a.json", "json"),
        ("a.jsonl", "jsonl"),
        ("a.ndjson", "jsonl"),
        ("a.sqlite", "sqlite"),
        ("a.db", "sqlite"),
    ],
)
def test_a_data_file_is_known_by_its_name(name: str, form: str) -> None:
    assert format_of(Path(name)) == form
    assert not is_script(Path(name))


@pytest.mark.parametrize("name", ["a.doc", "a", ".csv", "a.parquet.gz", "a.csv.exe"])
def test_another_name_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(RunRefused, match=r"\.csv, \.tsv, .*\.db") as caught:
        format_of(Path(name))
    assert ".yaml" in str(caught.value)


@pytest.mark.parametrize("name", ["a.yaml", "a.YML"])
def test_a_script_is_known_by_its_name(name: str) -> None:
    assert is_script(Path(name))


def test_files_keep_their_names_and_a_second_one_of_the_same_name_gets_another() -> None:
    wish = DataSpec(data=Path("a/Train.csv.gz"), test=Path("b/train.csv.gz"))
    assert [one.name for one in data_inputs(wish)] == ["inputs/Train.csv.gz", "inputs/train-test.csv.gz"]
    assert inputs_variable(wish)["test"] == "inputs/train-test.csv.gz"


def test_a_folder_of_parquet_files_is_one_table_and_brings_all_its_files(tmp_path: Path) -> None:
    for name in ("year=2020/a.parquet", "year=2021/b.parquet", "_temporary/c.parquet", ".d.parquet", "notes.txt"):
        (tmp_path / "sales" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "sales" / name).touch()
    wish = DataSpec(data=tmp_path / "sales")
    assert [one.name for one in data_inputs(wish)] == [
        f"inputs/sales/{name}" for name in ("year=2020/a.parquet", "year=2021/b.parquet")
    ]
    assert inputs_variable(wish) == {"data": "inputs/sales", "format": "parquet", "lang": "en"}


def test_a_run_is_told_what_was_said_and_nothing_else() -> None:
    assert inputs_variable(DataSpec(data=Path("x/a.csv"))) == {"data": "inputs/a.csv", "format": "csv", "lang": "en"}
    wish = DataSpec(
        data=Path("a.xlsx"),
        test=Path("b.csv"),
        targets=("x", "y"),
        goal="guess x",
        time="t",
        group="g",
        keep=("k",),
        sheet="s",
        lang="zh",
    )
    assert inputs_variable(wish) == {
        "data": "inputs/a.xlsx",
        "format": "excel",
        "lang": "zh",
        "test": "inputs/b.csv",
        "target": "x",
        "targets": ["x", "y"],
        "goal": "guess x",
        "time": "t",
        "group": "g",
        "keep": ["k"],
        "sheet": "s",
    }


def test_a_goal_is_made_up_in_the_language_of_the_run() -> None:
    assert default_goal(DataSpec(data=Path("a.csv"))) == "Explore a.csv"
    assert default_goal(DataSpec(data=Path("a.csv"), targets=("x", "y"))) == "Predict x, y from a.csv"
    assert default_goal(DataSpec(data=Path("a.csv"), targets=("价格",), lang="zh")) == "根据 a.csv 预测 价格"


def test_answers_become_inputs_and_every_target_counts() -> None:
    assert answer_inputs([("time", "t"), ("time", "u")]) == {"time": "u"}
    assert answer_inputs([("target", "a"), ("target", "b")]) == {"target": "a", "targets": ["a", "b"]}
    assert answer_inputs([]) == {}


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("titanic/train.csv", "titanic-train"),
        ("titanic/Data.v2.csv.gz", "titanic-Data"),
        ("titanic/houses.csv", "houses"),
        ("/train.csv", "train"),
    ],
)
def test_a_run_of_a_file_called_like_many_others_is_named_after_the_folder_too(data: str, name: str) -> None:
    assert default_name(DataSpec(data=Path(data))) == name
