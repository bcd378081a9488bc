"""A journal in one SQLite file: what was acknowledged survives kill -9, and other processes can read along.

Reading and writing use connections of their own. The reading one is opened read-only, so nothing that only looks at a
journal can change it, and a damaged one is found before anything is written.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Self

from notebook_bcc.errors import JournalCorrupt, JournalFailed
from notebook_bcc.journal.interface import Entry, PostedCommand
from notebook_bcc.journal.records import Command
from notebook_bcc.journal.sqlite.file import (
    checkpoint,
    connect,
    connect_reader,
    connect_writer,
    create_file,
    flushing,
    raise_format,
    reading,
    structural_problem,
    writing,
)
from notebook_bcc.journal.sqlite.rows import pack_command, pack_entries, unpack_command, unpack_entry
from notebook_bcc.journal.sqlite.wal import WalFile

_SYNC_SECONDS = 0.05  # half of the promised 100 ms: a busy disk needs the rest
_CHECKPOINT_BYTES = 4_000_000
_POLL_SECONDS = (0.005, 0.1)
_CHUNK_ROWS, _CHUNK_BYTES = 256, 1_000_000

_INSERT = "INSERT INTO {} VALUES (?, CAST(? AS TEXT), CAST(? AS TEXT), ?, ?)"
_INSERT_ENTRY, _INSERT_COMMAND = _INSERT.format("entries"), _INSERT.format("commands")
_SELECT = "SELECT seq, at, kind, body, crc FROM {} WHERE seq > ? ORDER BY seq"
_SELECT_ENTRIES, _SELECT_COMMANDS = _SELECT.format("entries"), _SELECT.format("commands")


class SqliteReader:
    """What any process may do with a journal on disk: read, follow, leave commands. Bound to one event loop."""

    def __init__(self, path: Path) -> None:
        """Raises JournalFailed if there is no such file, JournalCorrupt, JournalTooNew."""
        self._path = path.absolute()
        self._wal = WalFile(self._path)
        self._verified = False
        self._closed = asyncio.Event()
        self._db, self._immutable = connect_reader(self._path)

    async def read(self, *, after: int = 0) -> AsyncGenerator[Entry, None]:
        """All entries with seq > after that are there now, in order. Raises JournalCorrupt."""
        self._check_open()
        until = self._head()
        while after < until:
            for entry in self._chunk(after, until):
                yield entry
                self._check_open()
                after = entry.seq
            # Others on this loop get their turn: a million entries take a while.
            await asyncio.sleep(0)
            self._check_open()
        await self._verify(last_good=after)

    async def follow(self, *, after: int = 0) -> AsyncGenerator[Entry, None]:
        """Like read, then waits for more; ends when the journal is closed."""
        self._check_open()
        shortest, longest = _POLL_SECONDS
        pause, seen = shortest, None
        while not self._closed.is_set():
            version = self._data_version()
            if version == seen:
                await asyncio.sleep(pause)
                pause = min(pause * 1.5, longest)
                continue
            start = after
            try:
                async with contextlib.aclosing(self.read(after=after)) as entries:
                    async for entry in entries:
                        yield entry
                        after = entry.seq
            except JournalFailed:
                if self._closed.is_set():
                    return
                raise
            seen = version
            # A command, too, changes the version; it is no reason to look more often.
            pause = shortest if after > start else pause

    async def post(self, command: Command, *, at: str) -> int:
        """Leave a command for the process that carries the run out; durable on return. Returns its seq."""
        self._check_open()
        # In a thread: it waits for the write lock and for the disk.
        return await asyncio.to_thread(self._post, command, at)

    async def commands(self, *, after: int = 0) -> Sequence[PostedCommand]:
        """Commands posted with seq > after. Raises JournalCorrupt."""
        self._check_open()
        with reading(self._path), contextlib.closing(self._db.execute(_SELECT_COMMANDS, (after,))) as rows:
            return [unpack_command(row, seq=seq, path=str(self._path)) for seq, row in enumerate(rows, after + 1)]

    async def close(self) -> None:
        """Release everything. May be called twice."""
        if not self._closed.is_set():
            self._closed.set()
            # Shielded: a thread that has not begun is dropped when its waiter is cancelled, and the file stays open.
            await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, self._release))

    def _release(self) -> None:
        self._db.close()
        # A read-only connection cannot take its empty side files away again; one that may write does so at its end.
        if not self._immutable and self._wal.path.exists() and self._wal.size() == 0:
            with contextlib.suppress(sqlite3.Error), contextlib.closing(connect(self._path, "mode=rw")) as db:
                db.execute("PRAGMA user_version").fetchone()

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise JournalFailed(f"journal {self._path} is closed")

    def _head(self) -> int:
        with reading(self._path):
            (head,) = self._db.execute("SELECT max(seq) FROM entries").fetchone()
        if head is not None and not isinstance(head, int):
            raise JournalCorrupt(path=str(self._path), reason="the last row has no place")
        return head or 0

    def _chunk(self, after: int, until: int) -> list[Entry]:
        """The next entries: at least one, then no more than fit into bounded memory."""
        entries: list[Entry] = []
        size = 0
        # The cursor does not stay open between chunks: a reader that pauses must not keep the WAL from being reused.
        with reading(self._path, after), contextlib.closing(self._db.execute(_SELECT_ENTRIES, (after,))) as rows:
            for row in rows:
                entries.append(unpack_entry(row, seq=after + len(entries) + 1, path=str(self._path)))
                size += len(row[3])
                if entries[-1].seq == until or len(entries) == _CHUNK_ROWS or size >= _CHUNK_BYTES:
                    return entries
        last = after + len(entries)
        raise JournalCorrupt(path=str(self._path), reason=f"rows {last + 1} to {until} are missing", last_good=last)

    def _data_version(self) -> int:
        """A number that changes when another connection has written."""
        if self._immutable:
            # Such a connection sees no change; the next one does, and is a usual one as soon as a writer is there.
            outdated = self._db
            self._db, self._immutable = connect_reader(self._path)
            outdated.close()
            return -self._head()
        with reading(self._path):
            return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    async def _verify(self, *, last_good: int) -> None:
        """Once: is the file whole? Checksums of rows cannot show that rows are missing at the end."""
        if self._verified:
            return
        problem = await asyncio.to_thread(structural_problem, self._path)
        self._check_open()
        if problem:
            raise JournalCorrupt(path=str(self._path), reason=problem, last_good=last_good)
        self._verified = True

    def _post(self, command: Command, at: str) -> int:
        wal = WalFile(self._path)
        with contextlib.closing(wal), contextlib.closing(connect_writer(self._path)) as db:
            with writing(self._path, db):
                db.execute("BEGIN IMMEDIATE")
                (seq,) = db.execute("SELECT coalesce(max(seq), 0) + 1 FROM commands").fetchone()
                db.execute(_INSERT_COMMAND, pack_command(seq, at, command))
                db.execute("COMMIT")
            with flushing(self._path):
                wal.flush()
        return int(seq)


class SqliteJournal(SqliteReader):
    """The one writer of a journal on disk. Whoever opens it holds the run's lock."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        try:
            self._last = self._head()
        except JournalFailed:
            self._db.close()
            raise
        # Opened with the first entry, so that a journal found damaged while it is read stays as it was.
        self._writer: sqlite3.Connection | None = None
        self._written = 0
        self._synced = 0
        self._sync_lock = asyncio.Lock()
        self._keeper: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        self._trouble: JournalFailed | None = None

    @classmethod
    def create(cls, path: Path) -> Self:
        """A new, empty journal; it appears whole or not at all. Raises JournalFailed if there is one already."""
        create_file(path.absolute())
        return cls(path)

    @classmethod
    def open(cls, path: Path) -> Self:
        """The journal that is there, to be continued. Raises JournalFailed, JournalCorrupt, JournalTooNew."""
        return cls(path)

    @staticmethod
    def reader(path: Path) -> SqliteReader:
        """For processes that look on and leave commands. Raises JournalFailed, JournalCorrupt, JournalTooNew."""
        return SqliteReader(path)

    async def append(self, entries: Sequence[Entry]) -> None:
        """Write the entries in one transaction. On return they survive the death of this process.

        Raises ValueError if they do not continue the journal, JournalFull; nothing is written then.
        """
        self._check_open()
        self._raise_trouble()
        rows = pack_entries(entries, after=self._last)
        if not rows:
            return
        # Not in a thread: a commit takes less time than the way there and back.
        if self._writer is None:
            self._writer = connect_writer(self._path)
            raise_format(self._path, self._writer)
        db = self._writer
        with writing(self._path, db):
            db.execute("BEGIN IMMEDIATE")
            db.executemany(_INSERT_ENTRY, rows)
            db.execute("COMMIT")
        self._last = rows[-1][0]
        self._written += 1
        if self._keeper is None or self._keeper.done():
            self._keeper = asyncio.create_task(self._keep(), name="journal keeper")

    async def sync(self) -> None:
        """On return everything appended so far survives a power loss. Raises JournalFull."""
        self._check_open()
        self._raise_trouble()
        await self._sync()

    async def close(self) -> None:
        """Sync, then release everything. May be called twice."""
        if self._closed.is_set():
            return
        if self._keeper is not None:
            # Not cancelled: what it does in a thread would go on behind our back.
            self._closing.set()
            await asyncio.wait([self._keeper])
        try:
            await self.sync()
        finally:
            await super().close()

    async def _sync(self) -> None:
        if self._synced == self._written:
            return
        async with self._sync_lock:
            written = self._written
            if self._synced < written:
                await asyncio.to_thread(self._flush)
                self._synced = written

    async def _keep(self) -> None:
        """Sync soon after an append, until nothing is left to sync: an idle journal has no timer."""
        while self._synced < self._written:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), _SYNC_SECONDS)
            try:
                await self._sync()
                if self._wal.size() > _CHECKPOINT_BYTES:
                    await asyncio.to_thread(checkpoint, self._path)
            except JournalFailed as error:
                # Nobody awaits this task: the next append or sync tells.
                self._trouble = error
                return

    def _raise_trouble(self) -> None:
        trouble, self._trouble = self._trouble, None
        if trouble is not None:
            raise trouble

    def _flush(self) -> None:
        with flushing(self._path):
            self._wal.flush()

    def _release(self) -> None:
        # The one that may write goes last: SQLite then brings the WAL home and takes it away.
        writer = self._writer
        if writer is None:
            super()._release()
            return
        self._db.close()
        self._wal.close()
        writer.close()
