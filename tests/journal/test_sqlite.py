"""The journal on disk: its file, what is done about a damaged one, and who may write."""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from notebook_bcc.errors import JournalCorrupt, JournalFailed, JournalFull, JournalTooNew
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import FORMAT_VERSION, Command, Warned
from notebook_bcc.journal.sqlite.journal import SqliteJournal, SqliteReader

AT = "2026-01-02T03:04:05.000006Z"

pytestmark = pytest.mark.anyio


def entry(seq: int, size: int = 10) -> Entry:
    return Entry(seq, AT, Warned(message=f"{seq} ".ljust(size, "x")))


# Every ninth entry does not fit into a page, as real ones with outputs do not.
ENTRIES = [entry(seq, 9000 if seq % 9 == 0 else 40 * (seq % 5)) for seq in range(1, 201)]


async def everything(reader: SqliteReader, *, after: int = 0) -> list[Entry]:
    return [entry async for entry in reader.read(after=after)]


class HeldExecutor(ThreadPoolExecutor):
    """Counts what was done in threads, and can hold back the news that it is done."""

    def __init__(self) -> None:
        super().__init__(max_workers=4)
        self._loop = asyncio.get_running_loop()
        self.done = 0
        self.has_done = asyncio.Event()
        self.release = threading.Event()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        def held() -> Any:
            result = fn(*args, **kwargs)
            self.done += 1
            self._loop.call_soon_threadsafe(self.has_done.set)
            assert self.release.wait(60)
            return result

        return super().submit(held)


def names_in(folder: Path) -> list[str]:
    return [one.name for one in folder.iterdir()]


def log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def sizes_of(path: Path) -> tuple[int, int]:
    """Bytes in the journal and in its log."""
    return path.stat().st_size, log_of(path).stat().st_size


def copies_of(path: Path, folder: Path) -> tuple[bytes, bytes]:
    """The journal and its log while it is open. Another process copies them: closing a file drops our locks on it."""
    subprocess.run(["cp", str(path), str(log_of(path)), str(folder)], check=True)
    return (folder / path.name).read_bytes(), (folder / log_of(path).name).read_bytes()


async def read_file(path: Path) -> list[Entry]:
    reader = SqliteJournal.reader(path)
    try:
        return await everything(reader)
    finally:
        await reader.close()


async def write_file(path: Path, entries: list[Entry]) -> None:
    journal = SqliteJournal.create(path)
    for one in entries:
        await journal.append([one])
    await journal.post(Command(kind="pause"), at=AT)
    await journal.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a run" / "journal #1?.db"


@pytest.fixture
async def journal(path: Path) -> AsyncIterator[SqliteJournal]:
    path.parent.mkdir()
    journal = SqliteJournal.create(path)
    yield journal
    await journal.close()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a journal that holds ENTRIES and nothing in side files."""
    path = tmp_path_factory.mktemp("whole") / "journal.db"
    asyncio.run(write_file(path, ENTRIES))
    assert names_in(path.parent) == ["journal.db"]
    return path.read_bytes()


async def test_a_closed_journal_is_one_file(journal: SqliteJournal, path: Path) -> None:
    await journal.append([entry(1)])
    await journal.close()
    assert names_in(path.parent) == [path.name]
    assert await read_file(path) == [entry(1)]
    assert names_in(path.parent) == [path.name]


async def test_a_journal_is_continued_where_it_ended(journal: SqliteJournal, path: Path) -> None:
    await journal.append([entry(1), entry(2)])
    await journal.close()
    again = SqliteJournal.open(path)
    with pytest.raises(ValueError, match="cannot follow entry 2"):
        await again.append([entry(2)])
    await again.append([entry(3)])
    await again.close()
    assert await read_file(path) == [entry(1), entry(2), entry(3)]


async def test_the_format_can_be_told_from_outside(journal: SqliteJournal, path: Path) -> None:
    await journal.append([entry(1)])
    await journal.close()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA application_id").fetchone() == (int.from_bytes(b"NBCC"),)
        assert db.execute("PRAGMA user_version").fetchone() == (FORMAT_VERSION,)
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("SELECT seq, at, kind, typeof(body) FROM entries").fetchall() == [(1, AT, "warned", "blob")]


async def test_a_journal_is_not_made_over_another_one(journal: SqliteJournal, path: Path) -> None:
    await journal.append([entry(1)])
    with pytest.raises(JournalFailed, match="already"):
        SqliteJournal.create(path)
    assert await everything(journal) == [entry(1)]


async def test_a_journal_is_not_made_beside_the_log_of_a_lost_one(tmp_path: Path) -> None:
    # SQLite would replay that log into the new journal.
    (tmp_path / "journal.db-wal").write_bytes(b"x")
    with pytest.raises(JournalFailed, match="already"):
        SqliteJournal.create(tmp_path / "journal.db")


async def test_a_journal_needs_its_folder(tmp_path: Path) -> None:
    with pytest.raises(JournalFailed, match="nowhere"):
        SqliteJournal.create(tmp_path / "nowhere" / "journal.db")


@pytest.mark.parametrize("way", [SqliteJournal.open, SqliteJournal.reader])
async def test_a_missing_journal_is_named(way: Callable[[Path], object], tmp_path: Path) -> None:
    with pytest.raises(JournalFailed, match=r"missing\.db"):
        way(tmp_path / "missing.db")
    assert names_in(tmp_path) == []


def damaged_files(whole: bytes) -> Iterator[tuple[str, bytes]]:
    yield "empty", b""
    yield "a text", b"not a database\n" * 1000
    yield "random bytes", random.Random(1).randbytes(20_000)
    yield "zeros", bytes(len(whole))
    yield "only the header", whole[:100]
    yield "torn in a page", whole[: len(whole) // 2 + 77]
    yield "torn between pages", whole[: len(whole) // 2 // 4096 * 4096]
    yield "the last page missing", whole[:-4096]
    yield "without its start", whole[4096:]
    yield "another application", whole[:68] + b"TEST" + whole[72:]
    yield "format 0", whole[:60] + bytes(4) + whole[64:]


@pytest.mark.parametrize("number", range(11))
async def test_a_file_that_is_no_journal_is_refused_and_left_alone(tmp_path: Path, whole: bytes, number: int) -> None:
    what, content = list(damaged_files(whole))[number]
    path = tmp_path / "journal.db"
    path.write_bytes(content)
    for way in (SqliteJournal.open, SqliteJournal.reader):
        with pytest.raises(JournalCorrupt, match="It was not changed") as caught:
            way(path)
        assert caught.value.path == str(path), what
        assert path.read_bytes() == content, what


async def test_another_programs_database_is_no_journal(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE entries(seq INTEGER PRIMARY KEY)")
    content = path.read_bytes()
    with pytest.raises(JournalCorrupt, match="not a Notebook-BCC journal"):
        SqliteJournal.open(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("way", [SqliteJournal.open, SqliteJournal.reader])
async def test_a_journal_of_a_later_version_is_refused_and_left_alone(
    way: Callable[[Path], object], tmp_path: Path, whole: bytes
) -> None:
    path = tmp_path / "journal.db"
    content = whole[:60] + (FORMAT_VERSION + 1).to_bytes(4, "big") + whole[64:]
    path.write_bytes(content)
    with pytest.raises(JournalTooNew, match="upgrade") as caught:
        way(path)
    assert (caught.value.found, caught.value.known) == (FORMAT_VERSION + 1, FORMAT_VERSION)
    assert path.read_bytes() == content


async def outcome(path: Path) -> list[Entry] | None:
    """What reading gives; None if the damage was found. Anything else raised is a failure of the test."""
    try:
        return await read_file(path)
    except JournalCorrupt:
        return None


async def test_a_changed_byte_never_gives_wrong_entries(tmp_path: Path, whole: bytes) -> None:
    chance = random.Random(20260102)
    path = tmp_path / "journal.db"
    places = [*range(100), *(chance.randrange(100, len(whole)) for _ in range(400))]
    # The heads of pages and the arrays behind them say what there is: the most dangerous bytes.
    places += [page + chance.randrange(40) for page in range(4096, len(whole), 4096) for _ in range(3)]
    found = 0
    for place in places:
        content = bytearray(whole)
        content[place] ^= chance.randrange(1, 256)
        path.write_bytes(content)
        try:
            entries = await outcome(path)
        except JournalTooNew:
            # The number of the format stands here and is as good as any other.
            assert 60 <= place < 64
            continue
        assert entries is None or entries == ENTRIES, f"byte {place}"
        found += entries is None
    assert found > len(places) / 2


async def test_pages_that_are_lost_or_exchanged_never_give_wrong_entries(tmp_path: Path, whole: bytes) -> None:
    chance = random.Random(7)
    path = tmp_path / "journal.db"
    pages = [whole[start : start + 4096] for start in range(0, len(whole), 4096)]
    for _ in range(100):
        changed = pages.copy()
        one, other = chance.sample(range(1, len(pages)), 2)
        changed[one], changed[other] = chance.choice(
            [(pages[other], pages[one]), (pages[one], pages[one]), (bytes(4096), pages[other])]
        )
        path.write_bytes(b"".join(changed))
        entries = await outcome(path)
        assert entries is None or entries == ENTRIES


async def test_damage_in_the_log_gives_a_shorter_journal_at_most(tmp_path: Path, path: Path) -> None:
    path.parent.mkdir()
    journal = SqliteJournal.create(path)
    for one in ENTRIES[:40]:
        await journal.append([one])
    database, log = copies_of(path, tmp_path)
    await journal.close()
    chance = random.Random(3)
    for number in range(100):
        content = bytearray(log)
        content[chance.randrange(len(log))] ^= chance.randrange(1, 256)
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "journal.db").write_bytes(database)
        (folder / "journal.db-wal").write_bytes(content)
        entries = await outcome(folder / "journal.db")
        # A log ends at its first torn frame: that is how SQLite tells a commit from a power loss in the middle of one.
        assert entries is None or entries == ENTRIES[: len(entries)]


async def collect(reader: SqliteReader, seen: list[Entry]) -> None:
    async for one in reader.read():
        # One by one: an error must not take those before it away.
        seen += [one]


async def test_the_entries_before_a_damaged_row_are_given_and_counted(tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "journal.db"
    path.write_bytes(whole)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE entries SET body = replace(body, '150 ', '151 ') WHERE seq = 150")
    content = path.read_bytes()
    for way in (SqliteJournal.open, SqliteJournal.reader):
        reader = way(path)
        seen: list[Entry] = []
        with pytest.raises(JournalCorrupt, match="checksum of row 150") as caught:
            await collect(reader, seen)
        await reader.close()
        assert caught.value.last_good == 149
        assert seen == ENTRIES[: len(seen)]
        assert path.read_bytes() == content


@pytest.mark.parametrize(("lost", "reason"), [(1, "row 2 was found"), (77, "row 78 was found")])
async def test_a_missing_row_is_found(tmp_path: Path, whole: bytes, lost: int, reason: str) -> None:
    path = tmp_path / "journal.db"
    path.write_bytes(whole)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM entries WHERE seq = ?", (lost,))
    with pytest.raises(JournalCorrupt, match=reason) as caught:
        await read_file(path)
    assert caught.value.last_good == lost - 1


async def test_two_writers_without_the_lock_cannot_mix_their_entries(journal: SqliteJournal, path: Path) -> None:
    other = SqliteJournal.open(path)
    await journal.append([entry(1), entry(2)])
    with pytest.raises(JournalFailed, match="continued by another process"):
        await other.append([entry(1, 50)])
    await other.close()
    await journal.append([entry(3)])
    assert await everything(journal) == [entry(1), entry(2), entry(3)]


async def test_a_journal_that_another_connection_keeps_locked_says_so_and_works_afterwards(
    journal: SqliteJournal, path: Path
) -> None:
    await journal.append([entry(1)])
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalFailed, match="locked"):
            await journal.append([entry(2)])
    await journal.append([entry(2)])
    assert await everything(journal) == [entry(1), entry(2)]


async def test_readers_do_not_hold_up_the_writer(journal: SqliteJournal, path: Path) -> None:
    await journal.append(ENTRIES[:50])
    with closing(sqlite3.connect(path)) as db:
        db.execute("BEGIN")
        assert db.execute("SELECT count(*) FROM entries").fetchone() == (50,)
        for one in ENTRIES[50:]:
            await journal.append([one])
        await journal.sync()
        assert db.execute("SELECT count(*) FROM entries").fetchone() == (50,)
    assert await everything(journal) == ENTRIES


async def test_entries_are_brought_to_disk_without_being_asked(journal: SqliteJournal) -> None:
    # The task that does it is gone when nothing is left to do: an idle journal has no timer.
    async with asyncio.timeout(60):
        for seq in (1, 2):
            await journal.append([entry(seq)])
            keepers = [task for task in asyncio.all_tasks() if task.get_name() == "journal keeper"]
            assert len(keepers) == 1
            await asyncio.wait(keepers)


async def test_trouble_behind_the_back_of_the_writer_is_told_at_the_next_append(
    journal: SqliteJournal, path: Path
) -> None:
    wal = log_of(path)
    async with asyncio.timeout(60):
        await journal.append([entry(1)])
        wal.rename(wal.with_name("away"))
        await asyncio.wait([task for task in asyncio.all_tasks() if task.get_name() == "journal keeper"])
    with pytest.raises(JournalFailed, match="cannot be brought to disk"):
        await journal.append([entry(2)])
    wal.with_name("away").rename(wal)
    await journal.append([entry(2)])
    await journal.sync()
    assert await everything(journal) == [entry(1), entry(2)]


async def test_the_log_does_not_grow_with_the_journal(journal: SqliteJournal, path: Path) -> None:
    for number in range(300):
        await journal.append([entry(number * 10 + one, 9000) for one in range(1, 11)])
    database, log = sizes_of(path)
    assert database + log > 27_000_000
    assert log < 20_000_000


async def test_closing_while_others_sync_and_are_cancelled_is_safe(path: Path) -> None:
    path.parent.mkdir()
    for number in range(20):
        journal = SqliteJournal.open(path) if number else SqliteJournal.create(path)
        await journal.append([entry(number + 1)])
        tasks = [asyncio.create_task(journal.sync()) for _ in range(3)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        await journal.close()
        await asyncio.gather(*tasks, return_exceptions=True)
    assert await read_file(path) == [entry(number + 1) for number in range(20)]


def is_open(path: Path) -> bool:
    """Whether this process holds a descriptor of the file."""
    names = []
    for one in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            names.append(one.readlink())
    return path in names


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are read from /proc")
async def test_a_close_that_is_cancelled_still_releases_the_file(path: Path) -> None:
    path.parent.mkdir()
    await SqliteJournal.create(path).close()
    loop, gate = asyncio.get_running_loop(), threading.Event()
    loop.set_default_executor(ThreadPoolExecutor(1))
    reader = SqliteJournal.reader(path)
    assert is_open(path)
    busy = loop.run_in_executor(None, gate.wait)
    close = asyncio.create_task(reader.close())
    await asyncio.sleep(0)
    close.cancel()
    with suppress(asyncio.CancelledError):
        await close
    gate.set()
    await busy
    # The one thread of this loop: when it answers, what was waiting before has been done.
    await loop.run_in_executor(None, lambda: None)
    assert not is_open(path)


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a disk of 400 KB cannot be mounted here (needs root); the limit on file sizes is tested elsewhere")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


async def append_all(journal: SqliteJournal, written: list[Entry]) -> None:
    for one in ENTRIES:
        await journal.append([one])
        written.append(one)


async def test_a_full_disk_loses_nothing_and_room_made_is_used(tiny_disk: Path) -> None:
    path = tiny_disk / "journal.db"
    ballast = tiny_disk / "ballast"
    ballast.write_bytes(bytes(100_000))
    journal = SqliteJournal.create(path)
    written: list[Entry] = []
    with pytest.raises(JournalFull, match="Free some room") as caught:
        await append_all(journal, written)
    assert caught.value.path == str(path)
    assert 0 < len(written) < len(ENTRIES)
    with pytest.raises(JournalFull):
        await journal.append([entry(len(written) + 1, 9000)])
    assert await everything(journal) == written
    ballast.unlink()
    more = entry(len(written) + 1)
    await journal.append([more])
    await journal.sync()
    await journal.close()
    assert await read_file(path) == [*written, more]


async def test_a_sync_vouches_only_for_what_was_appended_before_it_began(tmp_path: Path) -> None:
    journal = SqliteJournal.create(tmp_path / "journal.db")
    await journal.append([entry(1)])
    executor = HeldExecutor()
    asyncio.get_running_loop().set_default_executor(executor)
    syncing = asyncio.create_task(journal.sync())
    await asyncio.wait_for(executor.has_done.wait(), 60)
    # The disk has what was appended so far, and nobody has heard of that yet.
    await journal.append([entry(2)])
    before = executor.done
    executor.release.set()
    await syncing
    await journal.sync()
    assert executor.done > before, "the second entry was said to be on disk without a flush"
    await journal.close()


async def test_a_long_log_is_brought_home_while_the_journal_is_open(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    journal = SqliteJournal.create(path)
    await journal.append([entry(1, size=5_000_000)])
    deadline = asyncio.get_running_loop().time() + 30
    while path.stat().st_size < 4_000_000:
        assert asyncio.get_running_loop().time() < deadline, "the log was not brought home"
        await asyncio.sleep(0.01)
    await journal.close()
