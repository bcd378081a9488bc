"""The head of an SQLite file: its tables and their columns. It is opened for reading alone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from notebook_bcc.lifecycle.heads.head import UNKNOWN, Head, clean_names

_MOST_TABLES = 200


def sqlite_head(path: Path, *, table: str = "") -> Head:
    """The tables, and the names of the columns of the wanted one; without one, of all of them together."""
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1", uri=True)) as database:
            found = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            tables = tuple(str(name) for (name,) in found)
            wanted = [one for one in tables if not table or one == table][:_MOST_TABLES]
            names = [name for one in wanted for name in _columns(database, one)]
            filled = any(database.execute(f"SELECT 1 FROM {_quoted(one)} LIMIT 1").fetchone() for one in wanted)
    except sqlite3.Error:
        return UNKNOWN
    if not tables:
        return Head(problem="is a database without tables")
    if wanted and not filled:
        return Head(parts=tables, problem="has no rows of data")
    certain = bool(wanted) and len(tables) <= _MOST_TABLES
    return Head(names=clean_names(list(dict.fromkeys(names))) if certain else None, parts=tables)


def _columns(database: sqlite3.Connection, table: str) -> list[str]:
    return [str(row[1]) for row in database.execute(f"PRAGMA table_info({_quoted(table)})")]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
