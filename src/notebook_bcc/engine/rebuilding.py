"""Bring a kernel to where the journal says it was: the cells that had succeeded are run again, and compared."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from typing import Any

from notebook_bcc.engine.effects import effects_of
from notebook_bcc.engine.state import KernelStep, RunState
from notebook_bcc.journal.records import CellRerun, KernelRebuilt, KernelStarted, Record
from notebook_bcc.kernel.interface import Execution, Kernel, VariableChanges
from notebook_bcc.protocol.cells import Output

Batch = tuple[Record, ...]

# What differs between two runs of the same code without meaning anything.
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")


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
        ),
    )
    steps = list(state.kernel.steps)
    if not steps:
        return
    variables: dict[str, Any] = {}
    differences: list[str] = []
    last_runs = {step.cell_id: index for index, step in enumerate(steps, start=1)}
    for index, step in enumerate(steps, start=1):
        last = last_runs[step.cell_id] == index
        record, changes = await _again(kernel, state, step, index, len(steps), last=last)
        _note(variables, changes)
        yield (record,)
        if record.difference:
            differences.append(f"cell {record.cell_id}: {record.difference}")
        if not record.success and not state.kernel.accept_differences:
            return
    differences += _namespace_differences(state.kernel.variables, variables)
    yield (KernelRebuilt(cells=len(steps), differences=tuple(differences[:100]), variables=variables),)


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
    if recorded is None:
        return ""
    before, now = _comparable(recorded), _comparable(execution.outputs)
    if before == now:
        return ""
    for old, new in zip(before, now, strict=False):
        if old != new:
            return f"printed {_short(new)} instead of {_short(old)}"
    return f"{len(now)} outputs instead of {len(before)}"


def _comparable(outputs: Sequence[Output]) -> list[str]:
    return [_ADDRESS.sub("0x...", text) for text in effects_of(outputs, limit=1_000_000)]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 60 else line[:57] + "...")


def _note(variables: dict[str, Any], changes: VariableChanges) -> None:
    for name in changes.removed:
        variables.pop(name, None)
    variables.update(changes.updated)


def _namespace_differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    lost = [f"variable {name!r} existed and does not exist now" for name in before if name not in now]
    return lost + [f"variable {name!r} is new" for name in now if name not in before]
