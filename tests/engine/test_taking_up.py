"""A kernel that outlives its process is taken up where it was left, or else rebuilt, and the reason told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from engine.lasting import House, Lasting
from engine.play import SKIP, Played, one_step, play, run_code
from notebook_bcc.errors import KernelStartFailed
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import (
    ActionCompleted,
    ArtifactPromoted,
    CellRerun,
    KernelAbandoned,
    KernelAttached,
    KernelStarted,
    RunResumed,
)
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.tracking import Promotion

pytestmark = pytest.mark.anyio


class Killed(BaseException):
    """Stands for kill -9: nothing of ours may catch it."""


class Mortal(MemoryJournal):
    """Ends the process at the append of that number, before anything of it is written."""

    def __init__(self, appends: int) -> None:
        super().__init__()
        self.left: int | None = appends

    async def append(self, entries: Sequence[Entry]) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise Killed
        await super().append(entries)


def planner() -> ScriptedPlanner:
    first = Behavior(
        actions=run_code("x = 1", "y = x + 1", "print(y)"), promotions=[Promotion(variable="y", artifact_id="y@v1")]
    )
    return one_step(first, run_code("z = y_v1 + 1"), run_code("z += 1\nprint(z)", "1/0", "never"))


async def killed_at(appends: int, house: House) -> Mortal | None:
    """The journal of a run that was killed there; None when it had come to its end before."""
    journal = Mortal(appends)
    try:
        await play(planner(), journal=journal, kernel=Lasting(house), policies=SKIP)
    except Killed:
        journal.left = None
        return journal
    return None


async def taken_up(journal: MemoryJournal, house: House, **resume: Any) -> Played:
    return await play(planner(), journal=journal, kernel=Lasting(house), resume=RunResumed(**resume))


async def in_a_cell() -> tuple[Mortal, House]:
    """A run that was killed when its second cell had been run and nothing of that was written."""
    for appends in range(1, 100):
        house = House()
        journal = await killed_at(appends, house)
        assert journal is not None
        done = [entry async for entry in journal.read() if isinstance(entry.record, ActionCompleted)]
        if house.ran == ["x = 1", "y = x + 1"] and len(done) < 4:
            return journal, house
    raise AssertionError("no run was killed there")


async def test_wherever_a_process_is_killed_each_cell_is_run_once() -> None:
    whole = House()
    expected = await play(planner(), kernel=Lasting(whole), policies=SKIP)
    assert len(expected.records(ArtifactPromoted)) == 1
    kills = followed = 0
    for appends in range(1, 1_000):
        house = House()
        journal = await killed_at(appends, house)
        if journal is None:
            break
        kills += 1
        played = await taken_up(journal, house)
        assert house.ran == whole.ran, appends
        assert played.state.document == expected.state.document
        assert played.state.kernel.variables == expected.state.kernel.variables
        assert not played.records(CellRerun)
        assert not played.records(KernelAbandoned)
        assert sum(bool(results) for results in house.results.values()) <= 1, "all in one kernel"
        followed += sum(record.follows for record in played.records(KernelAttached))
    assert kills > 20
    assert followed >= len(whole.ran) - 1


async def test_a_kernel_that_is_not_as_it_was_left_is_ended_and_rebuilt() -> None:
    journal, house = await in_a_cell()
    (session,) = house.kernels
    await house.kernels[session].execute("other = 1")
    played = await taken_up(journal, house)
    (abandoned,) = played.records(KernelAbandoned)
    assert abandoned == KernelAbandoned(session=session, reason="it has run other cells", ended=True)
    assert session not in house.kernels
    assert house.ran[:4] == ["x = 1", "y = x + 1", "x = 1", "y = x + 1"]
    assert [record.session for record in played.records(KernelStarted)] == [session, "k1/s"]


async def test_a_kernel_that_is_gone_is_rebuilt_and_the_reason_told() -> None:
    journal, house = await in_a_cell()
    house.kernels.clear()
    played = await taken_up(journal, house)
    assert [(one.reason, one.ended) for one in played.records(KernelAbandoned)] == [("there is none", False)]
    assert played.records(CellRerun)


async def test_a_kernel_that_cannot_be_asked_stops_the_run_where_it_is_until_it_can() -> None:
    journal, house = await in_a_cell()
    house.trouble = KernelStartFailed(kernel="scripted", reason="the server is away")
    for _ in range(2):
        played = await taken_up(journal, house)
        assert played.state.stopped is not None
        assert played.state.stopped.reason == "interrupted"
        assert "the server is away. Resume again later" in played.state.stopped.detail
        assert len(house.kernels) == 1, "it may hold hours of work"
    house.trouble = None
    played = await taken_up(journal, house)
    assert [record.follows for record in played.records(KernelAttached)] == [True]
    assert house.ran.count("y = x + 1") == 1
    assert played.state.stopped is not None
    assert played.state.stopped.reason == "completed"


async def test_who_accepts_differences_gives_a_kernel_up_that_cannot_be_asked() -> None:
    journal, house = await in_a_cell()
    house.trouble = KernelStartFailed(kernel="scripted", reason="it does not answer")
    played = await taken_up(journal, house, accept_differences=True)
    assert [one.ended for one in played.records(KernelAbandoned)] == [True]
    assert played.state.stopped is not None
    assert played.state.stopped.reason == "completed"


async def test_a_kernel_that_was_being_rebuilt_is_not_taken_up() -> None:
    journal, house = await in_a_cell()
    house.kernels.clear()
    # Its resumption, why it is rebuilt, and the start of another kernel are written; no more.
    journal.left = 3
    with pytest.raises(Killed):
        await taken_up(journal, house)
    journal.left = None
    (half_built,) = house.kernels
    played = await taken_up(journal, house)
    assert [(one.session, one.ended) for one in played.records(KernelAbandoned)][-1] == (half_built, True)
    assert played.state.stopped is not None
    assert played.state.stopped.reason == "completed"
