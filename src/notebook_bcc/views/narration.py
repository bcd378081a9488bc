"""A run told in lines: what each record means to somebody who watches. Pure; the views choose how lines look."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from notebook_bcc.engine.state import RunState, elapsed
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import (
    ActionCompleted,
    ActionTakenOver,
    ArtifactPromoted,
    AttemptWithdrawn,
    CellRerun,
    CheckpointLoaded,
    CheckpointRejected,
    CheckpointSkipped,
    EventRefused,
    KernelAbandoned,
    KernelAttached,
    KernelLost,
    KernelRebuilt,
    KernelStarted,
    PlanUpdateDecided,
    PromotionFailed,
    ProposalDropped,
    RepairTried,
    RunResumed,
    RunStarted,
    RunStopped,
    Transitioned,
    Warned,
)
from notebook_bcc.protocol.limits import Spent
from notebook_bcc.protocol.vocabulary import CellType, Event
from notebook_bcc.views.words import Words

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?")
_ON_DETOUR = frozenset(
    {
        Event.NEXT_STAGE,
        Event.START_STEP,
        Event.NEXT_STEP,
        Event.START_BEHAVIOR,
        Event.NEXT_BEHAVIOR,
        Event.COMPLETE_STEP,
    }
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

Tone = Literal["head", "info", "good", "warning", "error"]


@dataclass(frozen=True, slots=True)
class NarrationLine:
    """One thing worth a line. `depth` is its level in the plan; `lasting` lines stay above the live view."""

    text: str
    tone: Tone = "info"
    depth: int = 0
    lasting: bool = False


def narrate(entry: Entry, state: RunState, words: Words) -> Iterator[NarrationLine]:
    """The lines of one entry; `state` is the one after it. Most entries have none."""
    match entry.record:
        case RunStarted() as record:
            yield NarrationLine(words("run_started", run=record.run_id), "head", lasting=True)
            if record.goal:
                yield NarrationLine(words("goal", goal=one_line(record.goal)))
        case RunResumed():
            yield NarrationLine(
                words("run_resumed", run=state.run_id, actions=state.actions_completed), "head", lasting=True
            )
        case Transitioned() as record:
            yield from _transition(record, state, words)
        case ActionCompleted() as record:
            yield from _action(record, state, words)
        case ActionTakenOver(cell_id=str() as cell) if cell:
            yield NarrationLine(words("cell_taken_over", cell=cell), "good", 3)
        case AttemptWithdrawn() as record:
            yield from _withdrawn(record, words)
        case RepairTried() as record:
            key = "no_repair" if record.repaired is None else "repair"
            text = words(key, cell=record.cell_id, attempt=record.attempt, error=one_line(record.error))
            yield NarrationLine(text, "warning", 3)
        case Warned() as record:
            yield NarrationLine(words("warning", message=one_line(record.message)), "warning", 1, lasting=True)
        case EventRefused() as record:
            text = words("refused", event=record.event, reason=one_line(record.reason))
            yield NarrationLine(text, "warning", 1, lasting=True)
        case ArtifactPromoted() as record:
            artifact = record.artifact
            # One that keeps its name has another artifact for a parent.
            temporary = artifact.parent if record.cell is not None else None
            text = words("promoted", artifact=artifact.artifact_id, variable=temporary or artifact.variable_name)
            yield NarrationLine(text, depth=3)
        case PromotionFailed() as record:
            text = words("not_promoted", artifact=record.artifact_id, error=one_line(record.error))
            yield NarrationLine(text, "warning", 3, lasting=True)
        case PlanUpdateDecided() as record:
            key = "update_confirmed" if record.confirmed else "update_rejected"
            if record.confirmed and record.by == "policy" and state.policies.confirm == "offer":
                key = "update_accepted_by_policy"
            yield NarrationLine(words(key), depth=1, lasting=True)
        case ProposalDropped() as record:
            yield NarrationLine(words("update_dropped", reason=one_line(record.reason)), "warning", 1, lasting=True)
        case KernelStarted() | KernelAttached() | KernelAbandoned() | KernelLost() | CellRerun() | KernelRebuilt():
            yield from _kernel(entry, state, words)
        case CheckpointLoaded() | CheckpointRejected() | CheckpointSkipped():
            yield from _checkpoint(entry, words)
        case RunStopped() as record:
            yield stop_line(record, state, words)
        case _:
            return


def _transition(record: Transitioned, state: RunState, words: Words) -> Iterator[NarrationLine]:
    if state.detour is not None and record.event in _ON_DETOUR:
        # The way to a change of the plan and back: nothing begins or ends by it.
        return
    match record.event:
        case Event.START_WORKFLOW | Event.NEXT_STAGE if state.plan is not None and state.stage is not None:
            number = 1 + [stage.id for stage in state.plan.stages].index(state.stage.id)
            text = words("stage", number=number, of=len(state.plan.stages), title=one_line(state.stage.title))
            yield NarrationLine(text, "head", lasting=True)
        case Event.START_STEP | Event.NEXT_STEP if state.stage is not None and state.step is not None:
            number = 1 + [step.id for step in state.stage.steps].index(state.step.id)
            text = words("step", number=number, of=len(state.stage.steps), title=one_line(state.step.title))
            yield NarrationLine(text, "info", 1)
        case Event.START_BEHAVIOR | Event.NEXT_BEHAVIOR:
            focus = one_line(state.behaviors.goal or state.behaviors.focus)
            key = "behavior_focus" if focus else "behavior"
            text = words(key, number=state.position.iteration, focus=focus)
            more = state.planner_context.estimated_remaining
            yield NarrationLine(f"{text} ({words('behaviors_left', count=more)})" if more else text, "info", 2)
        case Event.COMPLETE_STEP if state.steps.completed and state.steps.completed[-1].achieved is False:
            title = state.step.title if state.step is not None else state.steps.completed[-1].key
            yield NarrationLine(words("unachieved", title=one_line(title)), "warning", 1, lasting=True)
        case Event.FAIL | Event.UPDATE_STEP_REJECTED:
            yield NarrationLine(words("failed", reason=one_line(state.failure_reason)), "error", lasting=True)
        case Event.CANCEL:
            yield NarrationLine(words("cancelled", reason=one_line(record.reason)), "warning", lasting=True)
        case Event.UPDATE_WORKFLOW | Event.UPDATE_STEP:
            yield NarrationLine(words("update_waits"), "head", 1, lasting=True)
        case _:
            return


def _action(record: ActionCompleted, state: RunState, words: Words) -> Iterator[NarrationLine]:
    if record.executed is not None:
        seconds = words.seconds(record.seconds)
        if record.success:
            cell = state.document.cells.get(record.executed)
            source = first_line(cell.source) if cell is not None else ""
            yield NarrationLine(words("cell_ok", cell=record.executed, seconds=seconds, source=source), "good", 3)
        else:
            error = one_line(record.error or "")
            text = words("cell_failed", cell=record.executed, seconds=seconds, error=error)
            yield NarrationLine(text, "error", 3, lasting=True)
    elif record.skipped:
        yield NarrationLine(words("action_skipped", action=record.action), "warning", 3, lasting=True)
    elif not record.success:
        text = words("action_failed", action=record.action, error=one_line(record.error or ""))
        yield NarrationLine(text, "error", 3, lasting=True)


def _withdrawn(record: AttemptWithdrawn, words: Words) -> Iterator[NarrationLine]:
    if not record.cells and not record.ran:
        return
    yield NarrationLine(words("withdrawn", cells=len({*record.cells, *record.ran})), depth=3, lasting=True)
    if record.checkpoint:
        yield NarrationLine(words("withdrawn_restores"), depth=3, lasting=True)
    elif record.left:
        left = one_line(", ".join(record.left))
        yield NarrationLine(words("withdrawn_left", names=left), "warning", 3, lasting=True)


def _kernel(entry: Entry, state: RunState, words: Words) -> Iterator[NarrationLine]:
    match entry.record:
        case KernelStarted() as record:
            yield NarrationLine(words("kernel_started", name=record.name), depth=1)
            if not state.kernel.up:
                key = "restoring" if state.checkpoints.saved else "rebuilding"
                yield NarrationLine(words(key, of=len(state.kernel.steps)), "head", 1, lasting=True)
        case KernelAttached() as record:
            key = "kernel_followed" if record.follows else "kernel_attached"
            yield NarrationLine(words(key, name=record.name), depth=1, lasting=True)
        case KernelAbandoned() as record:
            key = "kernel_ended" if record.ended else "kernel_abandoned"
            yield NarrationLine(words(key, reason=one_line(record.reason)), "warning", 1, lasting=True)
        case KernelLost() as record:
            yield NarrationLine(words("kernel_lost", cause=one_line(record.cause)), "error", 1, lasting=True)
        case CellRerun() as record:
            if not record.success or not record.same_outputs:
                key = "rerun_differs" if record.success else "rerun_failed"
                text = words(key, cell=record.cell_id, difference=one_line(record.difference))
                yield NarrationLine(text, "warning", 2, lasting=True)
        case KernelRebuilt() as record:
            count = len(record.differences)
            key = "rebuilt_differs" if count else "rebuilt_loaded" if record.loaded else "rebuilt"
            text = words(key, cells=record.cells, count=count, loaded=record.loaded)
            yield NarrationLine(text, "warning" if count else "info", 1, lasting=True)


def _checkpoint(entry: Entry, words: Words) -> Iterator[NarrationLine]:
    match entry.record:
        case CheckpointLoaded() as record:
            text = words("checkpoint_loaded", cells=record.cells, rest=record.of - record.cells)
            yield NarrationLine(text, depth=1, lasting=True)
        case CheckpointRejected() as record:
            yield NarrationLine(
                words("checkpoint_rejected", reason=one_line(record.reason)), "warning", 1, lasting=True
            )
        case CheckpointSkipped() as record:
            key = "no_checkpoints" if record.never else "checkpoint_skipped"
            yield NarrationLine(words(key, reason=one_line(record.reason)), depth=1, lasting=record.never)


def stop_line(record: RunStopped, state: RunState, words: Words) -> NarrationLine:
    """Why the run has stopped."""
    code = sum(cell.type is CellType.CODE for cell in state.document.cells)
    unanswered = record.answered == "no"
    text = words(
        "stop_unanswered" if unanswered else f"stop_{record.reason}",
        detail=one_line(record.detail) or "-",
        actions=state.actions_completed,
        cells=code,
        seconds=words.seconds(elapsed(state)),
    )
    bad = unanswered or record.reason == "failed"
    tone: Tone = "error" if bad else "good" if record.reason == "completed" else "warning"
    return NarrationLine(text, tone, lasting=True)


def cost_of(spent: Spent, words: Words) -> str:
    """What models have cost, as far as it is known: never a zero that only means that nobody knows."""
    known = f"${spent.dollars:.4f}"
    if not spent.unpriced:
        return known
    return words("cost_partly", cost=known) if spent.dollars else words("cost_unknown")


def local_time(at: str) -> str:
    """The wall clock's time of a record, as the user's own clock shows it."""
    return f"{datetime.fromisoformat(at).astimezone():%H:%M:%S}"


def one_line(text: str, *, limit: int = 300) -> str:
    """The text on one line, cut with a mark when it is long, without anything that could steer a terminal."""
    joined = " ".join(safe(text).split())
    return joined if len(joined) <= limit else f"{joined[: limit - 1]}…"


def safe(text: str) -> str:
    """The text without colours and control characters: a planner's or a cell's words must not move our cursor."""
    return _CONTROL.sub("", _ESCAPES.sub("", text))


def first_line(text: str) -> str:
    """The first line that says something: not a comment, not an import, if there is another."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(("#", "import ", "from ", "%"))]
    return one_line((telling or lines or [""])[0], limit=80)
