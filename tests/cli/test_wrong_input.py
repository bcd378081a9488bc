"""Wrong input is refused with what is wrong and what there is, before a run exists: a table, through the real command
line."""

from __future__ import annotations

import gzip
import io
import json
import os
import sqlite3
import zipfile
from contextlib import closing
from importlib.util import find_spec

import pytest

from cli.books import write_book
from cli.shell import Shell
from notebook_bcc.cli.codes import Exit

HOUSES = "id,size,SalePrice,sale date\n" + "".join(f"{i},{i * 3},{i * 7},2020-01-{i:02d}\n" for i in range(1, 30))


def workbook(**sheets: list[list[str]]) -> bytes:
    """A workbook as small as one can be: texts in place, no styles."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    rel = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    names = "".join(f'<sheet name="{name}" sheetId="{i}" r:id="r{i}"/>' for i, name in enumerate(sheets, 1))
    links = "".join(f'<Relationship Id="r{i}" Target="worksheets/sheet{i}.xml"/>' for i, _ in enumerate(sheets, 1))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{main}" xmlns:r="{rel}"><sheets>{names}</sheets></workbook>'
        )
        archive.writestr("xl/_rels/workbook.xml.rels", f"<Relationships>{links}</Relationships>")
        for i, rows in enumerate(sheets.values(), 1):
            cells = "".join(
                "<row>" + "".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in row) + "</row>"
                for row in rows
            )
            archive.writestr(
                f"xl/worksheets/sheet{i}.xml", f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>'
            )
    return buffer.getvalue()


@pytest.fixture
def place(shell: Shell) -> Shell:
    """A folder with good files and bad ones, and a playbook that needs no packages."""
    write_book(shell.folder / "book")
    rows = [line.split(",") for line in HOUSES.splitlines()]
    contents: dict[str, str | bytes] = {
        "houses.csv": HOUSES,
        "houses.csv.gz": gzip.compress(HOUSES.encode()),
        "german.csv": HOUSES.replace("size", "Größe").replace(",", ";").encode("latin-1"),
        "chinese.csv": HOUSES.replace("SalePrice", "价格").encode("gb18030"),
        "wide.csv": HOUSES.encode("utf-16"),
        "empty.csv": "",
        "blank.csv": "\n \n,,\n",
        "header.csv": "size,SalePrice\n",
        "same.csv": "size,price\n" + "".join(f"{i},5\n" for i in range(30)),
        "holes.csv": "size,price\n" + "".join(f"{i},\n" for i in range(30)),
        "two.csv": "sale price,sale year\n" + "".join(f"{i},{i}\n" for i in range(30)),
        "page.csv": "<!DOCTYPE html><html><body>404</body></html>",
        "broken.json": '[{"size": 1, "price": ',
        "houses.json": json.dumps([{"size": i, "house": {"price": i * 2}} for i in range(30)]),
        "none.json": "[]",
        "book.xlsx": workbook(Houses=rows, Notes=[["x"]]),
        "other.csv": "colour,weight\nred,1\nblue,2\n",
        "notes.txt": "x\n",
        "old.xls": b"\xd0\xcf\x11\xe0" + bytes(4096),
        "misnamed.csv": b"\xd0\xcf\x11\xe0" + bytes(4096),
        "locked.xlsx": b"\xd0\xcf\x11\xe0" + bytes(4096) + "EncryptedPackage".encode("utf-16-le"),
    }
    for name, content in contents.items():
        (shell.folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    for name, statement in {"full.db": "INSERT INTO houses VALUES (1, 2)", "hollow.db": "SELECT 1"}.items():
        with closing(sqlite3.connect(shell.folder / name)) as database, database:
            database.execute("CREATE TABLE houses (size, price)")
            database.execute(statement)
    with closing(sqlite3.connect(shell.folder / "bare.db")) as database:
        database.execute("VACUUM")
    (shell.folder / "folder").mkdir()
    shell.write("folder/a.csv", HOUSES)
    shell.write("folder/.hidden.csv", HOUSES)
    (shell.folder / "vacant").mkdir()
    os.mkfifo(shell.folder / "pipe.csv")
    return shell


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        # where there is no file
        (
            ("https://example.org/a.csv",),
            ("'https://example.org/a.csv' is an address", "curl -LO https://example.org/a.csv"),
        ),
        (("s3://bucket/a.parquet",), ("'s3://bucket/a.parquet' is an address", "download it first\n")),
        (("hosues.csv",), ("does not exist", "did you mean 'houses.csv'")),
        (("nowhere/houses.csv",), ("'nowhere/houses.csv' does not exist",)),
        (("folder",), ("is a folder", "'folder/a.csv'")),
        (("vacant/",), ("is a folder without Parquet files",)),
        (("pipe.csv",), ("no regular file",)),
        (("houses",), ("does not exist", "'houses.csv'")),
        (("houses.csv", "--test", "https://example.org/b.csv"), ("is an address",)),
        (("houses.csv", "--test", "folder"), ("is a folder",)),
        # where the file holds no table
        (("empty.csv",), ("'empty.csv' is empty",)),
        (("blank.csv",), ("'blank.csv' is empty",)),
        (("header.csv", "--target", "SalePrice"), ("'header.csv' has a line of names and no rows of data",)),
        (("page.csv",), ("is a web page or XML",)),
        (("broken.json",), ("is JSON that is broken",)),
        (("none.json",), ("is JSON without any records",)),
        (("bare.db",), ("is a database without tables",)),
        (("hollow.db",), ("has no rows of data",)),
        (("locked.xlsx",), ("'locked.xlsx' is locked with a password",)),
        # where it has no such part
        (("book.xlsx", "--sheet", "House"), ("--sheet 'House'", "did you mean 'Houses'", "'Notes'")),
        (("full.db", "--table", "hosues"), ("--table 'hosues'", "did you mean 'houses'")),
        # where it has no such column
        (("houses.csv", "--target", "SalePrise"), ("--target 'SalePrise'", "did you mean 'SalePrice'", "'sale date'")),
        (("houses.csv", "--target", "SalePrice", "--target", "weight"), ("--target 'weight'", "'id', 'size'")),
        (("houses.csv.gz", "--target", "SalePrise"), ("did you mean 'SalePrice'",)),
        (("german.csv", "--target", "Prise"), ("no such column", "'SalePrice'")),
        (("chinese.csv", "--target", "SalePrice"), ("no such column", "'价格'")),
        (("wide.csv", "--target", "价格"), ("no such column", "'SalePrice'")),
        (("houses.json", "--target", "house.prize"), ("did you mean 'house.price'",)),
        (("full.db", "--target", "prize"), ("did you mean 'price'",)),
        (("book.xlsx", "--sheet", "Houses", "--target", "SalePrise"), ("did you mean 'SalePrice'",)),
        (("houses.csv", "--target", "SalePric"), ("--target 'SalePric'", "did you mean 'SalePrice'?")),
        (("two.csv", "--target", "sale"), ("did you mean 'sale price' or 'sale year'?",)),
        (
            ("houses.csv", "--target", "SalePrice", "--time", "Sale Date"),
            ("--time 'Sale Date'", "did you mean 'sale date'"),
        ),
        (("houses.csv", "--target", "SalePrice", "--group", "owner"), ("--group 'owner'", "'id', 'size'")),
        # where there is nothing to predict, or to predict with
        (("same.csv", "--target", "price"), ("has no value but '5'",)),
        (("holes.csv", "--target", "price"), ("has no values",)),
        (("houses.csv", "--target", "SalePrice", "--test", "header.csv"), ("'header.csv'", "no rows of data")),
        (("houses.csv", "--target", "SalePrice", "--test", "empty.csv"), ("'empty.csv' is empty",)),
        (
            ("houses.csv", "--target", "SalePrice", "--test", "other.csv"),
            ("none of the columns of 'houses.csv'", "'colour'"),
        ),
    ],
)
def test_wrong_input_is_refused_before_a_run_exists(
    place: Shell, arguments: tuple[str, ...], messages: tuple[str, ...]
) -> None:
    done = place("run", *arguments, "--playbook", "book")
    assert done.returncode == Exit.USAGE, done.stdout + done.stderr
    assert done.stderr.startswith("nbcc: ")
    for message in messages:
        assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert place.runs == []


def test_what_only_the_cells_can_see_ends_without_an_answer(shell: Shell) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    (shell.folder / "picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    done = shell("run", "picture.csv", "--target", "price", "--no-verify")
    assert done.returncode == Exit.UNANSWERED, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert "NOT answered: Nothing was analysed. The file picture.csv is no table" in last


@pytest.mark.skipif(find_spec("xlrd") is not None, reason="old workbooks can be read here")
@pytest.mark.parametrize("arguments", [("old.xls",), ("misnamed.csv",), ("houses.csv", "--test", "old.xls")])
def test_an_old_workbook_is_refused_with_what_to_do(place: Shell, arguments: tuple[str, ...]) -> None:
    pytest.importorskip("sklearn")
    done = place("run", *arguments, "--target", "SalePrice")
    assert done.returncode == Exit.USAGE, done.stdout + done.stderr
    assert "is an old Excel workbook (.xls): save it as .xlsx, or install xlrd" in done.stderr
    assert done.stderr.count("\n") == 1
    assert place.runs == []
