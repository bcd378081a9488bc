"""What the records of a kernel's life change: started, taken up, given up, rebuilt, lost. Pure."""

from __future__ import annotations

from dataclasses import replace

from notebook_bcc.engine.changes import StateChanges
from notebook_bcc.engine.fold.effects import with_effects
from notebook_bcc.engine.fold.kernel_changes import ended_kernel, with_kernel
from notebook_bcc.engine.state import RunState, elapsed_without
from notebook_bcc.journal.records import (
    CellRerun,
    KernelAbandoned,
    KernelAttached,
    KernelLost,
    KernelRebuilt,
    KernelStarted,
)


def kernel_started(state: RunState, record: KernelStarted, at: str) -> StateChanges:
    """A kernel came up: with nothing in it yet, where cells are to be run again."""
    kernel = replace(
        state.kernel,
        variables=state.kernel.reproducible,
        up=len(state.kernel.steps) == 0,
        known=len(state.kernel.steps) == 0,
        count=0,
        missing=(),
        session=record.session,
        started=True,
        name=record.name,
        display_name=record.display_name,
        language=record.language,
        language_version=record.language_version,
    )
    changes = with_kernel(state, kernel)
    return changes if kernel.up else {**changes, "elapsed_before": elapsed_without(state, at)}


def kernel_attached(state: RunState, record: KernelAttached, at: str) -> StateChanges:
    """The kernel that the process before has left goes on."""
    # What is followed is not executed again.
    once = "" if record.follows else state.kernel.once_begun
    return {"kernel": replace(state.kernel, up=True, known=True, session=record.session, once_begun=once)}


def kernel_abandoned(state: RunState, record: KernelAbandoned, at: str) -> StateChanges:
    """The kernel of the process before is given up."""
    return {"kernel": replace(state.kernel, known=False, session="" if record.ended else state.kernel.session)}


def cell_rerun(state: RunState, record: CellRerun, at: str) -> StateChanges:
    """A cell that had succeeded was run again; one that fails now blocks the run."""
    changes: StateChanges = {"elapsed_before": elapsed_without(state, at)}
    if record.success:
        return changes
    blocked = (
        f"cell {record.cell_id!r} had succeeded and fails now, so the kernel's state cannot be rebuilt: "
        f"{record.difference}. Put back what it needs and resume, or resume with --accept-differences"
    )
    return {**changes, "kernel": replace(state.kernel, blocked=blocked)}


def kernel_rebuilt(state: RunState, record: KernelRebuilt, at: str) -> StateChanges:
    """The kernel has again what the journal says, or differs in what the record names."""
    kernel = replace(
        state.kernel,
        up=True,
        known=True,
        count=record.execution_count,
        blocked="",
        variables=record.variables,
        reproducible=record.variables,
        differences=record.differences,
        missing=record.missing,
    )
    changes: StateChanges = {**with_kernel(state, kernel), "elapsed_before": elapsed_without(state, at)}
    if not record.differences:
        return changes
    text = "WARN: the kernel was rebuilt with differences:\n" + "\n".join(record.differences[:20])
    return {**changes, **with_effects(state, text)}


def kernel_lost(state: RunState, record: KernelLost, at: str) -> StateChanges:
    """The kernel died."""
    return with_kernel(state, ended_kernel(replace(state.kernel, losses=state.kernel.losses + 1)))
