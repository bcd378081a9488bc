"""A program that forks one process per line it reads: the imports are paid for once, and no process has threads yet.

A line is JSON: the role, the pipe to write to, and the role's arguments. The answer is the process id.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import resource
import signal
import subprocess
import sys
import traceback
import urllib.parse  # noqa: F401  # pathlib imports it late, when a role may have given up the right to read it
from collections.abc import Callable, Mapping
from pathlib import Path

from notebook_bcc.errors import JournalFull, RunLocked
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.lock import RunLock
from notebook_bcc.journal.records import Command, Warned
from notebook_bcc.journal.sqlite.journal import SqliteJournal, SqliteReader

AT = "2026-01-02T03:04:05Z"

# One write is one line, whole also when the process is killed: a pipe takes up to 4 KB at once.
Say = Callable[[str], None]


async def last_seq(journal: SqliteReader) -> int:
    last = 0
    async for entry in journal.read():
        last = entry.seq
    return last


async def append_until_killed(say: Say, *, journal: str) -> None:
    """Batches of one to four; each entry says its place in its batch. A batch is told once it is acknowledged."""
    run = SqliteJournal.open(Path(journal))
    last = await last_seq(run)
    while True:
        count = random.randint(1, 4)
        size = random.choice([1, 50, 5000])
        texts = [f"{number}/{count} " + "x" * size for number in range(1, count + 1)]
        await run.append([Entry(last + one, AT, Warned(message=text)) for one, text in enumerate(texts, 1)])
        last += count
        say(str(last))
        if random.random() < 0.1:
            await run.sync()


async def append_in_turns(say: Say, *, journal: str, lock: str, turns: int) -> None:
    """Take the lock, write five entries, give it back: as many turns as asked for."""
    done = 0
    while done < turns:
        try:
            with RunLock(Path(lock)):
                run = SqliteJournal.open(Path(journal))
                last = await last_seq(run)
                for number in range(1, 6):
                    await run.append([Entry(last + number, AT, Warned(message=f"{os.getpid()} {number}"))])
                    await asyncio.sleep(0)
                await run.close()
            done += 1
        except RunLocked:
            await asyncio.sleep(0)
    say("done")


async def follow(say: Say, *, journal: str, count: int) -> None:
    """Tell every entry as it comes."""
    reader = SqliteJournal.reader(Path(journal))
    say("following")
    seen = 0
    async for entry in reader.follow():
        assert isinstance(entry.record, Warned)
        say(f"{entry.seq} {entry.record.message}")
        seen += 1
        if seen == count:
            break
    await reader.close()


async def read_as_nobody(say: Say, *, journal: str) -> None:
    """Read without the right to write anything."""
    if os.getuid() == 0:
        # The interpreter's own files may be out of reach afterwards: whatever a thread needs is imported now.
        await asyncio.to_thread(int)
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    reader = SqliteJournal.reader(Path(journal))
    say(" ".join([str(entry.seq) async for entry in reader.read()]))
    await reader.close()


async def post(say: Say, *, journal: str, count: int) -> None:
    """Leave commands."""
    reader = SqliteJournal.reader(Path(journal))
    for number in range(count):
        say(str(await reader.post(Command(kind="pause", comment=f"{os.getpid()} {number}"), at=AT)))
    await reader.close()


async def fill_the_disk(say: Say, *, journal: str, limit: int) -> None:
    """Append until files may not grow any more, and go on when they may again."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    run = SqliteJournal.create(Path(journal))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    last = 0
    try:
        while True:
            await run.append([Entry(last + 1, AT, Warned(message="x" * 500)), Entry(last + 2, AT, Warned(message="y"))])
            last += 2
    except JournalFull as error:
        say(f"full after {last}: {error}")
    say(f"readable: {await last_seq(run)}")
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    await run.append([Entry(last + 1, AT, Warned(message="z"))])
    await run.close()
    say(f"then {last + 1}")


def start_child() -> int:
    """A program that inherits whatever it can, and ends with the zygote, whose standard input it shares."""
    program = "import sys; print('child', flush=True); sys.stdin.read()"
    process = subprocess.Popen([sys.executable, "-c", program], close_fds=False, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"child\n"
    return process.pid


async def hold_lock(say: Say, *, lock: str, child: bool) -> None:
    """Keep the lock until killed; with a child that inherits whatever it can."""
    run_lock = RunLock(Path(lock), run="rain")
    run_lock.acquire()
    if child:
        say(f"child {start_child()}")
    say(f"locked {os.getpid()}")
    signal.pause()


ROLES: Mapping[str, Callable[..., object]] = {
    role.__name__: role
    for role in (append_until_killed, append_in_turns, follow, read_as_nobody, post, fill_the_disk, hold_lock)
}


def play(role: str, pipe: str, arguments: dict[str, object]) -> None:
    descriptor = os.open(pipe, os.O_WRONLY)

    def say(text: str) -> None:
        os.write(descriptor, text.encode() + b"\n")

    try:
        asyncio.run(ROLES[role](say, **arguments))  # type: ignore[arg-type]  # the roles are the coroutines above
    except BaseException:
        say("failed: " + traceback.format_exc().replace("\n", " | "))
        raise


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        order = json.loads(line)
        process = os.fork()
        if process == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            play(order["role"], order["pipe"], order["arguments"])
            os._exit(0)
        sys.stdout.write(f"{process}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
