"""What a move of the state machine means for the run: where it is, what begins and what ends. Pure."""

from __future__ import annotations

from dataclasses import replace

from notebook_bcc.engine.changes import StateChanges, evolve
from notebook_bcc.engine.fold.context_update import context_changes
from notebook_bcc.engine.fold.effects import archive_effects, with_effects
from notebook_bcc.engine.fold.tracking import (
    begin_again,
    begin_behavior,
    begin_stage,
    begin_step,
    end_behavior,
    end_stage,
    end_step,
    taken_up_behavior,
)
from notebook_bcc.engine.state import (
    HISTORY_KEPT,
    BehaviorState,
    CheckpointState,
    Detour,
    KernelState,
    LevelState,
    Machine,
    Move,
    PlannerContext,
    Position,
    RunState,
    bounded,
)
from notebook_bcc.journal.records import Transitioned
from notebook_bcc.notebook.document import Document
from notebook_bcc.protocol.vocabulary import Event, State

_ENDS_DETOUR = frozenset({Event.FAIL, Event.CANCEL, Event.RESET, Event.START_WORKFLOW})


def apply_transition(state: RunState, record: Transitioned, at: str) -> StateChanges:
    """The changes a transition brings, the machine's own included."""
    machine = state.machine
    move = Move(record.source, record.event, record.to, at)
    changes: StateChanges = {
        "machine": Machine(
            record.to, bounded(machine.history, move, keep=HISTORY_KEPT), machine.moves + 1, entered=state.seq + 1
        )
    }
    if record.reward:
        changes["reward"] = state.reward + record.reward
    if state.verdict is not None:
        changes["verdict"] = None
    if state.asked is not None:
        # A question belongs to the place where it was asked.
        changes |= {"asked": None, "asked_from": None}
    if record.detour:
        return {**changes, **_begin_detour(state, record)}
    if state.on_detour and record.event not in _ENDS_DETOUR:
        return {**changes, **_on_detour(state, record)}
    if state.detour is not None and not (state.on_detour and record.event is Event.FAIL):
        changes["detour"] = None
    match record.event:
        case Event.COMPLETE_ACTION | Event.NEXT_ACTION:
            pass
        case Event.START_ACTION:
            changes |= archive_effects(state)
        case Event.START_WORKFLOW:
            changes |= _start_workflow(state, record, at)
        case Event.NEXT_STAGE:
            changes |= _enter_stage(state, record)
        case Event.START_STEP | Event.NEXT_STEP:
            changes |= _enter_step(state, record)
        case Event.START_BEHAVIOR | Event.NEXT_BEHAVIOR:
            changes |= _enter_behavior(state, record)
        case Event.COMPLETE_BEHAVIOR:
            changes |= _leave_behavior(state)
        case Event.COMPLETE_STEP:
            changes |= _leave_step(state, record)
        case Event.COMPLETE_STAGE:
            changes |= end_stage(state)
            changes["position"] = replace(state.position, step_id=None, behavior_id=None, iteration=0)
        case Event.FAIL | Event.CANCEL:
            changes |= _drop_everything(state, record)
        case Event.RESET:
            changes |= _reset(state, at)
        case Event.UPDATE_STEP_REJECTED:
            changes |= _step_update_rejected(state, record)
        case Event.COMPLETE_WORKFLOW | Event.UPDATE_WORKFLOW | Event.UPDATE_STEP:
            pass
        case Event.UPDATE_WORKFLOW_CONFIRMED | Event.UPDATE_WORKFLOW_REJECTED | Event.UPDATE_STEP_CONFIRMED:
            pass
    return changes


def _begin_detour(state: RunState, record: Transitioned) -> StateChanges:
    """What the levels count stays as it is: the way there and back completes nothing."""
    position = state.position
    match record.event:
        case Event.NEXT_BEHAVIOR:
            position = _next_iteration(position)
        case Event.NEXT_STAGE:
            position = Position(stage_id=record.stage_id)
        case _:
            position = Position(stage_id=position.stage_id, step_id=record.step_id)
    # A second one from the same place: what the first has added counts as added still.
    known = state.detour.known if state.detour is not None else _places(state)
    detour = Detour(record.source, state.verdict, state.position, state.behavior, state.target, known)
    return {"detour": detour, "position": position, "behavior": BehaviorState()}


def _on_detour(state: RunState, record: Transitioned) -> StateChanges:
    detour = state.detour
    if detour is not None and record.to is detour.origin:
        return {
            "detour": replace(detour, away=False),
            "verdict": detour.verdict,
            "position": detour.position,
            "behavior": detour.behavior,
            "target": detour.target,
        }
    match record.event:
        case Event.START_STEP:
            return {"position": replace(state.position, step_id=record.step_id)}
        case Event.START_BEHAVIOR if record.source is State.ERROR:
            return {"behavior": BehaviorState(), "recover": "", "failure_reason": ""}
        case Event.START_BEHAVIOR:
            return {"position": _next_iteration(state.position)}
        case Event.NEXT_STEP:
            # A step was added to the stage that had been completed: it is under way again.
            stages = tuple(item for item in state.stages.completed if item.key != state.position.stage_id)
            again: StateChanges = {"stages": replace(state.stages, completed=stages), "detour": None}
            return {**again, **_enter_step(evolve(state, **again), record)}
        case Event.UPDATE_STEP_REJECTED:
            return _step_update_rejected(state, record)
        case _:
            return {}


def _next_iteration(position: Position) -> Position:
    iteration = position.iteration + 1
    return replace(position, behavior_id=f"behavior_{iteration:03d}", iteration=iteration)


def _places(state: RunState) -> frozenset[tuple[str, str | None]]:
    stages = state.plan.stages if state.plan is not None else ()
    return frozenset((stage.id, step) for stage in stages for step in (None, *[one.id for one in stage.steps]))


def _step_update_rejected(state: RunState, record: Transitioned) -> StateChanges:
    dropped = _drop_everything(state, record)
    dropped["failure_reason"] = record.reason or "the change of the steps was rejected"
    return dropped


def _start_workflow(state: RunState, record: Transitioned, at: str) -> StateChanges:
    position = Position(stage_id=record.stage_id)
    if record.source is State.ERROR and state.recover == "workflow":
        # The whole workflow again: a new notebook and a new kernel. The journal keeps the attempt before.
        emptied: StateChanges = {**_emptied(state, at), "recover": "", "position": position}
        return {**emptied, **begin_stage(evolve(state, **emptied))}
    moved = evolve(state, position=position)
    target = _target_inside(state)
    return {"position": position, "recover": "", "failure_reason": "", "target": target, **begin_stage(moved)}


def _enter_stage(state: RunState, record: Transitioned) -> StateChanges:
    position = Position(stage_id=record.stage_id)
    moved = evolve(state, position=position)
    changes: StateChanges = {"position": position, "target": _target_inside(state), **begin_stage(moved)}
    return {**changes, **_without_estimate(state)}


def _target_inside(state: RunState) -> tuple[str | None, str | None] | None:
    """What is left of the target once its stage is entered: its step, if it names one."""
    return state.target if state.target is not None and state.target[1] is not None else None


def _enter_step(state: RunState, record: Transitioned) -> StateChanges:
    position = Position(stage_id=state.position.stage_id, step_id=record.step_id)
    moved = evolve(state, position=position)
    return {"position": position, "target": None, **begin_step(moved), **_without_estimate(state)}


def _without_estimate(state: RunState) -> StateChanges:
    """How many behaviors are left was said of the step before."""
    context = state.planner_context
    return (
        {} if context.estimated_remaining is None else {"planner_context": replace(context, estimated_remaining=None)}
    )


def _enter_behavior(state: RunState, record: Transitioned) -> StateChanges:
    changes: StateChanges = {}
    again = record.source is State.ERROR
    if record.step_id is not None and record.step_id != state.position.step_id:
        changes |= _enter_step(state, record)
        state, again = evolve(state, **changes), False
    elif again and state.behavior.unanswered:
        return {"recover": "", "failure_reason": "", "behavior": taken_up_behavior(state)}
    iteration = state.position.iteration + 1
    verdict = state.verdict
    named = verdict.response.behavior if verdict is not None else None
    behavior_id = (named.id if named is not None else None) or f"behavior_{iteration:03d}"
    before = state.position
    if record.source is State.ERROR and before.behavior_id not in (None, f"behavior_{before.iteration:03d}"):
        # The same behavior, tried again. A name of ours goes with the iteration instead.
        behavior_id = before.behavior_id or behavior_id
    position = replace(state.position, behavior_id=behavior_id, iteration=iteration)
    response = verdict.response if verdict is not None else None
    return {
        **changes,
        "position": position,
        "recover": "",
        "failure_reason": "",
        "planner_context": _one_fewer(state.planner_context),
        **(begin_again(state) if again else begin_behavior(state, response)),
    }


def _one_fewer(context: PlannerContext) -> PlannerContext:
    """The behaviors that a judgement counts as left include the one that begins with it."""
    left = context.estimated_remaining
    return context if left is None else replace(context, estimated_remaining=max(left - 1, 0))


def _leave_behavior(state: RunState) -> StateChanges:
    changes = end_behavior(state)
    missing = changes["behavior"].missing
    if missing:
        text = f"WARN: {state.position.behavior_id} ended without its expected outputs: {', '.join(missing)}"
        changes |= with_effects(state, text)
    changes["filter"] = None
    if state.behavior.beside is not None:
        # After the actions: the section that they have opened is not the one that the planner calls the next.
        changes |= context_changes(evolve(state, **changes), state.behavior.beside)
    return changes


def _leave_step(state: RunState, record: Transitioned) -> StateChanges:
    verdict = state.verdict
    achieved = verdict is not None and verdict.response.target_achieved
    changes = end_step(state, achieved=achieved)
    missing = changes["steps"].completed[-1].missing_outputs
    changes |= archive_effects(state)
    place = (state.position.stage_id or "", state.position.step_id or "")
    changes["steps_ended"] = {**state.steps_ended, place: achieved}
    if missing:
        text = f"WARN: step {state.position.step_id} ended without its expected outputs: {', '.join(missing)}"
        changes |= with_effects(evolve(state, **changes), text)
    # The step stays the current one for its last planning request; NEXT_STEP moves on.
    changes["behavior"] = BehaviorState()
    return changes


def _drop_everything(state: RunState, record: Transitioned) -> StateChanges:
    """Error and cancel: the queue is dropped, in_progress cleared; nothing completed is undone."""
    outputs = state.behaviors.outputs.model_copy(update={"in_progress": ()})
    behavior = evolve(state.behavior, current=None, stream_open=False, ended=True, fire=None, promotions=(), queue=())
    if not behavior.unanswered and behavior.asked_from is not None:
        behavior = evolve(behavior, asked_from=None)
    return {
        "behavior": behavior,
        "behaviors": replace(state.behaviors, outputs=outputs),
        "proposals": state.proposals if record.proposals_kept else (),
        "promotions": (),
        "target": None,
        "fault": "",
        "failure_reason": record.reason,
        "recover": state.recover if record.event is Event.FAIL else "",
    }


def _reset(state: RunState, at: str) -> StateChanges:
    return {**_emptied(state, at), "plan": state.given_plan, "recover": ""}


def _emptied(state: RunState, at: str) -> StateChanges:
    """A fresh start. What limits count begins anew too; ids go on being counted, and what models cost stays spent."""
    kernel = state.kernel
    return {
        "elapsed_before": 0.0,
        "session_at": at,
        "actions_completed": 0,
        "position": Position(),
        "stages": LevelState(),
        "steps": LevelState(),
        "behaviors": LevelState(),
        "steps_ended": {},
        "behavior": BehaviorState(),
        "asked": None,
        "asked_from": None,
        "filter": None,
        "planner_filter": None,
        "target": None,
        "proposals": (),
        "detour": None,
        "promotions": (),
        "fault": "",
        "failure_reason": "",
        "planner_context": PlannerContext(variables=dict(state.given_variables)),
        "effects": (),
        "effects_history": (),
        "document": Document(title=state.given_title),
        "kernel": KernelState(name=kernel.name, accept_differences=kernel.accept_differences, session=kernel.session),
        "checkpoints": CheckpointState(spent=state.checkpoints.spent),
    }
