"""Bring a kernel to where the journal says it was: the cells that had succeeded are run again, and compared."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from notebook_bcc.engine.state import KernelStep, RunState
from notebook_bcc.journal.records import CellRerun, KernelRebuilt, KernelStarted, Record
from notebook_bcc.kernel.interface import Execution, Kernel, VariableChanges
from notebook_bcc.notebook.sameness import differences
from notebook_bcc.protocol.cells import Output

Batch = tuple[Record, ...]


async def bring_up(kernel: Kernel, state: RunState) -> AsyncIterator[Batch]:
    """Start or restart the kernel and rebuild its namespace. Raises KernelStartFailed, KernelDied."""
    if kernel.is_alive:
        await kernel.restart()
    else:
        await kernel.start()
    identity = kernel.identity
    yield (
        KernelStarted(
            name=identity.name,
            display_name=identity.display_name,
            language=identity.language,
            language_version=identity.language_version,
            session=identity.session,
        ),
    )
    steps = list(state.kernel.steps)
    if not steps:
        return
    variables: dict[str, Any] = {}
    found: list[str] = []
    last_runs = {step.cell_id: index for index, step in enumerate(steps, start=1)}
    for index, step in enumerate(steps, start=1):
        last = last_runs[step.cell_id] == index
        record, changes = await _again(kernel, state, step, index, len(steps), last=last)
        _note(variables, changes)
        yield (record,)
        if record.difference:
            found.append(f"cell {record.cell_id}: {record.difference}")
        if not record.success and not state.kernel.accept_differences:
            return
    found += _namespace_differences(state.kernel.variables, variables)
    yield (KernelRebuilt(cells=len(steps), differences=tuple(found[:100]), variables=variables),)


async def _again(
    kernel: Kernel, state: RunState, step: KernelStep, index: int, of: int, *, last: bool
) -> tuple[CellRerun, VariableChanges]:
    cell = state.document.cell(step.cell_id)
    execution = await kernel.execute(cell.source, time_limit=state.limits.cell_seconds or None)
    # A cell that ran twice shows only its last outputs: the runs before cannot be compared.
    difference = _difference(execution, cell.outputs if last else None)
    record = CellRerun(
        cell_id=cell.id,
        index=index,
        of=of,
        success=execution.succeeded,
        same_outputs=not difference,
        difference=difference,
        seconds=round(execution.seconds, 6),
    )
    return record, execution.variables


def _difference(execution: Execution, recorded: Sequence[Output] | None) -> str:
    if execution.error is not None:
        return f"{execution.error.name}: {execution.error.message}"
    return "; ".join(differences(recorded, execution.outputs)) if recorded is not None else ""


def _note(variables: dict[str, Any], changes: VariableChanges) -> None:
    for name in changes.removed:
        variables.pop(name, None)
    variables.update(changes.updated)


def _namespace_differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    lost = [f"variable {name!r} existed and does not exist now" for name in before if name not in now]
    return lost + [f"variable {name!r} is new" for name in now if name not in before]
