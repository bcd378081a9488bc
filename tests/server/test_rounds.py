"""One look at everything under way."""

from __future__ import annotations

import asyncio
import functools

import pytest

from notebook_bcc.server.rounds import Rounds
from server.living import until


@pytest.mark.anyio
async def test_what_was_added_is_looked_at_until_it_is_removed_and_again_when_it_comes_back() -> None:
    rounds, seen, other = Rounds(), list[float](), list[float]()
    for _ in range(2):
        rounds.add(seen.append)
        rounds.add(other.append)
        await until(lambda: len(seen) >= 3)
        rounds.remove(seen.append)
        count = len(seen)
        more = len(other) + 2
        await until(functools.partial(lambda wanted: len(other) >= wanted, more))
        assert len(seen) == count
        rounds.remove(other.append)
        seen.clear()
        other.clear()


def test_another_loop_is_served_as_well() -> None:
    rounds, seen = Rounds(), list[float]()

    async def once() -> None:
        seen.clear()
        rounds.add(seen.append)
        await until(lambda: bool(seen))

    for _ in range(2):
        with asyncio.Runner() as runner:
            runner.run(once())
