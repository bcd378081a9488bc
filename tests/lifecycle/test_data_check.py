"""Only what is certain is refused: files that a look at their beginning cannot read are left to the run's own cells."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from notebook_bcc.errors import RunRefused
from notebook_bcc.lifecycle.data_check import check_data
from notebook_bcc.lifecycle.data_files import DataSpec
from notebook_bcc.lifecycle.heads.head import HEAD_BYTES
from notebook_bcc.lifecycle.heads.reading import read_head

PLAIN = "id,size,Sale Price\n1,2,3\n2,3,4\n"


@pytest.mark.parametrize(
    ("content", "target"),
    [
        (PLAIN, "Sale Price"),
        (PLAIN, "sale  price"),
        (PLAIN, " SALE PRICE "),
        (PLAIN, "sale_price"),
        (PLAIN, "SalePrice"),
        ("1,2,3\n4,5,6\n", "column_3"),
        ("red,x\nblue,y\nred,x\n", "column_2"),
        ("# made by hand\n" + PLAIN, "Sale Price"),
        ("# a,b,c\n" + PLAIN, "Sale Price"),
        ("Report,,\n" + PLAIN, "Sale Price"),
        (PLAIN + "1,2\n", "made later"),
        (PLAIN + "1,2,3,4\n", "made later"),
        ("a;b\n1,5;2,5\n2,5;1,5\n", "b"),
        ("a b c\n1 2 3\n2 3 4\n", "c"),
        ("x,x,\n1,2,3\n2,3,4\n", "x_2"),
        ("x,x,\n1,2,3\n2,3,4\n", "column_3"),
        ("price\n1\n2\n", "price"),
        ('"a ""b""","c\nd"\n1,2\n2,3\n', "c d"),
        ('"a,b\n1,2\n', "b"),
        ("\ufeff价格,面积\n1,2\n2,3\n", "价格"),
        ("价格,面积\n1,2\n2,3\n".encode("gb18030"), "价格"),
        ("價格,面積\n1,2\n2,3\n".encode("big5"), "價格"),
        ("Größe,b\n1,2\n2,3\n".encode("latin-1"), "Größe"),
        ("名前,b\n1,2\n2,3\n".encode("shift_jis"), "名前"),
        ("价格,面积\n1,2\n2,3\n".encode("utf-16"), "价格"),
        ("a,b\n1,2\n2,3\n".encode("utf-16-le"), "b"),
        (b"\x89PNG\r\n\x1a\n\x00\x00,\n", "x"),
        ('{"a": 1}\n{"b": 2}\n{"b": 3}\n', "b"),
        ('{"rows": [{"a": {"b": 1}}, {"a": {"b": 2}}]}', "a.b"),
        ('{"a": {"0": 1}, "b": {"0": 2}}', "b"),
        ("[[1, 2], [3, 4]]", "anything"),
        (b"PK\x03\x04 not an archive", "x"),
        (b"\x1f\x8b not packed", "x"),
        (b"SQLite format 3\x00 cut", "x"),
        (b"PAR1 cut", "x"),
        (b"ARROW1 cut", "x"),
    ],
)
def test_a_file_that_may_be_good_is_not_refused(tmp_path: Path, content: str | bytes, target: str) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    check_data(DataSpec(data=file, targets=(target,)))


@pytest.mark.parametrize(
    ("wish", "meant"), [("sale", "Sale Price"), ("Sale Pric", "Sale Price"), ("s", "size' or 'Sale Price")]
)
@pytest.mark.parametrize("keyword", ["target", "time", "group", "keep"])
def test_the_beginning_of_a_name_is_no_name_but_says_which_is_meant(
    tmp_path: Path, wish: str, meant: str, keyword: str
) -> None:
    file = tmp_path / "a.csv"
    file.write_text(PLAIN)
    named = {"target": {"targets": (wish,)}, "keep": {"keep": (wish,)}}.get(keyword, {keyword: wish})
    with pytest.raises(RunRefused, match=rf"--{keyword} '{wish}'.*no such column; did you mean '{meant}'\?"):
        check_data(DataSpec(data=file, **named))


def test_of_a_large_file_only_the_beginning_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    # The first bytes that are not looked at are the second half of a character.
    file.write_bytes("名,价\n".encode() + "一,二\n".encode() * (HEAD_BYTES // 3))
    head = read_head(file)
    assert head.names == ("名", "价")
    assert not head.whole
    check_data(DataSpec(data=file, targets=("价",)))
    with pytest.raises(RunRefused, match="no such column"):
        check_data(DataSpec(data=file, targets=("价格",)))


def test_a_part_of_a_column_that_the_run_makes_may_order_or_group_rows(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text(PLAIN)
    check_data(DataSpec(data=file, time="id_1", group="id_2"))
    with pytest.raises(RunRefused, match="did you mean 'Sale Price'"):
        check_data(DataSpec(data=file, time="sale price"))
    with pytest.raises(RunRefused, match=r"--group 'id_': .* did you mean 'id'"):
        check_data(DataSpec(data=file, group="id_"))


def test_a_test_file_may_lack_some_columns_and_have_others(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(PLAIN)
    (tmp_path / "b.csv").write_text("size,colour\n1,2\n")
    check_data(DataSpec(data=tmp_path / "a.csv", test=tmp_path / "b.csv", targets=("Sale Price",)))


def test_parquet_and_feather_files_tell_their_columns(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    table = pandas.DataFrame({"size": [1, 2], "price": [2, 3]})
    table.to_feather(tmp_path / "a.feather")
    (tmp_path / "folder").mkdir()
    table.to_parquet(tmp_path / "folder" / "1.parquet")
    table.to_parquet(tmp_path / "b.parquet")
    for name in ("a.feather", "folder", "b.parquet"):
        check_data(DataSpec(data=tmp_path / name, targets=("price",)))
        with pytest.raises(RunRefused, match="did you mean 'price'"):
            check_data(DataSpec(data=tmp_path / name, targets=("prize",)))
    table[:0].to_parquet(tmp_path / "b.parquet")
    with pytest.raises(RunRefused, match="no rows of data"):
        check_data(DataSpec(data=tmp_path / "b.parquet"))


def test_a_workbook_of_a_real_writer_is_read(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    table = pandas.DataFrame({"size": range(100), "town": ["a", "b"] * 50, "price": range(100)})
    with pandas.ExcelWriter(tmp_path / "a.xlsx") as book:
        table.to_excel(book, sheet_name="houses", index=False)
    assert read_head(tmp_path / "a.xlsx").names == ("size", "town", "price")
    assert read_head(tmp_path / "a.xlsx", sheet="none").parts == ("houses",)


ORDERED = """\
word,day,shop,same,number
red one,3 Jan 2020,a,x,1
blue two,4 Jan 2020,b,x,2
red 3,5 Jan 2020,a,x,3
grey,,b,x,4
"""


@pytest.mark.parametrize("form", ["csv", "parquet", "xlsx"])
def test_a_column_without_dates_orders_no_rows_and_one_without_repeats_groups_none(tmp_path: Path, form: str) -> None:
    pandas = pytest.importorskip("pandas")
    file = tmp_path / f"a.{form}"
    table = pandas.read_csv(io.StringIO(ORDERED))
    match form:
        case "csv":
            file.write_text(ORDERED)
        case "parquet":
            table.to_parquet(file)
        case _:
            table.to_excel(file, index=False)
    for column in ("day", "number"):
        check_data(DataSpec(data=file, time=column, group="shop"))
    with pytest.raises(RunRefused, match=r"--time 'word': .*no dates and no numbers.*; dates stand in 'day'"):
        check_data(DataSpec(data=file, time="word"))
    with pytest.raises(RunRefused, match=r"--group 'same': the column is the same in each row.*repeat in 'shop'"):
        check_data(DataSpec(data=file, group="same"))
    with pytest.raises(RunRefused, match=r"--group 'number': the column has a value of its own in each row"):
        check_data(DataSpec(data=file, group="number"))


@pytest.mark.parametrize(
    "shown",
    [
        "2020-01-02",
        "2020Q1",
        "Q1 2020",
        "Jan 2018",
        "Mon, 3rd of May 2021 4:05 PM",
        "12:30",
        "20200102",
        "2020年1月2日",
        "2020年第1季度",
        "2020-01-02T03:04:05Z",
        "17.5",
    ],
)
def test_whatever_may_be_a_date_is_left_to_the_run(tmp_path: Path, shown: str) -> None:
    (tmp_path / "a.csv").write_text(f"when,price\n{shown!r},1\n{shown!r},2\n".replace("'", '"'))
    check_data(DataSpec(data=tmp_path / "a.csv", time="when"))
