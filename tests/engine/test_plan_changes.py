"""Changes of the plan: proposed, shown, confirmed or rejected, and never half applied."""

from __future__ import annotations

from typing import Any

import pytest

from engine.play import AUTO, Played, one_step, play, run_code, scripted, workflow
from notebook_bcc.engine.plan_changes import plan_diff
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import (
    ActionCompleted,
    Command,
    PlanProposal,
    PlanUpdateDecided,
    ProposalDropped,
    RunResumed,
    Transitioned,
    Warned,
)
from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.limits import Policies
from notebook_bcc.protocol.messages import ContextUpdate, Request
from notebook_bcc.protocol.vocabulary import State
from notebook_bcc.protocol.workflow import Step, Workflow

pytestmark = pytest.mark.anyio

ASK = Policies(confirm="ask")
MORE_STEPS = {
    "action": "update_stage_steps",
    "stage_id": "stage",
    "updated_steps": [{"id": "step"}, {"id": "extra", "goal": "found on the way"}],
}
OTHER_PLAN = {
    "action": "update_workflow",
    "updated_workflow": {
        "stages": [
            {"id": "stage", "steps": [{"id": "step"}]},
            {"id": "second", "steps": [{"id": "more"}]},
        ]
    },
}


class Someone:
    """A person at the console with one answer, who remembers what was shown."""

    def __init__(self, answer: bool | None) -> None:
        self._answer = answer
        self.shown: list[str] = []

    async def confirm(self, proposal: PlanProposal, diff: str) -> bool | None:
        self.shown.append(diff)
        return self._answer


def planner(action: dict[str, Any]) -> ScriptedPlanner:
    later = ("stage", "extra") if action is MORE_STEPS else ("second", "more")
    return ScriptedPlanner(
        workflow("step"),
        {
            ("stage", "step"): [Behavior([*run_code("x = 1"), action, *run_code("y = 2")])],
            later: [Behavior(run_code(f"{later[1]} = 1"))],
        },
    )


def visited(played: Played) -> list[str | None]:
    return [item.key for item in played.state.stages.completed]


async def test_a_confirmed_step_update_is_carried_out() -> None:
    someone = Someone(True)
    played = await play(planner(MORE_STEPS), policies=ASK, person=someone)
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert played.state.kernel.variables == {"x": 1, "y": 2, "extra": 1}
    assert "UPDATE_STEP" in played.events
    assert "UPDATE_STEP_CONFIRMED" in played.events
    assert "+   extra: found on the way" in someone.shown[0]


async def test_a_confirmed_workflow_update_is_carried_out() -> None:
    played = await play(planner(OTHER_PLAN), policies=ASK, person=Someone(True))
    assert visited(played) == ["stage", "second"]
    assert played.state.kernel.variables["more"] == 1


async def test_a_rejected_workflow_update_changes_nothing_and_the_run_goes_on() -> None:
    played = await play(planner(OTHER_PLAN), policies=ASK, person=Someone(False))
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert visited(played) == ["stage"]
    assert played.state.kernel.variables == {"x": 1, "y": 2}


async def test_a_rejected_step_update_ends_in_error() -> None:
    played = await play(planner(MORE_STEPS), policies=ASK, person=Someone(False))
    assert played.state.fsm is State.ERROR
    assert played.events[-1] == "UPDATE_STEP_REJECTED"
    assert played.state.plan == workflow("step")


@pytest.mark.parametrize(("policy", "confirmed"), [("auto", True), ("reject", False)])
async def test_a_policy_answers_where_no_person_is_asked(policy: Any, confirmed: bool) -> None:
    played = await play(planner(OTHER_PLAN), policies=Policies(confirm=policy))
    decided = played.records(PlanUpdateDecided)
    assert [(one.confirmed, one.by) for one in decided] == [(confirmed, "policy")]


@pytest.mark.parametrize("person", [None, Someone(None)])
async def test_without_an_answer_the_run_stops_waiting_and_goes_on_when_there_is_one(person: Someone | None) -> None:
    played = await play(planner(OTHER_PLAN), policies=ASK, person=person)
    assert played.state.fsm is State.WORKFLOW_UPDATE_PENDING
    assert played.state.stopped is not None
    assert played.state.stopped.reason == "waiting"
    still = await play(planner(OTHER_PLAN), journal=played.journal, resume=RunResumed())
    assert still.state.fsm is State.WORKFLOW_UPDATE_PENDING
    await still.journal.post(Command(kind="confirm", comment="fine"), at="2026-01-01T00:00:00Z")
    done = await play(planner(OTHER_PLAN), journal=still.journal, resume=RunResumed())
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    assert done.records(PlanUpdateDecided)[0].comment == "fine"
    assert done.state.kernel.variables == {"x": 1, "y": 2, "more": 1}


async def test_an_answer_that_was_given_once_does_not_answer_the_next_question() -> None:
    twice = ScriptedPlanner(
        workflow("step"),
        {("stage", "step"): [Behavior([MORE_STEPS]), Behavior([OTHER_PLAN])], ("stage", "extra"): []},
    )
    journal = MemoryJournal()
    await journal.post(Command(kind="confirm"), at="2026-01-01T00:00:00Z")
    early = await play(twice, policies=ASK, journal=journal)
    assert early.state.stopped is not None
    assert early.state.stopped.reason == "waiting", "a confirmation of nothing confirms nothing"
    assert any("no change of the plan waits" in one.message for one in early.records(Warned))
    await journal.post(Command(kind="confirm"), at="2026-01-01T00:00:00Z")
    later = await play(twice, journal=journal, resume=RunResumed())
    assert later.state.stopped is not None
    assert later.state.stopped.reason == "waiting"
    assert len(later.records(PlanUpdateDecided)) == 1


async def test_the_first_plan_and_the_first_steps_of_a_stage_need_no_confirmation() -> None:
    def judge(request: Request) -> dict[str, Any]:
        state = request.observation.context.fsm
        assert state is not None
        if state.state is State.IDLE:
            return {"context_update": {"workflow_update": {"stages": [{"id": "stage", "steps": []}]}}}
        if state.state is State.STAGE_RUNNING:
            return {"context_update": {"stage_steps_update": {"updated_steps": [{"id": "late"}]}}}
        return {"targetAchieved": request.behavior_feedback is not None}

    filling = CallablePlanner(plan=judge, generate=lambda request: run_code("x = 1"))
    played = await play(filling, policies=Policies(confirm="reject"))
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert played.state.kernel.variables == {"x": 1}
    assert played.records(PlanUpdateDecided) == []


async def test_a_plan_change_from_planning_waits_for_the_next_action() -> None:
    def judge(request: Request) -> dict[str, Any]:
        state = request.observation.context.fsm
        assert state is not None
        if state.state is State.IDLE:
            return {"context_update": {"workflow_update": workflow("step").to_dict()}}
        if state.state is State.STEP_RUNNING and request.observation.location.current.step_id == "step":
            return {"context_update": {"stage_steps_update": {"updated_steps": MORE_STEPS["updated_steps"]}}}
        return {"targetAchieved": request.behavior_feedback is not None}

    def write(request: Request) -> list[dict[str, Any]]:
        return run_code("x = 1" if request.observation.location.current.step_id == "step" else "extra = 1")

    played = await play(CallablePlanner(plan=judge, generate=write), policies=AUTO)
    assert played.state.kernel.variables == {"x": 1, "extra": 1}
    first = played.events.index("UPDATE_STEP")
    assert played.events[first - 1] == "START_ACTION"
    assert played.events[first + 1] == "UPDATE_STEP_CONFIRMED"
    assert [one.success for one in played.records(ActionCompleted)][:1] == [True], "the action itself was carried out"


@pytest.mark.parametrize(
    "bad",
    [
        {"action": "update_stage_steps", "stage_id": "nowhere", "updated_steps": [{"id": "a"}]},
        {"action": "update_stage_steps", "stage_id": "stage", "updated_steps": []},
        {"action": "update_stage_steps", "stage_id": "stage", "updated_steps": [{"id": "step"}, {"id": "step"}]},
        {"action": "update_stage_steps", "stage_id": "stage", "updated_steps": [{"id": "other"}]},
        {"action": "update_workflow", "updated_workflow": {"stages": []}},
        {"action": "update_workflow", "updated_workflow": {"stages": [{"id": "a"}, {"id": "a"}]}},
        {"action": "update_workflow", "updated_workflow": {"stages": [{"id": "other", "steps": [{"id": "x"}]}]}},
        {"action": "update_workflow", "updated_workflow": {"name": "no stages"}},
    ],
)
async def test_a_plan_that_cannot_be_applied_is_an_error_result_and_nothing_of_it_is_applied(bad: Any) -> None:
    played = await play(one_step([bad, *run_code("x = 1")]), policies=Policies(confirm="auto", on_unachieved="skip"))
    assert not played.records(ActionCompleted)[0].success
    assert played.state.plan is not None
    assert played.state.plan.stages == workflow("step").stages
    assert played.records(PlanUpdateDecided) == []


async def test_completed_steps_cannot_be_removed_or_reordered() -> None:
    swapped = {**MORE_STEPS, "updated_steps": [{"id": "b"}, {"id": "a"}, {"id": "c"}]}
    removed = {**MORE_STEPS, "updated_steps": [{"id": "c"}, {"id": "b"}]}
    for change, word in ((swapped, "reordered"), (removed, "removed")):
        plan = workflow("a", "b", "c")
        steps = {"a": [], "b": [], "c": [Behavior([change])]}
        played = await play(scripted(plan, steps), policies=Policies(confirm="auto", on_unachieved="skip"))
        assert word in (played.records(ActionCompleted)[0].error or "")


async def test_after_a_jump_back_completed_steps_keep_the_plans_order() -> None:
    def judge(request: Request) -> dict[str, Any]:
        state, current = request.observation.context.fsm, request.observation.location.current
        assert state is not None
        if state.state is State.STAGE_RUNNING:
            return {"transition": {"strategy": "server_controlled", "next_step_id": "b"}}
        if state.state is State.STEP_COMPLETED and current.step_id == "b":
            return {"transition": {"strategy": "server_controlled", "next_step_id": "a"}}
        return {"targetAchieved": state.state is State.BEHAVIOR_COMPLETED}

    def write(request: Request) -> list[dict[str, Any]]:
        longer = {**MORE_STEPS, "updated_steps": [{"id": one} for one in "abcd"]}
        swapped = {**MORE_STEPS, "updated_steps": [{"id": one} for one in "bacd"]}
        return [longer, swapped] if request.observation.location.current.step_id == "c" else run_code("x = 1")

    planner = CallablePlanner(plan=judge, generate=write)
    policies = Policies(confirm="auto", on_error="continue")
    played = await play(planner, policies=policies, start={"workflow": workflow("a", "b", "c")})
    assert [item.key for item in played.state.steps.completed] == ["b", "a", "c", "d"]
    refused = [one.error for one in played.records(ActionCompleted) if not one.success]
    assert refused == ["completed steps cannot be reordered: they are a, b"]


async def test_the_steps_of_a_completed_stage_cannot_be_changed_by_another_workflow() -> None:
    def other(*steps: str) -> dict[str, Any]:
        first = {"id": "one", "steps": [{"id": step} for step in steps]}
        stages = [first, {"id": "two", "steps": [{"id": "b"}]}, {"id": "three", "steps": [{"id": "c"}]}]
        return {"action": "update_workflow", "updated_workflow": {"stages": stages}}

    def write(request: Request) -> list[dict[str, Any]]:
        at_b = request.observation.location.current.step_id == "b"
        return [other("other", "more"), other("a")] if at_b else run_code("x = 1")

    plan = Workflow.parse({"stages": other("a")["updated_workflow"]["stages"][:2]})
    planner = CallablePlanner(
        plan=lambda request: {"targetAchieved": request.behavior_feedback is not None}, generate=write
    )
    policies = Policies(confirm="auto", on_error="continue")
    played = await play(planner, policies=policies, start={"workflow": plan})
    refused = [one.error for one in played.records(ActionCompleted) if not one.success]
    assert refused == ["stage 'one' is completed; its steps cannot change"]
    assert visited(played) == ["one", "two", "three"]


async def test_a_plan_from_planning_that_cannot_be_applied_is_refused_with_a_warning() -> None:
    update = ContextUpdate.parse({"workflow_update": {"stages": [{"id": "other", "steps": [{"id": "x"}]}]}})
    played = await play(one_step(Behavior(run_code("x = 1"), context_update=update)), policies=AUTO)
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert any("refused" in one.message for one in played.records(Warned))


EMPTY = {"stages": [{"id": "stage"}]}
STEPS = {"stage_id": "stage", "steps": [{"id": "a"}, {"id": "b"}]}


@pytest.mark.parametrize(
    ("given", "answers", "expected"),
    [
        pytest.param(
            EMPTY,
            {
                State.STAGE_RUNNING: {
                    "context_update": {"stage_steps_update": STEPS},
                    "transition": {"strategy": "server_controlled", "next_step_id": "b"},
                }
            },
            ["b", "a"],
            id="steps, and where to begin",
        ),
        pytest.param(
            None,
            {State.IDLE: {"context_update": {"workflow_update": EMPTY, "stage_steps_update": STEPS}}},
            ["a", "b"],
            id="a plan, and the steps of its stage",
        ),
        pytest.param(
            {"stages": [{"id": "first", "steps": [{"id": "x"}]}]},
            {
                State.STEP_RUNNING: {
                    "context_update": {
                        "workflow_update": {"stages": [{"id": "first"}, *EMPTY["stages"]]},
                        "stage_steps_update": STEPS,
                    }
                }
            },
            ["x", "a", "b"],
            id="another plan, and the steps of its new stage",
        ),
    ],
)
async def test_each_part_of_an_answer_is_checked_against_the_plan_after_the_parts_before(
    given: Any, answers: dict[State, dict[str, Any]], expected: list[str]
) -> None:
    left = dict(answers)

    def judge(request: Request) -> dict[str, Any]:
        state = request.observation.context.fsm
        assert state is not None
        return {"targetAchieved": state.state is State.BEHAVIOR_COMPLETED, **left.pop(state.state, {})}

    planner = CallablePlanner(plan=judge, generate=lambda request: run_code("x = 1"))
    start = {} if given is None else {"workflow": Workflow.parse(given)}
    played = await play(planner, policies=AUTO, start=start)
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert played.records(Warned) == []
    assert [record.step_id for record in played.records(Transitioned) if record.step_id is not None] == expected


async def test_a_proposal_that_no_longer_fits_when_its_turn_comes_is_dropped_with_its_reason() -> None:
    one, two = {"id": "one", "steps": [{"id": "a"}]}, {"id": "two", "steps": [{"id": "b"}]}

    def judge(request: Request) -> dict[str, Any]:
        state = request.observation.context.fsm
        assert state is not None
        if state.state is State.STAGE_RUNNING:
            return {"context_update": {"workflow_update": {"stages": [one]}}}
        if state.state is State.STEP_RUNNING:
            # The stage is in the plan as long as its removal is not confirmed.
            return {"context_update": {"stage_steps_update": {"stage_id": "two", "steps": [{"id": "c"}]}}}
        return {"targetAchieved": request.behavior_feedback is not None}

    start = {"workflow": Workflow.parse({"stages": [one, two]})}
    planner = CallablePlanner(plan=judge, generate=lambda request: run_code("x = 1"))
    played = await play(planner, policies=AUTO, start=start)
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert [one.reason for one in played.records(ProposalDropped)] == ["stage 'two' is not in the plan"]


def test_a_diff_marks_what_is_new_gone_and_changed() -> None:
    plan = workflow({"id": "a", "goal": "one"}, {"id": "b"})
    steps = (Step(id="a", goal="two"), Step(id="c"))
    diff = plan_diff(plan, PlanProposal(stage_id="stage", steps=steps))
    assert diff.splitlines() == ["  stage", "~   a: two", "+   c", "-   b"]


async def test_a_stage_that_is_proposed_without_steps_keeps_those_it_has() -> None:
    bare = {"action": "update_workflow", "updated_workflow": {"name": "test", "stages": [{"id": "stage"}]}}
    played = await play(one_step([*run_code("x = 1"), bare]))
    assert played.state.plan == workflow("step"), "this is the plan already, and nobody is asked"
    assert not played.records(PlanUpdateDecided)
    more = {"action": "update_workflow", "updated_workflow": {"stages": [{"id": "stage"}, {"id": "second"}]}}
    proposal = PlanProposal.model_validate({"workflow": more["updated_workflow"]})
    assert plan_diff(workflow("step"), proposal) == "  stage\n    step\n+ second"


async def test_an_offered_change_is_accepted_by_the_policy_where_nobody_is_there() -> None:
    played = await play(planner(MORE_STEPS), policies=Policies(confirm="offer"))
    (decided,) = played.records(PlanUpdateDecided)
    assert (decided.confirmed, decided.by, decided.comment) == (True, "policy", "nobody was there to ask")
    assert played.state.fsm is State.WORKFLOW_COMPLETED


@pytest.mark.parametrize("answer", [True, None])
async def test_an_offered_change_is_put_to_whoever_is_there(answer: bool | None) -> None:
    someone = Someone(answer)
    played = await play(planner(MORE_STEPS), policies=Policies(confirm="offer"), person=someone)
    assert len(someone.shown) == 1
    assert [one.by for one in played.records(PlanUpdateDecided)] == (["person"] if answer else [])
    assert played.state.stopped is not None
    assert played.state.stopped.reason == ("completed" if answer else "waiting")
