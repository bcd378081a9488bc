"""A run from idle to workflow_completed, and what its planner sees on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from engine.play import AUTO, SKIP, one_step, play, run_code, scripted, workflow
from notebook_bcc.errors import RunRefused
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import (
    ActionCompleted,
    ActionReceived,
    Faulted,
    GeneratingFailed,
    PlanningAnswered,
    PlanningAsked,
    RunResumed,
    RunStopped,
    Transitioned,
    Warned,
)
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.planners.script.values import Behavior, Break, Fail, StepScript
from notebook_bcc.protocol.limits import Limits, Policies
from notebook_bcc.protocol.messages import ContextUpdate, PlanningResponse, Request
from notebook_bcc.protocol.vocabulary import State
from notebook_bcc.protocol.workflow import Workflow

pytestmark = pytest.mark.anyio


async def test_a_workflow_goes_from_idle_to_completed_by_rows_of_the_table() -> None:
    played = await play(scripted(workflow("a", "b"), {"a": [Behavior(run_code("x = 1"))], "b": []}))
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert played.events == [
        "START_WORKFLOW",
        "START_STEP",
        "START_BEHAVIOR",
        "START_ACTION",
        "COMPLETE_ACTION",
        "NEXT_ACTION",
        "COMPLETE_ACTION",
        "COMPLETE_BEHAVIOR",
        "COMPLETE_STEP",
        "NEXT_STEP",
        "COMPLETE_STEP",
        "COMPLETE_STAGE",
        "COMPLETE_WORKFLOW",
    ]


async def test_planning_is_asked_first_at_every_step() -> None:
    played = await play(one_step(run_code("x = 1")))
    assert [record.purpose for record in played.records(PlanningAsked)] == [
        "start",
        "stage",
        "step",
        "feedback",
        "step_end",
        "stage_end",
    ]
    first = played.planner.planned[0].observation.location
    assert first.current.stage_id is None
    assert first.progress.stages is not None


async def test_a_behavior_without_actions_is_completed_at_once() -> None:
    played = await play(one_step([]))
    assert played.events[2:4] == ["START_BEHAVIOR", "COMPLETE_BEHAVIOR"]
    told = played.feedback[0]
    assert (told.actions_executed, told.actions_succeeded, told.actions_skipped) == (0, 0, 0)
    assert told.last_action_result == "none"


async def test_a_skipped_action_is_neither_executed_nor_succeeded() -> None:
    # Seed 002: the feedback tells the truth.
    first = (await play(one_step([{"action": "dance"}, *run_code("x = 1")]))).feedback[0]
    assert (first.actions_executed, first.actions_succeeded, first.actions_skipped) == (2, 2, 1)
    assert first.last_action_result == "success"
    last = (await play(one_step([{"action": "dance"}]))).feedback[0]
    assert (last.actions_executed, last.actions_succeeded, last.actions_skipped) == (0, 0, 1)
    assert last.last_action_result == "skipped"


async def test_the_feedback_counts_what_really_succeeded() -> None:
    played = await play(one_step([*run_code("x = 1"), *run_code("1/0"), *run_code("never = 1")]), policies=SKIP)
    told = played.feedback[0]
    assert (told.actions_executed, told.actions_succeeded) == (4, 3)
    assert told.last_action_result == "ZeroDivisionError: division by zero"
    assert [one.action for one in told.errors] == ["exec"]
    assert "never" not in played.state.kernel.variables


async def test_effects_are_what_code_printed_and_reach_the_judgement_and_the_next_generating_request() -> None:
    played = await play(one_step(run_code("print('seen')"), run_code("print('later')")))
    feedback = next(one for one in played.planner.planned if one.behavior_feedback is not None)
    assert feedback.observation.context.effects.current == ("seen",)
    assert played.planner.generated[1][0].observation.context.effects.current == ("seen",)
    second = [one for one in played.planner.planned if one.behavior_feedback is not None][1]
    assert second.observation.context.effects.current == ("later",)
    assert second.observation.context.effects.history == ("seen",)


async def test_need_output_false_keeps_outputs_in_the_cell_and_out_of_the_effects() -> None:
    played = await play(one_step(run_code("print('quiet')", need_output=False)))
    assert played.state.effects == played.state.effects_history == ()
    assert played.state.document.cells.last is not None
    assert played.state.document.cells.last.outputs[0]["text"] == "quiet\n"


async def test_an_error_is_an_effect_also_where_the_output_is_not_needed() -> None:
    played = await play(one_step(run_code("print('quiet')\n1 / 0", need_output=False)), policies=SKIP)
    (failed,) = [one for one in played.records(ActionCompleted) if not one.success]
    assert any("ZeroDivisionError" in text for text in failed.effects)
    (judged,) = [one for one in played.planner.planned if one.behavior_feedback is not None]
    assert any("ZeroDivisionError" in text for text in judged.observation.context.effects.current)


async def test_a_kernel_that_dies_is_an_effect_also_where_the_output_is_not_needed() -> None:
    played = await play(
        one_step(run_code("x = 1", need_output=False)), kernel=ScriptedKernel(dies_at={1}), policies=SKIP
    )
    (failed,) = [one for one in played.records(ActionCompleted) if not one.success]
    assert failed.kernel_died
    assert any("SIGKILL" in text for text in failed.effects)


async def test_a_failing_planner_is_asked_again_and_the_run_goes_on() -> None:
    step = StepScript(behaviors=[Behavior(run_code("x = 1"))], fail=Fail(times=2))
    played = await play(scripted(workflow("step"), {"step": step}))
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    attempts = [one.attempt for one in played.records(PlanningAsked) if one.purpose == "step"]
    assert attempts == [1, 2, 3]
    assert len({one.request_id for one in played.records(PlanningAsked) if one.purpose == "step"}) == 1


async def test_planning_that_fails_at_a_steps_start_degrades_to_generating_with_a_warning() -> None:
    step = StepScript(behaviors=[Behavior(run_code("x = 1"))], fail=Fail(times=99))
    played = await play(scripted(workflow("step"), {"step": step}))
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert [one.degraded for one in played.records(PlanningAnswered) if one.purpose == "step"] == [True]
    assert any("degraded" in one.message for one in played.records(Warned))


async def test_trouble_on_the_way_to_the_planner_is_a_warning_of_the_run_and_no_effect() -> None:
    # Seed 000: effects are what code printed, never a log of operations.
    steps = {
        "a": StepScript(behaviors=[Behavior(run_code("print('seen')"))], fail=Fail(times=2)),
        "b": StepScript(behaviors=[Behavior(run_code("print('later')"))], fail=Fail(times=99)),
    }
    played = await play(scripted(workflow("a", "b"), steps))
    assert sum("trying again" in one.message for one in played.records(Warned)) >= 4
    shown = [one.observation.context.effects for one in played.planner.planned]
    assert {text for effects in shown for text in (*effects.current, *effects.history)} == {"seen", "later"}


async def test_planning_that_fails_at_a_behaviors_end_does_not_end_as_success() -> None:
    behavior = Behavior(run_code("x = 1"), fail_feedback=Fail(times=99))
    fallback = AUTO.model_copy(update={"on_outage": "fallback"})
    played = await play(one_step(behavior), policies=fallback)
    assert played.state.fsm is State.ERROR
    assert played.state.stopped is not None
    assert played.state.stopped.reason == "failed"


async def test_no_plan_at_all_leaves_the_run_in_idle_and_resumable() -> None:
    silent = CallablePlanner(plan=lambda request: {}, generate=lambda request: [])
    played = await play(silent)
    assert played.state.fsm is State.IDLE
    assert played.state.stopped is not None
    assert played.state.stopped.reason == "interrupted"
    again = await play(one_step(run_code("x = 1")), journal=played.journal, resume=RunResumed())
    assert again.state.fsm is State.WORKFLOW_COMPLETED


async def test_generating_tries_the_spare_endpoint_last() -> None:
    played = await play(one_step(Behavior(run_code("x = 1"), fail=Fail(times=99, fallback=False))))
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert [fallback for _, fallback in played.planner.generated] == [False, False, False, True]


async def test_generating_that_fails_everywhere_fails_the_behavior() -> None:
    played = await play(one_step(Behavior(run_code("x = 1"), fail=Fail(times=99, fallback=True))))
    assert played.state.fsm is State.ERROR
    assert len(played.records(GeneratingFailed)) == 1


async def test_a_stream_that_breaks_keeps_what_was_executed_and_resume_restarts_the_behavior() -> None:
    behavior = Behavior(run_code("x = 1", "y = 2"), break_after=Break(actions=2))
    played = await play(one_step(behavior))
    assert played.state.fsm is State.ERROR
    assert played.state.kernel.variables == {"x": 1}
    again = await play(one_step(behavior), journal=played.journal, resume=RunResumed())
    assert again.state.fsm is State.WORKFLOW_COMPLETED
    assert again.state.kernel.variables == {"x": 1, "y": 2}
    assert "START_BEHAVIOR" in again.events[again.events.index("FAIL") :]


async def test_a_step_that_ends_without_its_goal_fails_by_default_and_is_skipped_by_policy() -> None:
    verdict = PlanningResponse()
    failed = await play(one_step(Behavior(run_code("x = 1"), verdict=verdict)))
    assert failed.state.fsm is State.ERROR
    skipped = await play(one_step(Behavior(run_code("x = 1"), verdict=verdict)), policies=SKIP)
    assert skipped.state.fsm is State.WORKFLOW_COMPLETED
    stage = skipped.planner.planned[-1].observation.location.progress.stages
    assert stage is not None
    assert skipped.state.steps.completed[0].achieved is False


async def test_end_phase_completes_the_step_after_the_feedback() -> None:
    actions = [*run_code("x = 1"), {"action": "end_phase"}]
    verdict = PlanningResponse.parse({"transition": {"continue_behaviors": True}})
    played = await play(one_step(Behavior(actions, verdict=verdict), run_code("never = 1")))
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert "never" not in played.state.kernel.variables
    assert len(played.feedback) == 1


async def test_a_next_event_action_ends_the_behavior_early() -> None:
    actions = [*run_code("x = 1"), {"action": "next_event", "event_type": "COMPLETE_BEHAVIOR"}, *run_code("y = 1")]
    played = await play(one_step(actions))
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert "y" not in played.state.kernel.variables


async def test_a_next_event_action_for_an_event_that_does_not_fit_is_skipped_with_a_warning() -> None:
    played = await play(one_step([{"action": "next_event", "event_type": "START_WORKFLOW"}]), policies=SKIP)
    assert played.feedback[0].errors == ()
    assert any("START_WORKFLOW" in one.message for one in played.records(Warned))


TWO_STAGES = {
    "stages": [
        {"id": "one", "steps": [{"id": "a"}, {"id": "b"}]},
        {"id": "two", "steps": [{"id": "c"}, {"id": "d"}]},
    ]
}


def _steered(**advice: Any) -> CallablePlanner:
    def judge(request: Request) -> dict[str, Any]:
        state = request.observation.context.fsm
        current = request.observation.location.current
        if state is not None and state.state is State.IDLE:
            return {"context_update": {"workflow_update": TWO_STAGES}}
        if request.behavior_feedback is not None:
            move = advice if current.step_id == "a" else {}
            return {"targetAchieved": not move, "transition": {"strategy": "server_controlled", **move}}
        return {}

    return CallablePlanner(plan=judge, generate=lambda request: run_code(f"{request_step(request)} = 1"))


def request_step(request: Request) -> str:
    return request.observation.location.current.step_id or ""


async def test_a_server_controlled_transition_goes_to_the_step_it_names() -> None:
    played = await play(_steered(next_stage_id="two", next_step_id="d"))
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    visited = [record.step_id for record in played.records(Transitioned) if record.step_id is not None]
    assert visited == ["a", "d", "c"]


async def test_a_server_controlled_transition_to_an_unknown_place_is_a_clear_error() -> None:
    played = await play(_steered(next_step_id="nowhere"))
    assert played.state.fsm is State.ERROR
    assert "nowhere" in played.records(Faulted)[0].reason


def _told_where_to_go(told: Mapping[tuple[State, str | None], dict[str, Any]]) -> CallablePlanner:
    """A planner of the plan of `_steered` that says where to go in some states, of some steps; once each."""
    left = dict(told)

    def judge(request: Request) -> dict[str, Any]:
        state, current = request.observation.context.fsm, request.observation.location.current
        assert state is not None
        advice = left.pop((state.state, current.step_id), {})
        return {"targetAchieved": state.state is State.BEHAVIOR_COMPLETED, "transition": advice}

    return CallablePlanner(plan=judge, generate=lambda request: run_code(f"{request_step(request)} = 1"))


def _to(stage: str | None = None, step: str | None = None, **more: Any) -> dict[str, Any]:
    return {"strategy": "server_controlled", "next_stage_id": stage, "next_step_id": step, **more}


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        pytest.param({}, "abcd", id="nowhere"),
        pytest.param({(State.STEP_COMPLETED, "a"): _to("two", "d")}, "adc", id="elsewhere"),
        pytest.param({(State.STEP_COMPLETED, "a"): _to("two", strategy="client_controlled")}, "abcd", id="client"),
        pytest.param({(State.STEP_COMPLETED, "a"): _to("two", strategy=None)}, "abcd", id="no strategy"),
        pytest.param({(State.STEP_COMPLETED, "a"): _to("no", strategy=None)}, "abcd", id="not followed, not checked"),
        pytest.param({(State.STEP_RUNNING, "a"): _to(None, "a")}, "abcd", id="the step it is in"),
        pytest.param({(State.STEP_RUNNING, "a"): _to("two", "c")}, "abcd", id="replaced by the next answer"),
        pytest.param(
            {(State.BEHAVIOR_COMPLETED, "a"): _to(None, "a", continue_behaviors=True)},
            "abcd",
            id="stale after a behavior",
        ),
        pytest.param({(State.IDLE, None): _to("two")}, "cdab", id="from the start"),
        pytest.param({(State.IDLE, None): _to("two", "d")}, "dcab", id="from the start, to a step"),
        pytest.param({(State.IDLE, None): _to(None, "b")}, "bacd", id="from the start, in the first stage"),
    ],
)
async def test_only_a_server_controlled_transition_navigates_and_each_answer_replaces_the_one_before(
    told: Mapping[tuple[State, str | None], dict[str, Any]], expected: str
) -> None:
    played = await play(_told_where_to_go(told), start={"workflow": Workflow.parse(TWO_STAGES)})
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    visited = [record.step_id for record in played.records(Transitioned) if record.step_id is not None]
    assert "".join(visited) == expected


async def test_a_planner_that_always_names_the_step_it_is_in_reaches_the_end() -> None:
    def judge(request: Request) -> dict[str, Any]:
        done = request.behavior_feedback is not None
        here = {} if done else _to(None, request.observation.location.current.step_id)
        state = request.observation.context.fsm
        assert state is not None
        return {"targetAchieved": done, "transition": here if state.state is State.STEP_RUNNING else {}}

    planner = CallablePlanner(plan=judge, generate=lambda request: run_code("x = 1"))
    played = await play(planner, start={"workflow": workflow("step")}, limits=Limits(actions=20))
    assert played.state.fsm is State.WORKFLOW_COMPLETED


async def test_context_updates_are_applied_and_seen_by_the_next_request() -> None:
    update = ContextUpdate.parse(
        {
            "variables": {"checkpoint": "here", "x": "not the kernel's"},
            "todo_list_update": {"operation": "add", "items": ["one", "two"]},
            "progress_update": {"level": "behaviors", "focus": "look closely", "goal": "make x"},
            "section_progress": {"current_section_id": "intro", "current_section_number": 1},
            "workflow_progress": "1 of 2",
        }
    )
    played = await play(one_step(Behavior(run_code("x = 1"), context_update=update)))
    observation = played.planner.generated[0][0].observation
    assert observation.context.variables["checkpoint"] == "here"
    assert observation.context.todo_list == ("one", "two")
    assert observation.location.goals.behavior == "make x"
    behaviors = observation.location.progress.behaviors
    assert behaviors is not None
    assert behaviors.focus == "look closely"
    assert observation.context.workflow_progress == "1 of 2"
    assert played.state.variables["x"] == 1, "the kernel's word counts"


async def test_sections_are_counted_by_the_actions_that_are_marked_as_one() -> None:
    actions = [
        {"action": "new_section", "content": "First"},
        {
            "action": "add",
            "content": "### Own",
            "metadata": {"is_section": True, "section_id": "own", "section_number": 2},
        },
    ]
    played = await play(one_step(actions))
    assert played.feedback[0].sections_added == 2
    progress = played.state.planner_context.section_progress
    assert not isinstance(progress, str)
    assert progress is not None
    assert progress.current_section_id == "own"
    assert progress.completed_sections == ("section-1",)


@pytest.mark.parametrize(
    ("limits", "word"),
    [
        (Limits(actions=3), "3 actions"),
        (Limits(behaviors_per_step=1), "1 behavior,"),
        (Limits(actions_per_behavior=2), "2 actions"),
        (Limits(run_seconds=0.000001), "time limit"),
    ],
)
async def test_a_limit_stops_the_run_with_its_reason_and_more_room_lets_it_go_on(limits: Limits, word: str) -> None:
    def planner() -> Any:
        return one_step(run_code("x = 1", "y = 2"), run_code("z = 3"))

    played = await play(planner(), limits=limits)
    assert played.state.stopped is not None
    assert played.state.stopped.reason == "limit"
    assert word in played.state.stopped.detail
    again = await play(planner(), journal=played.journal, resume=RunResumed(limits=Limits()))
    assert again.state.fsm is State.WORKFLOW_COMPLETED
    assert again.state.kernel.variables == {"x": 1, "y": 2, "z": 3}


@pytest.mark.parametrize(("policy", "ran"), [("feedback", False), ("continue", True)])
async def test_on_error_says_whether_the_rest_of_a_behavior_is_run(policy: Any, ran: bool) -> None:
    policies = Policies(on_error=policy, on_unachieved="skip")
    played = await play(one_step([*run_code("1/0"), *run_code("after = 1")]), policies=policies)
    assert ("after" in played.state.kernel.variables) is ran
    assert played.feedback[0].errors


async def test_on_error_fail_ends_in_the_error_state_with_the_reason() -> None:
    played = await play(one_step(run_code("1/0")), policies=Policies(on_error="fail"))
    assert played.state.fsm is State.ERROR
    assert played.events[-1] == "FAIL"
    assert played.state.stopped is not None
    assert "ZeroDivisionError" in played.state.stopped.detail


async def test_a_plan_given_with_the_run_is_used() -> None:
    plan = workflow("step")
    silent = CallablePlanner(
        plan=lambda request: {"targetAchieved": request.behavior_feedback is not None},
        generate=lambda request: run_code("x = 1"),
    )
    played = await play(silent, start={"workflow": plan, "variables": {"csv": "data.csv"}, "title": "T"})
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert played.planner.planned[0].observation.context.variables == {"csv": "data.csv"}


async def test_every_request_carries_run_id_request_id_and_attempt() -> None:
    played = await play(one_step(run_code("x = 1")))
    options = [one.options for one in played.planner.planned] + [one.options for one, _ in played.planner.generated]
    assert {one.run_id for one in options} == {"run"}
    assert len({one.request_id for one in options}) == len(options)
    assert {one.attempt for one in options} == {1}


@pytest.mark.parametrize("fault", [ZeroDivisionError, RunRefused])
@pytest.mark.parametrize("after", [0, 1, 2])
async def test_a_planner_whose_own_code_fails_stops_the_run_and_says_why(after: int, fault: type[Exception]) -> None:
    def faulty(request: Request) -> Iterator[dict[str, Any]]:
        yield from run_code("x = 1")[:after]
        raise fault("a fault of the planner's own")

    def judge(request: Request) -> dict[str, Any]:
        return {"targetAchieved": False, "transition": {"continue_behaviors": True}}

    journal = MemoryJournal()
    planner = CallablePlanner(plan=judge, generate=faulty)
    with pytest.raises(fault, match="of the planner's own"):
        await play(planner, journal=journal, start={"workflow": workflow("step")})
    records = [entry.record async for entry in journal.read()]
    stopped = records[-1]
    assert isinstance(stopped, RunStopped)
    assert stopped.reason == "interrupted"
    assert f"{fault.__name__}: a fault of the planner's own" in stopped.detail
    assert sum(isinstance(record, ActionReceived) for record in records) == after
    assert sum(isinstance(record, ActionCompleted) for record in records) == after
    again = await play(one_step(run_code("x = 1")), journal=journal, resume=RunResumed())
    assert again.state.fsm is State.WORKFLOW_COMPLETED
