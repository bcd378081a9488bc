"""What the state says of itself: time over sessions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from notebook_bcc.engine.decide import decide
from notebook_bcc.engine.intents import Stop
from notebook_bcc.engine.reduce import fold
from notebook_bcc.engine.state import RunState, elapsed
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import (
    ActionCompleted,
    CellRerun,
    KernelRebuilt,
    KernelStarted,
    Record,
    RunResumed,
    RunStarted,
    RunStopped,
    Transitioned,
    Warned,
)
from notebook_bcc.protocol.limits import Limits
from notebook_bcc.protocol.vocabulary import Event, State

BEGAN = datetime(2026, 1, 2, tzinfo=UTC)


def after(*timed: tuple[float, Record]) -> RunState:
    """The fold of records, each with its second since the run began."""
    return fold(
        Entry(seq, (BEGAN + timedelta(seconds=second)).isoformat(), record)
        for seq, (second, record) in enumerate(timed, start=1)
    )


SESSIONS: list[tuple[float, Record]] = [
    (0, RunStarted(run_id="run", limits=Limits(run_seconds=40))),
    (1, Transitioned(source=State.IDLE, event=Event.START_WORKFLOW, to=State.STAGE_RUNNING)),
    (30, RunStopped(reason="paused")),
    (1000, RunResumed()),
    (1005, Warned(message="later")),
    (1007, RunStopped(reason="paused")),
    (5000, RunResumed()),
    (5002, Warned(message="later still")),
]


@pytest.mark.parametrize(("records", "seconds"), [(1, 0), (3, 30), (4, 30), (5, 35), (6, 37), (7, 37), (8, 39)])
def test_the_time_of_all_sessions_adds_up_and_the_time_between_them_does_not(records: int, seconds: float) -> None:
    assert elapsed(after(*SESSIONS[:records])) == seconds


def test_before_it_has_begun_a_run_has_taken_no_time() -> None:
    assert elapsed(RunState()) == 0.0


def test_the_limit_of_seconds_counts_the_sessions_before() -> None:
    assert not isinstance(decide(after(*SESSIONS)), Stop)
    late = (5003, ActionCompleted(action_id="1", action="add", success=True))
    stop = decide(after(*SESSIONS, late))
    assert isinstance(stop, Stop)
    assert stop.reason == "limit"
    assert "40 seconds" in stop.detail


def test_the_time_of_rebuilding_a_kernel_does_not_count() -> None:
    cell = ActionCompleted(action_id="1", action="exec", success=True, executed="c", succeeded_cells=("c",))
    records: list[tuple[float, Record]] = [
        *SESSIONS[:2],
        (2, KernelStarted(name="python3")),
        (9, cell),
        (10, RunStopped(reason="limit")),
        (100, RunResumed()),
        (101, Warned(message="before")),
        (104, KernelStarted(name="python3")),
        (114, CellRerun(cell_id="c", index=1, of=1, success=True, same_outputs=True)),
        (115, KernelRebuilt(cells=1)),
        (117, Warned(message="after")),
    ]
    seconds = [elapsed(after(*records[:count])) for count in range(1, len(records) + 1)]
    assert seconds == [0, 1, 2, 9, 10, 10, 11, 11, 11, 11, 13]


def test_a_start_from_nothing_has_all_its_time_again() -> None:
    reset: list[tuple[float, Record]] = [
        (5003, Transitioned(source=State.STAGE_RUNNING, event=Event.CANCEL, to=State.CANCELLED)),
        (5004, Transitioned(source=State.CANCELLED, event=Event.RESET, to=State.IDLE)),
        (5006, Warned(message="anew")),
    ]
    assert elapsed(after(*SESSIONS, *reset)) == 2.0
