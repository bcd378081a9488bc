"""Commands of other processes: each is obeyed, or it is said why not; none is obeyed by a later session."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from engine.play import Played, one_step, play, run_code, scripted, workflow
from notebook_bcc.engine.changes import evolve
from notebook_bcc.engine.decide import decide
from notebook_bcc.engine.intents import Stop
from notebook_bcc.engine.state import Machine, RunState
from notebook_bcc.errors import JournalFailed, RunRefused
from notebook_bcc.journal.interface import PostedCommand
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import (
    ActionReceived,
    Command,
    PlanUpdateDecided,
    RunResumed,
    RunStopped,
    Transitioned,
    Warned,
)
from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.limits import Policies
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
    with pytest.raises(RunRefused, match=r"was cancelled; .*--restart reset"):
        await play(two_cells(), journal=done.journal, resume=RunResumed())


async def test_a_run_cancelled_at_the_first_question_is_begun_anew_by_a_reset() -> None:
    cancelled = await cancelled_at_the_first_question(MemoryJournal())
    done = await play(two_cells(), journal=cancelled.journal, resume=RunResumed(restart="reset"))
    assert done.state.stopped == RunStopped(reason="completed")
    assert done.sources == ["x = 1", "y = 2"]


def proposing() -> ScriptedPlanner:
    """A planner that adds a step in its first behavior, and another one in the added step."""
    first, second = workflow("a", "b"), workflow("a", "b", "c")
    return scripted(
        workflow("a"),
        {
            "a": [Behavior(actions=[_steps(first)])],
            "b": [Behavior(actions=[_steps(second)])],
            "c": [Behavior(actions=run_code("x = 1"))],
        },
    )


def _steps(plan: Any) -> dict[str, Any]:
    steps = [step.to_dict() for step in plan.stages[0].steps]
    return {"action": "update_stage_steps", "stage_id": "stage", "updated_steps": steps}


ASK = Policies(confirm="ask")


async def test_an_answer_counts_for_the_change_that_it_names_and_for_no_other() -> None:
    waiting = await play(proposing(), policies=ASK)
    journal, asked = waiting.journal, waiting.state.machine.entered
    assert asked == waiting.entries[asked - 1].seq
    assert isinstance(waiting.entries[asked - 1].record, Transitioned)
    await journal.post(Command(kind="confirm", answers=asked, by="anna", comment="good"), at=AT)
    await journal.post(Command(kind="reject", answers=asked, by="bob"), at=AT)
    again = await play(proposing(), journal=journal, resume=RunResumed())
    assert again.records(PlanUpdateDecided) == [PlanUpdateDecided(confirmed=True, comment="good", who="anna")]
    assert again.state.fsm is State.STEP_UPDATE_PENDING, "the second change waits for an answer of its own"
    await journal.post(Command(kind="reject", answers=asked, by="bob"), at=AT)
    late = await play(proposing(), journal=journal, resume=RunResumed())
    assert late.state.fsm is State.STEP_UPDATE_PENDING
    assert (
        late.records(Warned)[-1].message == f"reject by bob: the change of the plan it answers ({asked}) waits no more"
    )


async def test_an_answer_that_comes_with_a_pause_is_not_lost_by_it() -> None:
    waiting = await play(proposing(), policies=ASK)
    journal = waiting.journal
    await journal.post(Command(kind="confirm", answers=waiting.state.machine.entered), at=AT)
    await journal.post(Command(kind="pause"), at=AT)
    again = await play(proposing(), journal=journal, resume=RunResumed(forgets=0))
    assert again.records(PlanUpdateDecided) == [PlanUpdateDecided(confirmed=True)]
    assert again.state.stopped is not None
    assert again.state.stopped.reason == "paused"


def test_a_run_that_is_to_pause_and_is_then_cancelled_is_cancelled() -> None:
    state = evolve(RunState(), machine=Machine(State.CANCELLED), pause=True)
    intent = decide(state)
    assert isinstance(intent, Stop)
    assert intent.reason == "cancelled"
