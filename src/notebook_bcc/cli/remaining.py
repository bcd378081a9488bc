"""About how long a run will still take: what its planner estimates, and the verification, which repeats the cells."""

from __future__ import annotations

from collections.abc import Callable

from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import ActionCompleted, PlanningAnswered, RunResumed


class Remaining:
    """Keeps up with a run. `verifies` says that the notebook will be run again at the end."""

    def __init__(self, *, clock: Callable[[], float], verifies: bool) -> None:
        self._clock = clock
        self._verifies = verifies
        self._estimate: tuple[float, float] | None = None
        self._verification: tuple[float, float] | None = None
        self._whole_verification = 0.0
        self._cells: dict[str, float] = {}

    def saw(self, entry: Entry) -> None:
        """Called for every entry: cheap."""
        match entry.record:
            case PlanningAnswered() as record:
                seconds = record.response.metadata.estimated_remaining_seconds
                # An answer without an estimate leaves the one before it in force.
                self._estimate = self._estimate if seconds is None else (seconds, self._clock())
            case ActionCompleted(executed=str() as cell) as record:
                self._cells[cell] = record.seconds
            case RunResumed():
                self._estimate = None
            case _:
                pass

    def verifying(self, seconds: float | None) -> None:
        """The verification is under way and takes about so many seconds more."""
        self._estimate = None
        self._verification = None if seconds is None else (seconds, self._clock())
        self._whole_verification = max(self._whole_verification, seconds or 0.0)

    @property
    def seconds(self) -> float | None:
        """How long is left from now on; None when nobody has said."""
        if self._verification is not None:
            return self._from(self._verification)
        if self._estimate is None:
            return None
        work = self._from(self._estimate)
        return work + (sum(self._cells.values()) + work if self._verifies else 0.0)

    @property
    def share_verified(self) -> float | None:
        """How much of the verification is done, by time; None when nobody knows how long it takes."""
        if self._verification is None or not self._whole_verification:
            return None
        return 1 - self._from(self._verification) / self._whole_verification

    def _from(self, estimate: tuple[float, float]) -> float:
        seconds, at = estimate
        return max(0.0, seconds - (self._clock() - at))
