"""Fold one record into the state. Pure, total, and the only place that makes the next RunState."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any
from zlib import crc32

from notebook_bcc.engine.changes import StateChanges, evolve
from notebook_bcc.engine.fold.actions import action_completed, with_change
from notebook_bcc.engine.fold.artifacts import note_artifact
from notebook_bcc.engine.fold.attempts import action_taken_over, attempt_withdrawn
from notebook_bcc.engine.fold.checkpoints import (
    checkpoint_loaded,
    checkpoint_rejected,
    checkpoint_saved,
    checkpoint_skipped,
    once_begun,
)
from notebook_bcc.engine.fold.context_update import planned_sections
from notebook_bcc.engine.fold.effects import with_effects
from notebook_bcc.engine.fold.kernel_changes import (
    assigned_by,
    changed_variables,
    kernel_left,
    with_kernel,
)
from notebook_bcc.engine.fold.kernel_life import (
    cell_rerun,
    kernel_abandoned,
    kernel_attached,
    kernel_lost,
    kernel_rebuilt,
    kernel_started,
)
from notebook_bcc.engine.fold.questions import (
    action_received,
    actions_queued,
    behavior_judged,
    generating_asked,
    generating_ended,
    generating_failed,
    model_asked,
    planning_answered,
    planning_asked,
)
from notebook_bcc.engine.fold.transitions import apply_transition
from notebook_bcc.engine.plan_changes import applied, changed_lines
from notebook_bcc.engine.state import (
    DECISIONS_KEPT,
    TAKEN_KEPT,
    KernelState,
    KernelStep,
    Reply,
    RunState,
    bounded,
    elapsed,
)
from notebook_bcc.fsm.machine import next_state
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import (
    INPUTS,
    ActionCompleted,
    ActionReceived,
    ActionsQueued,
    ActionTakenOver,
    ArtifactPromoted,
    AttemptWithdrawn,
    BehaviorJudged,
    CellRerun,
    CheckpointLoaded,
    CheckpointRejected,
    CheckpointSaved,
    CheckpointSkipped,
    CommandTaken,
    EventRefused,
    Faulted,
    GeneratingAsked,
    GeneratingEnded,
    GeneratingFailed,
    KernelAbandoned,
    KernelAttached,
    KernelLost,
    KernelRebuilt,
    KernelStarted,
    ModelAsked,
    OnceBegun,
    OutputReceived,
    PlanningAnswered,
    PlanningAsked,
    PlanUpdateDecided,
    PromotionFailed,
    ProposalDropped,
    Record,
    RepairTried,
    RunResumed,
    RunStarted,
    RunStopped,
    Transitioned,
    Warned,
)
from notebook_bcc.notebook.document import Document
from notebook_bcc.protocol.limits import Policies
from notebook_bcc.protocol.messages import ActionProblem
from notebook_bcc.protocol.observation import Decision
from notebook_bcc.protocol.vocabulary import Event, State


def reduce(state: RunState, entry: Entry) -> RunState:
    """The state after what the entry says has happened."""
    record = entry.record
    changes = _FOLDS[type(record)](state, record, entry.at)
    changes["seq"] = entry.seq
    changes["at"] = entry.at
    return evolve(state, **changes)


def fold(entries: Iterable[Entry], state: RunState | None = None) -> RunState:
    """The state after all of them."""
    current = RunState() if state is None else state
    for entry in entries:
        current = reduce(current, entry)
    return current


def action_digest(digest: int, encoded: bytes) -> int:
    """What was received so far, in one number: tells a repeated answer from another one."""
    return crc32(encoded, digest)


def _run_started(state: RunState, record: RunStarted, at: str) -> StateChanges:
    return {
        "run_id": record.run_id,
        "goal": record.goal,
        "started_at": at,
        "session_at": at,
        "planner": record.chosen_planner,
        "kernel_spec": record.chosen_kernel,
        "sandbox_spec": record.chosen_sandbox,
        "policies": record.policies,
        "limits": record.limits,
        "given_plan": record.workflow,
        "given_variables": record.variables,
        "given_title": record.title,
        "plan": record.workflow,
        "planner_context": replace(state.planner_context, variables=dict(record.variables)),
        "kernel": KernelState(name=record.chosen_kernel.name),
        "document": Document(title=record.title),
    }


def _run_resumed(state: RunState, record: RunResumed, at: str) -> StateChanges:
    # Whatever the process before had open died with it: the stream of actions and the kernel.
    changes: StateChanges = {
        "elapsed_before": elapsed(state),
        "session_at": at,
        "behavior": evolve(state.behavior, stream_open=False, out_of_budget=""),
        **with_kernel(state, kernel_left(state, record)),
        "recover": _recovery(state, record),
        "fault": state.fault if _failure_is_due(state) else "",
        "pause": False,
        "action_due": True,
        "stopped": None,
    }
    if state.fault or state.plan is None or state.question is not None:
        # An answer that could not be used, or that was a question, is asked for again.
        changes["verdict"] = None
    if record.inputs:
        context = state.planner_context
        changes["planner_context"] = replace(context, variables=_with_inputs(context.variables, record.inputs))
        changes["given_variables"] = _with_inputs(state.given_variables, record.inputs)
        changes["replies"] = _with_reply(state, record, at)
    if record.inputs or _shows_more(state.policies, record.policies):
        # The planner is to hear of it: what nobody has answered is asked anew.
        changes |= {"asked": None, "asked_from": None}
        if not state.behavior.received and not state.behavior.queue:
            changes["behavior"] = evolve(changes["behavior"], asked_from=None)
    if record.policies is not None:
        changes["policies"] = record.policies
    if record.limits is not None:
        changes["limits"] = record.limits
    if (planner := record.chosen_planner) is not None:
        changes["planner"] = planner
    if (kernel := record.chosen_kernel(state.kernel_spec)) is not None:
        changes["kernel_spec"] = kernel
    if record.sandbox_spec is not None:
        changes["sandbox_spec"] = record.sandbox_spec
    return changes


def _shows_more(before: Policies, now: Policies | None) -> bool:
    """Whether requests look otherwise from here on."""
    return now is not None and (before.notebook_detail, before.stream) != (now.notebook_detail, now.stream)


def _recovery(state: RunState, record: RunResumed) -> str:
    """What a person chose for an error. Where there is none, a plain resume chooses nothing: the next error ends the
    run. Only a stream that died with a process is asked for again all the same."""
    if record.restart == "behavior" and state.fsm is not State.ERROR and not _failure_is_due(state):
        return "behavior" if state.recover == "behavior" else ""
    return record.restart


def _failure_is_due(state: RunState) -> bool:
    """Whether the process before was killed between a fault and the FAIL that it calls for: that comes first, else the
    run would go on behind an action that was to end it."""
    return bool(state.fault) and state.stopped is None and next_state(state.fsm, Event.FAIL) is not None


def _with_inputs(variables: dict[str, Any], inputs: dict[str, Any]) -> dict[str, Any]:
    known = variables.get(INPUTS)
    return {**variables, INPUTS: {**(known if isinstance(known, dict) else {}), **inputs}}


def _with_reply(state: RunState, record: RunResumed, at: str) -> dict[str, Reply]:
    """The replies, with the one among these inputs: older records do not say that they answer the question."""
    question = state.question
    if question is None or question.input not in record.inputs:
        return state.replies
    return {**state.replies, question.input: Reply(state.judged, record.inputs[question.input], record.who, at)}


def _run_stopped(state: RunState, record: RunStopped, at: str) -> StateChanges:
    changes: StateChanges = {"stopped": record, "pause": False, "recover": ""}
    if state.kernel.up and not record.kernel_left:
        # Who lets a run go ends its kernel, or says that it was left. One that was not taken up yet stays as it was.
        changes["kernel"] = replace(state.kernel, known=False)
    return changes


def _transitioned(state: RunState, record: Transitioned, at: str) -> StateChanges:
    return apply_transition(state, record, at)


def _event_refused(state: RunState, record: EventRefused, at: str) -> StateChanges:
    return {
        **with_effects(state, f"WARN: event {record.event} was refused: {record.reason}"),
        "behavior": evolve(state.behavior, fire=None),
    }


def _warned(state: RunState, record: Warned, at: str) -> StateChanges:
    return with_effects(state, f"WARN: {record.message}") if record.effect else {}


def _faulted(state: RunState, record: Faulted, at: str) -> StateChanges:
    # Whatever is asked after this is another question.
    return {"fault": record.reason, "asked": None, "asked_from": None}


def _output_received(state: RunState, record: OutputReceived, at: str) -> StateChanges:
    return {"behavior": evolve(state.behavior, partial=record.outputs)}


def _repair_tried(state: RunState, record: RepairTried, at: str) -> StateChanges:
    return {}


def _artifact_promoted(state: RunState, record: ArtifactPromoted, at: str) -> StateChanges:
    if record.cell is None:
        return note_artifact(state, record)
    steps = state.kernel.steps.appended(KernelStep(cell_id=record.cell.cell_id))
    # `lastAddedCellId` stays the cell that the planner added last.
    document = replace(with_change(state.document, record.cell), last_code_id=state.document.last_code_id)
    return {
        "kernel": replace(
            state.kernel,
            variables=changed_variables(state.kernel.variables, record),
            reproducible=changed_variables(state.kernel.reproducible, record),
            assigned=assigned_by(state.kernel.assigned, record, record.cell.cell_id),
            steps=steps,
            count=record.cell.execution_count or state.kernel.count,
        ),
        "document": document,
        **note_artifact(state, record),
    }


def _promotion_failed(state: RunState, record: PromotionFailed, at: str) -> StateChanges:
    left = tuple(one for one in state.behavior.promotions if one.artifact_id != record.artifact_id)
    problem = ActionProblem(action_id=f"promote:{record.artifact_id}", action="promote", error=record.error)
    errors = bounded(state.behavior.errors, problem, keep=TAKEN_KEPT)
    return {
        **with_effects(state, f"WARN: {record.artifact_id} was not promoted: {record.error}"),
        "behavior": evolve(state.behavior, promotions=left, errors=errors),
        "promotions": tuple(one for one in state.promotions if one.artifact_id != record.artifact_id),
    }


def _plan_update_decided(state: RunState, record: PlanUpdateDecided, at: str) -> StateChanges:
    proposal, rest = state.proposals[0], state.proposals[1:]
    decisions = bounded(state.decisions, *_decision(state, record, at), keep=DECISIONS_KEPT)
    changes: StateChanges = {"proposals": rest, "decisions": decisions}
    if not record.confirmed:
        return changes
    plan = applied(state.plan, record.edited or proposal)
    changes["plan"] = plan
    if plan is not None and plan.sections:
        progress = planned_sections(state.planner_context, plan.sections)
        changes["planner_context"] = replace(state.planner_context, section_progress=progress)
    return changes


def _decision(state: RunState, record: PlanUpdateDecided, at: str) -> tuple[Decision, ...]:
    """The decision as the planner hears of it. That a policy accepts everything is nothing to tell."""
    if record.confirmed and record.by == "policy":
        return ()
    proposal, edited = state.proposals[0], record.edited
    return (
        Decision(
            proposed=changed_lines(state.plan, proposal),
            decision="rejected" if not record.confirmed else "confirmed" if edited is None else "edited",
            decided=changed_lines(state.plan, edited) if edited is not None else None,
            reason=record.comment,
            by=record.by,
            stage_id=proposal.stage_id if proposal.workflow is None else None,
            timestamp=at,
        ),
    )


def _proposal_dropped(state: RunState, record: ProposalDropped, at: str) -> StateChanges:
    return {
        **with_effects(state, f"WARN: a change of the plan was dropped: {record.reason}"),
        "proposals": state.proposals[1:],
    }


def _command_taken(state: RunState, record: CommandTaken, at: str) -> StateChanges:
    seen = max(record.seq, state.commands_seen)
    return {"commands_seen": seen, "pause": state.pause or record.command == "pause"}


_Fold = Callable[[RunState, Any, str], StateChanges]
_FOLDS: dict[type[Record], _Fold] = {
    RunStarted: _run_started,
    RunResumed: _run_resumed,
    RunStopped: _run_stopped,
    Transitioned: _transitioned,
    EventRefused: _event_refused,
    Warned: _warned,
    Faulted: _faulted,
    PlanningAsked: planning_asked,
    PlanningAnswered: planning_answered,
    GeneratingAsked: generating_asked,
    BehaviorJudged: behavior_judged,
    ActionReceived: action_received,
    ActionsQueued: actions_queued,
    GeneratingEnded: generating_ended,
    GeneratingFailed: generating_failed,
    ModelAsked: model_asked,
    ActionCompleted: action_completed,
    ActionTakenOver: action_taken_over,
    AttemptWithdrawn: attempt_withdrawn,
    OutputReceived: _output_received,
    RepairTried: _repair_tried,
    ArtifactPromoted: _artifact_promoted,
    PromotionFailed: _promotion_failed,
    PlanUpdateDecided: _plan_update_decided,
    ProposalDropped: _proposal_dropped,
    KernelStarted: kernel_started,
    KernelAttached: kernel_attached,
    KernelAbandoned: kernel_abandoned,
    CellRerun: cell_rerun,
    KernelRebuilt: kernel_rebuilt,
    KernelLost: kernel_lost,
    CheckpointSaved: checkpoint_saved,
    CheckpointSkipped: checkpoint_skipped,
    CheckpointLoaded: checkpoint_loaded,
    CheckpointRejected: checkpoint_rejected,
    OnceBegun: once_begun,
    CommandTaken: _command_taken,
}
