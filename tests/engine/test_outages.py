"""An outage is not an answer: a run waits for its planner where it is, and is not done again for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from engine.play import AUTO, IMPATIENT, Played, play, run_code, workflow
from notebook_bcc.errors import PlannerFailed, PlannerUnreachable, RequestRejected
from notebook_bcc.journal.records import (
    ActionReceived,
    GeneratingFailed,
    PlanningAnswered,
    PlanningAsked,
    RunResumed,
    Warned,
)
from notebook_bcc.planners.interface import ActionData, Generated
from notebook_bcc.planners.planning_question import PlanningQuestion, question_of
from notebook_bcc.protocol.dialects import request_bytes
from notebook_bcc.protocol.limits import Policies
from notebook_bcc.protocol.messages import PlanningResponse, Request
from notebook_bcc.protocol.vocabulary import State

pytestmark = pytest.mark.anyio

FALLBACK = AUTO.model_copy(update={"on_outage": "fallback"})
PLAN = workflow("first", "second")
# Where a judgement is asked for, and the state that the run stays in.
JUDGEMENTS = {
    PlanningQuestion.STAGE: State.STAGE_RUNNING,
    PlanningQuestion.FEEDBACK: State.BEHAVIOR_COMPLETED,
    PlanningQuestion.STEP_END: State.STEP_COMPLETED,
    PlanningQuestion.STAGE_END: State.STAGE_COMPLETED,
}


def silent() -> PlannerFailed:
    return PlannerUnreachable(planner="p", reason="silent", retry_after=0.0)


def denied() -> PlannerFailed:
    return RequestRejected(planner="p", reason="HTTP 401 Unauthorized", status=401)


class Failing:
    """Each step has one cell. Fails at questions of one kind as long as it is `down`, and keeps the bytes it heard."""

    name = "failing"

    def __init__(self, at: PlanningQuestion | None, failure: Any = silent, *, writes: bool = True) -> None:
        self._at = at
        self._failure = failure
        self._writes = writes
        self.down = True
        self.heard: list[tuple[str, bytes]] = []

    async def plan(self, request: Request) -> PlanningResponse:
        self.heard.append((str(request.options.request_id), request_bytes(request, "v2")))
        question = question_of(request)
        if self.down and question is self._at:
            raise self._failure()
        if question is PlanningQuestion.START:
            return PlanningResponse.parse({"context_update": {"workflow_update": PLAN.to_dict()}})
        return PlanningResponse.parse({"targetAchieved": question is PlanningQuestion.FEEDBACK})

    async def generate(self, request: Request, *, fallback: bool = False) -> AsyncIterator[Generated]:
        self.heard.append((str(request.options.request_id), request_bytes(request, "v2")))
        if self.down and not self._writes:
            raise self._failure()
        for action in run_code(f"{request.observation.location.current.step_id} = 1"):
            yield ActionData(action)

    async def repair(self, request: Request) -> str | None:
        return None

    async def close(self) -> None:
        """There is nothing to release."""


def stopped_in(played: Played, state: State) -> str:
    """The run was let go in that state, resumable; the words it was let go with."""
    assert played.state.stopped is not None
    assert (played.state.stopped.reason, played.state.fsm) == ("interrupted", state)
    return played.state.stopped.detail


def whole(played: Played) -> None:
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert played.sources == ["first = 1", "second = 1"]
    assert len(played.records(ActionReceived)) == 4


@pytest.mark.parametrize("question", JUDGEMENTS)
async def test_without_a_judgement_the_run_stops_where_it_is_and_resume_asks_the_same(question: Any) -> None:
    planner = Failing(question)
    played = await play(planner)
    detail = stopped_in(played, JUDGEMENTS[question])
    assert "silent" in detail
    assert "--on-outage fallback" in detail
    assert not any(one.degraded for one in played.records(PlanningAnswered))
    assert len(set(planner.heard[-1 - IMPATIENT.retries :])) == 1
    before, planner.down = planner.heard[-1], False
    again = await play(planner, journal=played.journal, resume=RunResumed())
    whole(again)
    assert planner.heard[len(planner.heard) - len(again.planner.planned) - len(again.planner.generated)] == before


async def test_an_outage_that_lasts_asks_the_same_question_each_time_it_is_resumed() -> None:
    planner = Failing(PlanningQuestion.FEEDBACK)
    played = await play(planner)
    for _ in range(3):
        played = await play(planner, journal=played.journal, resume=RunResumed())
        stopped_in(played, State.BEHAVIOR_COMPLETED)
    asked = [one for one in played.records(PlanningAsked) if one.purpose == "feedback"]
    assert len({one.request_id for one in asked}) == 1
    assert [one.attempt for one in asked] == list(range(1, 4 * (1 + IMPATIENT.retries) + 1))
    assert played.sources == ["first = 1"], "the behavior is not done again"


@pytest.mark.parametrize("question", JUDGEMENTS)
async def test_with_the_fallback_the_answer_of_the_fourth_document_is_taken(question: Any) -> None:
    planner = Failing(question)
    played = await play(planner, policies=FALLBACK)
    degraded = [one for one in played.records(PlanningAnswered) if one.degraded]
    assert {one.purpose for one in degraded} == {question.value}
    assert all(one.response == PlanningResponse() for one in degraded)
    assert any("degraded" in one.message and not one.effect for one in played.records(Warned))
    assert played.state.fsm is (State.ERROR if question is PlanningQuestion.FEEDBACK else State.WORKFLOW_COMPLETED)


async def test_the_fallback_may_be_chosen_when_the_run_goes_on() -> None:
    planner = Failing(PlanningQuestion.STEP_END)
    played = await play(planner)
    again = await play(planner, journal=played.journal, resume=RunResumed(policies=FALLBACK))
    whole(again)
    asked = [one.request_id for one in again.records(PlanningAsked) if one.purpose == "step_end"]
    assert len(set(asked)) == 2, "one question for each step"


async def test_at_a_steps_start_an_outage_leads_to_generating_as_the_second_document_says() -> None:
    played = await play(Failing(PlanningQuestion.STEP))
    whole(played)
    assert {one.purpose for one in played.records(PlanningAnswered) if one.degraded} == {"step"}


@pytest.mark.parametrize("policies", [AUTO, FALLBACK])
async def test_without_a_first_plan_the_run_stops_before_it_begins(policies: Policies) -> None:
    planner = Failing(PlanningQuestion.START)
    played = await play(planner, policies=policies)
    stopped_in(played, State.IDLE)
    planner.down = False
    whole(await play(planner, journal=played.journal, resume=RunResumed()))
    assert len(set(planner.heard[: 2 + IMPATIENT.retries])) == 1


@pytest.mark.parametrize("policies", [AUTO, FALLBACK])
@pytest.mark.parametrize("question", [PlanningQuestion.STEP, *JUDGEMENTS])
async def test_a_planner_that_refuses_the_token_has_answered_and_nothing_is_run_without_it(
    question: Any, policies: Policies
) -> None:
    planner = Failing(question, denied)
    played = await play(planner, policies=policies)
    detail = stopped_in(played, {**JUDGEMENTS, PlanningQuestion.STEP: State.STEP_RUNNING}[question])
    assert "401" in detail
    assert not any(one.degraded for one in played.records(PlanningAnswered))
    if question in (PlanningQuestion.STEP, PlanningQuestion.STAGE):
        assert played.sources == []
    planner.down = False
    whole(await play(planner, journal=played.journal, resume=RunResumed()))


async def test_actions_that_a_planner_refuses_to_give_are_neither_asked_for_elsewhere_nor_a_failure() -> None:
    planner = Failing(None, denied, writes=False)
    played = await play(planner)
    assert "401" in stopped_in(played, State.BEHAVIOR_RUNNING)
    assert [fallback for _, fallback in played.planner.generated] == [False]
    assert played.records(GeneratingFailed) == []
    before, planner.down = planner.heard[-1], False
    done = await play(planner, journal=played.journal, resume=RunResumed())
    whole(done)
    assert planner.heard.count(before) == 2, "the same question, with the same bytes"


async def test_what_the_planner_sees_anew_is_asked_anew() -> None:
    planner = Failing(PlanningQuestion.FEEDBACK, denied)
    played = await play(planner)
    planner.down = False
    policies = AUTO.model_copy(update={"notebook_detail": "cells"})
    done = await play(planner, journal=played.journal, resume=RunResumed(policies=policies))
    whole(done)
    judged = [one for one in done.records(PlanningAsked) if one.purpose == "feedback"]
    assert len({one.request_id for one in judged}) == 3
    notebook = done.planner.planned[0].observation.context.notebook
    assert notebook is not None
    assert notebook.cells is not None
