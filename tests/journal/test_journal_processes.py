"""The journal and the lock among processes, some of which are killed."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import pytest

import notebook_bcc
from notebook_bcc.errors import RunLocked
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.lock import RunLock, lock_holder
from notebook_bcc.journal.records import Warned
from notebook_bcc.journal.sqlite.journal import SqliteJournal

AT = "2026-01-02T03:04:05Z"


@dataclass
class Process:
    """A process that was forked for a test. `lines` is what it says; they end with it."""

    pid: int
    lines: IO[str]

    def next_line(self) -> str:
        line = self.lines.readline().rstrip("\n")
        assert not line.startswith("failed"), line
        return line

    def rest(self) -> list[str]:
        """Everything it still says until it is gone."""
        return list(iter(self.next_line, ""))

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


@dataclass
class Zygote:
    """Starts processes quickly. They end with it."""

    process: subprocess.Popen[str]
    folder: Path
    started: list[Process] = field(default_factory=list)

    def start(self, role: str, **arguments: object) -> Process:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        pipe = self.folder / f"{role}-{len(self.started)}"
        os.mkfifo(pipe)
        self.process.stdin.write(json.dumps({"role": role, "pipe": str(pipe), "arguments": arguments}) + "\n")
        self.process.stdin.flush()
        process = Process(int(self.process.stdout.readline()), pipe.open(encoding="utf-8"))
        self.started.append(process)
        return process


@pytest.fixture(scope="module")
def zygote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zygote]:
    source = str(Path(notebook_bcc.__file__).parents[1])
    command = [sys.executable, str(Path(__file__).parent / "zygote.py")]
    environment = {**os.environ, "PYTHONPATH": source}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        zygote = Zygote(process, tmp_path_factory.mktemp("pipes"))
        yield zygote
        for one in zygote.started:
            one.lines.close()
        process.communicate()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "journal.db"

    async def make() -> None:
        await SqliteJournal.create(path).close()

    asyncio.run(make())
    return path


def read(path: Path) -> list[Entry]:
    async def everything() -> list[Entry]:
        reader = SqliteJournal.reader(path)
        entries = [entry async for entry in reader.read()]
        await reader.close()
        return entries

    return asyncio.run(everything())


def messages(entries: list[Entry]) -> list[str]:
    texts = []
    for entry in entries:
        assert isinstance(entry.record, Warned)
        texts.append(entry.record.message)
    return texts


def test_what_was_acknowledged_survives_kill_9_and_batches_stay_whole(zygote: Zygote, path: Path) -> None:
    acknowledged = 0
    for number in range(30):
        writer = zygote.start("append_until_killed", journal=str(path))
        # Some are killed at once, while they open the journal and repair what the last one left.
        for _ in range(random.choice([0, 1, 5, 30, 100]) if number else 100):
            acknowledged = int(writer.next_line())
        writer.kill()
        told = [acknowledged, *map(int, writer.rest())]
        entries = read(path)
        assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
        assert told[-1] <= len(entries)
        acknowledged = len(entries)
        places = [text.split(" ")[0] for text in messages(entries)]
        while places:
            count = int(places[0].split("/")[1])
            assert places[:count] == [f"{one}/{count}" for one in range(1, count + 1)]
            places = places[count:]
    assert acknowledged > 100


def test_followers_in_other_processes_see_everything_once_and_in_order(zygote: Zygote, path: Path) -> None:
    count = 600
    followers = [zygote.start("follow", journal=str(path), count=count) for _ in range(2)]
    for follower in followers:
        assert follower.next_line() == "following"

    async def write() -> None:
        journal = SqliteJournal.open(path)
        last = 0
        while last < count:
            size = min(random.randint(1, 5), count - last)
            await journal.append(
                [Entry(last + one, AT, Warned(message=f"m{last + one}")) for one in range(1, size + 1)]
            )
            last += size
            if random.random() < 0.2:
                await journal.sync()
        await journal.close()

    asyncio.run(write())
    expected = [f"{seq} m{seq}" for seq in range(1, count + 1)]
    assert [follower.rest() for follower in followers] == [expected, expected]


def test_a_follower_sees_an_entry_while_the_writer_lives_on(zygote: Zygote, path: Path) -> None:
    follower = zygote.start("follow", journal=str(path), count=3)
    assert follower.next_line() == "following"

    async def write() -> None:
        journal = SqliteJournal.open(path)
        for seq in (1, 2, 3):
            await journal.append([Entry(seq, AT, Warned(message="m"))])
            # Not before the follower has seen this one.
            assert await asyncio.to_thread(follower.next_line) == f"{seq} m"
        await journal.close()

    asyncio.run(write())


def test_commands_of_other_processes_reach_the_writer_and_do_not_disturb_it(zygote: Zygote, path: Path) -> None:
    async def write() -> list[str]:
        journal = SqliteJournal.open(path)
        await journal.append([Entry(1, AT, Warned(message="m"))])
        last = 1
        seen: list[str] = []
        posters = [zygote.start("post", journal=str(path), count=20) for _ in range(3)]
        async with asyncio.timeout(60):
            while len(seen) < 60:
                last += 1
                await journal.append([Entry(last, AT, Warned(message="m"))])
                seen += [one.command.comment for one in await journal.commands(after=len(seen))]
                await asyncio.sleep(0)
        numbers = [int(number) for poster in posters for number in poster.rest()]
        assert sorted(numbers) == list(range(1, 61))
        for poster in posters:
            assert [text for text in seen if text.startswith(f"{poster.pid} ")] == [
                f"{poster.pid} {number}" for number in range(20)
            ]
        await journal.close()
        return seen

    assert len(asyncio.run(write())) == 60


def test_a_command_left_while_nobody_writes_is_there_later(zygote: Zygote, path: Path) -> None:
    assert zygote.start("post", journal=str(path), count=2).rest() == ["1", "2"]

    async def look() -> list[int]:
        journal = SqliteJournal.open(path)
        posted = await journal.commands()
        await journal.close()
        return [one.seq for one in posted]

    assert asyncio.run(look()) == [1, 2]


def test_files_that_may_not_grow_lose_nothing_and_go_on_when_they_may(zygote: Zygote, tmp_path: Path) -> None:
    path = tmp_path / "full.db"
    full, readable, then = zygote.start("fill_the_disk", journal=str(path), limit=200_000).rest()
    count = int(full.split()[2].rstrip(":"))
    assert count > 20
    assert "Free some room" in full
    assert readable == f"readable: {count}"
    assert then == f"then {count + 1}"
    assert [entry.seq for entry in read(path)] == list(range(1, count + 2))


def test_a_journal_in_a_folder_without_write_permission_can_be_read(zygote: Zygote) -> None:
    # Not in tmp_path: other users may not enter that.
    folder = Path(tempfile.mkdtemp())
    try:
        path = folder / "journal.db"

        def look() -> list[str]:
            folder.chmod(0o555)
            lines = zygote.start("read_as_nobody", journal=str(path)).rest()
            folder.chmod(0o755)
            return lines

        async def write_and_look() -> None:
            journal = SqliteJournal.create(path)
            await journal.append([Entry(1, AT, Warned(message="1")), Entry(2, AT, Warned(message="2"))])
            assert await asyncio.to_thread(look) == ["1 2"]
            await journal.close()

        asyncio.run(write_and_look())
        # The writer is gone, and its side files with it: there is nothing but the file itself.
        assert look() == ["1 2"]
        assert [one.name for one in folder.iterdir()] == ["journal.db"]
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_processes_take_turns_when_they_take_the_lock(zygote: Zygote, path: Path, tmp_path: Path) -> None:
    arguments = {"journal": str(path), "lock": str(tmp_path / "lock"), "turns": 4}
    writers = [zygote.start("append_in_turns", **arguments) for _ in range(3)]
    assert [writer.rest() for writer in writers] == [["done"]] * 3
    texts = messages(read(path))
    assert len(texts) == 3 * 4 * 5
    for start in range(0, len(texts), 5):
        owner = texts[start].split(" ")[0]
        assert texts[start : start + 5] == [f"{owner} {number}" for number in range(1, 6)]


def test_a_lock_is_free_as_soon_as_its_holder_is_killed(zygote: Zygote, tmp_path: Path) -> None:
    path = tmp_path / "rain" / "lock"
    path.parent.mkdir()
    holder = zygote.start("hold_lock", lock=str(path), child=False)
    assert holder.next_line() == f"locked {holder.pid}"
    with pytest.raises(RunLocked, match=rf"run 'rain' .* process {holder.pid} on .* since 20"):
        RunLock(path).acquire()
    found = lock_holder(path)
    assert found is not None
    assert found.pid == holder.pid
    holder.kill()
    assert holder.rest() == []
    with RunLock(path):
        assert lock_holder(path) is not None


def test_a_lock_is_not_kept_by_a_program_that_its_holder_started(zygote: Zygote, tmp_path: Path) -> None:
    path = tmp_path / "lock"
    holder = zygote.start("hold_lock", lock=str(path), child=True)
    child = int(holder.next_line().split()[1])
    assert holder.next_line() == f"locked {holder.pid}"
    with pytest.raises(RunLocked):
        RunLock(path).acquire()
    holder.kill()
    try:
        assert holder.rest() == []
        with RunLock(path):
            os.kill(child, 0)
    finally:
        os.kill(child, signal.SIGKILL)
