"""The loop itself: what is written, when readers hear of it, and what a failing journal does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

import pytest

from engine.play import AUTO, IMPATIENT, SKIP, one_step, play, run_code
from notebook_bcc.engine.reduce import fold
from notebook_bcc.engine.runner import Runner
from notebook_bcc.errors import JournalFailed
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import OutputReceived, Record, RunStarted
from notebook_bcc.kernel.interface import Execution
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.protocol.cells import Output
from notebook_bcc.protocol.vocabulary import State

pytestmark = pytest.mark.anyio


class FailingJournal(MemoryJournal):
    """Cannot write the first batch that holds a record of this kind."""

    def __init__(self, kind: type[Record]) -> None:
        super().__init__()
        self._kind = kind
        self.failed = asyncio.Event()

    async def append(self, entries: Sequence[Entry]) -> None:
        if not self.failed.is_set() and any(isinstance(one.record, self._kind) for one in entries):
            self.failed.set()
            raise JournalFailed("the disk is gone for a moment")
        await super().append(entries)


class PatientKernel(ScriptedKernel):
    """Prints a line, lets time pass, and ends its cell when it may."""

    def __init__(self, *, until: asyncio.Event) -> None:
        super().__init__()
        self._until = until
        self.now = 0.0

    async def execute(
        self, source: str, *, time_limit: float | None = None, on_output: Callable[[Output], None] | None = None
    ) -> Execution:
        if on_output is not None:
            on_output({"output_type": "stream", "name": "stdout", "text": "working\n"})
        self.now += 10.0
        await asyncio.wait_for(self._until.wait(), 30)
        return await super().execute(source, time_limit=time_limit, on_output=on_output)


async def test_a_partial_output_that_cannot_be_written_leaves_no_gap_in_the_journal() -> None:
    journal = FailingJournal(OutputReceived)
    kernel = PatientKernel(until=journal.failed)
    runner = Runner(
        planner=one_step(run_code("x = 1")),
        kernel=kernel,
        journal=journal,
        asking=IMPATIENT,
        timer=lambda: kernel.now,
    )
    await runner.begin(RunStarted(run_id="run", policies=AUTO))
    async with asyncio.timeout(30):
        seen = [entry async for entry in runner.run()]
    assert journal.failed.is_set()
    assert runner.state.fsm is State.WORKFLOW_COMPLETED
    kept = [entry async for entry in journal.read()]
    assert [entry.seq for entry in seen] == [entry.seq for entry in kept[1:]]
    assert fold(kept) == runner.state


async def test_the_log_has_a_line_for_each_transition_and_each_action(caplog: pytest.LogCaptureFixture) -> None:
    # Seeds 002 and 004: LOG_LEVEL, every transition logged.
    caplog.set_level(logging.INFO, logger="notebook_bcc")
    actions = [{"action": "dance"}, *run_code("x = 1", "raise ValueError('one\\ntwo')")]
    played = await play(one_step(actions), policies=SKIP)
    lines = [record.getMessage() for record in caplog.records]
    assert sum("-->" in line for line in lines) == len(played.events)
    assert "idle --START_WORKFLOW--> stage_running" in lines
    assert [line for line in lines if "action-1 " in line] == ["action action-1 dance: skipped"]
    assert "action action-3 exec: ok" in lines
    assert "action action-5 exec: failed: ValueError: one two" in lines
