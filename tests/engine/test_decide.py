"""What comes next, state by state: a table. Nothing is carried out here."""

from __future__ import annotations

from typing import Any, Unpack

import pytest

from notebook_bcc.engine.changes import StateChanges, evolve
from notebook_bcc.engine.decide import budget_reached, decide
from notebook_bcc.engine.intents import (
    AskPerson,
    AskPlanning,
    DropProposal,
    ExecuteAction,
    Fire,
    Intent,
    OpenStream,
    Promote,
    Refuse,
    SaveCheckpoint,
    StartKernel,
    Stop,
    TakeAction,
    TakeOver,
    Withdraw,
)
from notebook_bcc.engine.state import BehaviorState, DoneAction, KernelState, LevelState, Machine, Position, RunState
from notebook_bcc.fsm.machine import next_state
from notebook_bcc.journal.records import ActionCompleted, ActionReceived, PlanningAnswered, PlanProposal, Purpose
from notebook_bcc.protocol.actions import BUILTIN_ACTIONS, WITHOUT_KERNEL
from notebook_bcc.protocol.limits import Limits, Policies, Spent
from notebook_bcc.protocol.messages import ContextFilter, PlanningResponse
from notebook_bcc.protocol.tracking import CompletedItem, Promotion
from notebook_bcc.protocol.vocabulary import Event, State
from notebook_bcc.protocol.workflow import Workflow

PLAN = Workflow.parse(
    {"stages": [{"id": "one", "steps": [{"id": "a"}, {"id": "b"}]}, {"id": "two", "steps": [{"id": "c"}]}]}
)
EMPTY = Workflow.parse({"stages": [{"id": "one"}]})
UP = KernelState(up=True, started=True)
PROMOTION = Promotion(variable="x", artifact_id="x@1")
NEW_PLAN = PlanProposal(workflow=Workflow.parse({"stages": [{"id": "one"}, {"id": "two"}, {"id": "three"}]}))
NEW_STEPS = PlanProposal(
    stage_id="one", steps=Workflow.parse({"stages": [{"id": "x", "steps": [{"id": "a"}]}]}).stages[0].steps
)
BROKEN_PLAN = PlanProposal(workflow=Workflow.parse({"stages": [{"id": "other"}]}))


def at(fsm: State, **changes: Unpack[StateChanges]) -> RunState:
    """A run in the first step of the first stage, in that state of its machine."""
    state = RunState(
        run_id="run",
        plan=PLAN,
        machine=Machine(fsm),
        position=Position("one", "a", "behavior_001", 1),
        kernel=UP,
        limits=Limits(kernel_restarts=3),
    )
    return evolve(state, **changes)


def said(purpose: Purpose, **response: Any) -> PlanningAnswered:
    return PlanningAnswered(request_id="run.1", purpose=purpose, response=PlanningResponse.parse(response))


def received(action: Any, *, index: int = 0) -> ActionReceived:
    return ActionReceived(action_id="action-1", index=index, action=action)


def done(*keys: str, level: str = "step_id") -> LevelState:
    return LevelState(completed=tuple(CompletedItem.model_validate({level: key}) for key in keys))


ACHIEVED: dict[str, Any] = {"targetAchieved": True}
ELSEWHERE = {"transition": {"next_stage_id": "two"}}
RUNS_CODE, ADDS_TEXT = {"action": "exec", "codecell_id": "x"}, {"action": "add", "content": "x"}
S, E = State, Event
NO_GOAL = "step 'a' ended without its goal: "

# A state, and the one thing to do next.
DONE = DoneAction(RUNS_CODE, ActionCompleted(action_id="action-1", action="exec", success=True))
FAILED = DoneAction(RUNS_CODE, ActionCompleted(action_id="action-1", action="exec", success=False))
TABLE: list[tuple[RunState, Intent]] = [
    # idle: ask for a plan, begin with its first stage or with the one that was named
    (at(S.IDLE), AskPlanning("start")),
    (at(S.IDLE, verdict=said("stage")), AskPlanning("start")),
    (at(S.IDLE, verdict=said("start")), Fire(E.START_WORKFLOW, stage_id="one")),
    (at(S.IDLE, verdict=said("start"), target=("two", None)), Fire(E.START_WORKFLOW, stage_id="two")),
    (at(S.IDLE, verdict=said("start"), target=(None, "b")), Fire(E.START_WORKFLOW, stage_id="one")),
    (
        at(S.IDLE, verdict=said("start"), plan=None),
        Stop("interrupted", "the planner brought no plan, and the run was not given one"),
    ),
    # stage_running: the step that is named, else the next one that remains
    (at(S.STAGE_RUNNING), AskPlanning("stage")),
    (at(S.STAGE_RUNNING, verdict=said("stage", **ACHIEVED)), Fire(E.COMPLETE_STAGE)),
    (at(S.STAGE_RUNNING, verdict=said("stage"), position=Position("one")), Fire(E.START_STEP, step_id="a")),
    (
        at(S.STAGE_RUNNING, verdict=said("stage"), position=Position("one"), steps=done("a")),
        Fire(E.START_STEP, step_id="b"),
    ),
    (at(S.STAGE_RUNNING, verdict=said("stage"), target=("one", "b")), Fire(E.START_STEP, step_id="b")),
    (at(S.STAGE_RUNNING, verdict=said("stage"), target=(None, "b")), Fire(E.START_STEP, step_id="b")),
    (
        at(S.STAGE_RUNNING, verdict=said("stage"), position=Position("one"), target=("two", "c")),
        Fire(E.START_STEP, step_id="a"),
    ),
    (
        at(S.STAGE_RUNNING, verdict=said("stage"), position=Position("one"), steps=done("a", "b")),
        Fire(E.COMPLETE_STAGE),
    ),
    (
        at(S.STAGE_RUNNING, verdict=said("stage"), position=Position("one"), plan=EMPTY),
        Fire(E.FAIL, reason="stage 'one' has no steps, and the planner brought none"),
    ),
    (
        at(S.STAGE_RUNNING, verdict=said("stage"), position=Position("gone")),
        Fire(E.FAIL, reason="stage 'gone' is not in the plan"),
    ),
    # step_running: a behavior, unless its goal is reached or it has had too many
    (at(S.STEP_RUNNING), AskPlanning("step")),
    (at(S.STEP_RUNNING, verdict=said("step", **ACHIEVED)), Fire(E.COMPLETE_STEP, reason="target achieved")),
    (at(S.STEP_RUNNING, verdict=said("step")), Fire(E.START_BEHAVIOR)),
    (at(S.STEP_RUNNING, verdict=said("step"), limits=Limits(behaviors_per_step=2)), Fire(E.START_BEHAVIOR)),
    (at(S.STEP_RUNNING, verdict=said("step"), limits=Limits(behaviors_per_step=0)), Fire(E.START_BEHAVIOR)),
    (
        at(S.STEP_RUNNING, verdict=said("step"), limits=Limits(behaviors_per_step=1)),
        Stop("limit", "step 'a' has had 1 behavior, the most allowed (--max-behaviors)"),
    ),
    # behavior_running: open the stream, take its actions, end
    (at(S.BEHAVIOR_RUNNING), OpenStream()),
    (at(S.BEHAVIOR_RUNNING, behavior=BehaviorState(received=3)), OpenStream(skip=3)),
    (at(S.BEHAVIOR_RUNNING, kernel=KernelState()), OpenStream()),
    (at(S.BEHAVIOR_RUNNING, kernel=KernelState(), filter=ContextFilter()), OpenStream()),
    (
        at(S.BEHAVIOR_RUNNING, kernel=KernelState(), filter=ContextFilter(variables_to_summarize={"x": "shape"})),
        StartKernel(),
    ),
    (at(S.BEHAVIOR_RUNNING, filter=ContextFilter(variables_to_summarize={"x": "shape"})), OpenStream()),
    (at(S.BEHAVIOR_RUNNING, behavior=BehaviorState(stream_open=True)), TakeAction()),
    # What was read before a stop comes first, whatever else is due.
    (at(S.BEHAVIOR_RUNNING, behavior=BehaviorState(queue=(ADDS_TEXT,), failure="x", ended=True)), TakeAction()),
    (at(S.BEHAVIOR_RUNNING, behavior=BehaviorState(ended=True)), Fire(E.COMPLETE_BEHAVIOR)),
    (at(S.BEHAVIOR_RUNNING, behavior=BehaviorState(ended=True, promotions=(PROMOTION,))), Promote(PROMOTION)),
    (
        at(S.BEHAVIOR_RUNNING, behavior=BehaviorState(ended=True, promotions=(PROMOTION,)), kernel=KernelState()),
        StartKernel(),
    ),
    (at(S.BEHAVIOR_RUNNING, behavior=BehaviorState(failure="silence")), Fire(E.FAIL, reason="silence")),
    (at(S.BEHAVIOR_RUNNING, behavior=BehaviorState(out_of_budget="no money")), Stop("limit", "no money")),
    (
        at(S.BEHAVIOR_RUNNING, limits=Limits(model_calls=2), spent=Spent(calls=2)),
        Stop("limit", "the budget of 2 calls is used up (2 spent) (--budget-calls)"),
    ),
    (at(S.BEHAVIOR_RUNNING, limits=Limits(model_calls=3), spent=Spent(calls=2)), OpenStream()),
    # action_running: with a kernel if code may run
    (at(S.ACTION_RUNNING, behavior=BehaviorState(current=received(RUNS_CODE))), ExecuteAction()),
    (at(S.ACTION_RUNNING, behavior=BehaviorState(current=received(RUNS_CODE)), kernel=KernelState()), StartKernel()),
    (
        at(S.ACTION_RUNNING, behavior=BehaviorState(current=received({"type": "exec"})), kernel=KernelState()),
        StartKernel(),
    ),
    (at(S.ACTION_RUNNING, behavior=BehaviorState(current=received(ADDS_TEXT)), kernel=KernelState()), ExecuteAction()),
    (
        at(S.ACTION_RUNNING, behavior=BehaviorState(current=received({"type": "add"})), kernel=KernelState()),
        ExecuteAction(),
    ),
    (
        at(S.ACTION_RUNNING, behavior=BehaviorState(current=received({"action": "own"})), kernel=KernelState()),
        StartKernel(),
    ),
    (at(S.ACTION_RUNNING, behavior=BehaviorState(current=received("no action")), kernel=KernelState()), StartKernel()),
    (
        at(S.ACTION_RUNNING, behavior=BehaviorState(current=received({"action": []})), kernel=KernelState()),
        StartKernel(),
    ),
    (
        at(
            S.ACTION_RUNNING,
            behavior=BehaviorState(current=received(ADDS_TEXT, index=2)),
            limits=Limits(actions_per_behavior=2),
        ),
        Stop("limit", "behavior 'behavior_001' has had 2 actions, the most allowed (--max-actions-per-behavior)"),
    ),
    (
        at(
            S.ACTION_RUNNING,
            behavior=BehaviorState(current=received(ADDS_TEXT, index=1)),
            limits=Limits(actions_per_behavior=2),
        ),
        ExecuteAction(),
    ),
    (
        at(
            S.ACTION_RUNNING,
            behavior=BehaviorState(current=received(ADDS_TEXT, index=9)),
            limits=Limits(actions_per_behavior=0),
        ),
        ExecuteAction(),
    ),
    # after an error: what the attempt before has done of it
    (at(S.ACTION_RUNNING, behavior=BehaviorState(current=received(RUNS_CODE), former=(DONE,))), TakeOver()),
    (at(S.ACTION_RUNNING, behavior=BehaviorState(current=received(ADDS_TEXT), former=(DONE,))), Withdraw()),
    (at(S.ACTION_RUNNING, behavior=BehaviorState(current=received(RUNS_CODE), former=(FAILED,))), Withdraw()),
    (at(S.ACTION_COMPLETED, behavior=BehaviorState(ended=True, former=(DONE,))), Withdraw()),
    (at(S.ACTION_RUNNING), Fire(E.COMPLETE_ACTION)),
    (at(S.ACTION_RUNNING, proposals=(NEW_PLAN,)), Fire(E.UPDATE_WORKFLOW)),
    (at(S.ACTION_RUNNING, proposals=(NEW_STEPS, NEW_PLAN)), Fire(E.UPDATE_STEP)),
    (
        at(S.ACTION_RUNNING, proposals=(BROKEN_PLAN,)),
        DropProposal("stage 'one' is completed or under way and cannot be removed"),
    ),
    # action_completed: what the action asked for, the next one, or the end
    (at(S.ACTION_COMPLETED, behavior=BehaviorState(stream_open=True)), TakeAction()),
    (at(S.ACTION_COMPLETED, behavior=BehaviorState(received=2)), OpenStream(skip=2)),
    (at(S.ACTION_COMPLETED, behavior=BehaviorState(ended=True)), Fire(E.COMPLETE_BEHAVIOR)),
    (at(S.ACTION_COMPLETED, behavior=BehaviorState(stream_open=True, aborted=True)), Fire(E.COMPLETE_BEHAVIOR)),
    (at(S.ACTION_COMPLETED, behavior=BehaviorState(failure="broken")), Fire(E.FAIL, reason="broken")),
    (at(S.ACTION_COMPLETED, behavior=BehaviorState(out_of_budget="no money")), Stop("limit", "no money")),
    (
        at(S.ACTION_COMPLETED, behavior=BehaviorState(stream_open=True, fire=E.COMPLETE_BEHAVIOR)),
        Fire(E.COMPLETE_BEHAVIOR),
    ),
    (
        at(
            S.ACTION_COMPLETED,
            behavior=BehaviorState(stream_open=True, fire=E.COMPLETE_BEHAVIOR, promotions=(PROMOTION,)),
        ),
        Promote(PROMOTION),
    ),
    (
        at(S.ACTION_COMPLETED, behavior=BehaviorState(fire=E.FAIL)),
        Fire(E.FAIL, reason="asked for by a next_event action"),
    ),
    (
        at(S.ACTION_COMPLETED, behavior=BehaviorState(fire=E.CANCEL)),
        Fire(E.CANCEL, reason="asked for by a next_event action"),
    ),
    (
        at(S.ACTION_COMPLETED, behavior=BehaviorState(fire=E.NEXT_STEP)),
        Refuse("NEXT_STEP", "a next_event action cannot fire NEXT_STEP in action_completed"),
    ),
    # behavior_completed: once more, on, or nowhere
    (at(S.BEHAVIOR_COMPLETED), AskPlanning("feedback")),
    (
        at(S.BEHAVIOR_COMPLETED, verdict=said("feedback", transition={"continue_behaviors": True})),
        Fire(E.NEXT_BEHAVIOR),
    ),
    (
        at(
            S.BEHAVIOR_COMPLETED,
            verdict=said("feedback", transition={"continue_behaviors": True}),
            limits=Limits(behaviors_per_step=1),
        ),
        Stop("limit", "step 'a' has had 1 behavior, the most allowed (--max-behaviors)"),
    ),
    (
        at(S.BEHAVIOR_COMPLETED, verdict=said("feedback", **ACHIEVED, transition={"continue_behaviors": True})),
        Fire(E.NEXT_BEHAVIOR),
    ),
    (at(S.BEHAVIOR_COMPLETED, verdict=said("feedback", **ACHIEVED)), Fire(E.COMPLETE_STEP, reason="target achieved")),
    (
        at(
            S.BEHAVIOR_COMPLETED,
            verdict=said("feedback", transition={"continue_behaviors": True}),
            behavior=BehaviorState(end_phase=True),
        ),
        Fire(E.COMPLETE_STEP, reason="end_phase"),
    ),
    (
        at(S.BEHAVIOR_COMPLETED, verdict=said("feedback"), target=("two", None)),
        Fire(E.COMPLETE_STEP, reason="the planner moves on"),
    ),
    (
        at(S.BEHAVIOR_COMPLETED, verdict=said("feedback"), policies=Policies(on_unachieved="skip")),
        Fire(E.COMPLETE_STEP, reason="not achieved, skipped"),
    ),
    (
        at(S.BEHAVIOR_COMPLETED, verdict=said("feedback")),
        Fire(E.FAIL, reason=NO_GOAL + "the planner neither continues nor is done"),
    ),
    (
        at(S.BEHAVIOR_COMPLETED, verdict=said("feedback"), behavior=BehaviorState(missing=("x", "y"))),
        Fire(E.FAIL, reason=NO_GOAL + "the planner neither continues nor is done; missing outputs: x, y"),
    ),
    (
        at(
            S.BEHAVIOR_COMPLETED,
            verdict=said("feedback", metadata={"reason": "no data"}),
            behavior=BehaviorState(missing=("x",)),
        ),
        Fire(E.FAIL, reason=NO_GOAL + "no data"),
    ),
    # step_completed: the next step, or the stage's end
    (at(S.STEP_COMPLETED), AskPlanning("step_end")),
    (at(S.STEP_COMPLETED, verdict=said("step_end")), Fire(E.NEXT_STEP, step_id="b")),
    (at(S.STEP_COMPLETED, verdict=said("step_end", **ACHIEVED)), Fire(E.COMPLETE_STAGE)),
    (at(S.STEP_COMPLETED, verdict=said("step_end"), steps=done("b")), Fire(E.COMPLETE_STAGE)),
    (at(S.STEP_COMPLETED, verdict=said("step_end"), target=("one", "a")), Fire(E.NEXT_STEP, step_id="a")),
    (at(S.STEP_COMPLETED, verdict=said("step_end", **ACHIEVED), target=(None, "b")), Fire(E.NEXT_STEP, step_id="b")),
    (at(S.STEP_COMPLETED, verdict=said("step_end"), target=("two", "c")), Fire(E.COMPLETE_STAGE)),
    (at(S.STEP_COMPLETED, verdict=said("step_end"), target=("two", None)), Fire(E.COMPLETE_STAGE)),
    # stage_completed: the next stage, or the workflow's end
    (at(S.STAGE_COMPLETED), AskPlanning("stage_end")),
    (at(S.STAGE_COMPLETED, verdict=said("stage_end")), Fire(E.NEXT_STAGE, stage_id="two")),
    (at(S.STAGE_COMPLETED, verdict=said("stage_end", **ACHIEVED)), Fire(E.COMPLETE_WORKFLOW)),
    (
        at(S.STAGE_COMPLETED, verdict=said("stage_end"), stages=done("two", level="stage_id")),
        Fire(E.COMPLETE_WORKFLOW),
    ),
    (at(S.STAGE_COMPLETED, verdict=said("stage_end"), target=("one", None)), Fire(E.NEXT_STAGE, stage_id="one")),
    (
        at(S.STAGE_COMPLETED, verdict=said("stage_end", **ACHIEVED), target=("two", "c")),
        Fire(E.NEXT_STAGE, stage_id="two"),
    ),
    (at(S.STAGE_COMPLETED, verdict=said("stage_end"), target=(None, "a")), Fire(E.NEXT_STAGE, stage_id="two")),
    # workflow_completed: the end
    (at(S.WORKFLOW_COMPLETED), Stop("completed")),
    (at(S.WORKFLOW_COMPLETED, plan=None), Stop("completed")),
    # error: what a person chose, else the end
    (at(S.ERROR, failure_reason="why"), Stop("failed", "why")),
    (at(S.ERROR, recover="reset"), Fire(E.RESET)),
    (at(S.ERROR, recover="workflow"), Fire(E.START_WORKFLOW, stage_id="one")),
    (at(S.ERROR, recover="workflow", plan=None, failure_reason="why"), Stop("failed", "why")),
    (at(S.ERROR, recover="behavior"), Fire(E.START_BEHAVIOR)),
    (at(S.ERROR, recover="behavior", position=Position("one")), Fire(E.START_BEHAVIOR, step_id="a")),
    (
        at(S.ERROR, recover="behavior", position=Position("two"), steps=done("c")),
        Fire(E.START_WORKFLOW, stage_id="two"),
    ),
    (at(S.ERROR, recover="behavior", position=Position()), Fire(E.START_WORKFLOW, stage_id="one")),
    (at(S.ERROR, recover="behavior", position=Position(), plan=None), Stop("failed")),
    # cancelled: only a start from nothing leads out
    (at(S.CANCELLED, failure_reason="enough"), Stop("cancelled", "enough")),
    (at(S.CANCELLED, recover="reset"), Fire(E.RESET)),
    (at(S.CANCELLED, recover="behavior"), Stop("cancelled")),
    # a change of the plan waits
    (at(S.WORKFLOW_UPDATE_PENDING, proposals=(NEW_PLAN, NEW_STEPS)), AskPerson(NEW_PLAN)),
    (at(S.STEP_UPDATE_PENDING, proposals=(NEW_STEPS,)), AskPerson(NEW_STEPS)),
]


@pytest.mark.parametrize(
    ("state", "intent"), TABLE, ids=[f"{n}-{state.fsm.value}" for n, (state, _) in enumerate(TABLE)]
)
def test_what_comes_next(state: RunState, intent: Intent) -> None:
    assert decide(state) == intent


def test_the_table_has_every_state_and_every_kind_of_intent() -> None:
    assert {state.fsm for state, _ in TABLE} == set(State)
    # Whether the namespace is saved first is asked before the next thing is decided.
    assert {type(intent) for _, intent in TABLE} == set(Intent.__args__) - {SaveCheckpoint}


def test_every_event_that_is_fired_is_in_the_machines_table() -> None:
    fired = [(state.fsm, intent.event) for state, intent in TABLE if isinstance(intent, Fire)]
    assert not [pair for pair in fired if next_state(*pair) is None]


@pytest.mark.parametrize("fsm", State)
def test_a_fault_fails_the_run_where_it_can_fail_and_stops_it_elsewhere(fsm: State) -> None:
    can_fail = next_state(fsm, Event.FAIL) is not None
    expected = Fire(Event.FAIL, reason="no plan") if can_fail else Stop("interrupted", "no plan")
    # A fault comes before everything else.
    assert decide(at(fsm, fault="no plan", pause=True, promotions=(PROMOTION,))) == expected


@pytest.mark.parametrize("fsm", State)
def test_a_pause_waits_for_the_action_under_way_and_changes_nothing_of_a_cancelled_run(fsm: State) -> None:
    behavior = BehaviorState(current=received(ADDS_TEXT))
    intent = decide(at(fsm, pause=True, behavior=behavior, promotions=(PROMOTION,)))
    if fsm is State.ACTION_RUNNING:
        assert intent == Promote(PROMOTION)
    elif fsm is State.CANCELLED:
        assert intent == Stop("cancelled")
    else:
        assert intent == Stop("paused", "paused on request")


AT_REST = {State.IDLE, State.ERROR, State.CANCELLED, State.WORKFLOW_COMPLETED}


@pytest.mark.parametrize("fsm", State)
def test_what_the_planner_promotes_is_promoted_wherever_the_run_is_under_way(fsm: State) -> None:
    waiting = at(fsm, promotions=(PROMOTION,), proposals=(NEW_PLAN,))
    assert (decide(waiting) == Promote(PROMOTION)) is (fsm not in AT_REST)
    down = evolve(waiting, kernel=KernelState())
    assert (decide(down) == StartKernel()) is (fsm not in AT_REST)


@pytest.mark.parametrize("fsm", State)
def test_a_question_of_the_planner_stops_the_run_everywhere(fsm: State) -> None:
    asks = said("start", metadata={"question": {"text": "Which column?"}})
    assert decide(at(fsm, verdict=asks)) == Stop("waiting", "Which column?")


@pytest.mark.parametrize("fsm", State)
def test_the_time_limit_holds_wherever_the_run_is_under_way(fsm: State) -> None:
    stop = Stop("limit", "the time limit of 10 seconds is reached (--max-seconds)")
    began, later = "2026-01-02T00:00:00Z", "2026-01-02T00:00:10Z"
    state = at(fsm, limits=Limits(run_seconds=10), session_at=began, at=later, proposals=(NEW_PLAN,))
    assert (decide(state) == stop) is (fsm not in AT_REST)
    assert decide(evolve(state, at="2026-01-02T00:00:09.9Z")) != stop
    assert decide(evolve(state, limits=Limits())) != stop
    # Until a run that was taken up again has completed an action: it would stop in the same place each time.
    assert decide(evolve(state, action_due=True)) != stop


@pytest.mark.parametrize("fsm", State)
def test_the_limit_of_actions_holds_between_two_actions(fsm: State) -> None:
    stop = Stop("limit", "the limit of 2 actions is reached (MAX_EXECUTION_STEPS, --max-actions)")
    state = at(fsm, limits=Limits(actions=2), actions_completed=2, proposals=(NEW_PLAN,))
    assert (decide(state) == stop) is (fsm is State.ACTION_COMPLETED)
    assert decide(evolve(state, actions_completed=1)) != stop
    assert decide(evolve(state, limits=Limits(actions=0), actions_completed=9)) != stop


@pytest.mark.parametrize(
    ("kernel", "intent"),
    [
        (KernelState(losses=3), StartKernel()),
        (KernelState(losses=4), Fire(Event.FAIL, reason="the kernel died 4 times; the limit is 3")),
        (KernelState(blocked="a cell fails now"), Stop("interrupted", "a cell fails now")),
        (KernelState(blocked="a cell fails now", accept_differences=True), StartKernel()),
    ],
)
def test_a_kernel_that_keeps_dying_or_cannot_be_rebuilt_is_not_started_again(
    kernel: KernelState, intent: Intent
) -> None:
    assert (
        decide(at(State.ACTION_RUNNING, behavior=BehaviorState(current=received(RUNS_CODE)), kernel=kernel)) == intent
    )


def test_without_a_limit_a_kernel_may_die_as_often_as_it_does() -> None:
    behavior = BehaviorState(current=received(RUNS_CODE))
    state = at(State.ACTION_RUNNING, behavior=behavior, kernel=KernelState(losses=99), limits=Limits(kernel_restarts=0))
    assert decide(state) == StartKernel()


@pytest.mark.parametrize("name", BUILTIN_ACTIONS)
def test_only_exec_needs_a_kernel_of_what_is_built_in(name: str) -> None:
    assert (name in WITHOUT_KERNEL) is (name != "exec")
    state = at(State.ACTION_RUNNING, behavior=BehaviorState(current=received({"action": name})), kernel=KernelState())
    assert decide(state) == (StartKernel() if name == "exec" else ExecuteAction())


def test_the_budget_is_that_of_the_limits() -> None:
    assert budget_reached(at(State.IDLE, limits=Limits(model_tokens=10), spent=Spent(input_tokens=9))) is None
    reached = budget_reached(
        at(State.IDLE, limits=Limits(model_tokens=10), spent=Spent(input_tokens=6, output_tokens=4))
    )
    assert reached is not None
    assert reached.kind == "tokens"


def test_deciding_is_the_same_each_time_and_changes_nothing() -> None:
    for state, intent in TABLE:
        before = dict(state.__dict__)
        assert decide(state) == decide(state) == intent
        assert state.__dict__ == before
