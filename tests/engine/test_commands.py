"""Commands of other processes: each is obeyed, or it is said why not; none is obeyed by a later session."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from engine.play import IMPATIENT, Played, one_step, play, run_code, scripted, workflow
from notebook_bcc.engine.runner import Runner
from notebook_bcc.errors import JournalFailed, RunRefused
from notebook_bcc.journal.interface import PostedCommand
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import (
    ActionReceived,
    Command,
    PlanUpdateDecided,
    Policies,
    RunResumed,
    RunStarted,
    RunStopped,
    Transitioned,
    Warned,
)
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.planners.script import Behavior
from notebook_bcc.planners.scripted import ScriptedPlanner
from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.vocabulary import State

pytestmark = pytest.mark.anyio

AT = "2026-01-01T00:00:00Z"


def two_cells() -> ScriptedPlanner:
    return one_step(run_code("x = 1", "y = 2"))


class HardOfHearing(MemoryJournal):
    """An inbox that cannot be read for a while; then it holds a wish to cancel."""

    def __init__(self, *, failures: int) -> None:
        super().__init__()
        self._failures = failures

    async def commands(self, *, after: int = 0) -> Sequence[PostedCommand]:
        if self._failures:
            self._failures -= 1
            if not self._failures:
                await self.post(Command(kind="cancel", comment="enough"), at=AT)
            raise JournalFailed("the inbox cannot be read: disk I/O error")
        return await super().commands(after=after)


async def never(request: Request) -> Any:
    await asyncio.Event().wait()


async def test_an_inbox_that_cannot_be_read_for_a_while_is_asked_again() -> None:
    silent = CallablePlanner(
        plan=lambda request: {"context_update": {"workflow_update": workflow("step").to_dict()}},
        generate=never_ending,
    )
    done = await play(silent, journal=HardOfHearing(failures=3))
    assert done.state.stopped == RunStopped(reason="cancelled", detail="enough")


async def never_ending(request: Request) -> Any:
    yield {"action": "add", "content": "before"}
    await asyncio.Event().wait()


async def test_a_completed_run_does_not_fail_for_an_inbox_that_cannot_be_read() -> None:
    done = await play(two_cells(), journal=HardOfHearing(failures=10**6))
    assert done.state.stopped == RunStopped(reason="completed")


@pytest.mark.parametrize("kind", ["pause", "cancel"])
async def test_a_resume_forgets_what_was_asked_of_the_process_before(kind: Any) -> None:
    killed = await play(two_cells(), until=ActionReceived)
    journal = killed.journal.snapshot()
    await journal.post(Command(kind=kind), at=AT)
    done = await play(two_cells(), journal=journal, resume=RunResumed())
    assert done.state.stopped == RunStopped(reason="completed")


async def test_a_command_that_came_after_the_lock_was_taken_is_obeyed() -> None:
    killed = await play(two_cells(), until=ActionReceived)
    journal = killed.journal.snapshot()
    await journal.post(Command(kind="pause", comment="to the process before"), at=AT)
    await journal.post(Command(kind="cancel", comment="to this one"), at=AT)
    done = await play(two_cells(), journal=journal, resume=RunResumed(forgets=1))
    assert done.state.stopped == RunStopped(reason="cancelled", detail="to this one")


async def cancelled_at_the_first_question(journal: MemoryJournal) -> Played:
    await journal.post(Command(kind="cancel", comment="enough"), at=AT)
    return await play(CallablePlanner(plan=never, generate=never_ending), journal=journal)


async def test_a_run_whose_planner_is_silent_at_the_first_question_is_cancelled_for_good() -> None:
    done = await cancelled_at_the_first_question(MemoryJournal())
    assert done.state.stopped == RunStopped(reason="cancelled", detail="enough")
    assert done.state.fsm is State.IDLE, "the table has no row for a cancel here, and none is invented"
    assert done.records(Transitioned) == []
    with pytest.raises(RunRefused, match="was cancelled; .*--restart reset"):
        await play(two_cells(), journal=done.journal, resume=RunResumed())


async def test_a_run_cancelled_at_the_first_question_is_begun_anew_by_a_reset() -> None:
    cancelled = await cancelled_at_the_first_question(MemoryJournal())
    done = await play(two_cells(), journal=cancelled.journal, resume=RunResumed(restart="reset"))
    assert done.state.stopped == RunStopped(reason="completed")
    assert done.sources == ["x = 1", "y = 2"]

