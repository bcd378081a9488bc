"""What every journal does, the one on disk and the double alike."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from notebook_bcc.errors import JournalFailed
from notebook_bcc.journal.interface import Entry, Journal, JournalReader
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import ActionReceived, Command, Record, RunStarted, Warned
from notebook_bcc.journal.sqlite.journal import SqliteJournal

AT = "2026-01-02T03:04:05.000006Z"

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["memory", "sqlite"])
async def journal(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Journal]:
    make: dict[str, Callable[[], Journal]] = {
        "memory": MemoryJournal,
        "sqlite": lambda: SqliteJournal.create(tmp_path / "journal.db"),
    }
    journal = make[request.param]()
    yield journal
    await journal.close()


def entries(first: int, last: int) -> list[Entry]:
    return [Entry(seq, AT, Warned(message=f"number {seq}")) for seq in range(first, last + 1)]


async def everything(journal: JournalReader, *, after: int = 0) -> list[Entry]:
    return [entry async for entry in journal.read(after=after)]


async def take(journal: JournalReader, count: int, *, after: int = 0) -> list[Entry]:
    """The first `count` entries of a follower; fails if they do not come."""
    seen: list[Entry] = []
    async with asyncio.timeout(60):
        async for entry in journal.follow(after=after):
            seen.append(entry)
            if len(seen) == count:
                break
    return seen


async def test_a_new_journal_is_empty(journal: Journal) -> None:
    assert await everything(journal) == []
    assert await journal.commands() == []


async def test_entries_come_back_whole_and_in_order(journal: Journal) -> None:
    await journal.append(entries(1, 3))
    await journal.append(entries(4, 4))
    assert await everything(journal) == entries(1, 4)
    assert await everything(journal, after=2) == entries(3, 4)
    assert await everything(journal, after=4) == []
    assert await everything(journal, after=99) == []


async def test_an_empty_append_is_nothing(journal: Journal) -> None:
    await journal.append([])
    assert await everything(journal) == []


@pytest.mark.parametrize("wrong", [[2], [0], [4], [3, 5], [3, 3], [3, 4, 2]])
async def test_entries_that_do_not_continue_are_refused_whole(journal: Journal, wrong: list[int]) -> None:
    await journal.append(entries(1, 2))
    with pytest.raises(ValueError, match="cannot follow"):
        await journal.append([Entry(seq, AT, Warned(message="x")) for seq in wrong])
    assert await everything(journal) == entries(1, 2)
    await journal.append(entries(3, 3))
    assert await everything(journal) == entries(1, 3)


@pytest.mark.parametrize(
    "record",
    [
        ActionReceived(action_id="a", index=1, action={"text": "\ud800"}),
        RunStarted(run_id="r", variables={"a": object()}),
        RunStarted(run_id="r", variables={"a": b"\xff"}),
    ],
)
async def test_what_json_cannot_hold_is_refused_and_nothing_is_written(journal: Journal, record: Record) -> None:
    with pytest.raises(JournalFailed, match=rf"record 2 \({record.kind}\)"):
        await journal.append([*entries(1, 1), Entry(2, AT, record)])
    assert await everything(journal) == []


async def test_reading_ends_where_the_journal_ended_when_it_began(journal: Journal) -> None:
    await journal.append(entries(1, 2))
    seen = []
    async for entry in journal.read():
        seen.append(entry)
        await journal.append(entries(len(seen) + 2, len(seen) + 2))
    assert seen == entries(1, 2)
    assert await everything(journal) == entries(1, 4)


async def test_a_long_journal_is_read_in_order(journal: Journal) -> None:
    await journal.append(entries(1, 3000))
    big = Entry(3001, AT, Warned(message="x" * 3_000_000))
    await journal.append([big, *entries(3002, 3010)])
    assert await everything(journal) == [*entries(1, 3000), big, *entries(3002, 3010)]
    assert await everything(journal, after=2990) == [*entries(2991, 3000), big, *entries(3002, 3010)]


async def test_a_follower_sees_what_was_there_and_what_comes(journal: Journal) -> None:
    await journal.append(entries(1, 3))
    async with asyncio.TaskGroup() as tasks:
        whole = tasks.create_task(take(journal, 50))
        later = tasks.create_task(take(journal, 48, after=2))
        for seq in range(4, 51):
            await journal.append(entries(seq, seq))
            await asyncio.sleep(0)
    assert whole.result() == entries(1, 50)
    assert later.result() == entries(3, 50)


async def test_a_follower_can_wait_for_the_first_entry(journal: Journal) -> None:
    async with asyncio.TaskGroup() as tasks:
        follower = tasks.create_task(take(journal, 1))
        await asyncio.sleep(0)
        await journal.append(entries(1, 1))
    assert follower.result() == entries(1, 1)


async def test_a_follower_ends_when_the_journal_is_closed(journal: Journal) -> None:
    await journal.append(entries(1, 2))
    seen = asyncio.Queue[Entry]()

    async def follow() -> str:
        async for entry in journal.follow():
            seen.put_nowait(entry)
        return "ended"

    async with asyncio.timeout(60):
        follower = asyncio.create_task(follow())
        assert [await seen.get(), await seen.get()] == entries(1, 2)
        await journal.close()
        assert await follower == "ended"


async def test_a_follower_can_be_cancelled_and_the_journal_goes_on(journal: Journal) -> None:
    follower = asyncio.create_task(take(journal, 1))
    await asyncio.sleep(0)
    follower.cancel()
    with pytest.raises(asyncio.CancelledError):
        await follower
    await journal.append(entries(1, 1))
    assert await everything(journal) == entries(1, 1)


async def test_a_follower_that_gives_up_leaves_nothing_behind(journal: Journal) -> None:
    await journal.append(entries(1, 5))
    assert await take(journal, 2) == entries(1, 2)
    assert await take(journal, 5) == entries(1, 5)


async def test_commands_are_numbered_and_come_back_once(journal: Journal) -> None:
    assert await journal.post(Command(kind="pause"), at=AT) == 1
    assert await journal.post(Command(kind="reject", comment="不"), at=AT) == 2
    posted = await journal.commands()
    assert [(one.seq, one.at, one.command) for one in posted] == [
        (1, AT, Command(kind="pause")),
        (2, AT, Command(kind="reject", comment="不")),
    ]
    assert [one.seq for one in await journal.commands(after=1)] == [2]
    assert await journal.commands(after=2) == []


async def test_commands_and_entries_are_two_lists(journal: Journal) -> None:
    await journal.append(entries(1, 2))
    assert await journal.post(Command(kind="cancel"), at=AT) == 1
    await journal.append(entries(3, 3))
    assert await everything(journal) == entries(1, 3)
    assert len(await journal.commands()) == 1


async def test_syncing_is_possible_at_any_time(journal: Journal) -> None:
    await journal.sync()
    await journal.append(entries(1, 1))
    await asyncio.gather(journal.sync(), journal.sync())
    await journal.sync()
    assert await everything(journal) == entries(1, 1)


async def test_a_closed_journal_may_be_closed_again_and_does_nothing_else(journal: Journal) -> None:
    await journal.append(entries(1, 1))
    await journal.close()
    await journal.close()
    with pytest.raises(JournalFailed, match="closed"):
        await journal.append(entries(2, 2))
    with pytest.raises(JournalFailed, match="closed"):
        await journal.sync()
    with pytest.raises(JournalFailed, match="closed"):
        await everything(journal)
    with pytest.raises(JournalFailed, match="closed"):
        await take(journal, 1)
    with pytest.raises(JournalFailed, match="closed"):
        await journal.post(Command(kind="pause"), at=AT)
    with pytest.raises(JournalFailed, match="closed"):
        await journal.commands()


async def test_unknown_fields_of_records_and_commands_are_kept(journal: Journal) -> None:
    record = Warned.model_validate({"message": "m", "later": {"a": [1, None, "数"]}, "empty": None})
    command = Command.model_validate({"kind": "confirm", "later": 1})
    await journal.append([Entry(1, AT, record)])
    await journal.post(command, at=AT)
    assert await everything(journal) == [Entry(1, AT, record)]
    assert (await journal.commands())[0].command == command
