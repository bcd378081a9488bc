"""A test file that cannot be predicted costs the predictions alone: the model is made, and it is said why."""

from __future__ import annotations

import gzip
import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from playbooks.rehearsal import Rehearsal, at_work_in

pytest.importorskip("sklearn")


def houses(rows: int, seed: int = 1, *, sep: str = ",") -> str:
    draw = random.Random(seed)
    lines = [sep.join(("size", "city", "price"))]
    for _ in range(rows):
        size = draw.uniform(30, 150)
        price = 1000 * size + draw.gauss(0, 3000)
        lines.append(sep.join((f"{size:.1f}", draw.choice(["Rome", "Oslo"]), f"{price:.0f}")))
    return "\n".join(lines) + "\n"


def database() -> bytes:
    with closing(sqlite3.connect(":memory:")) as made:
        made.execute("CREATE TABLE houses (size, city, price)")
        return made.serialize()


BAD = [
    ("empty.csv", b"", "is empty"),
    ("header.csv", "size,city\n", "has no rows"),
    ("page.csv", "<!DOCTYPE html><html><body>404</body></html>", "is a web page"),
    ("picture.csv", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "is no table"),
    ("cut.csv.gz", gzip.compress(houses(50).encode())[:60], "damaged"),
    ("broken.json", '[{"size": 1}, {"size": ', "no table that can be read"),
    ("none.json", "[]", "no table that can be read"),
    ("hollow.db", database(), "has no rows"),
    ("broken.parquet", b"PAR1....PAR1", "no table that can be read"),
    ("other.csv", "colour;weight\nred;1\nblue;2\n", "none of the columns"),
]


def played(folder: Path, data: str, name: str, test: bytes | str, *stages: str, lang: str = "en") -> Rehearsal:
    (folder / "houses.csv").write_text(data, encoding="utf-8")
    (folder / name).write_bytes(test if isinstance(test, bytes) else test.encode())
    play = Rehearsal(inputs={"data": "houses.csv", "test": name, "target": "price", "targets": ["price"]}, lang=lang)
    with at_work_in(folder):
        for stage in stages:
            play.play(stage)
    return play


@pytest.mark.parametrize(("name", "content", "words"), BAD, ids=[name for name, *_ in BAD])
@pytest.mark.parametrize("sep", [",", ";"])
def test_a_test_file_that_cannot_be_predicted_leaves_the_model(
    tmp_path: Path, name: str, content: bytes | str, words: str, sep: str
) -> None:
    play = played(tmp_path, houses(60, sep=sep), name, content, "structure", "integrity")
    assert play.names["readable"] is True
    assert play.names["can_model"] is True
    assert name in play.names["test_problem"]
    assert words in play.names["test_problem"]
    assert "not in test" not in play.names["dropped_columns"].values()
    assert "No predictions will be made" in play.prose


def test_it_is_said_in_chinese_too(tmp_path: Path) -> None:
    play = played(tmp_path, houses(60), "header.csv", "size,city\n", "structure", "integrity", lang="zh")
    assert play.names["test_problem"] == "测试文件 header.csv 中没有数据行。"
    assert "不会做出预测" in play.prose


def test_a_file_without_a_table_ends_the_run_whatever_the_test_file_is(tmp_path: Path) -> None:
    play = played(tmp_path, "size,city\n", "empty.csv", b"", "structure")
    assert play.names["readable"] is False
    assert play.names["problem"] == "The file has no rows of data."


def test_a_test_file_with_some_of_the_columns_is_predicted_from_these(tmp_path: Path) -> None:
    play = played(tmp_path, houses(60), "part.csv", "size\n50.5\n70.5\n", "structure", "integrity")
    assert play.names["dropped_columns"] == {"city": "not in test"}
    assert not play.names.get("test_problem")


def test_the_summary_says_why_no_predictions_were_made(tmp_path: Path) -> None:
    stages = ("structure", "integrity", "exploration", "methodology", "modelling", "predictability", "stability")
    play = played(tmp_path, houses(60), "header.csv", "size,city\n", *stages, "report")
    assert (tmp_path / "model.pkl").exists()
    assert not (tmp_path / "predictions.csv").exists()
    assert "predictions" not in play.steps
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert summary["predictions"] is None
    assert summary["no_predictions_because"] == "The test file header.csv has no rows of data."
    assert "- No predictions were made: The test file header.csv" in (tmp_path / "summary.md").read_text()
    said = next(text for text in play.texts if "No predictions were made" in text)
    assert said.startswith("**No predictions were made for `header.csv`.** The test file header.csv has no rows")


def test_damaged_lines_of_a_test_file_are_counted_where_predictions_are_spoken_of(tmp_path: Path) -> None:
    stages = ("structure", "integrity", "exploration", "methodology", "modelling", "predictability", "stability")
    test = houses(20, 2).replace("\n", ",1,2,3\n", 3).replace(",1,2,3\n", "\n", 1)
    play = played(tmp_path, houses(60), "test.csv", test, *stages, "report")
    assert "**2 lines of the test file could not be read as rows and have no prediction.**" in play.prose
    assert len((tmp_path / "predictions.csv").read_text().splitlines()) == 1 + 18


def test_a_parquet_file_that_is_damaged_inside_is_seen(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"size": [float(i) for i in range(5000)]}).to_parquet(tmp_path / "whole.parquet")
    content = bytearray((tmp_path / "whole.parquet").read_bytes())
    content[4:2000] = bytes(1996)
    play = played(tmp_path, houses(60), "test.parquet", bytes(content), "structure")
    assert play.names["test_problem"] == "The test file test.parquet holds no table that can be read."


@pytest.mark.parametrize(
    ("target", "lang", "words"),
    [
        ("price", "en", "- No model was made: too few rows\n"),
        ("price", "zh", "- 没有建立模型：有目标值的行太少\n"),
        ("", "en", "- No model was made: no target was named\n"),
    ],
)
def test_a_summary_without_a_model_says_why(tmp_path: Path, target: str, lang: str, words: str) -> None:
    (tmp_path / "houses.csv").write_text(houses(12), encoding="utf-8")
    told = {"target": target, "targets": [target]} if target else {}
    play = Rehearsal(inputs={"data": "houses.csv", **told}, lang=lang)
    with at_work_in(tmp_path):
        for stage in ("structure", "integrity", "report"):
            play.play(stage)
    written = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert words in written
    assert "None" not in written
