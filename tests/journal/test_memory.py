"""What only the double can do."""

from __future__ import annotations

import pytest

from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import Command, Warned

AT = "2026-01-02T03:04:05Z"
ONE, TWO = Entry(1, AT, Warned(message="1")), Entry(2, AT, Warned(message="2"))


@pytest.mark.anyio
async def test_a_snapshot_holds_what_was_acknowledged_and_nothing_later() -> None:
    journal = MemoryJournal()
    await journal.append([ONE])
    await journal.post(Command(kind="pause"), at=AT)
    snapshot = journal.snapshot()
    await journal.append([TWO])
    await journal.post(Command(kind="cancel"), at=AT)
    assert [entry async for entry in snapshot.read()] == [ONE]
    assert [one.command.kind for one in await snapshot.commands()] == ["pause"]
    await snapshot.append([TWO])
    assert [entry async for entry in journal.read()] == [entry async for entry in snapshot.read()] == [ONE, TWO]


@pytest.mark.anyio
async def test_a_snapshot_of_a_closed_journal_is_open() -> None:
    journal = MemoryJournal()
    await journal.append([ONE])
    await journal.close()
    assert [entry async for entry in journal.snapshot().read()] == [ONE]
