"""Stage `structure` of the built-in playbook: archives, workbooks, databases, JSON, and files that hold no table."""

from __future__ import annotations

import bz2
import datetime
import gzip
import io
import json
import lzma
import sqlite3
import sys
import zipfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from playbooks.rehearsal import Rehearsal, at_work_in

CSV = "id,city,size\n" + "".join(f"{i},Rome,{i}.5\n" for i in range(1, 31))


def opened(
    folder: Path, name: str, data: bytes | str | None = None, test: tuple[str, bytes | str] | None = None, **inputs: Any
) -> Rehearsal:
    """The stage played on a file of this name (Any: inputs are whatever a run was told)."""
    files = {name: data, **dict([test] if test else [])}
    for each, content in files.items():
        if content is not None:
            (folder / each).write_bytes(content if isinstance(content, bytes) else content.encode())
    told = {"data": name, **inputs, **({"test": test[0]} if test else {})}
    play = Rehearsal(inputs=told, lang=inputs.get("lang", "en"))
    with at_work_in(folder):
        play.play("structure")
    return play


def zipped(members: Mapping[str, bytes | str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def named(value: object) -> str:
    """Archives carry the time they were made at: processes that share the tests must give them the same names."""
    return value if isinstance(value, str) else "data"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv.gz", gzip.compress(CSV.encode())),
        ("a.csv.bz2", bz2.compress(CSV.encode())),
        ("a.csv.xz", lzma.compress(CSV.encode())),
        ("a.zip", zipped({"readme.txt": "see below", "folder/a.csv": CSV, "__MACOSX/x": "x" * 5000})),
        ("wrong-ending.csv", gzip.compress(CSV.replace(",", ";").encode("utf-16"))),
    ],
    ids=named,
)
def test_archives_are_unpacked(tmp_path: Path, name: str, data: bytes) -> None:
    play = opened(tmp_path, name, data, (f"test-{name}", data))
    assert list(play.names["raw"].columns) == ["id", "city", "size"]
    assert play.names["row_count"] == play.names["test_row_count"] == 30


RECORDS = [{"id": i, "place": {"city": "Rome", "at": {"x": i}}, "tags": ["a", "b"]} for i in range(20)]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(RECORDS),
        "\n".join(map(json.dumps, RECORDS)),
        "\ufeff" + json.dumps({"meta": {"n": 20}, "rows": RECORDS}, indent=1),
    ],
)
def test_json_is_flattened_one_level(tmp_path: Path, text: str) -> None:
    play = opened(tmp_path, "a.json", text)
    raw = play.names["raw"]
    assert list(raw.columns) == ["id", "tags", "place.city", "place.at"]
    assert raw["tags"][0] == '["a", "b"]'
    assert raw["place.at"][3] == '{"x": 3}'
    assert play.names["row_count"] == 20


@pytest.mark.parametrize(
    "content",
    [
        {"a": [1, 2, 3], "b": ["x", "y", "z"]},
        {"a": {"0": 1, "1": 2, "2": 3}, "b": {"0": "x", "1": "y", "2": "z"}},
        [["a", "b"], [1, "x"], [2, "y"], [3, "z"]],
    ],
)
def test_json_by_columns_and_rows_is_a_table_too(tmp_path: Path, content: object) -> None:
    raw = opened(tmp_path, "a.json", json.dumps(content)).names["raw"]
    assert raw["a"].tolist() == [1, 2, 3]
    assert raw["b"].tolist() == ["x", "y", "z"]


def database(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "a.db")) as made:
        made.execute('CREATE TABLE "od""d" (id INTEGER, city TEXT)')
        made.executemany('INSERT INTO "od""d" VALUES (?, ?)', [(i, "Rome") for i in range(30)])
        made.execute("CREATE TABLE small (n INTEGER)")
        made.execute("INSERT INTO small VALUES (7)")
        made.commit()


def test_of_a_database_the_largest_table_is_read(tmp_path: Path) -> None:
    database(tmp_path)
    play = opened(tmp_path, "a.db")
    assert list(play.names["raw"].columns) == ["id", "city"]
    assert "`small` (1 rows)" in play.prose


def test_of_a_database_the_named_table_is_read(tmp_path: Path) -> None:
    database(tmp_path)
    assert opened(tmp_path, "a.db", table="small").names["raw"]["n"].tolist() == [7]


def test_a_table_that_is_not_there_ends_the_run_with_a_statement(tmp_path: Path) -> None:
    database(tmp_path)
    play = opened(tmp_path, "a.db", table="nowhere")
    assert play.names["readable"] is False
    assert "nowhere" in play.names["problem"]


def workbook(sheets: Mapping[str, str]) -> bytes:
    """The smallest file that is an Excel workbook to anyone who looks at its bytes."""
    return zipped(
        {"xl/workbook.xml": "<workbook/>", **{f"xl/worksheets/{name}.xml": text for name, text in sheets.items()}}
    )


def test_a_workbook_without_its_package_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)  # as Python says that there is none
    play = opened(tmp_path, "a.xlsx", workbook({}))
    assert play.names["readable"] is False
    assert "openpyxl" in play.names["problem"]


def test_a_parquet_file_without_its_package_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    play = opened(tmp_path, "a.parquet", b"PAR1....PAR1")
    assert "pyarrow" in play.names["problem"]
    assert play.steps == ["setup", "open"]


def test_of_a_workbook_the_fullest_sheet_is_read_from_where_its_table_begins(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"id": range(30), "id ": range(30), "city": ["Rome", "-"] * 15, "code": ["007"] * 30})
    with pandas.ExcelWriter(tmp_path / "a.xlsx") as book:
        pandas.DataFrame({"note": ["x"]}).to_excel(book, sheet_name="notes", index=False)
        table.to_excel(book, sheet_name="data", index=False, startrow=2)
        book.sheets["data"]["A1"] = "A title"
    play = opened(tmp_path, "a.xlsx")
    assert list(play.names["raw"].columns) == ["id", "id_2", "city", "code"]
    assert play.names["raw"]["city"].isna().sum() == 15
    assert play.names["raw"]["id"].tolist() == list(range(30))
    assert opened(tmp_path, "a.xlsx", sheet="notes").names["raw"]["note"].tolist() == ["x"]
    assert "no sheet" in opened(tmp_path, "a.xlsx", sheet="none").names["problem"]


def test_a_damaged_workbook_is_said(tmp_path: Path) -> None:
    assert "cannot be opened" in opened(tmp_path, "a.xlsx", workbook({})).names["problem"]


def test_parquet_files_are_read_with_their_types(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"n": [1, 2], "list": [[1], [2, 3]], "day": pandas.to_datetime(["2020-01-01"] * 2)}).to_parquet(
        tmp_path / "a.parquet"
    )
    raw = opened(tmp_path, "a.parquet").names["raw"]
    assert raw["n"].tolist() == [1, 2]
    assert str(raw["day"].dtype).startswith("datetime64")
    assert "damaged" in opened(tmp_path, "b.parquet", b"PAR1....PAR1").names["problem"]


@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_bytes_in_a_file_are_texts(tmp_path: Path, form: str) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"n": [1, 2, 3], "code": [b"AB", None, "ü".encode()]})
    getattr(table, f"to_{form}")(tmp_path / f"a.{form}")
    raw = opened(tmp_path, f"a.{form}").names["raw"]
    assert raw["code"].fillna("").tolist() == ["AB", "", "ü"]


@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_columns_of_arrow_types_are_ordinary_ones(tmp_path: Path, form: str) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    noon = datetime.time(12, 30)
    table = pandas.DataFrame(
        {
            "n": pandas.Series([1, None, 3], dtype="int64[pyarrow]"),
            "at": pandas.Series([noon] * 3, dtype="time64[us][pyarrow]"),
            "town": pandas.Series(["Rome", None, "Ulm"], dtype="string[pyarrow]"),
        }
    )
    getattr(table, f"to_{form}")(tmp_path / f"a.{form}")
    raw = opened(tmp_path, f"a.{form}").names["raw"]
    assert [str(kind) for kind in raw.dtypes][:2] == ["float64", "object"]
    assert raw["at"].tolist() == [noon] * 3


def test_a_folder_of_parquet_files_is_one_table(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    for year in (2020, 2021):
        (tmp_path / "sales" / f"year={year}").mkdir(parents=True)
        pandas.DataFrame({"n": [1, 2]}).to_parquet(tmp_path / "sales" / f"year={year}" / "part.parquet")
    raw = opened(tmp_path, "sales").names["raw"]
    assert raw["n"].tolist() == [1, 2, 1, 2]
    assert raw["year"].astype(int).tolist() == [2020, 2020, 2021, 2021]


def test_feather_files_are_read_with_their_types(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"n ": [1, 2], "day": pandas.to_datetime(["2020-01-01"] * 2)}).to_feather(tmp_path / "a.feather")
    play = opened(tmp_path, "a.feather")
    assert play.names["raw"]["n"].tolist() == [1, 2]
    assert str(play.names["raw"]["day"].dtype).startswith("datetime64")
    assert "Feather" in " ".join(play.texts)
    assert "damaged" in opened(tmp_path, "b.feather", b"ARROW1....ARROW1").names["problem"]


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("empty.csv", b"", "empty"),
        ("blank.csv", b"\xef\xbb\xbf\n\n  \r\n", "empty"),
        ("commas.csv", b",,,\n,,,\n", "empty"),
        ("picture.csv", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "no table"),
        ("zeros.csv", bytes(4000), "empty"),
        ("paper.csv", b"%PDF-1.4\n1 0 obj\n", "no table"),
        ("page.csv", b"<!DOCTYPE html>\n<html><body>404, not found</body></html>\n", "web page"),
        ("cut.csv.gz", gzip.compress(CSV.encode() * 50)[:60], "damaged"),
        ("cut.zip", zipped({"a.csv": CSV})[:60], "no table"),
        ("nothing.zip", zipped({}), "no table"),
        ("twice.zip", zipped({"a.csv.gz": gzip.compress(CSV.encode())}), "archive inside"),
        ("broken.json", '[{"a": 1}, {"a": ', "broken"),
        ("none.json", "[]", "no records"),
        ("header.csv", "a,b,c\n", "no rows"),
        ("header-only.csv", "a;b;c", "no rows"),
        ("broken.db", b"SQLite format 3\x00" + b"\x07" * 3000, "cannot be opened"),
    ],
    ids=named,
)
def test_a_file_without_a_table_ends_in_a_clear_statement(
    tmp_path: Path, name: str, data: bytes | str, words: str
) -> None:
    play = opened(tmp_path, name, data)
    assert play.names["readable"] is False
    assert words in play.names["problem"]
    assert play.names["can_model"] is False
    assert play.names["problem"] in play.prose.replace("\\", "")
    assert play.steps[-1] in ("open", "load")
    assert any(each.startswith("workflow") for each in play.replans)


@pytest.mark.parametrize(("data", "words"), [(b"", "空文件"), ("a,b\n", "没有数据行")])
def test_the_statement_is_in_the_language_of_the_run(tmp_path: Path, data: bytes | str, words: str) -> None:
    assert words in opened(tmp_path, "a.csv", data, lang="zh").names["problem"]


def test_a_text_that_is_called_an_archive_is_read_as_text(tmp_path: Path) -> None:
    assert opened(tmp_path, "a.csv.gz", CSV).names["row_count"] == 30


def test_half_precision_bytes_and_infinity_are_read_and_described(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    table = pandas.DataFrame(
        {
            "half": pandas.Series(range(40), dtype="float16"),
            "code": [bytes([200 + at % 3]) for at in range(40)],
            "flow": [float("inf") if at % 9 == 0 else at * 1.5 for at in range(40)],
        }
    )
    table.to_parquet(tmp_path / "t.parquet")
    described = Rehearsal(inputs={"data": "t.parquet", "asked_task": "describe", "lang": "en"})
    asked = Rehearsal(inputs={"data": "t.parquet", "goal": "mean of flow", "lang": "en"})
    with at_work_in(tmp_path):
        for play, last in ((described, "describe"), (asked, "answer")):
            play.play("structure")
            play.play(last)
    assert described.names["raw"]["half"].dtype == "float32"
    assert described.names["raw"]["code"].nunique() == 3
    assert asked.names["answer"] == table["flow"][table["flow"] < 1e9].mean()
