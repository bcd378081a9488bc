"""What the engine and its readers ask of a journal.

A journal holds two things: the entries (written by the one process that carries the run out) and the commands that
other processes leave for that process (cancel, pause, confirm, reject).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol

from notebook_bcc.journal.records import Command, Record
from notebook_bcc.protocol.specs import JournalSpec


@dataclass(frozen=True, slots=True)
class Entry:
    """A record with its place (1, 2, 3, ... without gaps) and its time (UTC, ISO 8601 with a Z)."""

    seq: int
    at: str
    record: Record


@dataclass(frozen=True, slots=True)
class PostedCommand:
    """A command with its place in the inbox."""

    seq: int
    at: str
    command: Command


class JournalReader(Protocol):
    """What any process may do with a journal, also while another one writes it."""

    def read(self, *, after: int = 0) -> AsyncGenerator[Entry, None]:
        """All entries with seq > after, in order, then end. Raises JournalCorrupt, JournalTooNew."""
        ...

    def follow(self, *, after: int = 0) -> AsyncGenerator[Entry, None]:
        """Like read, then waits for more; ends only when closed or cancelled."""
        ...

    async def post(self, command: Command, *, at: str) -> int:
        """Leave a command for the process that carries the run out; returns its seq. Durable on return."""
        ...

    async def commands(self, *, after: int = 0) -> Sequence[PostedCommand]:
        """Commands posted with seq > after. Cheap: called several times a second."""
        ...

    async def close(self) -> None:
        """Release everything. May be called twice."""
        ...


class Journal(JournalReader, Protocol):
    """What the one writer may do besides."""

    async def append(self, entries: Sequence[Entry]) -> None:
        """Write the entries, all or none. On return they survive the death of this process."""
        ...

    async def sync(self) -> None:
        """On return everything appended so far survives a power loss. Cheap when nothing is new."""
        ...


class JournalFactory(Protocol):
    """Makes and opens the journals that specs name."""

    def create(self, spec: JournalSpec) -> Journal:
        """A new, empty journal. Raises JournalFailed if there is one already."""
        ...

    def open(self, spec: JournalSpec) -> Journal:
        """The journal that is there, for its one writer. Raises JournalFailed, JournalCorrupt, JournalTooNew."""
        ...

    def reader(self, spec: JournalSpec) -> JournalReader:
        """For whoever looks on and leaves commands. Raises JournalFailed, JournalCorrupt, JournalTooNew."""
        ...
