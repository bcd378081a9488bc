"""What a run's journal tells, read without disturbing the run."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from notebook_bcc.engine.reduce import reduce
from notebook_bcc.engine.state import RunState
from notebook_bcc.journal.interface import Entry, JournalFactory, JournalReader
from notebook_bcc.journal.records import ActionCompleted
from notebook_bcc.lifecycle.folder import RunFolder


async def load_state(
    folder: RunFolder, journals: JournalFactory, *, cell_seconds: dict[str, float] | None = None
) -> RunState:
    """What is known about a run, without disturbing it; how long its cells took goes into `cell_seconds`.

    Raises JournalFailed, JournalCorrupt, JournalTooNew.
    """
    reader = journals.reader(folder.journal_spec)
    try:
        return await folded(reader, cell_seconds=cell_seconds)
    finally:
        await reader.close()


async def read_entries(
    folder: RunFolder, journals: JournalFactory, *, after: int = 0, follow: bool = False
) -> AsyncIterator[Entry]:
    """The entries of a run's journal, without disturbing it."""
    reader = journals.reader(folder.journal_spec)
    try:
        source = reader.follow(after=after) if follow else reader.read(after=after)
        async with contextlib.aclosing(source) as entries:
            async for entry in entries:
                yield entry
    finally:
        await reader.close()


async def folded(reader: JournalReader, *, cell_seconds: dict[str, float] | None = None) -> RunState:
    """What is known about a run; how long its cells took goes into `cell_seconds`. Raises JournalCorrupt,
    JournalTooNew."""
    state = RunState()
    async for entry in reader.read():
        state = reduce(state, entry)
        if cell_seconds is not None:
            note_seconds(cell_seconds, entry)
    return state


def note_seconds(cell_seconds: dict[str, float], entry: Entry) -> None:
    """Keep how long a cell took; the last time counts."""
    if isinstance(entry.record, ActionCompleted) and entry.record.executed is not None:
        cell_seconds[entry.record.executed] = entry.record.seconds
