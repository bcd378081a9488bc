"""What a move of the state machine means for the run: where it is, what begins and what ends. Pure."""

from __future__ import annotations

from dataclasses import replace

from notebook_bcc.engine.changes import StateChanges, evolve
from notebook_bcc.engine.fold.effects import archive_effects, with_effects
from notebook_bcc.engine.fold.tracking import begin_behavior, begin_stage, begin_step, end_behavior, end_stage, end_step
from notebook_bcc.engine.state import (
    HISTORY_KEPT,
    Behavior,
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
            changes |= _drop_everything(state, record)
            changes["failure_reason"] = record.reason or "the change of the steps was rejected"
        case Event.COMPLETE_WORKFLOW | Event.UPDATE_WORKFLOW | Event.UPDATE_STEP:
            pass
        case Event.UPDATE_WORKFLOW_CONFIRMED | Event.UPDATE_WORKFLOW_REJECTED | Event.UPDATE_STEP_CONFIRMED:
            pass
    if state.verdict is not None:
        changes["verdict"] = None
    return changes


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
    return {"position": position, "target": _target_inside(state), **begin_stage(moved)}


def _target_inside(state: RunState) -> tuple[str | None, str | None] | None:
    """What is left of the target once its stage is entered: its step, if it names one."""
    return state.target if state.target is not None and state.target[1] is not None else None


def _enter_step(state: RunState, record: Transitioned) -> StateChanges:
    position = Position(stage_id=state.position.stage_id, step_id=record.step_id)
    moved = evolve(state, position=position)
    return {"position": position, "target": None, **begin_step(moved)}


def _enter_behavior(state: RunState, record: Transitioned) -> StateChanges:
    changes: StateChanges = {}
    if record.step_id is not None and record.step_id != state.position.step_id:
        changes |= _enter_step(state, record)
        state = evolve(state, **changes)
    iteration = state.position.iteration + 1
    verdict = state.verdict
    named = verdict.response.behavior if verdict is not None else None
    behavior_id = (named.id if named is not None else None) or f"behavior_{iteration:03d}"
    if record.source is State.ERROR and state.position.behavior_id is not None:
        # The same behavior, tried again.
        behavior_id = state.position.behavior_id
    position = replace(state.position, behavior_id=behavior_id, iteration=iteration)
    response = verdict.response if verdict is not None else None
    return {
        **changes,
        "position": position,
        "recover": "",
        "failure_reason": "",
        **begin_behavior(state, response),
    }


def _leave_behavior(state: RunState) -> StateChanges:
    changes = end_behavior(state)
    missing = changes["behavior"].missing
    if missing:
        text = f"WARN: {state.position.behavior_id} ended without its expected outputs: {', '.join(missing)}"
        changes |= with_effects(state, text)
    changes["filter"] = None
    return changes


def _leave_step(state: RunState, record: Transitioned) -> StateChanges:
    verdict = state.verdict
    achieved = verdict is not None and verdict.response.target_achieved
    changes = end_step(state, achieved=achieved)
    missing = changes["steps"].completed[-1].missing_outputs
    changes |= archive_effects(state)
    if missing:
        text = f"WARN: step {state.position.step_id} ended without its expected outputs: {', '.join(missing)}"
        changes |= with_effects(evolve(state, **changes), text)
    # The step stays the current one for its last planning request; NEXT_STEP moves on.
    changes["behavior"] = Behavior()
    return changes


def _drop_everything(state: RunState, record: Transitioned) -> StateChanges:
    """Error and cancel: the queue is dropped, in_progress cleared; nothing completed is undone."""
    outputs = state.behaviors.outputs.model_copy(update={"in_progress": ()})
    behavior = evolve(state.behavior, current=None, stream_open=False, ended=True, fire=None, promotions=())
    return {
        "behavior": behavior,
        "behaviors": replace(state.behaviors, outputs=outputs),
        "proposals": (),
        "promotions": (),
        "target": None,
        "asked": None,
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
        "behavior": Behavior(),
        "asked": None,
        "filter": None,
        "target": None,
        "proposals": (),
        "promotions": (),
        "fault": "",
        "failure_reason": "",
        "planner_context": PlannerContext(variables=dict(state.given_variables)),
        "effects": (),
        "effects_history": (),
        "document": Document(title=state.given_title),
        "kernel": KernelState(name=kernel.name, accept_differences=kernel.accept_differences, session=kernel.session),
    }
