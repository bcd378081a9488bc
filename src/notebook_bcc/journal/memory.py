"""A journal that lives in this process: the double for tests, and for runs that nobody wants to keep.

It behaves as the one on disk does, down to the encoding of the records, apart from surviving the process.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

from notebook_bcc.errors import JournalFailed
from notebook_bcc.journal.interface import Entry, PostedCommand
from notebook_bcc.journal.records import Command
from notebook_bcc.journal.sqlite.rows import Row, pack_command, pack_entries, unpack_command, unpack_entry

_NAME = "in memory"


class MemoryJournal:
    """Entries and commands of one run, in the memory of this process."""

    def __init__(self) -> None:
        self._entries: list[Row] = []
        self._commands: list[Row] = []
        self._changed = asyncio.Event()
        self._closed = asyncio.Event()

    def snapshot(self) -> MemoryJournal:
        """Another journal holding what this one has acknowledged: what a crash now would leave. Also when closed."""
        copy = MemoryJournal()
        copy._entries = self._entries.copy()
        copy._commands = self._commands.copy()
        return copy

    async def append(self, entries: Sequence[Entry]) -> None:
        """Keep the entries, all or none. Raises ValueError if they do not continue the journal."""
        self._check_open()
        self._entries += pack_entries(entries, after=len(self._entries))
        self._wake()

    async def sync(self) -> None:
        """Nothing to do: memory does not survive a power loss."""
        self._check_open()

    async def read(self, *, after: int = 0) -> AsyncGenerator[Entry, None]:
        """All entries with seq > after that are there now, in order."""
        self._check_open()
        for row in self._entries[after:]:
            yield unpack_entry(row, seq=row[0], path=_NAME)

    async def follow(self, *, after: int = 0) -> AsyncGenerator[Entry, None]:
        """Like read, then waits for more; ends when the journal is closed."""
        self._check_open()
        while not self._closed.is_set():
            changed = self._changed
            async for entry in self.read(after=after):
                yield entry
                after = entry.seq
                if self._closed.is_set():
                    return
            if after >= len(self._entries):
                await changed.wait()

    async def post(self, command: Command, *, at: str) -> int:
        """Leave a command; returns its seq."""
        self._check_open()
        row = pack_command(len(self._commands) + 1, at, command)
        self._commands.append(row)
        return row[0]

    async def commands(self, *, after: int = 0) -> Sequence[PostedCommand]:
        """Commands posted with seq > after."""
        self._check_open()
        return [unpack_command(row, seq=row[0], path=_NAME) for row in self._commands[after:]]

    async def close(self) -> None:
        """Ends the followers. What was acknowledged stays in `snapshot()`."""
        self._closed.set()
        self._wake()

    def _wake(self) -> None:
        # Each waiter holds the event that was current when it looked: setting that one cannot be missed.
        self._changed.set()
        self._changed = asyncio.Event()

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise JournalFailed("the journal is closed")
