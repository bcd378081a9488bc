"""The first step of a coroutine, taken on the spot: most planners that need no network have answered with it.

What has to be ready for a wait, a task, limits of time and a place where others wait too, is then not needed.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine, Generator
from typing import Any, TypeVar

_Result = TypeVar("_Result")

# Any: what a coroutine and its loop say to each other is theirs.


class Unfinished(Generator[Any, Any, _Result]):
    """A coroutine that waits for something. Awaited, in the task that took the first step, it gives the result."""

    __slots__ = ("_coroutine", "_failed", "_told", "_waits_for")

    def __init__(self, coroutine: Coroutine[Any, Any, _Result], waits_for: Any) -> None:
        self._coroutine = coroutine
        self._waits_for = waits_for
        self._told = False
        self._failed: BaseException | None = None

    def __await__(self) -> Generator[Any, Any, _Result]:
        return self

    def fail(self, error: BaseException) -> None:
        """What it waits for has ended so, before it was awaited."""
        self._failed = error

    def send(self, value: Any) -> Any:
        if self._told:
            return self._coroutine.send(value)
        self._told = True
        return self._waits_for if self._failed is None else self._coroutine.throw(self._failed)

    def throw(self, *error: Any) -> Any:
        self._told = True
        return self._coroutine.throw(*error)

    def close(self) -> None:
        self._coroutine.close()


def first_step(coroutine: Coroutine[Any, Any, _Result]) -> _Result | Unfinished[_Result]:
    """The result, if there was nothing to wait for. Raises what the coroutine raises."""
    try:
        return Unfinished(coroutine, coroutine.send(None))
    except StopIteration as end:
        result: _Result = end.value
        return result


class TaskOnCall:
    """Takes first steps in the name of a task, which goes on with those that have to wait.

    Whoever asks in a first step for the current task gets the one that goes on. A coroutine that is over with its first
    step costs neither a task nor a turn of the loop; after one that had to wait, the next has another task.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, *, ended: Callable[[], None]) -> None:
        """`ended` is called when a coroutine that had to wait is over."""
        self._loop = loop
        self._ended = ended
        self._unfinished: Unfinished[None] | None = None
        self._closed = False
        self._wait()

    def run(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
        """The task that goes on with it, if it is not over. Not to be called in a task, nor before that has ended.

        Raises what the coroutine raises in its first step.
        """
        if self._called.done():
            # Cancelled while it had nothing to do, as loops do that end.
            self._wait()
        task = self._task
        asyncio._enter_task(self._loop, task)
        try:
            made = self._context.run(first_step, coroutine)
        finally:
            asyncio._leave_task(self._loop, task)
        if made is None:
            return None
        self._unfinished = made
        if not self._called.done():
            self._called.set_result(None)
        return task

    def close(self) -> None:
        """Wait for nothing more; what is under way goes on."""
        self._closed = True
        if self._unfinished is None and not self._called.done():
            self._task.cancel()

    def _wait(self) -> None:
        """Have a task that waits. It is made before it is needed: one that has not begun could be cancelled unseen."""
        self._context = contextvars.copy_context()
        self._called: asyncio.Future[None] = self._loop.create_future()
        self._task = self._loop.create_task(self._attend(self._called), context=self._context)

    async def _attend(self, called: asyncio.Future[None]) -> None:
        try:
            await called
        except asyncio.CancelledError as error:
            if self._unfinished is None:
                raise
            # Meant for what it has just been called for.
            self._unfinished.fail(error)
        rest, self._unfinished = self._unfinished, None
        try:
            if rest is not None:
                await rest
        finally:
            if not self._closed:
                self._wait()
            self._ended()
