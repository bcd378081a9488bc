"""A behavior's actions as they arrive."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from notebook_bcc.engine.stream import ActionStream, StreamEnd
from notebook_bcc.planners.interface import ActionData, Generated

pytestmark = pytest.mark.anyio

ADD = ActionData({"action": "add", "shot_type": "action", "content": "a = 1"})
EXEC = ActionData({"action": "exec", "codecell_id": "lastAddedCellId"})


async def test_a_cell_that_is_waited_for_is_handed_over_before_more_of_the_answer_is_read() -> None:
    went_on = False

    async def answer() -> AsyncIterator[Generated]:
        nonlocal went_on
        await asyncio.sleep(0)
        yield ADD
        yield EXEC
        # All of this is there at once, as in an answer that came in one piece.
        went_on = True
        yield ADD

    stream = ActionStream(answer())
    try:
        assert await stream.take() == ADD
        assert await stream.take() == EXEC
        assert not went_on
        assert await stream.take() == ADD
        assert await stream.take() == StreamEnd()
    finally:
        await stream.close()


async def test_what_nobody_waits_for_is_read_ahead() -> None:
    async def answer() -> AsyncIterator[Generated]:
        for _ in range(3):
            yield ADD
            yield EXEC

    stream = ActionStream(answer())
    try:
        await asyncio.sleep(0)
        found = [await stream.take() for _ in range(7)]
    finally:
        await stream.close()
    assert found == [ADD, EXEC] * 3 + [StreamEnd()]
