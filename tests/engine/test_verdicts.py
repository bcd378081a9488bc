"""What of an answer counts, and what is said where something of it does not."""

from __future__ import annotations

from typing import Any

import pytest

from engine.play import AUTO, SKIP, one_step, play, run_code, workflow
from notebook_bcc.errors import RunRefused
from notebook_bcc.journal.records import ActionCompleted, PlanningAsked, RunResumed, Transitioned, Warned
from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.protocol.messages import PlanningResponse, Request
from notebook_bcc.protocol.vocabulary import State

pytestmark = pytest.mark.anyio


def iteration(request: Request) -> int:
    return request.observation.location.current.behavior_iteration


async def test_continue_behaviors_wins_over_target_achieved_with_a_warning() -> None:
    def judge(request: Request) -> dict[str, Any]:
        if request.behavior_feedback is None:
            return {"targetAchieved": False}
        return {"targetAchieved": True, "transition": {"continue_behaviors": iteration(request) == 1}}

    planner = CallablePlanner(plan=judge, generate=lambda request: run_code("x = 1"))
    played = await play(planner, start={"workflow": workflow("step")})
    assert played.events.count("NEXT_BEHAVIOR") == 1
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    said = "the planner says that the target is achieved and that behaviors continue: they continue"
    assert [one.message for one in played.records(Warned)] == [said]
    assert said not in str(played.planner.planned[-1].observation.context.effects), "effects are what code printed"


TORN: list[Any] = [
    {"targetAchieved": "perhaps"},
    {"targetAchieved": True, "transition": {"continue_behaviors": "who knows"}},
    {"targetAchieved": True, "context_update": {"workflow_update": {"stages": "many"}}},
    {"targetAchieved": True, "context_filter": {"effects_config": {"current_limit": -1}}},
    {"targetAchieved": True, "metadata": []},
    ["targetAchieved"],
    "yes",
]


@pytest.mark.parametrize("torn", TORN)
async def test_a_judgement_with_a_malformed_part_is_asked_for_again(torn: Any) -> None:
    answers = [torn, {"targetAchieved": True}]

    def judge(request: Request) -> Any:
        return {} if request.behavior_feedback is None else answers.pop(0)

    planner = CallablePlanner(plan=judge, generate=lambda request: run_code("x = 1"))
    played = await play(planner, start={"workflow": workflow("step")})
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    asked = [one for one in played.records(PlanningAsked) if one.purpose == "feedback"]
    assert [one.attempt for one in asked] == [1, 2]
    assert len({one.request_id for one in asked}) == 1


@pytest.mark.parametrize("policies", [AUTO, SKIP])
async def test_a_judgement_that_stays_malformed_stops_the_run_and_is_never_taken_for_not_reached(policies: Any) -> None:
    torn: list[Any] = [{"targetAchieved": "perhaps"}]

    def judge(request: Request) -> Any:
        return {} if request.behavior_feedback is None else (torn or [{"targetAchieved": True}])[0]

    planner = CallablePlanner(plan=judge, generate=lambda request: run_code("x = 1"))
    played = await play(planner, policies=policies, start={"workflow": workflow("step")})
    assert played.state.fsm is State.BEHAVIOR_COMPLETED
    assert played.state.stopped is not None
    assert played.state.stopped.reason == "interrupted"
    assert "targetAchieved" in played.state.stopped.detail
    torn.clear()
    done = await play(planner, journal=played.journal, resume=RunResumed())
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    assert done.planner.generated == [], "the behavior is not done again"
    first, again = played.planner.planned[-1], done.planner.planned[0]
    assert again.options.request_id == first.options.request_id


async def test_a_value_for_a_name_of_the_kernel_is_not_used_and_that_is_said() -> None:
    def judge(request: Request) -> dict[str, Any]:
        update = {"variables": {"x": 2, "y": 3}}
        return {"targetAchieved": request.behavior_feedback is not None, "context_update": update}

    planner = CallablePlanner(plan=judge, generate=lambda request: run_code("x = 1"))
    played = await play(planner, start={"workflow": workflow("step")})
    assert (played.state.variables["x"], played.state.variables["y"]) == (1, 3)
    said = "context_update.variables: 'x' is a variable of the kernel, whose value stays"
    assert {one.message for one in played.records(Warned)} == {said}


@pytest.mark.parametrize(
    "answer", [{}, {"targetAchieved": True}, {"transition": {"continue_behaviors": True}}, {"metadata": {"a": 1}}]
)
def test_the_transition_of_an_answer_is_written_whole(answer: dict[str, Any]) -> None:
    written = PlanningResponse.parse(answer).with_whole_transition().to_dict()
    verdict = bool(answer.get("targetAchieved"))
    continues = bool(answer.get("transition"))
    assert written["targetAchieved"] is verdict
    assert written["transition"] == {"continue_behaviors": continues, "target_achieved": verdict}


async def test_end_phase_of_another_step_is_an_error_result() -> None:
    played = await play(one_step([{"action": "end_phase", "step_id": "nope"}]), policies=SKIP)
    (done,) = played.records(ActionCompleted)
    assert (done.success, done.end_phase) == (False, False)
    assert done.error == "end_phase names step 'nope'; the current one is 'step'"


@pytest.mark.parametrize("step", ["step", None])
async def test_end_phase_of_the_current_step_ends_it(step: str | None) -> None:
    played = await play(one_step([{"action": "end_phase", "step_id": step}], run_code("x = 1")))
    assert played.records(ActionCompleted)[0].end_phase
    assert "x" not in played.state.kernel.variables


@pytest.mark.parametrize("event", ["custom_event", "COMPLETE_STEP", "RESET"])
async def test_an_event_that_the_table_does_not_have_here_is_skipped_and_the_behavior_goes_on(event: str) -> None:
    played = await play(one_step([{"action": "next_event", "event_type": event}, *run_code("x = 1")]))
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert played.state.kernel.variables == {"x": 1}
    first = played.records(ActionCompleted)[0]
    assert (first.success, first.skipped) == (True, True)
    assert event in played.records(Warned)[0].message


async def test_a_completed_run_is_reset_by_the_table() -> None:
    done = await play(one_step(run_code("x = 1")))
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    for restart in ("behavior", "workflow"):
        with pytest.raises(RunRefused, match="is completed"):
            await play(one_step(run_code("x = 1")), journal=done.journal.snapshot(), resume=RunResumed(restart=restart))
    again = await play(one_step(run_code("x = 1")), journal=done.journal, resume=RunResumed(restart="reset"))
    moves = again.records(Transitioned)[len(done.events) :]
    assert (moves[0].source, moves[0].event, moves[0].to) == (State.WORKFLOW_COMPLETED, "RESET", State.IDLE)
    assert [move.event.value for move in moves[1:]] == done.events
    assert again.state.fsm is State.WORKFLOW_COMPLETED


async def test_code_that_was_added_without_a_shot_type_is_text_and_its_execution_says_so() -> None:
    added = [{"action": "add", "content": "x = 1", "store_id": "c"}, {"action": "exec", "codecell_id": "c"}]
    played = await play(one_step(added), policies=SKIP)
    assert [one.success for one in played.records(ActionCompleted)] == [True, False]
    error = played.records(ActionCompleted)[1].error
    assert error is not None
    assert "an add without shot_type is dialogue" in error
