from __future__ import annotations

from typing import Any

import pytest

from notebook_bcc.cli.remaining import Remaining
from notebook_bcc.cli.words import Words
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import ActionCompleted, PlanningAnswered, Record, RunResumed, Warned
from notebook_bcc.protocol.messages import PlanningResponse


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def estimated(seconds: float | None) -> PlanningAnswered:
    data: dict[str, Any] = {"metadata": {"estimated_remaining_seconds": seconds} if seconds is not None else {}}
    return PlanningAnswered(request_id="r", purpose="step", response=PlanningResponse.parse(data))


def ran(cell: str, seconds: float) -> ActionCompleted:
    return ActionCompleted(action_id="a", action="exec", success=True, executed=cell, seconds=seconds)


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
    clock.now = 40.0
    assert remaining.seconds == 60.0 + 30.0 + 60.0
    seen(remaining, estimated(None))
    assert remaining.seconds == 150.0
    clock.now = 1000.0
    assert remaining.seconds == 30.0


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
    remaining.verifying(20.0)
    clock.now = 5.0
    assert (remaining.seconds, remaining.share_verified) == (15.0, 0.25)
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
