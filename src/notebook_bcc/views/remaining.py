"""About how long a run will still take: what its planner estimates, by the pace so far, and the verification, which
repeats the cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import ActionCompleted, PlanningAnswered, RunResumed, RunStarted, Transitioned
from notebook_bcc.lifecycle.verify import SecondsLeft
from notebook_bcc.protocol.messages import ResponseMetadata
from notebook_bcc.protocol.vocabulary import State

# So many seconds of work count as done at the planner's own pace: a first cell that was slow is no verdict.
_TRUSTED_SECONDS = 2.0
_WAITING = frozenset({State.WORKFLOW_UPDATE_PENDING, State.STEP_UPDATE_PENDING})


@dataclass(frozen=True, slots=True)
class Mark:
    """What a planner said at one moment: so many seconds of work done, so many left. `done` is None if it said none."""

    at: float
    done: float | None
    left: float


def work_left(first: Mark, newest: Mark, *, at: float) -> float:
    """About how many seconds of work are left. Pure.

    The planner's seconds become this machine's by the pace between the two marks.
    """
    return run_down(newest.left * _pace(first, newest), at - newest.at)


def run_down(seconds: float, passed: float) -> float:
    """What is left of an estimate when some time has passed. Pure.

    The last quarter runs down ever more slowly: work that takes longer than estimated is not over because its time is.
    """
    quarter = seconds / 4
    late = passed - 3 * quarter
    if late <= 0 or quarter <= 0:
        return max(0.0, seconds - max(0.0, passed))
    return quarter / (1 + late / quarter)


def _pace(first: Mark, newest: Mark) -> float:
    """How many seconds a second of the planner's takes here."""
    if first.done is None or newest.done is None:
        return 1.0
    spent, done = newest.at - first.at, newest.done - first.done
    return (spent + _TRUSTED_SECONDS) / (max(0.0, done) + _TRUSTED_SECONDS)


class Remaining:
    """Keeps up with a run. `verifies` says that the notebook will be run again at the end."""

    def __init__(self, *, clock: Callable[[], float], verifies: bool) -> None:
        self._clock = clock
        self._verifies = verifies
        self._first: Mark | None = None
        self._newest: Mark | None = None
        self._waits_since: float | None = None
        self._waited = 0.0
        self._verification: tuple[SecondsLeft, float] | None = None
        self._whole_verification = 0.0
        self._cells: dict[str, float] = {}

    def saw(self, entry: Entry) -> None:
        """Called for every entry: cheap."""
        match entry.record:
            case PlanningAnswered() as record:
                self._estimated(record.response.metadata)
            case ActionCompleted(executed=str() as cell) as record:
                self._cells[cell] = record.seconds
            case Transitioned() as record:
                self._moved(record.to)
            case RunStarted():
                # Nothing is done yet: whatever will be is measured from here.
                self._first = Mark(self._now, 0.0, 0.0)
            case RunResumed():
                self._first = self._newest = None
            case _:
                pass

    def verifying(self, left: SecondsLeft | None) -> None:
        """A cell of the verification begins; it and the rest take about so many seconds."""
        self._newest = None
        self._verification = None if left is None else (left, self._clock())
        self._whole_verification = max(self._whole_verification, self._left_to_verify)

    @property
    def seconds(self) -> float | None:
        """How long is left from now on; None when nobody has said."""
        if self._verification is not None:
            return self._left_to_verify
        if self._newest is None:
            return None
        first = self._first if self._first is not None else self._newest
        work = work_left(first, self._newest, at=self._now)
        if not self._verifies:
            return work
        return work + sum(self._cells.values()) + work_left(first, self._newest, at=self._newest.at)

    @property
    def share_verified(self) -> float | None:
        """How much of the verification is done, by time; None when nobody knows how long it takes."""
        if self._verification is None or not self._whole_verification:
            return None
        return 1 - self._left_to_verify / self._whole_verification

    @property
    def _now(self) -> float:
        """The time that the run itself has taken: while a person is asked, it stands still."""
        now = self._waits_since if self._waits_since is not None else self._clock()
        return now - self._waited

    def _estimated(self, metadata: ResponseMetadata) -> None:
        # An answer without an estimate leaves the one before it in force.
        if metadata.estimated_remaining_seconds is None:
            return
        self._newest = Mark(self._now, metadata.estimated_done_seconds, metadata.estimated_remaining_seconds)
        self._first = self._first if self._first is not None else self._newest

    def _moved(self, to: State) -> None:
        if self._waits_since is not None:
            self._waited += self._clock() - self._waits_since
            self._waits_since = None
        if to in _WAITING:
            self._waits_since = self._clock()

    @property
    def _left_to_verify(self) -> float:
        """What is left of the running cell, and the cells after it, which are not begun however long it takes."""
        if self._verification is None:
            return 0.0
        left, began = self._verification
        return run_down(left.cell, self._clock() - began) + left.after
