"""A behavior that is tried again after an error: what the attempt before has done is taken over, or withdrawn. Pure."""

from __future__ import annotations

from dataclasses import replace

from notebook_bcc.engine.changes import StateChanges, evolve
from notebook_bcc.engine.fold.actions import changes_kernel, document_after, facts_of, next_section
from notebook_bcc.engine.fold.effects import with_effects
from notebook_bcc.engine.fold.kernel_changes import kernel_after, with_kernel
from notebook_bcc.engine.fold.tracking import note_variables, unique
from notebook_bcc.engine.state import AttemptStart, DoneAction, KernelState, LevelState, RunState
from notebook_bcc.journal.records import ActionTakenOver, AttemptWithdrawn
from notebook_bcc.notebook.document import Document


def action_taken_over(state: RunState, record: ActionTakenOver, at: str) -> StateChanges:
    """The action has the result of the one before. Notebook and kernel have it already; limits do not count it."""
    behavior = state.behavior
    former = behavior.former[len(behavior.done)]
    completed = former.completed
    facts = facts_of(state, completed)
    facts["done"] = behavior.done.appended(former)
    changes: StateChanges = {"behavior": evolve(behavior, **facts)}
    if completed.effects:
        changes |= with_effects(state, *completed.effects)
    if new := [name for name in completed.variables if name in state.kernel.variables]:
        changes["behaviors"] = note_variables(state, new)
    return changes


def taken_over(state: RunState) -> tuple[tuple[DoneAction, ...], tuple[DoneAction, ...]]:
    """What the attempt before has done: the actions that were taken over, and the others."""
    former, count = state.behavior.former, len(state.behavior.done)
    return former[:count], former[count:]


def without_former(state: RunState, start: AttemptStart) -> tuple[Document, KernelState]:
    """The notebook and the kernel's cells as the actions that were taken over have made them, and nothing else."""
    document = start.document
    kernel = replace(
        state.kernel,
        steps=start.steps,
        variables=start.reproducible,
        reproducible=start.reproducible,
        assigned=start.assigned,
    )
    for one in taken_over(state)[0]:
        document = document_after(document, one.completed)
        if changes_kernel(one.completed):
            kernel = kernel_after(kernel, one.completed)
    return document, kernel


def attempt_withdrawn(state: RunState, record: AttemptWithdrawn, at: str) -> StateChanges:
    """The notebook and the cells to rebuild by are as before what was withdrawn; the kernel, where it can be."""
    behavior = state.behavior
    start = behavior.start
    if start is None:
        return {}
    taken, rest = taken_over(state)
    document, before = without_former(state, start)
    kernel = replace(
        state.kernel,
        steps=before.steps,
        reproducible=before.reproducible,
        assigned=before.assigned,
        once_done=unique(state.kernel.once_done, _once_sources(state, rest)),
    )
    if record.checkpoint:
        kernel = replace(kernel, up=False, known=False, variables=before.reproducible)
    elif not is_left(kernel):
        kernel = replace(kernel, variables=before.reproducible)
    changes: StateChanges = with_kernel(state, kernel)
    if behavior.promoted:
        changes["stages"] = _without(changes.get("stages", state.stages), behavior.promoted)
        changes["steps"] = _without(changes.get("steps", state.steps), behavior.promoted)
        changes["behaviors"] = _without(changes.get("behaviors", state.behaviors), behavior.promoted)
    changes["document"] = document
    changes["behavior"] = evolve(behavior, former=(), promoted=(), promotions=start.promotions)
    cells = len(before.steps)
    checkpoints = state.checkpoints
    changes["checkpoints"] = replace(
        checkpoints,
        saved=tuple(one for one in checkpoints.saved if one.cells <= cells),
        tried=min(checkpoints.tried, cells),
        long=False,
    )
    if any(one.completed.metadata is not None and one.completed.metadata.is_section for one in rest):
        progress = start.section_progress
        for one in taken:
            if one.completed.metadata is not None and one.completed.metadata.is_section:
                progress = next_section(progress, one.completed)
        changes["planner_context"] = replace(state.planner_context, section_progress=progress)
    if record.left:
        said = f"WARN: cells that were withdrawn have left these variables as they are: {', '.join(record.left)}"
        changes |= with_effects(state, said)
    return changes


def is_left(kernel: KernelState) -> bool:
    """Whether the kernel that ran the cells so far goes on, here or left by the process before."""
    return kernel.up or (kernel.known and bool(kernel.session))


def _without(level: LevelState, promoted: tuple[str, ...]) -> LevelState:
    return replace(level, artifacts=tuple(one for one in level.artifacts if one.artifact_id not in promoted))


def _once_sources(state: RunState, withdrawn: tuple[DoneAction, ...]) -> tuple[str, ...]:
    ran = (state.document.cells.get(one.completed.executed or "") for one in withdrawn)
    return tuple(cell.source for cell in ran if cell is not None and cell.is_once)
