"""What a run's journal tells, read without disturbing the run."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Final

from notebook_bcc.engine.reduce import reduce
from notebook_bcc.engine.state import RunState
from notebook_bcc.journal.interface import Entry, JournalFactory, JournalReader
from notebook_bcc.journal.lock import lock_holder
from notebook_bcc.journal.records import ActionCompleted
from notebook_bcc.lifecycle.folder import RunFolder

_LOOK_SECONDS: Final = 0.2


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
) -> AsyncGenerator[Entry, None]:
    """The entries of a run's journal, without disturbing it. With `follow` also those that come, until nobody carries
    the run out any more."""
    reader = journals.reader(folder.journal_spec)
    try:
        if follow:
            async with contextlib.aclosing(_while_carried_out(folder, reader, after=after)) as coming:
                async for entry in coming:
                    after = entry.seq
                    yield entry
        async with contextlib.aclosing(reader.read(after=after)) as entries:
            async for entry in entries:
                yield entry
    finally:
        await reader.close()


async def _while_carried_out(folder: RunFolder, reader: JournalReader, *, after: int) -> AsyncGenerator[Entry, None]:
    """The entries as they come, as long as a process has the run to itself; the last ones may be missing."""
    async with contextlib.aclosing(reader.follow(after=after)) as entries:
        coming = asyncio.ensure_future(anext(entries, None))
        try:
            while lock_holder(folder.lock) is not None or coming.done():
                await asyncio.wait((coming,), timeout=_LOOK_SECONDS)
                if not coming.done():
                    continue
                if (entry := coming.result()) is None:
                    return
                yield entry
                coming = asyncio.ensure_future(anext(entries, None))
        finally:
            coming.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await coming


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
