"""Bring a kernel to where the journal says it was: taken up where it was left, or else rebuilt from the newest
checkpoint that loads, by running again the cells after it that had succeeded, and compared."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from notebook_bcc.engine.due import once_again
from notebook_bcc.engine.mentions import mentioned
from notebook_bcc.engine.state import KernelStep, RunState
from notebook_bcc.errors import KernelFailed, KernelGone, KernelStartFailed
from notebook_bcc.journal.records import (
    CellRerun,
    CheckpointLoaded,
    CheckpointRejected,
    CheckpointSaved,
    KernelAbandoned,
    KernelAttached,
    KernelRebuilt,
    KernelStarted,
    Record,
    RunStopped,
)
from notebook_bcc.kernel.checkpoint_files import CheckpointFiles
from notebook_bcc.kernel.interface import CheckpointingKernel, Execution, Kernel, LastingKernel, VariableChanges
from notebook_bcc.notebook.sameness import differences
from notebook_bcc.protocol.cells import Cell, Output

Batch = tuple[Record, ...]


async def bring_up(
    kernel: Kernel, state: RunState, *, due: str | None = None, files: CheckpointFiles | None = None
) -> AsyncIterator[Batch]:
    """Take up the kernel that the process before has left, or start or restart one and rebuild its namespace.

    `due` is what it is to run first, which the process before may have sent already. `files` are the checkpoints.
    Raises KernelStartFailed, KernelDied.
    """
    left = state.kernel
    if isinstance(kernel, LastingKernel) and left.known and left.session == kernel.identity.session != "":
        # This process has left it itself, perhaps with a cell under way.
        await kernel.detach()
    if kernel.is_alive:
        await kernel.restart()
    else:
        if (record := await _take_up(kernel, state, due)) is not None:
            yield (record,)
        if isinstance(record, KernelAttached | RunStopped):
            return
        await kernel.start()
    yield (_started(kernel),)
    steps = tuple(state.kernel.steps)
    if not steps:
        return
    saved = state.checkpoints.saved if files is not None and isinstance(kernel, CheckpointingKernel) else ()
    for checkpoint in (*reversed(saved), None):
        rebuilding = _Rebuilding(kernel, state, steps, checkpoint)
        if stopped := rebuilding.forbidden(due):
            yield (stopped,)
            if isinstance(stopped, RunStopped):
                return
            continue
        if checkpoint is not None and files is not None:
            yield (await rebuilding.load(files),)
        if not rebuilding.useless:
            async for batch in rebuilding.run_rest():
                yield batch
        if not rebuilding.useless:
            return
        # Something of the checkpoint may be in the kernel.
        await kernel.restart()
        yield (_started(kernel),)


def _started(kernel: Kernel) -> KernelStarted:
    identity = kernel.identity
    return KernelStarted(
        name=identity.name,
        display_name=identity.display_name,
        language=identity.language,
        language_version=identity.language_version,
        session=identity.session,
    )


class _Rebuilding:
    """One way to the namespace: a checkpoint, or none, and all cells after it. It is `useless` once it has failed, and
    the next one is tried."""

    def __init__(
        self, kernel: Kernel, state: RunState, steps: Sequence[KernelStep], checkpoint: CheckpointSaved | None
    ) -> None:
        self._kernel, self._state, self._steps, self._checkpoint = kernel, state, steps, checkpoint
        self._loaded = checkpoint.cells if checkpoint is not None else 0
        self._rest = steps[self._loaded :]
        self._missing: tuple[str, ...] = tuple(checkpoint.unsaved) if checkpoint is not None else ()
        self._variables: dict[str, Any] = {}
        self._from_file: frozenset[str] = frozenset()
        self._count = 0
        self.useless = False

    def forbidden(self, due: str | None) -> CheckpointRejected | RunStopped | None:
        """Why this way is not to be gone."""
        sources = [_cell(self._state, step).source for step in self._rest]
        used = frozenset().union(*(mentioned(source) for source in (*sources, due or "")))
        if self._checkpoint is not None and (lacking := [name for name in self._missing if name in used]):
            return self._rejected(f"it lacks {lacking[0]!r}, which a later cell uses")
        allowed = self._state.kernel.run_once
        for step in self._rest:
            if _cell(self._state, step).is_once and step.cell_id not in allowed:
                why = "had been executed, and no checkpoint has what it made"
                return RunStopped(reason="interrupted", detail=once_again(step.cell_id, why))
        return None

    async def load(self, files: CheckpointFiles) -> Record:
        checkpoint, kernel = self._checkpoint, self._kernel
        if checkpoint is None or not isinstance(kernel, CheckpointingKernel):
            raise ValueError("there is nothing to load")
        path = files.path_of(checkpoint.file)
        found = await kernel.load_checkpoint(path, digest=checkpoint.digest, versions=checkpoint.versions)
        if found.problem:
            self.useless = True
            return self._rejected(found.problem)
        self._variables, self._count = dict(found.variables), found.execution_count
        self._from_file = frozenset(found.variables)
        return CheckpointLoaded(
            file=checkpoint.file, cells=self._loaded, of=len(self._steps), seconds=round(found.seconds, 6)
        )

    async def run_rest(self) -> AsyncIterator[Batch]:
        """Run the cells after the checkpoint again, and compare."""
        found: list[str] = []
        last_runs = {step.cell_id: index for index, step in enumerate(self._rest, start=1)}
        for index, step in enumerate(self._rest, start=1):
            last = last_runs[step.cell_id] == index
            rerun, execution = await _again(self._kernel, self._state, step, index, len(self._rest), last=last)
            if not rerun.success and self._checkpoint is not None:
                self.useless = True
                yield (self._rejected(f"cell {step.cell_id!r} fails after it: {rerun.difference}"),)
                return
            _note(self._variables, execution.variables)
            self._count = execution.execution_count or self._count
            yield (rerun,)
            if rerun.difference:
                found.append(f"cell {rerun.cell_id}: {rerun.difference}")
            if not rerun.success and not self._state.kernel.accept_differences:
                return
        found += self._namespace_differences()
        yield (
            KernelRebuilt(
                cells=len(self._rest),
                loaded=self._loaded,
                missing=tuple(name for name in self._missing if name not in self._variables),
                differences=tuple(found[:100]),
                variables=self._variables,
                execution_count=self._count,
            ),
        )

    def _rejected(self, reason: str) -> CheckpointRejected:
        return CheckpointRejected(file="" if self._checkpoint is None else self._checkpoint.file, reason=reason)

    def _namespace_differences(self) -> list[str]:
        """What a cell that failed has left is in a checkpoint too, and in no list of what cells give again."""
        before, now = self._state.kernel.reproducible, self._variables
        known = {*before, *self._from_file}
        lost = [name for name in before if name not in now and name not in self._missing]
        said = [f"variable {name!r} existed and does not exist now" for name in lost]
        return said + [f"variable {name!r} is new" for name in now if name not in known]


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
    cell = _cell(state, step)
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


def _cell(state: RunState, step: KernelStep) -> Cell:
    cell = state.document.cell(step.cell_id)
    # It may have failed when it was run again later.
    return cell.last_success or cell


def _difference(execution: Execution, recorded: Sequence[Output] | None) -> str:
    if execution.error is not None:
        return f"{execution.error.name}: {execution.error.message}"
    return "; ".join(differences(recorded, execution.outputs)) if recorded is not None else ""


def _note(variables: dict[str, Any], changes: VariableChanges) -> None:
    for name in changes.removed:
        variables.pop(name, None)
    variables.update(changes.updated)
