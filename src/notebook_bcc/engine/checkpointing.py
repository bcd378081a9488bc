"""When the namespace is saved, and how that is recorded."""

from __future__ import annotations

from notebook_bcc.engine.state import RunState, elapsed
from notebook_bcc.journal.records import CheckpointSaved, CheckpointSkipped
from notebook_bcc.kernel.checkpoint_files import CheckpointFiles
from notebook_bcc.kernel.interface import CheckpointingKernel, Kernel
from notebook_bcc.protocol.vocabulary import State

# Of a run's time, for all its checkpoints.
SHARE_OF_TIME = 0.05
# What the first one is thought to take, in seconds.
_LEAST = 0.02


def is_due(state: RunState) -> bool:
    """Whether the namespace is to be saved now: after a step or a long cell, if cells have run since the last time and
    it may cost what it is expected to. Pure."""
    checkpoints = state.checkpoints
    if not state.kernel.up or checkpoints.off or len(state.kernel.steps) <= checkpoints.tried:
        return False
    if state.fsm is not State.STEP_COMPLETED and not (checkpoints.long and state.fsm is State.ACTION_COMPLETED):
        return False
    return allowance(state) >= max(_LEAST, checkpoints.expected)


def allowance(state: RunState) -> float:
    """How many seconds may be spent on checkpoints now. Pure."""
    return SHARE_OF_TIME * elapsed(state) - state.checkpoints.spent


async def save_checkpoint(
    kernel: Kernel, files: CheckpointFiles, state: RunState
) -> CheckpointSaved | CheckpointSkipped:
    """Save the namespace, and remove the files that are not needed any more. Raises KernelDied."""
    cells = len(state.kernel.steps)
    if not isinstance(kernel, CheckpointingKernel):
        return CheckpointSkipped(cells=cells, reason="this kind of kernel has no checkpoints", never=True)
    try:
        files.make_folder()
    except OSError as error:
        return CheckpointSkipped(cells=cells, reason=f"its folder cannot be made: {error}", never=True)
    file = f"{cells}.checkpoint"
    made = await kernel.save_checkpoint(files.path_of(file), seconds=allowance(state))
    seconds = round(made.seconds, 6)
    if made.problem:
        return CheckpointSkipped(cells=cells, reason=made.problem, never=made.never, seconds=seconds)
    # What the kernel's own checkpoint lacked is in none that follows, unless a cell has made it anew.
    lost = dict.fromkeys(state.kernel.missing, "it was not in the checkpoint before")
    kept = {name: reason for name, reason in lost.items() if name not in state.kernel.variables}
    files.keep({file, *(one.file for one in state.checkpoints.saved[-1:])})
    return CheckpointSaved(
        file=file,
        cells=cells,
        digest=made.digest,
        size=made.size,
        unsaved={**kept, **made.unsaved},
        versions=dict(made.versions),
        seconds=seconds,
    )
