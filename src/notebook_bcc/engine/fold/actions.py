"""What a completed action changes: the behavior's account, the notebook, the kernel. Pure."""

from __future__ import annotations

from dataclasses import replace

from notebook_bcc.engine.changes import BehaviorChanges, StateChanges, evolve
from notebook_bcc.engine.fold.checkpoints import checkpoints_after
from notebook_bcc.engine.fold.context_update import proposed
from notebook_bcc.engine.fold.effects import with_effects
from notebook_bcc.engine.fold.kernel_changes import kernel_after, with_kernel
from notebook_bcc.engine.fold.tracking import attempt_start, note_variables
from notebook_bcc.engine.state import TAKEN_KEPT, BehaviorState, Chunked, DoneAction, RunState, bounded
from notebook_bcc.journal.records import ActionCompleted, CellChange
from notebook_bcc.notebook.document import Document
from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.messages import ActionProblem
from notebook_bcc.protocol.observation import SectionProgress


def action_completed(state: RunState, record: ActionCompleted, at: str) -> StateChanges:
    """An action was carried out."""
    changes: StateChanges = {"actions_completed": state.actions_completed + 1, "action_due": False}
    changes["document"] = document_after(state.document, record)
    if record.effects:
        changes |= with_effects(state, *record.effects)
    progress = state.planner_context.section_progress
    if record.metadata is not None and record.metadata.is_section:
        changes["planner_context"] = replace(state.planner_context, section_progress=next_section(progress, record))
    facts = facts_of(state, record)
    if state.behavior.former_left:
        # A version that took nothing over and withdrew nothing has done it.
        start = attempt_start(state, state.behavior.promotions)
        facts |= {"start": start, "done": Chunked(), "former": (), "promoted": ()}
    changes["behavior"] = _with_done(evolve(state.behavior, **facts), state, record)
    if changes_kernel(record):
        kernel = kernel_after(state.kernel, record)
        changes |= with_kernel(state, kernel)
        changes["checkpoints"] = checkpoints_after(state.checkpoints, record)
        if new := [name for name in record.variables if name in kernel.variables]:
            changes["behaviors"] = note_variables(evolve(state, **changes), new)
    if record.proposal is not None:
        changes |= proposed(state, record.proposal)
    return changes


def facts_of(state: RunState, record: ActionCompleted) -> BehaviorChanges:
    """What the behavior's account says after the action."""
    behavior = state.behavior
    facts: BehaviorChanges = {
        "current": None,
        "partial": (),
        "last_result": "skipped" if record.skipped else "success" if record.success else (record.error or "failed"),
        "taken": bounded(behavior.taken, record.summary, keep=TAKEN_KEPT) if record.summary else behavior.taken,
    }
    if record.skipped:
        facts["skipped"] = behavior.skipped + 1
    else:
        facts["executed"] = behavior.executed + 1
        facts["succeeded"] = behavior.succeeded + (1 if record.success else 0)
    if not record.success:
        problem = ActionProblem(action_id=record.action_id, action=record.action, error=record.error or "failed")
        facts["errors"] = bounded(behavior.errors, problem, keep=TAKEN_KEPT)
        facts["aborted"] = behavior.aborted or state.policies.on_error == "feedback"
    if record.end_phase:
        facts["end_phase"] = True
    if record.fire is not None:
        facts["fire"] = record.fire
    if record.finding:
        facts["findings"] = bounded(behavior.findings, record.finding, keep=TAKEN_KEPT)
    if record.metadata is not None and record.metadata.is_section:
        facts["sections"] = behavior.sections + 1
    return facts


def _with_done(behavior: BehaviorState, state: RunState, record: ActionCompleted) -> BehaviorState:
    current = state.behavior.current
    if behavior.start is None or current is None:
        return behavior
    return evolve(behavior, done=behavior.done.appended(DoneAction(current.action, record)))


def changes_kernel(record: ActionCompleted) -> bool:
    """Whether the action may have changed what is in the kernel."""
    return record.executed is not None or bool(record.variables or record.removed)


def document_after(document: Document, record: ActionCompleted) -> Document:
    """The notebook after an action; the same object if it has changed nothing of it."""
    for change in record.cells:
        document = with_change(document, change)
    if record.title is not None:
        document = replace(document, title=record.title)
    if record.chapter is not None:
        document = replace(document, chapters=record.chapter)
    if record.section is not None:
        document = replace(document, sections=record.section)
    return document


def with_change(document: Document, change: CellChange) -> Document:
    """The notebook with a cell that was added or changed."""
    if change.added is not None:
        cell = Cell(
            id=change.cell_id,
            type=change.added,
            source=change.source or "",
            outputs=change.outputs or (),
            execution_count=change.execution_count,
            metadata=change.metadata or {},
        )
        return document.with_cell(cell, first=change.first)
    return document.with_changed_cell(
        change.cell_id,
        source=change.source,
        outputs=change.outputs,
        execution_count=change.execution_count,
        metadata=change.metadata,
    )


def next_section(old: SectionProgress | str | None, record: ActionCompleted) -> SectionProgress:
    """The progress through the sections once the action has opened the next one."""
    progress = old if isinstance(old, SectionProgress) else SectionProgress()
    metadata = record.metadata
    done = progress.completed_sections
    if progress.current_section_id and progress.current_section_id not in done:
        done = (*done, progress.current_section_id)
    return progress.model_copy(
        update={
            "current_section_id": metadata.section_id if metadata is not None else None,
            "current_section_number": metadata.section_number if metadata is not None else None,
            "completed_sections": done,
        }
    )
