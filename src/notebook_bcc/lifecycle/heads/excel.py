"""The head of an Excel workbook: its sheets and their first rows. Only the XML of the archive is read."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from itertools import islice
from typing import IO, Final
from xml.etree import ElementTree

from notebook_bcc.lifecycle.heads.head import UNKNOWN, Head, headed

WORKBOOK: Final = "xl/workbook.xml"
_RELATIONS: Final = "xl/_rels/workbook.xml.rels"
_STRINGS: Final = "xl/sharedStrings.xml"
_MAIN: Final = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_LINK: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_MOST_ROWS: Final = 50
_MOST_STRINGS: Final = 100_000
_LARGEST_PART: Final = 5_000_000


def excel_head(archive: zipfile.ZipFile, *, sheet: str = "") -> Head:
    """The names of the sheets, and of the columns where it is certain which sheet is meant."""
    try:
        sheets = _sheets(archive)
        wanted = sheet or (next(iter(sheets)) if len(sheets) == 1 else "")
        if wanted not in sheets:
            return Head(parts=tuple(sheets))
        rows, whole = _rows(archive, sheets[wanted])
    except (KeyError, ValueError, OSError, zipfile.BadZipFile, ElementTree.ParseError):
        return UNKNOWN
    head = headed(rows, whole=whole) if rows and len({len(row) for row in rows}) == 1 else UNKNOWN
    return Head(names=head.names, rows=head.rows, whole=head.whole, parts=tuple(sheets))


def _sheets(archive: zipfile.ZipFile) -> dict[str, str]:
    """The sheets by name, each with its part of the archive."""
    links = {
        str(one.get("Id")): str(one.get("Target")).lstrip("/")
        for one in ElementTree.fromstring(_read(archive, _RELATIONS))
    }
    found = ElementTree.fromstring(_read(archive, WORKBOOK)).iter(f"{_MAIN}sheet")
    named = [(str(one.get("name")), links.get(str(one.get(_LINK)), "")) for one in found]
    return {name: part if part.startswith("xl/") else f"xl/{part}" for name, part in named}


def _read(archive: zipfile.ZipFile, part: str) -> bytes:
    if archive.getinfo(part).file_size > _LARGEST_PART:
        raise ValueError("this part is too large to be looked at")
    return archive.read(part)


def _rows(archive: zipfile.ZipFile, part: str) -> tuple[list[list[str]], bool]:
    with archive.open(part) as file:
        rows = list(islice(_elements(file, "row"), _MOST_ROWS + 1))
    strings = _strings(archive, rows)
    read = [_cells(row, strings) for row in rows]
    return [row for row in read[:_MOST_ROWS] if any(row)], len(rows) <= _MOST_ROWS


def _strings(archive: zipfile.ZipFile, rows: list[ElementTree.Element]) -> list[str]:
    """The texts that these rows refer to by number."""
    numbers = [int(cell.findtext(f"{_MAIN}v", "0")) for row in rows for cell in row if cell.get("t") == "s"]
    if not numbers:
        return []
    if max(numbers) > _MOST_STRINGS:
        raise ValueError("there are too many texts to look at")
    with archive.open(_STRINGS) as file:
        return ["".join(one.itertext()) for one in islice(_elements(file, "si"), max(numbers) + 1)]


def _elements(file: IO[bytes], tag: str) -> Iterator[ElementTree.Element]:
    return (element for _, element in ElementTree.iterparse(file) if element.tag == f"{_MAIN}{tag}")


def _cells(row: ElementTree.Element, strings: list[str]) -> list[str]:
    cells: list[str] = []
    for cell in row:
        at = _column(str(cell.get("r", ""))) or len(cells)
        cells += [""] * (at - len(cells))
        value = cell.findtext(f"{_MAIN}v", "")
        if cell.get("t") == "s":
            value = strings[int(value)]
        elif cell.get("t") == "inlineStr":
            value = "".join(cell.itertext())
        cells.append(value)
    return cells


def _column(reference: str) -> int:
    """The position of a cell such as C7, from 0."""
    letters = re.match(r"[A-Z]+", reference)
    position = 0
    for letter in letters.group() if letters else "":
        position = position * 26 + ord(letter) - ord("A") + 1
    return max(0, position - 1)
