"""What a Planning request shows: bounded whatever the run has made, and never less than the planner has declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine.play import play, run_code, scripted, workflow
from notebook_bcc.errors import EvidenceMissing, PlannerUnreachable
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import PlanningAnswered, PlanningAsked, RunResumed
from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.planners.planning_question import PlanningQuestion, question_of
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.limits import Limits, Policies
from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.observation import Context
from notebook_bcc.protocol.vocabulary import State

pytestmark = pytest.mark.anyio

PLAN = {"stages": [{"id": "stage", "steps": [{"id": "step"}]}]}
MAKES = "names = ['column'] * 150\nfew = [1, 2]\nnote = 'n' * 3000\nother = {'a': ['b'] * 120, 'c': 'd' * 600}"
LARGE = {"names": "list(150)", "note": "str(3000)", "other": "dict(2)"}
NAMES = ["column"] * 150

Judge = Callable[[Request], dict[str, Any]]


def planner(after: Judge, *, behaviors: int = 2) -> CallablePlanner:
    """Makes large variables in its first behavior; `after` is what it says when a behavior has ended."""

    def plan(request: Request) -> dict[str, Any]:
        if request.observation.location.current.stage_id is None:
            return {"context_update": {"workflow_update": PLAN}}
        if request.behavior_feedback is None:
            return {"targetAchieved": iteration(request) >= behaviors}
        done = iteration(request) >= behaviors
        return {"targetAchieved": done, "transition": {"continue_behaviors": not done}, **after(request)}

    def generate(request: Request) -> list[dict[str, Any]]:
        return run_code(MAKES if iteration(request) == 1 else "print('again')")

    return CallablePlanner(plan=plan, generate=generate)


def iteration(request: Request) -> int:
    return request.observation.location.current.behavior_iteration


def context(request: Request) -> Context:
    return request.observation.context


def feedbacks(played: Any) -> list[Context]:
    return [context(one) for one in played.planner.planned if one.behavior_feedback is not None]


async def test_a_large_value_goes_as_a_summary_under_its_name_and_is_said_to_be_one() -> None:
    played = await play(planner(lambda request: {}))
    seen = feedbacks(played)[0]
    assert {name: seen.variables[name] for name in LARGE} == LARGE
    assert seen.variables["few"] == [1, 2]
    assert seen.variables_summarized == ("names", "note", "other")
    assert context(played.planner.generated[1][0]).variables["names"] == NAMES


async def test_what_the_last_answer_asked_for_by_name_goes_whole_into_the_next_planning_request() -> None:
    def asks(request: Request) -> dict[str, Any]:
        return {"context_filter": {"variables_to_include": ["names"]}} if iteration(request) == 1 else {}

    played = await play(planner(asks, behaviors=3))
    first, second, third = feedbacks(played)
    assert first.variables["names"] == "list(150)"
    assert second.variables["names"] == NAMES
    assert second.variables["note"] == "str(3000)"
    assert second.variables_summarized == ("note", "other")
    assert third.variables["names"] == "list(150)", "the last answer did not ask for it"


async def test_a_planner_that_keeps_its_memory_in_variables_gets_it_back_whole() -> None:
    memory = {"seen": ["x" * 50] * 40}
    played = await play(planner(lambda request: {"context_update": {"variables": {"memory": memory}}}))
    assert feedbacks(played)[1].variables["memory"] == memory


async def test_what_the_behavior_promises_is_judged_by_its_value() -> None:
    plan = workflow({"id": "step"})
    played = await play(scripted(plan, {"step": [Behavior(actions=run_code(MAKES), expected=("names",))]}))
    assert feedbacks(played)[0].variables["names"] == NAMES
    assert feedbacks(played)[0].variables["note"] == "str(3000)"


async def test_no_answer_does_not_make_a_planner_forget_what_it_asked_for() -> None:
    def plan(request: Request) -> dict[str, Any]:
        if request.observation.location.current.stage_id is None:
            return {"context_update": {"workflow_update": {"stages": [{"id": "a", "steps": [{"id": "b"}]}]}}}
        if question_of(request) is PlanningQuestion.STEP_END:
            raise PlannerUnreachable(planner="test", reason="away")
        wants = {"context_filter": {"variables_to_include": ["names"]}}
        return {"targetAchieved": request.behavior_feedback is not None, **wants}

    policies = Policies(confirm="auto", on_outage="fallback")
    played = await play(CallablePlanner(plan=plan, generate=lambda request: run_code(MAKES)), policies=policies)
    assert any(one.degraded for one in played.records(PlanningAnswered))
    assert context(played.planner.planned[-1]).variables["names"] == NAMES


async def test_a_planner_that_needs_a_value_says_so_and_is_asked_anew_with_it() -> None:
    def wants(request: Request) -> dict[str, Any]:
        if context(request).variables["names"] != NAMES:
            raise EvidenceMissing(planner="test", needs=["names", "nowhere"])
        return {}

    played = await play(planner(wants, behaviors=1))
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    refused, again = [one for one in played.planner.planned if one.behavior_feedback is not None]
    assert context(refused).variables["names"] == "list(150)"
    assert context(again).variables["names"] == NAMES
    assert context(again).variables["note"] == "str(3000)"
    assert refused.options.request_id != again.options.request_id
    ids = [one.request_id for one in played.records(PlanningAsked)]
    assert len(ids) == len(set(ids))
    assert [one.shown for one in played.records(PlanningAsked) if one.shown] == [("names",)]


async def test_a_planner_that_needs_what_does_not_exist_is_not_asked_for_ever() -> None:
    def wants(request: Request) -> dict[str, Any]:
        raise EvidenceMissing(planner="test", needs=["nowhere", "few"])

    played = await play(planner(wants, behaviors=1))
    assert played.state.fsm is not State.WORKFLOW_COMPLETED
    assert len(feedbacks(played)) == 1


async def test_a_question_with_shown_values_is_built_again_to_the_byte_after_a_kill() -> None:
    def wants(request: Request) -> dict[str, Any]:
        if context(request).variables["names"] != NAMES:
            raise EvidenceMissing(planner="test", needs=["names"])
        return {}

    whole = await play(planner(wants, behaviors=1))
    killed = MemoryJournal()
    shown = next(one for one in whole.records(PlanningAsked) if one.shown)
    await killed.append(whole.entries[: [entry.record for entry in whole.entries].index(shown) + 1])
    resumed = await play(planner(wants, behaviors=1), journal=killed, resume=RunResumed())
    asked = next(one for one in whole.planner.planned if one.options.request_id == shown.request_id)
    again = resumed.planner.planned[0]
    assert again.options.attempt == 2
    assert again.model_copy(update={"options": asked.options}).to_json() == asked.to_json()
    assert resumed.state.fsm is State.WORKFLOW_COMPLETED


async def test_histories_are_told_by_their_newest_few() -> None:
    behaviors = [run_code(f"print('number {number}')") for number in range(20)]
    plan = workflow({"id": "step"})
    played = await play(
        scripted(plan, {"step": [Behavior(actions=one) for one in behaviors]}), limits=Limits(behaviors_per_step=0)
    )
    last = feedbacks(played)[-1]
    assert last.effects.current == ("number 19",)
    assert last.effects.history == tuple(f"number {number}" for number in range(14, 19))
    assert last.fsm is not None
    assert len(last.fsm.history) == 5
    assert last.fsm.history[-1]["to"] == last.fsm.state.value
    assert len(context(played.planner.generated[-1][0]).effects.history) > 5


async def test_a_planner_that_asks_for_the_histories_gets_them_in_planning_too() -> None:
    def asks(request: Request) -> dict[str, Any]:
        config = {"include_history": True, "history_limit": 8}
        return {"context_filter": {"effects_config": config, "include": ["fsm_history"]}}

    played = await play(planner(asks, behaviors=12))
    last = feedbacks(played)[-1]
    assert len(last.effects.history) == 8
    assert last.fsm is not None
    assert len(last.fsm.history) > 20


async def test_many_values_of_middling_size_are_cut_from_the_largest_on_until_they_fit() -> None:
    made = "\n".join(f"v{number:03} = ['{'x' * 20}'] * {1 + number % 30}" for number in range(200))
    played = await play(scripted(workflow("step"), {"step": [Behavior(actions=run_code(made))]}))
    seen = feedbacks(played)[0]
    assert len(seen.variables) == 200
    cut = seen.variables_summarized or ()
    assert len(seen.to_json()) < 16_000
    assert {name for name in cut if len(played.state.variables[name]) < 3} == set(), "small ones stay"
    assert all(seen.variables[name] == f"list({len(played.state.variables[name])})" for name in cut)
