"""A wish to stop is heard at any time, also while the journal is being written, and loses nothing that was done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest

from engine.play import one_step, run_code
from notebook_bcc.engine.runner import Runner
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import ActionCompleted, ActionReceived, RunStarted, RunStopped, Transitioned
from notebook_bcc.kernel.interface import Execution
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.protocol.cells import Output
from notebook_bcc.protocol.vocabulary import State

pytestmark = pytest.mark.anyio


class SlowJournal(MemoryJournal):
    """Takes its time over what comes before the second cell, until it is told to go on."""

    def __init__(self) -> None:
        super().__init__()
        self.writing, self.go = asyncio.Event(), asyncio.Event()
        self._cells = 0

    async def append(self, entries: Sequence[Entry]) -> None:
        records = [entry.record for entry in entries]
        self._cells += sum(isinstance(one, ActionReceived) and one.action["action"] == "exec" for one in records)
        if self._cells == 2:
            self.writing.set()
            await self.go.wait()
        await super().append(entries)


class SlowKernel(ScriptedKernel):
    """Runs the second cell when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.go, self.ended = asyncio.Event(), asyncio.Event()

    async def execute(
        self, source: str, *, time_limit: float | None = None, on_output: Callable[[Output], None] | None = None
    ) -> Execution:
        if self.executed:
            await self.go.wait()
        done = await super().execute(source, time_limit=time_limit, on_output=on_output)
        # Later: by then the runner has the result.
        if self.go.is_set():
            asyncio.get_running_loop().call_soon(self.ended.set)
        return done


async def _begun(journal: SlowJournal, kernel: SlowKernel) -> tuple[Runner, asyncio.Task[None]]:
    runner = Runner(planner=one_step(run_code("first = 1", "kept = 1")), kernel=kernel, journal=journal)
    await runner.begin(RunStarted(run_id="run"))

    async def carry_out() -> None:
        async for _ in runner.run():
            pass

    task = asyncio.create_task(carry_out())
    await journal.writing.wait()
    return runner, task


@pytest.mark.parametrize("kind", ["cancel", "stop"])
async def test_a_cell_is_left_while_the_journal_is_written(kind: str) -> None:
    journal, kernel = SlowJournal(), SlowKernel()
    async with asyncio.timeout(30):
        runner, task = await _begun(journal, kernel)
        (runner.cancel if kind == "cancel" else runner.stop)("enough")
        # The kernel is never told to go: the run ends because the cell is left.
        journal.go.set()
        await task
    assert kernel.executed == ["first = 1"]
    assert runner.state.stopped is not None
    records = [entry.record async for entry in journal.read()]
    assert sum(isinstance(one, ActionCompleted) and bool(one.executed) for one in records) == 1


async def test_what_a_cell_came_to_is_kept_when_the_wish_comes_while_the_journal_is_written() -> None:
    journal, kernel = SlowJournal(), SlowKernel()
    async with asyncio.timeout(30):
        runner, task = await _begun(journal, kernel)
        kernel.go.set()
        await kernel.ended.wait()
        runner.stop("enough")
        journal.go.set()
        await task
    records = [entry.record async for entry in journal.read()]
    assert sum(isinstance(one, ActionCompleted) and bool(one.executed) for one in records) == 2
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
