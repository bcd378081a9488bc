"""What is in the kernel after an action, a promotion, its end, or a resume. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from notebook_bcc.engine.changes import StateChanges
from notebook_bcc.engine.fold.tracking import forget_variables
from notebook_bcc.engine.state import KernelState, KernelStep, RunState
from notebook_bcc.journal.records import ActionCompleted, ArtifactPromoted, RunResumed


def kernel_after(kernel: KernelState, record: ActionCompleted) -> KernelState:
    """The kernel after an action."""
    if kernel.once_begun:
        kernel = replace(kernel, once_begun="")
    steps, reproducible = kernel.steps, kernel.reproducible
    for cell_id in record.succeeded_cells:
        steps = steps.appended(KernelStep(cell_id=cell_id))
    if record.succeeded_cells:
        reproducible = changed_variables(reproducible, record)
    assigned = assigned_by(kernel.assigned, record, record.executed)
    if record.kernel_died:
        return ended_kernel(
            replace(kernel, reproducible=reproducible, assigned=assigned, steps=steps, losses=kernel.losses + 1)
        )
    # As long as no cell fails, both are the same.
    alike = bool(record.succeeded_cells) and kernel.variables is kernel.reproducible
    variables = reproducible if alike else changed_variables(kernel.variables, record)
    count = max((cell.execution_count or 0 for cell in record.cells), default=0) or kernel.count
    return replace(kernel, variables=variables, reproducible=reproducible, assigned=assigned, steps=steps, count=count)


def changed_variables(variables: dict[str, Any], record: ActionCompleted | ArtifactPromoted) -> dict[str, Any]:
    """The variables after what the record says has changed in the namespace."""
    if not record.variables and not record.removed:
        return variables
    gone = set(record.removed)
    return {name: value for name, value in variables.items() if name not in gone} | record.variables


def assigned_by(
    assigned: dict[str, str], record: ActionCompleted | ArtifactPromoted, cell_id: str | None
) -> dict[str, str]:
    """Which cell each variable has its value from, after what the record says."""
    if not record.variables and not record.removed:
        return assigned
    gone = {*record.removed, *record.variables}
    kept = {name: cell for name, cell in assigned.items() if name not in gone}
    return kept if cell_id is None else kept | dict.fromkeys(record.variables, cell_id)


def ended_kernel(kernel: KernelState) -> KernelState:
    """The kernel after its end: with what a rebuilt one will have, and no more."""
    return replace(kernel, up=False, known=False, variables=kernel.reproducible)


def with_kernel(state: RunState, kernel: KernelState) -> StateChanges:
    """The kernel, and the levels without the names that it has no longer."""
    if kernel.variables is state.kernel.variables:
        return {"kernel": kernel}
    return {"kernel": kernel, **forget_variables(state, state.kernel.variables.keys() - kernel.variables.keys())}


def kernel_left(state: RunState, record: RunResumed) -> KernelState:
    """The kernel as the process before has left it."""
    kernel = replace(state.kernel, up=False, blocked="", losses=0)
    kernel = replace(kernel, accept_differences=record.accept_differences, run_once=record.run_once)
    if record.chosen_kernel(state.kernel_spec) is not None:
        # Elsewhere there is no such kernel.
        kernel = replace(kernel, session="", known=False)
    if record.sandbox_spec is not None:
        # It is confined otherwise than the run is to be from here on.
        kernel = replace(kernel, known=False)
    # A question that waits for its answer is asked again as it was asked.
    taken_up = kernel.session and kernel.known
    return kernel if taken_up or state.asked is not None else replace(kernel, variables=kernel.reproducible)
