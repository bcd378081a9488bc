"""A journal that an earlier version wrote is read as it was meant."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import FORMAT_VERSION, Warned
from notebook_bcc.journal.sqlite.journal import SqliteJournal

FIXTURES = Path(__file__).parents[1] / "fixtures"
FORMATS = [f"journal-v{version}" for version in range(1, FORMAT_VERSION + 1)]

pytestmark = pytest.mark.anyio


def missing_from(actual: Any, expected: Any, path: str = "") -> list[str]:
    """Where `expected` is not part of `actual`: a later version may know more fields, and may not know others."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        absent = [f"{path}.{key} is gone" for key in expected.keys() - actual.keys()]
        both = expected.keys() & actual.keys()
        return absent + [text for key in both for text in missing_from(actual[key], expected[key], f"{path}.{key}")]
    if isinstance(expected, list) and isinstance(actual, list) and len(actual) == len(expected):
        pairs = enumerate(zip(actual, expected, strict=True))
        return [text for index, (one, other) in pairs for text in missing_from(one, other, f"{path}.{index}")]
    return [] if actual == expected else [f"{path} is {actual!r}, not {expected!r}"]


@pytest.fixture(params=FORMATS)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    # A copy: looking at a journal makes SQLite's side files beside it.
    return Path(shutil.copytree(FIXTURES / request.param, tmp_path / "copy"))


async def test_every_entry_of_an_earlier_version_is_read_as_it_was_meant(folder: Path) -> None:
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    reader = SqliteJournal.reader(folder / "journal.db")
    entries = [entry async for entry in reader.read()]
    commands = await reader.commands()
    await reader.close()
    actual = [{"seq": one.seq, "at": one.at, "record": one.record.model_dump(mode="json")} for one in entries]
    assert missing_from(actual, expected["entries"]) == []
    assert missing_from([one.command.model_dump(mode="json") for one in commands], expected["commands"]) == []


async def test_a_journal_of_an_earlier_version_can_be_continued(folder: Path) -> None:
    journal = SqliteJournal.open(folder / "journal.db")
    before = [entry async for entry in journal.read()]
    added = Entry(before[-1].seq + 1, "2027-01-01T00:00:00Z", Warned(message="later"))
    await journal.append([added])
    assert [entry async for entry in journal.read()] == [*before, added]
    await journal.close()


async def test_a_journal_that_is_continued_is_of_this_format_and_one_that_is_read_stays_as_it_is(folder: Path) -> None:
    path = folder / "journal.db"
    before = path.read_bytes()
    reader = SqliteJournal.reader(path)
    last = [entry async for entry in reader.read()][-1].seq
    await reader.close()
    assert path.read_bytes() == before
    journal = SqliteJournal.open(path)
    await journal.append([Entry(last + 1, "2027-01-01T00:00:00Z", Warned(message="later"))])
    await journal.close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (FORMAT_VERSION,)


def test_the_comparison_finds_what_is_gone_or_different() -> None:
    assert missing_from({"a": 1, "new": 2}, {"a": 1}) == []
    assert missing_from({"new": 2}, {"a": 1}) == [".a is gone"]
    assert missing_from([{"a": [1]}], [{"a": [1, 2]}]) == [".0.a is [1], not [1, 2]"]
