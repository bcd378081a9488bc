"""Cells that take long: what they print is kept while they run, and they can be stopped from outside."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.play import one_step, run_code
from notebook_bcc.engine.runner import Runner, utc_now
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import (
    ActionCompleted,
    Command,
    OutputReceived,
    RepairTried,
    RunResumed,
    RunStarted,
    RunStopped,
)
from notebook_bcc.kernel.local.kernel import LocalKernel
from notebook_bcc.protocol.limits import Limits, Policies
from notebook_bcc.protocol.vocabulary import State

pytestmark = pytest.mark.anyio

WAITS = """
import pathlib, time
print("begun", flush=True)
while not pathlib.Path("go").exists():
    time.sleep(0.01)
print("done")
"""


@pytest.fixture
async def kernel(tmp_path: Path) -> AsyncIterator[LocalKernel]:
    made = LocalKernel(cwd=tmp_path)
    yield made
    await made.close()


async def test_what_a_long_cell_prints_is_in_the_journal_before_it_ends(kernel: LocalKernel, tmp_path: Path) -> None:
    journal = MemoryJournal()
    runner = Runner(planner=one_step(run_code(WAITS)), kernel=kernel, journal=journal)
    await runner.begin(RunStarted(run_id="run"))
    seen: list[str] = []
    async with asyncio.timeout(60):
        async for entry in runner.run():
            if isinstance(entry.record, OutputReceived):
                seen.append(entry.record.outputs[0]["text"])
                (tmp_path / "go").touch()
            if isinstance(entry.record, ActionCompleted) and entry.record.executed:
                assert seen, "the output came only with the end of the cell"
    assert "begun" in "".join(seen)
    assert runner.state.document.cells.last is not None
    assert runner.state.document.cells.last.outputs[0]["text"] == "begun\ndone\n"


async def test_cancel_from_another_process_interrupts_the_cell(kernel: LocalKernel) -> None:
    journal = MemoryJournal()
    runner = Runner(planner=one_step(run_code("kept = 1", WAITS)), kernel=kernel, journal=journal)
    await runner.begin(RunStarted(run_id="run"))
    async with asyncio.timeout(60):
        async for entry in runner.run():
            if isinstance(entry.record, OutputReceived):
                await journal.post(Command(kind="cancel", comment="enough"), at=utc_now())
    assert runner.state.fsm is State.CANCELLED
    assert runner.state.kernel.variables == {"kept": 1}, "nothing completed is undone"
    assert kernel.is_alive
    assert (await kernel.execute("kept")).succeeded, "the kernel is free again"


async def test_stopping_leaves_the_run_resumable_and_the_cell_is_carried_out_again(
    kernel: LocalKernel, tmp_path: Path
) -> None:
    journal = MemoryJournal()
    runner = Runner(planner=one_step(run_code(WAITS)), kernel=kernel, journal=journal)
    await runner.begin(RunStarted(run_id="run"))
    async with asyncio.timeout(60):
        async for entry in runner.run():
            if isinstance(entry.record, OutputReceived):
                runner.stop("a second Ctrl-C")
    assert runner.state.fsm is State.ACTION_RUNNING
    assert runner.state.stopped is not None
    assert runner.state.stopped.reason == "interrupted"
    (tmp_path / "go").touch()
    again = Runner(planner=one_step(run_code(WAITS)), kernel=kernel, journal=journal)
    await again.load()
    await again.begin(RunResumed())
    async with asyncio.timeout(60):
        async for _ in again.run():
            pass
    assert again.state.fsm is State.WORKFLOW_COMPLETED


async def test_a_run_whose_time_is_up_leaves_its_cell_and_a_resume_carries_it_out(
    kernel: LocalKernel, tmp_path: Path
) -> None:
    journal = MemoryJournal()
    cells = run_code("kept = 1", WAITS, auto_debug=True)
    runner = Runner(planner=one_step(cells), kernel=kernel, journal=journal)
    await runner.begin(RunStarted(run_id="run", limits=Limits(run_seconds=2), policies=Policies(on_error="fail")))
    async with asyncio.timeout(60):
        records = [entry.record async for entry in runner.run()]
    assert runner.state.fsm is State.ACTION_RUNNING
    stopped = records[-1]
    assert isinstance(stopped, RunStopped)
    assert (stopped.reason, "--max-seconds" in stopped.detail) == ("limit", True)
    assert not [one for one in records if isinstance(one, RepairTried)]
    assert all(one.success for one in records if isinstance(one, ActionCompleted))
    (tmp_path / "go").touch()
    # Far less than it has taken already: each resume carries out an action all the same.
    for reached in (State.ACTION_COMPLETED, State.WORKFLOW_COMPLETED):
        again = Runner(planner=one_step(cells), kernel=kernel, journal=journal)
        await again.load()
        await again.begin(RunResumed(limits=Limits(run_seconds=1)))
        async with asyncio.timeout(60):
            async for _ in again.run():
                pass
        assert again.state.fsm is reached
    assert [cell.source for cell in again.state.document.cells] == ["kept = 1", WAITS.strip("\n")]
    assert again.state.document.cells.last is not None
    assert again.state.document.cells.last.outputs[0]["text"] == "begun\ndone\n"
