"""What each move of the state machine means for the run: a table over every event."""

from __future__ import annotations

import dataclasses
from typing import Any, Unpack

import pytest

from notebook_bcc.engine.changes import StateChanges, evolve
from notebook_bcc.engine.fold.tracking import attempt_start
from notebook_bcc.engine.fold.transitions import apply_transition
from notebook_bcc.engine.state import (
    HISTORY_KEPT,
    BehaviorState,
    KernelState,
    LevelState,
    Machine,
    Move,
    PlannerContext,
    Position,
    RunState,
)
from notebook_bcc.fsm.table import ROWS
from notebook_bcc.journal.records import (
    ActionReceived,
    PlanningAnswered,
    PlanningAsked,
    PlanProposal,
    Purpose,
    Transitioned,
)
from notebook_bcc.notebook.document import Document
from notebook_bcc.protocol.messages import ContextFilter, PlanningResponse
from notebook_bcc.protocol.tracking import CompletedItem, OutputTracking, Promotion
from notebook_bcc.protocol.vocabulary import Event, State
from notebook_bcc.protocol.workflow import Workflow

AT = "2026-01-02T00:00:20Z"
PLAN = Workflow.parse(
    {
        "stages": [
            {"id": "one", "expected_outputs": ["s"], "steps": [{"id": "a", "expected_outputs": ["x"]}, {"id": "b"}]},
            {"id": "two", "expected_outputs": ["t"], "steps": [{"id": "c"}]},
        ]
    }
)
OTHER_PLAN = Workflow.parse({"stages": [{"id": "given"}]})
PROPOSAL = PlanProposal(workflow=OTHER_PLAN)
PROMOTION = Promotion(variable="x", artifact_id="x@1")
HERE = Position("one", "a", "behavior_002", 2)
BEHAVIOR = BehaviorState(
    stream_open=True,
    received=2,
    current=ActionReceived(action_id="action-2", index=1, action={}),
    taken=("did it",),
    fire=Event.FAIL,
    promotions=(PROMOTION,),
)
# In the middle of a behavior, with something in every place that a move may clear.
BEFORE = RunState(
    run_id="run",
    seq=9,
    plan=PLAN,
    given_plan=OTHER_PLAN,
    given_title="Title",
    given_variables={"v": 1},
    elapsed_before=5.0,
    session_at="2026-01-02T00:00:00Z",
    machine=Machine(State.ACTION_COMPLETED, moves=5, entered=8),
    position=HERE,
    stages=LevelState(focus="stages"),
    steps=LevelState(outputs=OutputTracking(expected=("x",)), focus="steps"),
    behaviors=LevelState(outputs=OutputTracking(expected=("x", "y"), in_progress=("x",)), goal="the goal"),
    behavior=BEHAVIOR,
    kernel=KernelState(up=True, started=True, variables={"x": 1}, name="ir", session="s-1", losses=2),
    asked=PlanningAsked(request_id="run.1", purpose="step"),
    asked_from=RunState(),
    verdict=PlanningAnswered(request_id="run.1", purpose="step", response=PlanningResponse()),
    filter=ContextFilter(),
    target=("two", "c"),
    proposals=(PROPOSAL,),
    promotions=(PROMOTION,),
    planner_context=PlannerContext(todo=("do",)),
    effects=("printed",),
    effects_history=("before",),
    document=Document(title="Other"),
    actions_completed=7,
    reward=1.0,
    recover="behavior",
    fault="a fault",
    failure_reason="a failure",
)


def moved(event: Event, state: RunState = BEFORE, **record: Any) -> RunState:
    """The state after the event; where the table has several rows for it, after the first."""
    row = next(row for row in ROWS if row.event is event)
    made = Transitioned.model_validate({"source": row.state, "event": event, "to": row.next_state, **record})
    return evolve(state, **apply_transition(state, made, AT))


def changed(after: RunState, before: RunState = BEFORE) -> set[str]:
    names = [one.name for one in dataclasses.fields(RunState)]
    return {name for name in names if getattr(after, name) != getattr(before, name)} - {"machine"}


# A judgement, and a question for one, belong to the state that they were asked in.
EVERY = {"verdict", "asked", "asked_from"}
DROPPED = {"behavior", "behaviors", "proposals", "promotions", "target", "fault", "failure_reason"}
EMPTIED = {
    *("elapsed_before", "session_at", "actions_completed", "position", "stages", "steps", "behaviors", "behavior"),
    *("filter", "target", "proposals", "promotions", "fault", "failure_reason", "planner_context", "effects"),
    *("effects_history", "document", "kernel", "recover", "verdict"),
}
ENTERED_STAGE = {"position", "stages", "steps", "behaviors"}

# What changes beside the machine itself.
TABLE: dict[Event, set[str]] = {
    Event.START_WORKFLOW: ENTERED_STAGE | {"recover", "failure_reason"},
    Event.START_STEP: {"position", "steps", "behaviors", "target"},
    Event.START_BEHAVIOR: {"position", "recover", "failure_reason", "behaviors", "behavior"},
    Event.START_ACTION: {"effects", "effects_history"},
    Event.COMPLETE_ACTION: set(),
    Event.COMPLETE_BEHAVIOR: {"behaviors", "steps", "behavior", "effects", "filter"},
    Event.COMPLETE_STEP: {"steps", "steps_ended", "stages", "behavior", "effects", "effects_history"},
    Event.COMPLETE_STAGE: {"stages", "position"},
    Event.COMPLETE_WORKFLOW: set(),
    Event.NEXT_ACTION: set(),
    Event.NEXT_BEHAVIOR: {"position", "recover", "failure_reason", "behaviors", "behavior"},
    Event.NEXT_STEP: {"position", "steps", "behaviors", "target"},
    Event.NEXT_STAGE: ENTERED_STAGE,
    Event.UPDATE_WORKFLOW: set(),
    Event.UPDATE_WORKFLOW_CONFIRMED: set(),
    Event.UPDATE_WORKFLOW_REJECTED: set(),
    Event.UPDATE_STEP: set(),
    Event.UPDATE_STEP_CONFIRMED: set(),
    Event.UPDATE_STEP_REJECTED: DROPPED | {"recover"},
    Event.FAIL: DROPPED,
    Event.CANCEL: DROPPED | {"recover"},
    Event.RESET: EMPTIED | {"plan"},
}


def test_the_table_has_every_event() -> None:
    assert TABLE.keys() == set(Event)


@pytest.mark.parametrize("event", Event)
def test_what_a_move_changes_and_what_it_does_not(event: Event) -> None:
    assert changed(moved(event, stage_id="two", step_id="a")) == TABLE[event] | EVERY


@pytest.mark.parametrize("event", Event)
def test_every_move_is_counted_and_remembered(event: Event) -> None:
    row = next(row for row in ROWS if row.event is event)
    machine = moved(event).machine
    assert machine == Machine(row.next_state, (Move(row.state, event, row.next_state, AT),), moves=6, entered=10)


def test_the_newest_moves_are_kept_and_rewards_add_up() -> None:
    state = BEFORE
    for _ in range(HISTORY_KEPT + 3):
        state = moved(Event.COMPLETE_ACTION, state, reward=0.5)
    assert len(state.machine.history) == HISTORY_KEPT
    assert state.machine.moves == 5 + HISTORY_KEPT + 3
    assert state.reward == 1.0 + 0.5 * (HISTORY_KEPT + 3)


def test_a_stage_begins_with_its_own_promises_and_without_steps_done() -> None:
    for event in (Event.START_WORKFLOW, Event.NEXT_STAGE):
        after = moved(event, stage_id="two")
        assert after.position == Position("two")
        assert after.stages == LevelState(outputs=OutputTracking(expected=("t",)))
        assert after.steps == after.behaviors == LevelState()


@pytest.mark.parametrize(
    ("target", "left"), [(None, None), (("two", None), None), (("two", "c"), ("two", "c")), ((None, "c"), (None, "c"))]
)
def test_of_a_target_its_step_is_left_once_the_stage_is_entered(target: Any, left: Any) -> None:
    state = evolve(BEFORE, target=target)
    assert moved(Event.NEXT_STAGE, state, stage_id="two").target == left
    assert moved(Event.START_WORKFLOW, state, stage_id="two").target == left


def test_a_step_begins_with_its_own_promises_and_counts_behaviors_from_zero() -> None:
    for event in (Event.START_STEP, Event.NEXT_STEP):
        after = moved(event, step_id="a")
        assert after.position == Position("one", "a")
        assert after.steps == LevelState(outputs=OutputTracking(expected=("x",)))
        assert after.behaviors == LevelState()
        assert after.target is None


def answered(**response: Any) -> PlanningAnswered:
    purpose: Purpose = "step"
    return PlanningAnswered(request_id="run.1", purpose=purpose, response=PlanningResponse.parse(response))


@pytest.mark.parametrize(
    ("verdict", "behavior_id"),
    [
        (None, "behavior_003"),
        (answered(), "behavior_003"),
        (answered(behavior={"id": "clean"}), "clean"),
        (answered(behavior={"target": "no id"}), "behavior_003"),
    ],
)
def test_a_behavior_has_the_planners_name_or_its_number(verdict: Any, behavior_id: str) -> None:
    after = moved(Event.NEXT_BEHAVIOR, evolve(BEFORE, verdict=verdict))
    assert after.position == Position("one", "a", behavior_id, 3)
    assert after.behavior == BehaviorState(start=attempt_start(BEFORE, ()))
    assert (after.recover, after.failure_reason) == ("", "")


def test_a_behavior_that_failed_is_tried_again_under_its_name_and_with_its_promises() -> None:
    state = evolve(BEFORE, verdict=None)
    after = moved(Event.START_BEHAVIOR, state, source=State.ERROR)
    assert after.position == Position("one", "a", "behavior_003", 3), "a name of ours goes with the iteration"
    assert after.behaviors.outputs == OutputTracking(expected=("x", "y"))
    assert after.behaviors.goal == "the goal"
    # Another step begins anew.
    other = moved(Event.START_BEHAVIOR, state, source=State.ERROR, step_id="b")
    assert other.position == Position("one", "b", "behavior_001", 1)
    # The same step named again is the same place.
    assert moved(Event.START_BEHAVIOR, state, source=State.ERROR, step_id="a").position == after.position


def test_a_behavior_takes_up_what_the_judgement_before_it_promises() -> None:
    wanted = ContextFilter.model_validate(
        {
            "outputs_tracking": {
                "expected_variables": ["x"],
                "validation_required": ["v"],
                "promotions": [{"variable": "x", "artifact_id": "x@1"}],
            }
        }
    )
    update = [
        {"level": "behaviors", "goal": "said", "expected_outputs": ["z", "x"]},
        {"level": "steps", "goal": "of the step", "expected_outputs": ["no"]},
    ]
    verdict = answered(context_update={"progress_update": update}, behavior={"target": "target"})
    after = moved(Event.NEXT_BEHAVIOR, evolve(BEFORE, verdict=verdict, filter=wanted))
    assert after.behaviors.outputs == OutputTracking(expected=("x", "z"))
    assert after.behaviors.goal == "said"
    start = attempt_start(BEFORE, (PROMOTION,))
    assert after.behavior == BehaviorState(promotions=(PROMOTION,), validate=("v",), start=start)
    plain = moved(Event.NEXT_BEHAVIOR, evolve(BEFORE, verdict=answered(behavior={"target": "target"})))
    assert (plain.behaviors.goal, plain.behaviors.outputs) == ("target", OutputTracking())


def test_a_behavior_hands_up_what_exists_and_says_what_is_missing() -> None:
    after = moved(Event.COMPLETE_BEHAVIOR)
    assert after.behaviors.outputs == OutputTracking(expected=("x", "y"), produced=("x",))
    assert after.steps.outputs.produced == ("x",)
    (item,) = after.behaviors.completed
    assert (item.behavior_id, item.goal, item.actions_taken) == ("behavior_002", "the goal", ("did it",))
    assert (item.achieved, item.missing_outputs) == (False, ("y",))
    assert after.behavior.missing == ("y",)
    assert (after.behavior.ended, after.behavior.stream_open, after.behavior.current) == (True, False, None)
    assert after.effects[-1] == "WARN: behavior_002 ended without its expected outputs: y"
    assert after.filter is None


def test_a_behavior_that_has_all_it_promised_says_nothing() -> None:
    state = evolve(BEFORE, kernel=KernelState(variables={"x": 1, "y": 2}))
    after = moved(Event.COMPLETE_BEHAVIOR, state)
    assert after.effects == ("printed",)
    assert after.behaviors.completed[0].achieved


@pytest.mark.parametrize("achieved", [True, False])
def test_a_step_hands_up_and_stays_the_current_one(achieved: bool) -> None:
    after = moved(Event.COMPLETE_STEP, evolve(BEFORE, verdict=answered(targetAchieved=achieved)))
    assert after.position == HERE
    (item,) = after.steps.completed
    assert (item.step_id, item.achieved, item.missing_outputs) == ("a", achieved, ())
    assert after.stages.outputs.produced == ("x",)
    assert (after.effects, after.effects_history) == ((), ("before", "printed"))
    assert after.behavior == BehaviorState()


def test_a_step_without_what_it_promised_says_so() -> None:
    after = moved(Event.COMPLETE_STEP, evolve(BEFORE, kernel=KernelState(), verdict=None))
    assert after.effects == ("WARN: step a ended without its expected outputs: x",)
    assert after.effects_history == ("before", "printed")
    assert after.steps.completed[0].achieved is False


def test_a_step_tells_what_its_behaviors_did_and_found() -> None:
    produced = {"key_findings": ["found"]}
    items = [{"behavior_id": "one", "goal": "the first", "outputs_produced": produced}]
    items += [{"behavior_id": "two", "actions_taken": ["a", "b"]}]
    behaviors = LevelState(completed=tuple(map(CompletedItem.model_validate, items)))
    (item,) = moved(Event.COMPLETE_STEP, evolve(BEFORE, behaviors=behaviors)).steps.completed
    assert item.actions_taken == ("the first", "two: 2 actions")
    assert item.outputs_produced.key_findings == ("found",)


def test_a_stage_that_ends_leaves_its_last_step() -> None:
    after = moved(Event.COMPLETE_STAGE)
    assert after.position == Position("one")
    assert [item.stage_id for item in after.stages.completed] == ["one"]


def test_an_error_drops_the_queue_and_undoes_nothing() -> None:
    after = moved(Event.FAIL, reason="broken")
    assert after.failure_reason == "broken"
    assert after.recover == "behavior", "what a person chose for the next error stays"
    assert after.behavior == dataclasses.replace(
        BEHAVIOR, current=None, stream_open=False, ended=True, fire=None, promotions=()
    )
    assert after.behaviors.outputs == OutputTracking(expected=("x", "y"))
    assert (after.proposals, after.promotions, after.target, after.asked, after.fault) == ((), (), None, None, "")
    assert after.kernel == BEFORE.kernel
    assert after.document == BEFORE.document


def test_a_cancel_forgets_what_was_chosen_for_an_error() -> None:
    after = moved(Event.CANCEL, reason="enough")
    assert (after.recover, after.failure_reason) == ("", "enough")


def test_rejected_steps_are_an_error_with_a_reason() -> None:
    assert moved(Event.UPDATE_STEP_REJECTED).failure_reason == "the change of the steps was rejected"
    assert moved(Event.UPDATE_STEP_REJECTED, reason="no").failure_reason == "no"


def fresh(**changes: Unpack[StateChanges]) -> RunState:
    """What a start from nothing leaves."""
    return evolve(
        RunState(
            run_id="run",
            seq=9,
            session_at=AT,
            given_plan=OTHER_PLAN,
            given_title="Title",
            given_variables={"v": 1},
            planner_context=PlannerContext(variables={"v": 1}),
            document=Document(title="Title"),
            kernel=KernelState(name="ir", session="s-1"),
            reward=1.0,
        ),
        **changes,
    )


def test_a_reset_leaves_what_was_given_and_what_was_earned() -> None:
    after = moved(Event.RESET)
    assert after == fresh(machine=after.machine, plan=OTHER_PLAN)


def test_the_whole_workflow_again_keeps_the_plan_and_nothing_else() -> None:
    state = evolve(BEFORE, recover="workflow")
    after = moved(Event.START_WORKFLOW, state, source=State.ERROR, stage_id="one")
    stages = LevelState(outputs=OutputTracking(expected=("s",)))
    assert after == fresh(machine=after.machine, plan=PLAN, position=Position("one"), stages=stages)
    # Where a behavior is tried again by starting at its stage, what was made stays.
    kept = moved(Event.START_WORKFLOW, source=State.ERROR, stage_id="one")
    assert (kept.document, kept.kernel, kept.actions_completed) == (BEFORE.document, BEFORE.kernel, 7)


def test_what_differences_a_person_accepts_outlasts_a_reset() -> None:
    state = evolve(BEFORE, kernel=KernelState(accept_differences=True))
    assert moved(Event.RESET, state).kernel == KernelState(accept_differences=True)


def test_without_effects_nothing_becomes_history() -> None:
    assert moved(Event.START_ACTION, evolve(BEFORE, effects=())).effects_history == ("before",)
    assert moved(Event.START_ACTION).effects_history == ("before", "printed")


def test_a_verdict_is_used_up_by_the_move_it_leads_to() -> None:
    assert moved(Event.COMPLETE_WORKFLOW).verdict is None
    assert "verdict" not in apply_transition(
        evolve(BEFORE, verdict=None),
        Transitioned(source=State.ACTION_RUNNING, event=Event.COMPLETE_ACTION, to=State.ACTION_COMPLETED),
        AT,
    )
