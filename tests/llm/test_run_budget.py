"""Budgets of whole runs: they end in a state that can be gone on from, and the journal alone knows what was spent."""

from __future__ import annotations

import pytest

from engine.play import Played, play, run_code, scripted, workflow
from llm.fake_chat import judged, written
from llm.test_planner import BY_BASE, GOOD, Company
from notebook_bcc.engine.reduce import fold
from notebook_bcc.journal.records import ModelAsked, RunResumed, RunStopped
from notebook_bcc.lifecycle.operations import widened
from notebook_bcc.llm.limits import Fallback
from notebook_bcc.planners.interface import Planner
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.limits import Limits
from notebook_bcc.protocol.vocabulary import State

pytestmark = pytest.mark.anyio

SECOND = written("k = n + 1")


def two_behaviors() -> Planner:
    behaviors = [
        Behavior(actions=run_code("n = 3"), expected=("n",), goal="Count."),
        Behavior(actions=run_code("k = 4"), expected=("k",), goal="Count on."),
    ]
    return scripted(workflow("step"), {"step": behaviors})


def stop_of(played: Played) -> RunStopped:
    stopped = played.state.stopped
    assert stopped is not None
    return stopped


@pytest.mark.parametrize(
    ("limits", "option"),
    [
        (Limits(model_calls=1), "--budget-calls"),
        (Limits(model_tokens=120), "--budget-tokens"),
        (Limits(model_dollars=0.0001), "--budget-cost"),
        (Limits(model_seconds=0.0005), "--budget-seconds"),
    ],
)
async def test_a_budget_ends_the_run_and_more_of_it_goes_on(limits: Limits, option: str) -> None:
    ticks = iter(range(1000))
    company = Company([GOOD, SECOND], base=two_behaviors(), clock=lambda: next(ticks) / 1000)
    played = await company.run(limits=limits)
    assert stop_of(played).reason == "limit"
    assert option in stop_of(played).detail
    assert "used up" in stop_of(played).detail
    assert played.sources == ["We count.", "n = 40 + 2"]
    assert len(company.model.asked) == 1
    # As after a restart: another planner, which knows nothing, and the journal.
    again = Company([SECOND], base=two_behaviors())
    record = RunResumed(limits=widened(played.state, limits))
    gone_on = await play(again.planner, journal=played.journal, kernel=played.kernel, resume=record)
    assert gone_on.state.fsm is State.WORKFLOW_COMPLETED
    assert gone_on.sources[-1] == "k = n + 1"
    assert gone_on.state.spent.calls == 2
    assert again.account.spent.tokens == 240, "what was spent before is counted"


async def test_the_same_budget_again_stops_again_and_asks_nobody() -> None:
    limits = Limits(model_calls=1)
    company = Company([GOOD], base=two_behaviors())
    played = await company.run(limits=limits)
    gone_on = await play(
        company.planner, journal=played.journal, kernel=played.kernel, resume=RunResumed(limits=limits)
    )
    assert stop_of(gone_on).reason == "limit"
    assert len(company.model.asked) == 1


@pytest.mark.parametrize("fallback", ["playbook", "stop"])
async def test_a_budget_that_ends_between_an_answer_and_its_repair_stops_the_run_as_well(fallback: Fallback) -> None:
    company = Company(["nonsense"], fallback=fallback)
    played = await company.run(limits=Limits(model_calls=1))
    assert stop_of(played).reason == "limit"
    assert "1 calls is used up" in stop_of(played).detail
    assert played.state.fsm is State.BEHAVIOR_RUNNING
    assert played.sources == []
    again = Company([GOOD], fallback=fallback)
    more = RunResumed(limits=Limits(model_calls=5))
    gone_on = await play(again.planner, journal=played.journal, kernel=played.kernel, resume=more)
    assert gone_on.state.fsm is State.WORKFLOW_COMPLETED
    assert gone_on.sources[-1] == "n = 40 + 2"


async def test_what_is_written_is_judged_also_when_nothing_is_left() -> None:
    company = Company([GOOD], judge=[judged(False)])
    played = await company.run(limits=Limits(model_calls=1))
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert not company.judge.asked


async def test_an_answer_gets_no_more_tokens_than_are_left() -> None:
    company = Company([GOOD, SECOND], base=two_behaviors())
    await company.run(limits=Limits(model_tokens=200))
    assert company.model.allowed == [200, 80]


async def test_the_journal_tells_what_was_spent() -> None:
    company = Company(["nonsense", GOOD], judge=[judged(True)])
    played = await company.run()
    assert played.state.spent == company.account.spent
    assert fold(played.entries).spent == company.account.spent
    assert [record.task for record in played.records(ModelAsked)] == ["generate", "generate", "judge"]
    assert played.state.models == ("fake:model",)
    assert played.sources[-1] != BY_BASE
