"""Random stops in short; `make kill-test` has 200 for each planner."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.random_stops import REASONS, ObservingPlanner, RandomPlanner, StoppedPlanner, campaign
from notebook_bcc.journal.interface import Journal
from notebook_bcc.journal.sqlite.journal import SqliteJournal

pytestmark = pytest.mark.anyio

QUICK, ALL = 40, 200


def on_disk(folder: Path) -> Callable[[int], Callable[[], Journal]]:
    """A journal for each run, opened anew by each session."""

    def of_run(number: int) -> Callable[[], Journal]:
        path = folder / f"{number}.sqlite"

        def opened() -> Journal:
            return SqliteJournal.open(path) if path.exists() else SqliteJournal.create(path)

        return opened

    return of_run


@pytest.mark.parametrize("kind", [ObservingPlanner, RandomPlanner])
async def test_no_action_is_lost_and_none_is_done_twice_wherever_a_run_stops(
    kind: type[StoppedPlanner], tmp_path: Path
) -> None:
    done = await campaign(kind, stops=QUICK, seed=1, journals=on_disk(tmp_path))
    assert done.total >= QUICK
    assert done.repeated > 0, "no question was asked a second time: the stops were too tame"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 7))
@pytest.mark.parametrize("kind", [ObservingPlanner, RandomPlanner])
async def test_two_hundred_random_stops(kind: type[StoppedPlanner], seed: int, tmp_path: Path) -> None:
    done = await campaign(kind, stops=ALL, seed=seed, journals=on_disk(tmp_path))
    sys.stdout.write(f"{kind.__name__}: {done}\n")
    assert done.total >= ALL
    assert set(done.counted) == set(REASONS)
