"""A run watched from outside: its journal, entry by entry, also while another process writes it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from notebook_bcc.engine.reduce import reduce
from notebook_bcc.engine.state import RunState
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import Record, RunStopped
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.lifecycle.history import read_entries
from notebook_bcc.views.narration import narrate
from notebook_bcc.views.words import Words
from notebook_bcc.wiring import journals

# How often it is looked whether the process that writes is still there.
_LOOK_EVERY = 1.0


@dataclass(frozen=True, slots=True)
class RunEvent:
    """One thing that happened. `text` says it to people, and is empty where there is nothing to say; `record` is what
    the journal holds, and `kind` its name there."""

    seq: int
    at: str
    kind: str
    text: str
    record: Record = field(repr=False)

    def __str__(self) -> str:
        return self.text or self.kind


async def watched(folder: RunFolder, words: Words, *, after: int = 0) -> AsyncGenerator[RunEvent, None]:
    """What happened after the entry of that number, until the run stops or nobody carries it out any more."""
    state = RunState()
    async with contextlib.aclosing(_entries(folder, after=after)) as entries:
        async for entry in entries:
            state = reduce(state, entry)
            if entry.seq > after:
                text = "\n".join(line.text for line in narrate(entry, state, words))
                yield RunEvent(entry.seq, entry.at, entry.record.kind, text, entry.record)


async def _entries(folder: RunFolder, *, after: int) -> AsyncGenerator[Entry, None]:
    """All there are, then those that are being written, until a stop."""
    seen, has_stopped = 0, False
    async for entry in read_entries(folder, journals()):
        yield entry
        seen, has_stopped = entry.seq, isinstance(entry.record, RunStopped) and entry.seq > after
    if has_stopped:
        return
    async with contextlib.aclosing(read_entries(folder, journals(), after=seen, follow=True)) as entries:
        async for entry in entries:
            yield entry
            if isinstance(entry.record, RunStopped):
                return
