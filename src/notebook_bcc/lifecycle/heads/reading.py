"""The head of a data file of any form: by its first bytes, because the ending of a name can be wrong."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Callable, Mapping
from io import BufferedIOBase
from pathlib import Path
from typing import Final

from notebook_bcc.lifecycle.heads.columnar import columnar_head
from notebook_bcc.lifecycle.heads.excel import WORKBOOK, excel_head
from notebook_bcc.lifecycle.heads.head import HEAD_BYTES, UNKNOWN, Head
from notebook_bcc.lifecycle.heads.sqlite import sqlite_head
from notebook_bcc.lifecycle.heads.text import text_head

SQLITE: Final = b"SQLite format 3\x00"
PARQUET: Final = b"PAR1"
FEATHER: Final = b"ARROW1"
ZIP: Final = b"PK\x03\x04"
PACKED: Final[Mapping[bytes, Callable[[Path], BufferedIOBase]]] = {
    b"\x1f\x8b": gzip.GzipFile,
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
}
# Old Excel, or a workbook with a password.
OLD_EXCEL: Final = b"\xd0\xcf\x11\xe0"
_LOCKED: Final = "EncryptedPackage".encode("utf-16-le")
# Neither text nor anything else that is looked into here: old Excel, PDF, an empty archive.
_OTHER: Final = (OLD_EXCEL, b"%PDF", b"PK\x05\x06", b"FEA1")
# What a damaged or locked file raises.
BROKEN: Final = (OSError, EOFError, RuntimeError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)


def read_head(path: Path, *, sheet: str = "", table: str = "") -> Head:
    """What the beginning of the file shows; UNKNOWN where only the run's own cells can tell. Never raises."""
    if path.is_dir():
        return columnar_head(path, "parquet")
    try:
        with path.open("rb") as file:
            start = file.read(16)
        if start.startswith(SQLITE):
            return sqlite_head(path, table=table)
        if start.startswith(PARQUET):
            return columnar_head(path, "parquet")
        if start.startswith(FEATHER):
            return columnar_head(path, "feather")
        if start.startswith(OLD_EXCEL):
            # All of it may be looked through: where in such a file its list of parts stands is not fixed.
            return Head(problem="is locked with a password") if _LOCKED in path.read_bytes() else UNKNOWN
        if start.startswith(ZIP):
            return _zip_head(path, sheet=sheet)
        unpacked = next((opener for magic, opener in PACKED.items() if start.startswith(magic)), None)
        with unpacked(path) if unpacked is not None else path.open("rb") as text:
            return _text_head(text.read)
    except BROKEN:
        return UNKNOWN


def _zip_head(path: Path, *, sheet: str) -> Head:
    with zipfile.ZipFile(path) as archive:
        members = [one for one in archive.infolist() if not one.is_dir() and "__MACOSX" not in one.filename]
        if any(one.filename == WORKBOOK for one in members):
            return excel_head(archive, sheet=sheet)
        if not members:
            return UNKNOWN
        with archive.open(max(members, key=lambda one: one.file_size)) as file:
            return _text_head(file.read)


def _text_head(read: Callable[[int], bytes]) -> Head:
    content = read(HEAD_BYTES + 1)
    if content.startswith((SQLITE, PARQUET, FEATHER, ZIP, *PACKED, *_OTHER)):
        return UNKNOWN
    whole = len(content) <= HEAD_BYTES
    if b"\x00" in content and not content.startswith((b"\xff\xfe", b"\xfe\xff")) and content.strip(b"\x00"):
        return UNKNOWN
    return text_head(content[:HEAD_BYTES], whole=whole)
