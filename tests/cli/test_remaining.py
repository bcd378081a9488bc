from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import (
    ActionCompleted,
    PlanningAnswered,
    Record,
    RunResumed,
    RunStarted,
    Transitioned,
    Warned,
)
from notebook_bcc.lifecycle.verify import SecondsLeft
from notebook_bcc.protocol.messages import PlanningResponse
from notebook_bcc.protocol.vocabulary import Event, State
from notebook_bcc.views.remaining import Mark, Remaining, work_left
from notebook_bcc.views.words import Words

# Runs of the built-in playbook on public tables, on a machine with other work: when which answer told what, how long
# cells took, what the verification said.
RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "recorded_runs.json").read_text(encoding="utf-8"))


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def estimated(seconds: float | None, *, done: float | None = None) -> PlanningAnswered:
    told: dict[str, Any] = {"estimated_remaining_seconds": seconds, "estimated_done_seconds": done}
    return PlanningAnswered(request_id="r", purpose="step", response=PlanningResponse.parse({"metadata": told}))


def ran(cell: str, seconds: float) -> ActionCompleted:
    return ActionCompleted(action_id="a", action="exec", success=True, executed=cell, seconds=seconds)


def moved(to: State) -> Transitioned:
    return Transitioned(source=State.ACTION_RUNNING, event=Event.COMPLETE_ACTION, to=to)


def seen(remaining: Remaining, *records: Record) -> None:
    for record in records:
        remaining.saw(Entry(1, "", record))


def test_nothing_is_said_before_a_planner_has_said_something() -> None:
    remaining = Remaining(clock=Clock(), verifies=True)
    seen(remaining, Warned(message="x"), estimated(None), ran("c", 5.0))
    assert remaining.seconds is None


def test_the_newest_estimate_runs_down_and_the_verification_repeats_the_cells() -> None:
    clock = Clock()
    remaining = Remaining(clock=clock, verifies=True)
    seen(remaining, estimated(100.0), ran("c", 9.0), ran("c", 10.0), ran("d", 20.0))
    assert remaining.seconds == 100.0 + 30.0 + 100.0
    clock.now = 40.0
    shown = remaining.seconds
    assert shown is not None
    assert shown == pytest.approx(60.0 + 30.0 + 100.0, abs=0.1)
    seen(remaining, estimated(None))
    assert remaining.seconds == shown
    clock.now = 1000.0
    assert remaining.seconds == pytest.approx(130.0, abs=1.0)


def test_the_planners_seconds_become_those_of_the_machine() -> None:
    clock = Clock()
    remaining = Remaining(clock=clock, verifies=False)
    seen(remaining, RunStarted(run_id="r"))
    clock.now = 60.0
    seen(remaining, estimated(100.0, done=20.0))
    assert remaining.seconds == pytest.approx(100.0 * 62 / 22)
    clock.now = 66.0
    seen(remaining, estimated(80.0, done=40.0))
    assert remaining.seconds == pytest.approx(80.0 * 68 / 42)


def test_a_run_taken_up_again_is_measured_from_its_first_answer() -> None:
    clock = Clock()
    remaining = Remaining(clock=clock, verifies=False)
    seen(remaining, RunResumed())
    clock.now = 500.0
    seen(remaining, estimated(100.0, done=300.0))
    assert remaining.seconds == 100.0
    clock.now = 508.0
    seen(remaining, estimated(92.0, done=308.0))
    assert remaining.seconds == 92.0


def test_while_a_person_is_asked_the_time_stands_still() -> None:
    clock = Clock()
    remaining = Remaining(clock=clock, verifies=False)
    seen(remaining, RunStarted(run_id="r"))
    clock.now = 10.0
    seen(remaining, estimated(50.0, done=10.0), moved(State.STEP_UPDATE_PENDING))
    clock.now = 1000.0
    assert remaining.seconds == 50.0
    seen(remaining, moved(State.ACTION_COMPLETED), estimated(50.0, done=10.0))
    assert remaining.seconds == 50.0


def test_work_that_takes_longer_than_estimated_is_not_over() -> None:
    start, newest = Mark(0.0, 0.0, 0.0), Mark(10.0, 10.0, 30.0)
    shown = [work_left(start, newest, at=at) for at in (10.0, 25.0, 40.0, 70.0)]
    assert shown == sorted(shown, reverse=True)
    assert shown[:2] == [30.0, 15.0]
    assert shown[2] == 3.75
    assert shown[3] > 1.0


@pytest.mark.parametrize("table", RECORDED)
def test_after_a_tenth_of_a_run_its_estimate_is_never_off_by_more_than_three_times(table: str) -> None:
    recorded = RECORDED[table]
    clock = Clock()
    remaining = Remaining(clock=clock, verifies=True)
    seen(remaining, RunStarted(run_id="r"))
    shown: list[tuple[float, float]] = []
    for at, kind, *facts in [*recorded["events"], (recorded["seconds"], "ended")]:
        while clock.now + 0.5 < at:
            clock.now += 0.5
            if remaining.seconds is not None and clock.now >= recorded["seconds"] / 10:
                shown.append((remaining.seconds, recorded["seconds"] - clock.now))
        clock.now = at
        if kind == "verifying":
            remaining.verifying(SecondsLeft(*facts))
        elif kind == "ran":
            seen(remaining, ran(*facts))
        elif kind == "estimated":
            seen(remaining, estimated(facts[1], done=facts[0]))
    assert len(shown) > recorded["seconds"]
    # A few seconds are "a few seconds left", however many.
    assert [(told, true) for told, true in shown if max(told, true) > 10 and not true / 3 <= told <= true * 3] == []


def test_the_recorded_runs_had_no_estimate_before_their_table_was_read() -> None:
    for recorded in RECORDED.values():
        first = next(at for at, kind, *_ in recorded["events"] if kind == "estimated")
        assert first > 0.5


def test_without_verification_only_the_estimate_counts() -> None:
    remaining = Remaining(clock=Clock(), verifies=False)
    seen(remaining, estimated(100.0), ran("c", 9.0))
    assert remaining.seconds == 100.0
    seen(remaining, RunResumed())
    assert remaining.seconds is None


def test_the_verification_tells_its_own_time() -> None:
    clock = Clock()
    remaining = Remaining(clock=clock, verifies=True)
    seen(remaining, estimated(100.0))
    remaining.verifying(SecondsLeft(cell=8.0, after=12.0))
    clock.now = 5.0
    assert (remaining.seconds, remaining.share_verified) == (15.0, 0.25)
    clock.now = 50.0
    assert remaining.seconds is not None
    # The cells after a slow one are not begun.
    assert 12.0 < remaining.seconds < 13.0


def test_a_verification_that_nobody_has_timed_tells_nothing() -> None:
    remaining = Remaining(clock=Clock(), verifies=True)
    seen(remaining, estimated(100.0))
    remaining.verifying(None)
    assert (remaining.seconds, remaining.share_verified) == (None, None)


@pytest.mark.parametrize(
    ("seconds", "english", "chinese"),
    [
        (0, "a few seconds left", "还需几秒"),
        (42, "about 40 s left", "约剩 40 秒"),
        (58, "about 1 min left", "约剩 1 分钟"),
        (200, "about 3 min left", "约剩 3 分钟"),
        (4000, "about 1 h 07 min left", "约剩 1 小时 7 分钟"),
    ],
)
def test_an_estimate_has_no_more_digits_than_it_deserves(seconds: float, english: str, chinese: str) -> None:
    assert Words("en").left(seconds) == english
    assert Words("zh").left(seconds) == chinese
