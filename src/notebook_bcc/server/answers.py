"""Answers as they grow: one planner at work, any number of clients reading from the start.

A planner's answer belongs to no connection. A client that asks again, because its first connection was cut or is
hanging, reads what there is from the start and then what is still to come; the planner is asked once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from notebook_bcc.errors import PlannerAnswerInvalid

Parts = AsyncGenerator[bytes, None]
"""An answer as it is made: one part, or the lines of a stream."""


class Answer:
    """The parts of one answer. `failure` is what ended it, if it did not end well.

    The planner works in a task of its own, so a slow or a lost client holds up nobody else.
    """

    def __init__(
        self, parts: Parts, *, seconds: float, most_bytes: int, linger: float, ended: Callable[[Answer], None]
    ) -> None:
        """`seconds` is the time limit of each part; `linger` the time without a client after which it is stopped."""
        self.parts: list[bytes] = []
        self.size = 0
        self.ended = False
        self.failure: BaseException | None = None
        self._seconds = seconds
        self._most_bytes = most_bytes
        self._linger = linger
        self._on_end = ended
        self._changed = asyncio.Event()
        self._readers = 0
        self._deadline: asyncio.TimerHandle | None = None
        self._reason: Exception | None = None
        self._task = asyncio.create_task(self._work(parts))
        self._task.add_done_callback(self._end)

    def stop(self, reason: Exception) -> None:
        """End it before its end, if it has not ended."""
        if not self.ended and self._reason is None:
            self._reason = reason
            self._task.cancel()

    async def wait(self) -> None:
        """Until the answer has ended, well or not."""
        await asyncio.wait({self._task})

    async def follow(self, receive: Receive) -> AsyncGenerator[bytes, None]:
        """Each part as soon as it is there, for the client behind `receive`.

        Raises what the answer failed with, after all that came before it; ClientDisconnect when the client has gone.
        """
        watch = asyncio.create_task(_disconnected(receive))
        watch.add_done_callback(lambda _: self._notify())
        self._join()
        seen = 0
        try:
            while not (self.ended and seen == len(self.parts)):
                if watch.done():
                    raise ClientDisconnect
                if seen < len(self.parts):
                    seen += 1
                    yield self.parts[seen - 1]
                else:
                    await self._changed.wait()
            if self.failure is not None:
                raise self.failure
        finally:
            watch.cancel()
            self._leave()

    async def _work(self, parts: Parts) -> None:
        try:
            async with asyncio.timeout(self._seconds) as limit, aclosing(parts):
                async for part in parts:
                    self._add(part)
                    limit.reschedule(asyncio.get_running_loop().time() + self._seconds)
                    # Readers have a turn: a planner that never waits must not hold its parts back.
                    await asyncio.sleep(0)
        except TimeoutError as error:
            if limit.expired():
                raise TimeoutError(f"the planner took longer than {self._seconds:g} seconds") from error
            raise

    def _add(self, part: bytes) -> None:
        self.size += len(part)
        if self.size > self._most_bytes:
            reason = f"the answer is longer than {self._most_bytes} bytes"
            raise PlannerAnswerInvalid(planner="behind this service", reason=reason)
        self.parts.append(part)
        self._notify()

    def _end(self, task: asyncio.Task[None]) -> None:
        stopped = ConnectionError("the service is being stopped")
        # What it fails with after it was told to stop is a consequence, not the reason.
        self.failure = self._reason or (stopped if task.cancelled() else task.exception())
        self.ended = True
        if self._deadline is not None:
            self._deadline.cancel()
        self._on_end(self)
        self._notify()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _join(self) -> None:
        self._readers += 1
        if self._deadline is not None:
            self._deadline.cancel()

    def _leave(self) -> None:
        """The last client to leave an answer that is not ready starts the clock: it may ask again."""
        self._readers -= 1
        if not self._readers and not self.ended:
            gone = ConnectionError("no client is waiting any more")
            self._deadline = asyncio.get_running_loop().call_later(self._linger, self.stop, gone)


async def _disconnected(receive: Receive) -> None:
    """Until the client has gone. Nothing else comes after the body; a GET has an empty one first."""
    while (await receive())["type"] != "http.disconnect":
        pass
