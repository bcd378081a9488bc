"""Exit codes: what a shell script may rely on."""

from __future__ import annotations

from enum import IntEnum

from notebook_bcc.errors import (
    BccError,
    JournalFailed,
    JournalFull,
    KernelFailed,
    PlannerFailed,
    RunLocked,
)


class Exit(IntEnum):
    """How a command ended."""

    COMPLETED = 0
    FAILED = 1
    USAGE = 2
    STOPPED = 3
    CANCELLED = 4
    UNVERIFIED = 5
    LOCKED = 6
    JOURNAL = 7
    UNANSWERED = 8
    INTERNAL = 70
    INTERRUPTED = 130


MEANINGS = {
    Exit.COMPLETED: "completed",
    Exit.FAILED: "failed: the run is in its error state, or a kernel or planner failed",
    Exit.USAGE: "usage, or bad input",
    Exit.STOPPED: "stopped and resumable: limit, waiting, paused, interrupted, disk full",
    Exit.CANCELLED: "cancelled",
    Exit.UNVERIFIED: "not verified: the notebook does not give the same results again, or could not be run again",
    Exit.LOCKED: "another process is carrying out this run, or verifying it",
    Exit.JOURNAL: "the journal cannot be read",
    Exit.UNANSWERED: "completed, not answered: what the goal asks for was not made",
    Exit.INTERNAL: "a fault of this program",
}

_OF_REASON = {
    "completed": Exit.COMPLETED,
    "failed": Exit.FAILED,
    "cancelled": Exit.CANCELLED,
}


def exit_of_stop(reason: str) -> Exit:
    """The code for the reason a run has stopped."""
    return _OF_REASON.get(reason, Exit.STOPPED)


def exit_of_error(error: BccError) -> Exit:
    """The code for an error that ended a command."""
    match error:
        case RunLocked():
            return Exit.LOCKED
        case JournalFull():
            return Exit.STOPPED
        case JournalFailed():
            return Exit.JOURNAL
        case KernelFailed() | PlannerFailed():
            return Exit.FAILED
        case _:
            return Exit.USAGE


def table() -> str:
    """The codes and their meanings, one a line."""
    return "\n".join(f"{code.value:>3}  {meaning}" for code, meaning in MEANINGS.items())
