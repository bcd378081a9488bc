"""A file with new rows is read as it is written, and what differs from the run's file is said."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import pytest

from notebook_bcc.errors import RunRefused
from notebook_bcc.lifecycle.new_rows import rewrite
from notebook_bcc.protocol.predicting import Writing

NAMES = ("城市", "面积")
PLAIN = "城市,面积\n罗马,50.5\n奥斯陆,70.25\n"
GERMAN = PLAIN.replace(",", ";").replace(".", ",")
CHINESE = Writing(encoding="gb18030", separator=";", decimal=",")


NAMELESS = Writing(header=False)


@pytest.mark.parametrize(
    ("content", "expected", "said"),
    [
        ("town,size\nRome,50\nOslo,70\n", "Rome,50\nOslo,70\n", "has a line of names"),
        ("town;size\nRome;50,5\nOslo;70,5\n", "Rome,50.5\nOslo,70.5\n", "has a line of names"),
        ("面积,城市\n50,罗马\n", "面积,城市\n50,罗马\n", "columns are found by them"),
        ("Rome,50\nOslo,70\n", "Rome,50\nOslo,70\n", ""),
        ("Rome,Italy\nOslo,Norway\n", "Rome,Italy\nOslo,Norway\n", ""),
        ("Rome,\nOslo,70\n", "Rome,\nOslo,70\n", ""),
    ],
)
def test_a_line_of_names_is_no_row_for_a_model_that_learnt_without_names(
    tmp_path: Path, content: str, expected: str, said: str
) -> None:
    text, remark = rewritten(tmp_path, content.encode(), NAMELESS)
    assert (text, said in remark, bool(remark)) == (expected, True, bool(said))


@pytest.mark.parametrize(("has_names", "expected"), [(True, "Rome,50\n"), (False, "0,1\nRome,50\n")])
def test_who_knows_whether_there_are_names_is_believed(tmp_path: Path, has_names: bool, expected: str) -> None:
    (tmp_path / "new.csv").write_text("0,1\nRome,50\n")
    found = rewrite(tmp_path / "new.csv", NAMELESS, names=NAMES, scratch=tmp_path, has_names=has_names)
    assert found.path.read_text() == expected


def rewritten(path: Path, content: bytes, wanted: Writing, *, name: str = "new.csv") -> tuple[str, str]:
    """What would be read, and the remark."""
    (path / name).write_bytes(content)
    (path / "scratch").mkdir()
    found = rewrite(path / name, wanted, names=NAMES, scratch=path / "scratch")
    return found.path.read_bytes().decode(wanted.encoding), found.remark


@pytest.mark.parametrize(
    ("content", "wanted", "expected"),
    [
        (PLAIN.encode(), Writing(), PLAIN),
        (PLAIN.encode("utf-8-sig"), Writing(encoding="utf-8-sig"), PLAIN),
        (GERMAN.encode("gbk"), CHINESE, GERMAN),
        (b"a,b\n1,2\n", Writing(encoding="cp1252"), "a,b\n1,2\n"),
    ],
)
def test_a_file_that_is_written_alike_is_left_alone(
    tmp_path: Path, content: bytes, wanted: Writing, expected: str
) -> None:
    assert rewritten(tmp_path, content, wanted) == (expected, "")


@pytest.mark.parametrize(
    ("content", "wanted", "expected", "said"),
    [
        (PLAIN.encode(), CHINESE, GERMAN, ("encoding 'utf-8' (not 'gb18030')", "separator ','", "decimal sign '.'")),
        (GERMAN.encode("gbk"), Writing(), PLAIN, ("encoding 'gb18030' (not 'utf-8')", "separator ';'", "sign ','")),
        (PLAIN.encode("utf-16"), Writing(), PLAIN, ("encoding 'utf-16'",)),
        (PLAIN.replace(",", "\t").encode(), Writing(), PLAIN, ("separator '\\t' (not ',')",)),
    ],
)
def test_another_writing_is_said_in_one_line_and_read_right(
    tmp_path: Path, content: bytes, wanted: Writing, expected: str, said: tuple[str, ...]
) -> None:
    text, remark = rewritten(tmp_path, content, wanted)
    assert text == expected
    assert remark.startswith("new.csv is written in another way")
    assert "\n" not in remark
    for words in said:
        assert words in remark


def test_a_dot_between_thousands_is_no_decimal_sign(tmp_path: Path) -> None:
    german = "城市;面积\n罗马;1.500\n"
    assert rewritten(tmp_path, german.encode("gbk"), CHINESE) == (german, "")


def test_archives_are_unpacked(tmp_path: Path) -> None:
    assert rewritten(tmp_path, gzip.compress(PLAIN.encode()), Writing(), name="new.csv.gz") == (PLAIN, "")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("folder/new.csv", PLAIN)
    (tmp_path / "again").mkdir()
    assert rewritten(tmp_path / "again", buffer.getvalue(), Writing(), name="new.zip") == (PLAIN, "")


def test_rows_without_names_may_be_a_single_one(tmp_path: Path) -> None:
    assert rewritten(tmp_path, b"Rome,50\n", Writing(header=False)) == ("Rome,50\n", "")
    (tmp_path / "again").mkdir()
    text, remark = rewritten(tmp_path / "again", b"Rome;50,5\nOslo;70,5\n", Writing(header=False))
    assert text == "Rome,50.5\nOslo,70.5\n"
    assert "separator ';' (not ',')" in remark


@pytest.mark.parametrize(
    ("content", "wanted", "words"),
    [
        (b"", Writing(), "is empty"),
        (b"a,b\n", Writing(), "no rows of data"),
        (b"<!DOCTYPE html><html></html>", Writing(), "web page"),
        (b'[{"a": 1}]', Writing(), "is JSON, and the model learnt from text such as CSV"),
        (b"\xd0\xcf\x11\xe0" + bytes(600), Writing(), "is an Excel workbook"),
        (PLAIN.encode(), Writing(format="excel", header=False), "learnt from an Excel workbook"),
        (b'[{"a": 1}]', Writing(format="parquet"), "learnt from Parquet; save the rows in that format or as CSV"),
        (gzip.compress(PLAIN.encode() * 50, mtime=0)[:40], Writing(), "is damaged"),
    ],
)
def test_what_holds_no_such_rows_is_refused_in_plain_words(
    tmp_path: Path, content: bytes, wanted: Writing, words: str
) -> None:
    with pytest.raises(RunRefused, match=words) as refused:
        rewritten(tmp_path, content, wanted)
    assert "Error" not in str(refused.value)


@pytest.mark.parametrize("learnt", ["parquet", "feather", "excel", "json", "sqlite"])
def test_text_is_read_as_csv_by_a_model_that_learnt_from_another_format(tmp_path: Path, learnt: str) -> None:
    (tmp_path / "new.csv").write_bytes(GERMAN.encode("gbk"))
    found = rewrite(tmp_path / "new.csv", Writing(format=learnt), names=NAMES, scratch=tmp_path)
    assert found.is_csv
    assert found.path.read_text(encoding="utf-8") == PLAIN
    assert found.remark.startswith("new.csv is text, and the model learnt from ")
