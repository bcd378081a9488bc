"""A wish to stop is heard at any time, also while the journal is being written, and loses nothing that was done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest

from engine.play import one_step, run_code
from notebook_bcc.engine.runner import Runner
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import ActionCompleted, ActionReceived, Record, RunStarted, RunStopped, Transitioned
from notebook_bcc.kernel.interface import Execution
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.protocol.cells import Output
from notebook_bcc.protocol.vocabulary import State

pytestmark = pytest.mark.anyio


class SlowJournal(MemoryJournal):
    """Takes its time over the second cell's arrival or completion, until it may go on."""

    def __init__(self, at: type[ActionReceived] | type[ActionCompleted]) -> None:
        super().__init__()
        self.writing, self.go = asyncio.Event(), asyncio.Event()
        self._at = at
        self._cells = 0

    async def append(self, entries: Sequence[Entry]) -> None:
        records = [entry.record for entry in entries if isinstance(entry.record, self._at)]
        self._cells += sum(_of_a_cell(one) for one in records)
        if self._cells == 2:
            self.writing.set()
            await self.go.wait()
        await super().append(entries)


def _of_a_cell(record: Record) -> bool:
    if isinstance(record, ActionReceived):
        return bool(record.action["action"] == "exec")
    return isinstance(record, ActionCompleted) and record.executed is not None


async def _begun(journal: SlowJournal, kernel: ScriptedKernel) -> tuple[Runner, asyncio.Task[None]]:
    runner = Runner(planner=one_step(run_code("first = 1", "kept = 1")), kernel=kernel, journal=journal)
    await runner.begin(RunStarted(run_id="run"))

    async def carry_out() -> None:
        async for _ in runner.run():
            pass

    task = asyncio.create_task(carry_out())
    await journal.writing.wait()
    return runner, task


@pytest.mark.parametrize("kind", ["cancel", "stop"])
async def test_a_cell_does_not_begin_when_the_wish_comes_while_its_arrival_is_written(kind: str) -> None:
    journal, kernel = SlowJournal(ActionReceived), ScriptedKernel()
    async with asyncio.timeout(30):
        runner, task = await _begun(journal, kernel)
        (runner.cancel if kind == "cancel" else runner.stop)("enough")
        journal.go.set()
        await task
    assert kernel.executed == ["first = 1"]
    assert runner.state.stopped is not None
    records = [entry.record async for entry in journal.read()]
    assert sum(map(_of_a_cell, records)) == 3, "two arrived, one was completed"


@pytest.mark.parametrize("kind", ["cancel", "stop"])
async def test_what_a_cell_came_to_is_kept_when_the_wish_comes_while_it_is_written(kind: str) -> None:
    journal, kernel = SlowJournal(ActionCompleted), ScriptedKernel()
    async with asyncio.timeout(30):
        runner, task = await _begun(journal, kernel)
        (runner.cancel if kind == "cancel" else runner.stop)("enough")
        journal.go.set()
        await task
    records = [entry.record async for entry in journal.read()]
    assert sum(map(_of_a_cell, records)) == 4
    assert isinstance(records[-1], RunStopped)
    assert runner.state.kernel.variables == {"first": 1, "kept": 1}


class WishingKernel(ScriptedKernel):
    """The wish to stop comes with the end of its second cell: before the runner has heard of either."""

    wish: Callable[[str], None] = staticmethod(print)

    async def execute(
        self, source: str, *, time_limit: float | None = None, on_output: Callable[[Output], None] | None = None
    ) -> Execution:
        done = await super().execute(source, time_limit=time_limit, on_output=on_output)
        if len(self.executed) == 2:
            self.wish("enough")
        return done


@pytest.mark.parametrize("kind", ["cancel", "stop"])
async def test_what_a_cell_came_to_is_kept_when_the_wish_comes_with_its_end(kind: str) -> None:
    journal, kernel = MemoryJournal(), WishingKernel()
    runner = Runner(planner=one_step(run_code("first = 1", "kept = 1")), kernel=kernel, journal=journal)
    kernel.wish = runner.cancel if kind == "cancel" else runner.stop
    await runner.begin(RunStarted(run_id="run"))
    async with asyncio.timeout(30):
        records = [entry.record async for entry in runner.run()]
    assert sum(map(_of_a_cell, records)) == 4
    assert isinstance(records[-1], RunStopped)
    assert runner.state.kernel.variables == {"first": 1, "kept": 1}


class SlowDisk(MemoryJournal):
    """Takes its time to sync the end of a run."""

    def __init__(self) -> None:
        super().__init__()
        self.syncing, self.go = asyncio.Event(), asyncio.Event()

    async def sync(self) -> None:
        if isinstance([entry.record async for entry in self.read()][-1], RunStopped):
            self.syncing.set()
            await self.go.wait()
        await super().sync()


@pytest.mark.parametrize("kind", ["cancel", "stop"])
async def test_a_run_that_has_ended_is_not_stopped_while_its_end_is_synced(kind: str) -> None:
    journal = SlowDisk()
    runner = Runner(planner=one_step(run_code("x = 1")), kernel=ScriptedKernel(), journal=journal)
    await runner.begin(RunStarted(run_id="run"))

    async def carry_out() -> None:
        async for _ in runner.run():
            pass

    async with asyncio.timeout(30):
        task = asyncio.create_task(carry_out())
        await journal.syncing.wait()
        (runner.cancel if kind == "cancel" else runner.stop)("too late")
        await asyncio.sleep(0)
        journal.go.set()
        await task
    assert runner.state.stopped == RunStopped(reason="completed")


class SlowEnd(MemoryJournal):
    """Takes its time over the last transition of a run."""

    def __init__(self) -> None:
        super().__init__()
        self.writing, self.go = asyncio.Event(), asyncio.Event()

    async def append(self, entries: Sequence[Entry]) -> None:
        if any(isinstance(one.record, Transitioned) and one.record.to is State.WORKFLOW_COMPLETED for one in entries):
            self.writing.set()
            await self.go.wait()
        await super().append(entries)


@pytest.mark.parametrize("kind", ["cancel", "stop"])
async def test_a_workflow_that_was_completed_when_the_wish_came_is_completed(kind: str) -> None:
    journal = SlowEnd()
    runner = Runner(planner=one_step(run_code("x = 1")), kernel=ScriptedKernel(), journal=journal)
    await runner.begin(RunStarted(run_id="run"))

    async def carry_out() -> None:
        async for _ in runner.run():
            pass

    async with asyncio.timeout(30):
        task = asyncio.create_task(carry_out())
        await journal.writing.wait()
        (runner.cancel if kind == "cancel" else runner.stop)("too late")
        journal.go.set()
        await task
    assert runner.state.stopped == RunStopped(reason="completed")
