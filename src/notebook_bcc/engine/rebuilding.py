"""Bring a kernel to where the journal says it was: taken up where it was left, or else rebuilt by running again the
cells that had succeeded, and compared."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from notebook_bcc.engine.state import KernelStep, RunState
from notebook_bcc.errors import KernelFailed, KernelGone, KernelStartFailed
from notebook_bcc.journal.records import (
    CellRerun,
    KernelAbandoned,
    KernelAttached,
    KernelRebuilt,
    KernelStarted,
    Record,
    RunStopped,
)
from notebook_bcc.kernel.interface import Execution, Kernel, LastingKernel, VariableChanges
from notebook_bcc.notebook.sameness import differences
from notebook_bcc.protocol.cells import Output

Batch = tuple[Record, ...]


async def bring_up(kernel: Kernel, state: RunState, *, due: str | None = None) -> AsyncIterator[Batch]:
    """Take up the kernel that the process before has left, or start or restart one and rebuild its namespace.

    `due` is what it is to run first, which the process before may have sent already.
    Raises KernelStartFailed, KernelDied.
    """
    if kernel.is_alive:
        await kernel.restart()
    else:
        if (record := await _take_up(kernel, state, due)) is not None:
            yield (record,)
        if isinstance(record, KernelAttached | RunStopped):
            return
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
    count = 0
    variables: dict[str, Any] = {}
    found: list[str] = []
    last_runs = {step.cell_id: index for index, step in enumerate(steps, start=1)}
    for index, step in enumerate(steps, start=1):
        last = last_runs[step.cell_id] == index
        rerun, execution = await _again(kernel, state, step, index, len(steps), last=last)
        _note(variables, execution.variables)
        count = execution.execution_count or count
        yield (rerun,)
        if rerun.difference:
            found.append(f"cell {rerun.cell_id}: {rerun.difference}")
        if not rerun.success and not state.kernel.accept_differences:
            return
    found += _namespace_differences(state.kernel.reproducible, variables)
    yield (KernelRebuilt(cells=len(steps), differences=tuple(found[:100]), variables=variables, execution_count=count),)


async def _take_up(
    kernel: Kernel, state: RunState, due: str | None
) -> KernelAttached | KernelAbandoned | RunStopped | None:
    """What became of the kernel that another process has left, and that this one knows by the journal; None if there
    is none. One that cannot be asked may hold hours of work: the run stops, unless differences are accepted."""
    left = state.kernel
    if not left.session or not isinstance(kernel, LastingKernel) or kernel.identity.session == left.session:
        return None
    if not left.known:
        reason = "it was let go, or was not rebuilt yet"
        return await abandon(kernel, left.session, reason)
    try:
        follows = await kernel.attach(left.session, known=left.count, due=due)
    except KernelGone as gone:
        return await abandon(kernel, left.session, gone.reason) or KernelAbandoned(
            session=left.session, reason=gone.reason
        )
    except KernelStartFailed as failure:
        if left.accept_differences:
            return await abandon(kernel, left.session, failure.reason)
        detail = (
            f"the kernel that this run was left with cannot be taken up now: {failure.reason}. Resume again later; "
        )
        return RunStopped(
            reason="interrupted", detail=f"{detail}with --accept-differences it is given up and its cells are run again"
        )
    return KernelAttached(name=kernel.identity.name, session=left.session, follows=follows)


async def abandon(kernel: LastingKernel, session: str, reason: str) -> KernelAbandoned | None:
    """End a kernel that nobody will take up any more; None when that had happened."""
    try:
        return KernelAbandoned(session=session, reason=reason, ended=True) if await kernel.discard(session) else None
    except KernelFailed as failure:
        return KernelAbandoned(session=session, reason=f"{reason}; it may still run: {failure}")


async def _again(
    kernel: Kernel, state: RunState, step: KernelStep, index: int, of: int, *, last: bool
) -> tuple[CellRerun, Execution]:
    cell = state.document.cell(step.cell_id)
    # It may have failed when it was run again later.
    cell = cell.last_success or cell
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
    return record, execution


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
