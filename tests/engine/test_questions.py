"""A planner that cannot go on without an answer: the run stops, is told, and the planner is asked again."""

from __future__ import annotations

from typing import Any

import pytest

from engine.play import AUTO, play
from notebook_bcc.journal.records import INPUTS, PlanningAnswered, RunResumed, RunStopped
from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.protocol.messages import PlanningResponse, Request
from notebook_bcc.protocol.vocabulary import State

pytestmark = pytest.mark.anyio

QUESTION = {"text": "Which column?", "options": ["a", "b"], "input": "target"}
PLAN = {"stages": [{"id": "stage", "steps": [{"id": "step"}]}]}


def curious(request: Request) -> dict[str, Any]:
    """Brings a plan, and asks at the end of its only behavior unless the target is known."""
    if request.observation.location.current.stage_id is None:
        return {"context_update": {"workflow_update": PLAN}}
    if request.behavior_feedback is None:
        return {"targetAchieved": request.observation.location.current.step_id is None and bool(told(request))}
    return {"targetAchieved": True} if told(request) else {"metadata": {"question": QUESTION}}


def told(request: Request) -> Any:
    inputs = request.observation.context.variables.get(INPUTS)
    return inputs.get("target") if isinstance(inputs, dict) else None


def planner() -> CallablePlanner:
    def plan(request: Request) -> PlanningResponse:
        return PlanningResponse.parse(curious(request))

    def generate(request: Request) -> list[dict[str, Any]]:
        return [{"action": "add", "shot_type": "dialogue", "content": "hello"}]

    return CallablePlanner(plan=plan, generate=generate)


async def test_a_question_stops_the_run_where_it_is() -> None:
    played = await play(planner(), policies=AUTO)
    assert played.state.stopped == RunStopped(reason="waiting", detail="Which column?")
    assert played.state.fsm is State.BEHAVIOR_COMPLETED
    assert played.state.question is not None
    assert played.state.question.options == ("a", "b")


async def test_the_answer_is_an_input_and_the_planner_is_asked_anew() -> None:
    first = await play(planner(), start={"variables": {INPUTS: {"data": "a.csv"}}})
    asked = first.planner.planned[-1].options.request_id
    second = await play(planner(), journal=first.journal, resume=RunResumed(inputs={"target": "b"}))
    assert second.state.stopped == RunStopped(reason="completed")
    request = second.planner.planned[0]
    assert request.observation.context.variables[INPUTS] == {"data": "a.csv", "target": "b"}
    assert request.options.request_id != asked
    assert request.behavior_feedback is not None
    assert second.state.actions_completed == first.state.actions_completed


async def test_without_an_answer_the_same_question_is_asked_again() -> None:
    first = await play(planner())
    second = await play(planner(), journal=first.journal, resume=RunResumed())
    assert second.state.stopped == RunStopped(reason="waiting", detail="Which column?")
    assert len([one for one in second.records(PlanningAnswered) if one.response.metadata.question is not None]) == 2


async def test_what_was_answered_outlasts_a_start_from_nothing() -> None:
    first = await play(planner())
    second = await play(planner(), journal=first.journal, resume=RunResumed(inputs={"target": "b"}))
    assert second.state.given_variables == {INPUTS: {"target": "b"}}
