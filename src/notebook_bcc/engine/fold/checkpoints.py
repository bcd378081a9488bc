"""What the records of checkpoints change. Pure."""

from __future__ import annotations

from dataclasses import replace

from notebook_bcc.engine.changes import StateChanges
from notebook_bcc.engine.state import CheckpointState, RunState, elapsed_without
from notebook_bcc.journal.records import (
    ActionCompleted,
    CheckpointLoaded,
    CheckpointRejected,
    CheckpointSaved,
    CheckpointSkipped,
    OnceBegun,
)

CHECKPOINTS_KEPT = 2
# A cell of more seconds is saved at once: it would be the dearest to run again.
LONG_CELL_SECONDS = 30.0


def checkpoint_saved(state: RunState, record: CheckpointSaved, at: str) -> StateChanges:
    """The newest few are kept. One that is saved under the name of another has replaced it."""
    checkpoints = state.checkpoints
    others = tuple(one for one in checkpoints.saved if one.file != record.file)
    return {
        "checkpoints": replace(
            checkpoints,
            saved=(*others, record)[-CHECKPOINTS_KEPT:],
            tried=record.cells,
            spent=checkpoints.spent + record.seconds,
            expected=record.seconds,
            long=False,
        )
    }


def checkpoint_skipped(state: RunState, record: CheckpointSkipped, at: str) -> StateChanges:
    """It has cost its time, and the next one is thought to take more."""
    checkpoints = state.checkpoints
    return {
        "checkpoints": replace(
            checkpoints,
            tried=record.cells,
            spent=checkpoints.spent + record.seconds,
            expected=max(checkpoints.expected, 2 * record.seconds),
            long=False,
            off=record.reason if record.never else "",
        )
    }


def checkpoint_loaded(state: RunState, record: CheckpointLoaded, at: str) -> StateChanges:
    """Loading is a part of rebuilding, which does not count as the run's time."""
    return {"elapsed_before": elapsed_without(state, at)}


def checkpoint_rejected(state: RunState, record: CheckpointRejected, at: str) -> StateChanges:
    """It stays: what made it useless may pass."""
    return {"elapsed_before": elapsed_without(state, at)}


def checkpoints_after(checkpoints: CheckpointState, record: ActionCompleted) -> CheckpointState:
    """Whether an action has run a long cell."""
    is_long = bool(record.succeeded_cells) and record.seconds > LONG_CELL_SECONDS
    return replace(checkpoints, long=True) if is_long and not checkpoints.long else checkpoints


def once_begun(state: RunState, record: OnceBegun, at: str) -> StateChanges:
    """A cell marked `once` has gone to the kernel."""
    return {"kernel": replace(state.kernel, once_begun=record.action_id)}
