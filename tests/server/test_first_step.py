"""First steps on the spot, and the task that goes on where they had to wait."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine
from typing import Any

import pytest

from notebook_bcc.server.first_step import TaskOnCall, Unfinished, first_step
from server.living import PATIENCE, until

pytestmark = pytest.mark.anyio

Task = asyncio.Task[Any]  # Any: whatever a task returns
VALUE: contextvars.ContextVar[int] = contextvars.ContextVar("value", default=0)


async def at_once(result: int = 7) -> int:
    return result


async def failing() -> int:
    raise KeyError("reason")


async def waiting(*, for_: asyncio.Future[int]) -> int:
    return await for_ + 1


def future() -> asyncio.Future[int]:
    return asyncio.get_running_loop().create_future()


class Caller:
    """Runs coroutines as a connection does: in a callback of the loop, where no task is current."""

    def __init__(self) -> None:
        self.ended = 0
        self.on_call = TaskOnCall(asyncio.get_running_loop(), ended=self._end)

    def _end(self) -> None:
        self.ended += 1

    async def run(self, coroutine: Coroutine[Any, Any, None]) -> Task | None:
        """The task that goes on with it. Raises what the first step raises."""
        done: asyncio.Future[Task | None] = asyncio.get_running_loop().create_future()

        def call() -> None:
            try:
                done.set_result(self.on_call.run(coroutine))
            except KeyError as error:
                done.set_exception(error)

        asyncio.get_running_loop().call_soon(call)
        return await done


async def test_what_waits_for_nothing_gives_its_result_at_once() -> None:
    assert first_step(at_once()) == 7


async def test_what_fails_in_its_first_step_fails_there() -> None:
    with pytest.raises(KeyError, match="reason"):
        first_step(failing())


async def test_what_waits_goes_on_when_awaited() -> None:
    wanted = future()
    step = first_step(waiting(for_=wanted))
    assert isinstance(step, Unfinished)
    asyncio.get_running_loop().call_soon(wanted.set_result, 1)
    assert await step == 2


async def test_several_waits_are_waited_for() -> None:
    async def several() -> int:
        for _ in range(3):
            await asyncio.sleep(0)
        return await asyncio.wait_for(at_once(3), PATIENCE)

    step = first_step(several())
    assert isinstance(step, Unfinished)
    assert await step == 3


async def test_an_error_of_the_wait_arrives_where_it_is_waited() -> None:
    async def careful() -> str:
        try:
            await wanted
        except ConnectionError as error:
            return f"caught {error}"
        return "nothing"

    wanted = future()
    step = first_step(careful())
    assert isinstance(step, Unfinished)
    wanted.set_exception(ConnectionError("it"))
    assert await step == "caught it"


async def test_a_cancellation_arrives_where_it_is_waited_and_may_be_cleaned_up_after() -> None:
    seen: list[str] = []

    async def tidy() -> None:
        try:
            await future()
        finally:
            await asyncio.sleep(0)
            seen.append("tidied")

    async def whole() -> None:
        step = first_step(tidy())
        assert isinstance(step, Unfinished)
        await step

    task = asyncio.create_task(whole())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["tidied"]


async def test_coroutines_that_need_no_wait_share_one_task_and_are_over_at_once() -> None:
    caller, seen = Caller(), list[Task | None]()

    async def look() -> None:
        seen.append(asyncio.current_task())

    assert [await caller.run(look()) for _ in range(3)] == [None] * 3
    assert len(set(seen)) == 1
    assert seen[0] is not asyncio.current_task()
    assert caller.ended == 0
    caller.on_call.close()
    await until(lambda: seen[0] is not None and seen[0].done())


async def test_the_task_of_the_first_step_is_the_task_of_the_rest() -> None:
    caller, seen, wanted = Caller(), list[Task | None](), future()

    async def look() -> None:
        seen.append(asyncio.current_task())
        VALUE.set(VALUE.get() + 1)
        await wanted
        seen.append(asyncio.current_task())
        seen.append(None if VALUE.get() == 1 else asyncio.current_task())

    task = await caller.run(look())
    wanted.set_result(1)
    assert task is not None
    await task
    assert seen == [task, task, None]
    assert caller.ended == 1
    assert VALUE.get() == 0


async def test_a_time_limit_that_began_in_the_first_step_is_kept() -> None:
    caller, seen = Caller(), list[str]()

    async def slow() -> None:
        try:
            async with asyncio.timeout(0.01):
                await future()
        except TimeoutError:
            seen.append("in time")

    task = await caller.run(slow())
    assert task is not None
    await task
    assert seen == ["in time"]
    assert task.cancelling() == 0


async def test_a_task_that_is_cancelled_before_it_goes_on_cancels_what_it_was_called_for() -> None:
    caller, seen = Caller(), list[str]()

    async def tidy() -> None:
        try:
            await future()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            seen.append("tidied")
            raise

    loop = asyncio.get_running_loop()
    made: asyncio.Future[Task] = loop.create_future()

    def call() -> None:
        task = caller.on_call.run(tidy())
        assert task is not None
        task.cancel()
        made.set_result(task)

    loop.call_soon(call)
    task = await made
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["tidied"]
    assert caller.ended == 1


async def test_what_a_first_step_raises_leaves_the_next_one_alone() -> None:
    caller = Caller()

    async def broken() -> None:
        raise KeyError("reason")

    async def fine() -> None:
        return None

    with pytest.raises(KeyError, match="reason"):
        await caller.run(broken())
    assert await caller.run(fine()) is None
    caller.on_call.close()


async def test_a_task_that_was_cancelled_with_nothing_to_do_is_replaced() -> None:
    caller, seen = Caller(), list[Task | None]()

    async def look() -> None:
        seen.append(asyncio.current_task())

    await caller.run(look())
    assert seen[0] is not None
    seen[0].cancel()
    await asyncio.wait({seen[0]})
    assert await caller.run(look()) is None
    assert seen[0] is not seen[1]
    caller.on_call.close()


async def test_after_a_wait_there_is_another_task_for_the_next() -> None:
    caller = Caller()

    async def short() -> None:
        await asyncio.sleep(0)

    first = await caller.run(short())
    assert first is not None
    await first
    second = await caller.run(short())
    assert second is not None
    await second
    assert first is not second
    assert caller.ended == 2
