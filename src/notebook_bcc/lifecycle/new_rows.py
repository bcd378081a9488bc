"""A file with new rows, brought into the writing of the file that a model learnt from.

Only what is evident is changed: another encoding, another separator, another decimal sign, an archive around it.
"""

from __future__ import annotations

import codecs
import csv
import re
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import IO, Final

from notebook_bcc.errors import RunRefused
from notebook_bcc.lifecycle.heads.excel import WORKBOOK
from notebook_bcc.lifecycle.heads.head import HEAD_BYTES, clean_names
from notebook_bcc.lifecycle.heads.reading import BROKEN, FEATHER, OLD_EXCEL, PACKED, PARQUET, SQLITE, ZIP, read_head
from notebook_bcc.protocol.predicting import Writing

_FORMATS: Final[Mapping[bytes, str]] = {
    SQLITE: "sqlite",
    PARQUET: "parquet",
    FEATHER: "feather",
    b"FEA1": "feather",
    OLD_EXCEL: "excel",
    ZIP: "excel",
}
_JSON: Final = re.compile(rb'(\xef\xbb\xbf)?\s*(\{\s*["}]|\[\s*[\[{\]])')
_WORDS: Final[Mapping[str, str]] = {
    "text": "text such as CSV",
    "excel": "an Excel workbook",
    "json": "JSON",
    "sqlite": "an SQLite database",
    "parquet": "Parquet",
    "feather": "a Feather file",
}
_SEPARATORS: Final = (",", ";", "\t", "|")
_BOMS: Final[Mapping[bytes, str]] = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
# In groups of three, digits may be thousands: such a number does not tell the decimal sign.
_DECIMAL_COMMA: Final = re.compile(r"[+-]?(?:\d+,(?:\d{1,2}|\d{4,})|0,\d+)")
_DECIMAL_POINT: Final = re.compile(r"[+-]?(?:\d*\.(?:\d{1,2}|\d{4,})|0\.\d+)")
_WITH_COMMA: Final = re.compile(r"[+-]?\d*,\d+")
_WITH_POINT: Final = re.compile(r"[+-]?\d*\.\d+")
_NUMBER: Final = re.compile(r"[+-]?\d[\d.,]*(?:[eE][+-]?\d+)?")
_LINES_LOOKED_AT: Final = 200


@dataclass(frozen=True, slots=True)
class NewRows:
    """A file that can be read as the run's own was, and what was different about it, if anything.

    `is_csv`: the run's own was none; this one is CSV in UTF-8, with names, commas and decimal points.
    """

    path: Path
    remark: str = ""
    is_csv: bool = False


def rewrite(
    path: Path, wanted: Writing, *, names: Sequence[str], scratch: Path, has_names: bool | None = None
) -> NewRows:
    """The same rows in this writing, in `scratch` if it takes a new file. `names` are columns that it should have;
    `has_names` says whether the first line of a text holds names, None that it shall be looked for.

    Raises RunRefused where the file has no rows, or is of another format.
    """
    problem = read_head(path).problem
    # A single line has names only if the file is one with names.
    if problem and (wanted.header or "line of names" not in problem):
        raise RunRefused(f"{str(path)!r} {problem}: there is nothing to predict")
    try:
        plain = _unpack(path, scratch)
        found = _format_of(plain)
        if found == "text" and wanted.format != "text" and wanted.header:
            return _csv(plain, path.name, wanted, names, scratch)
        if found != wanted.format:
            other = "" if wanted.format == "text" else " or as CSV"
            raise RunRefused(
                f"{str(path)!r} is {_WORDS.get(found, found)}, and the model learnt from "
                f"{_WORDS.get(wanted.format, wanted.format)}; save the rows in that format{other}"
            )
        if found == "text" and not wanted.header:
            return _nameless(plain, path.name, wanted, names, scratch, has_names=has_names)
        return _rewrite_text(plain, path.name, wanted, names, scratch) if found == "text" else NewRows(plain)
    except BROKEN as error:
        raise RunRefused(f"{str(path)!r} cannot be read: it is damaged, or locked with a password") from error


def _csv(path: Path, name: str, wanted: Writing, names: Sequence[str], scratch: Path) -> NewRows:
    learnt = _WORDS.get(wanted.format, wanted.format)
    rows = _rewrite_text(path, name, Writing(), names, scratch)
    return NewRows(rows.path, f"{name} is text, and the model learnt from {learnt}: read as CSV", is_csv=True)


def _nameless(
    path: Path, name: str, wanted: Writing, names: Sequence[str], scratch: Path, *, has_names: bool | None
) -> NewRows:
    """Rows for a model whose own file had no names: a line of names must not be predicted as if it were a row."""
    encoding = _encoding_of(_start(path, HEAD_BYTES), wanted.encoding)
    lines = _lines(path, encoding)
    separator = _separator_of(lines, wanted, names)
    first, *rest = list(csv.reader(lines, delimiter=separator)) or [[]]
    if names and {*names} <= {*clean_names(first)}:
        rows = _rewrite_text(path, name, Writing(), names, scratch)
        return NewRows(rows.path, f"{name} has names, and the run's file had none: columns are found by them", True)
    if has_names is False or not (has_names or _looks_like_names(first, rest)):
        return _rewrite_text(path, name, wanted, names, scratch)
    bare = scratch / "rows-without-names.csv"
    with bare.open("w", encoding=encoding, errors="replace", newline="") as file:
        records = _records(path, encoding, separator)
        next(records)
        csv.writer(file, delimiter=separator, lineterminator="\n").writerows(records)
    rows = _rewrite_text(bare, name, wanted, names, scratch)
    remark = f"{name} has a line of names, and the run's file had none: columns are taken in their order"
    return NewRows(rows.path, f"{remark}. {rows.remark}" if rows.remark else remark)


def _looks_like_names(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Whether no field of the first line is a number, and some column has nothing but numbers below it."""
    if not rest or not all(first) or any(_NUMBER.fullmatch(one.strip()) for one in first):
        return False
    columns = ([row[at].strip() for row in rest if at < len(row) and row[at].strip()] for at in range(len(first)))
    return any(column and all(_NUMBER.fullmatch(one) for one in column) for column in columns)


def _unpack(path: Path, scratch: Path) -> Path:
    """What an archive holds, as a file of its own; a file that is none stays where it is."""
    if path.is_dir():
        return path
    start = _start(path, 16)
    opener = next((opener for magic, opener in PACKED.items() if start.startswith(magic)), None)
    if opener is not None:
        with opener(path) as packed:
            return _copied(packed, scratch / f"unpacked-{path.stem}")
    if start.startswith(ZIP):
        with zipfile.ZipFile(path) as archive:
            members = [one for one in archive.infolist() if not one.is_dir() and "__MACOSX" not in one.filename]
            if members and not any(one.filename == WORKBOOK for one in members):
                largest = max(members, key=lambda one: one.file_size)
                with archive.open(largest) as packed:
                    return _copied(packed, scratch / f"unpacked-{Path(largest.filename).name}")
    return path


def _copied(source: IO[bytes] | BufferedIOBase, target: Path) -> Path:
    with target.open("wb") as file:
        shutil.copyfileobj(source, file)
    return target


def _format_of(path: Path) -> str:
    if path.is_dir():
        return "parquet"
    start = _start(path, 4096)
    return next((kind for magic, kind in _FORMATS.items() if start.startswith(magic)), "") or (
        "json" if _JSON.match(start) else "text"
    )


def _start(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        return file.read(size)


def _rewrite_text(path: Path, name: str, wanted: Writing, names: Sequence[str], scratch: Path) -> NewRows:
    encoding = _encoding_of(_start(path, HEAD_BYTES), wanted.encoding)
    lines = _lines(path, encoding)
    separator = _separator_of(lines, wanted, names)
    decimal = _decimal_of(lines, separator, wanted.decimal)
    differ = [
        f"{what} {found.removesuffix('-sig')!r} (not {own.removesuffix('-sig')!r})"
        for what, found, own in (
            ("encoding", encoding, wanted.encoding),
            ("separator", separator, wanted.separator),
            ("decimal sign", decimal, wanted.decimal),
        )
        if found != own
    ]
    if not differ:
        return NewRows(path)
    written = scratch / "rows.csv"
    with written.open("w", encoding=wanted.encoding, errors="replace", newline="") as file:
        writer = csv.writer(file, delimiter=wanted.separator, lineterminator="\n")
        for row in _records(path, encoding, separator):
            writer.writerow(row if decimal == wanted.decimal else [_with_sign(one, decimal, wanted) for one in row])
    return NewRows(
        written, f"{name} is written in another way than the run's file and read as it is: {', '.join(differ)}"
    )


def _with_sign(field: str, decimal: str, wanted: Writing) -> str:
    text = field.strip()
    is_number = _WITH_COMMA.fullmatch(text) if decimal == "," else _WITH_POINT.fullmatch(text)
    return field.replace(decimal, wanted.decimal) if is_number else field


def _records(path: Path, encoding: str, separator: str) -> Iterator[list[str]]:
    with path.open(encoding=encoding, errors="replace", newline="") as file:
        yield from csv.reader(file, delimiter=separator)


def _encoding_of(start: bytes, own: str) -> str:
    """The encoding, the run's own where it fits. Text beyond ASCII that is valid UTF-8 is nothing else."""
    for bom, name in _BOMS.items():
        if start.startswith(bom):
            return own if own.startswith(name) else name
    utf_8 = own if own in ("utf-8", "utf-8-sig") else "utf-8-sig"
    for encoding in (own,) if start.isascii() and not own.startswith("utf-16") else (utf_8, own, "gb18030", "cp1252"):
        try:
            codecs.getincrementaldecoder(encoding)().decode(start)
        except UnicodeDecodeError:
            continue
        return encoding
    return "latin-1"


def _lines(path: Path, encoding: str) -> list[str]:
    with path.open(encoding=encoding, errors="replace", newline="") as file:
        return [line for line, _ in zip(file, range(_LINES_LOOKED_AT), strict=False)]


def _separator_of(lines: Sequence[str], wanted: Writing, names: Sequence[str]) -> str:
    """The separator that yields most of the names, or cuts every row where there are none; the run's own in doubt."""
    if wanted.separator not in _SEPARATORS:
        return wanted.separator
    known = set(names)

    def worth(separator: str) -> tuple[int, bool]:
        rows = list(csv.reader(lines, delimiter=separator))
        if wanted.header:
            fits = max((len(known & set(clean_names(row))) for row in rows), default=0)
        else:
            # Without names: decimal commas cut rows too, so any other separator counts for more.
            fits = (separator != ",") + 1 if all(len(row) > 1 for row in rows) else 0
        return fits, separator == wanted.separator

    return max(_SEPARATORS, key=worth)


def _decimal_of(lines: Sequence[str], separator: str, own: str) -> str:
    """The other decimal sign where numbers are written with it and none with the run's own."""
    if separator not in _SEPARATORS:
        return own
    other = "," if own == "." else "."
    fields = [field.strip() for row in csv.reader(lines, delimiter=separator) for field in row]
    if any(_shows_decimal(field, own) for field in fields):
        return own
    return other if any(_shows_decimal(field, other) for field in fields) else own


def _shows_decimal(field: str, sign: str) -> bool:
    return bool(_DECIMAL_COMMA.fullmatch(field) if sign == "," else _DECIMAL_POINT.fullmatch(field))
