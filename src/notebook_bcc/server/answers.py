"""Answers as they grow: one planner at work, any number of clients reading from the start.

A planner's answer belongs to no connection. A client that asks again, because its first connection was cut or is
hanging, reads what there is from the start and then what is still to come; the planner is asked once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from typing import Any, TypeVar

from notebook_bcc.errors import PlannerAnswerInvalid
from notebook_bcc.server.rounds import Rounds
from notebook_bcc.server.wire import Receive

_Item = TypeVar("_Item")

_TURN_SECONDS = 0.001


class Answer:
    """The parts of one answer. `failure` is what ended it, if it did not end well."""

    def __init__(
        self,
        *,
        rounds: Rounds,
        seconds: float,
        most_bytes: int,
        linger: float,
        settled: Callable[[Answer], None],
        ready: Sequence[bytes] | None = None,
    ) -> None:
        """`ready` are the parts of an answer that was given before."""
        self.parts = list(ready or ())
        self.size = 0
        self.ended = ready is not None
        self.failure: BaseException | None = None
        self._rounds = rounds
        self._seconds = seconds
        self._most_bytes = most_bytes
        self._linger = linger
        self._settled = settled
        self._readers: set[Reader] = set()
        self._progress = asyncio.get_running_loop().time()
        self._left: float | None = None
        self._reason: Exception | None = None
        self._task: asyncio.Task[Any] | None = None  # Any: a request's own task or ours
        self._over: asyncio.Future[None] | None = None

    def start(self, items: AsyncIterator[_Item], encode: Callable[[_Item], bytes]) -> None:
        """Let the planner work in a task of its own: a slow or a lost client holds up nobody else."""
        self._task = asyncio.get_running_loop().create_task(self._work_in_turns(items, encode))
        self._task.add_done_callback(self._done)

    async def work(self, items: AsyncIterator[_Item], encode: Callable[[_Item], bytes]) -> None:
        """Let the planner work in this task, to the end of its answer. Raises what the answer fails with."""
        clock = asyncio.get_running_loop().time
        with self._at_work():
            async with aclosing(items) as stream:  # type: ignore[type-var]  # a generator in practice
                async for item in stream:
                    self._add(encode(item), clock())

    async def make(self, whole: Awaitable[bytes]) -> None:
        """The same for an answer that is one part."""
        with self._at_work():
            self._add(await whole, self._progress)

    async def _work_in_turns(self, items: AsyncIterator[_Item], encode: Callable[[_Item], bytes]) -> None:
        """A planner that never waits must not hold its actions back: whoever could not be served on the spot has a
        turn after each part, and everybody else on this loop has one now and then."""
        clock = asyncio.get_running_loop().time
        turn = clock()
        with self._at_work():
            async with aclosing(items) as stream:  # type: ignore[type-var]  # a generator in practice
                async for item in stream:
                    now = clock()
                    if not self._add(encode(item), now) or now - turn > _TURN_SECONDS:
                        await asyncio.sleep(0)
                        turn = clock()

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Ends the answer with what happens inside, and turns a cancellation of ours into its reason."""
        self._task = asyncio.current_task()
        self._rounds.add(self._look)
        try:
            yield
        except BaseException as error:
            cancelled = isinstance(error, asyncio.CancelledError)
            # What it fails with after it was told to stop is a consequence, not the reason.
            self._end(self._reason or (ConnectionError("the service is being stopped") if cancelled else error))
            self._raise_reason()
            raise
        else:
            self._end(self._reason)
            self._raise_reason()

    def stop(self, reason: Exception) -> None:
        """End it before its end, if it has not ended."""
        if self._task is not None and not self.ended and self._reason is None:
            self._reason = reason
            self._task.cancel()

    async def wait(self) -> None:
        """Until the answer has ended, well or not."""
        while not self.ended:
            self._over = self._over or asyncio.get_running_loop().create_future()
            await asyncio.shield(self._over)

    def join(self, reader: Reader) -> None:
        self._readers.add(reader)
        self._left = None

    def leave(self, reader: Reader) -> None:
        """The last client to leave an answer that is not ready starts the clock: it may ask again."""
        self._readers.discard(reader)
        if not self._readers and not self.ended:
            self._left = asyncio.get_running_loop().time()

    def _add(self, part: bytes, now: float) -> bool:
        """Whether every reader has it already."""
        self.size = check_size(self.size + len(part), self._most_bytes)
        self.parts.append(part)
        self._progress = now
        served = True
        for reader in self._readers:
            served = reader.offer(part) and served
        return served

    def _end(self, failure: BaseException | None) -> None:
        self.failure = failure
        self.ended = True
        self._rounds.remove(self._look)
        for reader in self._readers:
            reader.wake()
        if self._over is not None:
            self._over.set_result(None)
        self._settled(self)

    def _raise_reason(self) -> None:
        """What it was stopped for, instead of the cancellation that this took; not when others cancelled too."""
        if self._reason is not None and self._task is not None and self._task.uncancel() == 0:
            raise self._reason

    def _done(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() and not self.ended:
            # Stopped before its first step: `work` could not say so.
            self._end(self._reason or ConnectionError("the service is being stopped"))
        elif not task.cancelled():
            # Looked at, so that nobody complains: whoever reads is told, and without a reader nobody has to be.
            task.exception()

    def _look(self, now: float) -> None:
        if now - self._progress > self._seconds:
            self.stop(TimeoutError(f"the planner took longer than {self._seconds:g} seconds"))
        elif self._left is not None and now - self._left > self._linger:
            self.stop(ConnectionError("no client is waiting any more"))
        for reader in self._readers:
            reader.look()


def check_size(size: int, most: int) -> int:
    """The size of an answer. Raises PlannerAnswerInvalid where it is beyond the limit."""
    if size > most:
        raise PlannerAnswerInvalid(planner="behind this service", reason=f"the answer is longer than {most} bytes")
    return size


class Reader:
    """One client's place in an answer."""

    def __init__(self, answer: Answer, receive: Receive, *, push: Callable[[bytes], bool] | None = None) -> None:
        """`push` sends a part on the spot, or says that it cannot."""
        self.gone = False
        self._answer = answer
        self._receive = receive
        self._push = push
        self._seen = 0
        self._waiting: asyncio.Future[None] | None = None
        self._watch: asyncio.Task[None] | None = None

    def __enter__(self) -> Reader:
        self._answer.join(self)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._watch is not None:
            self._watch.cancel()
        self._answer.leave(self)

    async def take(self) -> Sequence[bytes]:
        """The parts that are new, as soon as there are some; none at the end, or when the client has gone.

        Raises what the answer failed with, after all that came before it.
        """
        answer = self._answer
        while self._seen == len(answer.parts) and not self.gone:
            if answer.ended:
                if answer.failure is not None:
                    raise answer.failure
                return ()
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
        new = () if self.gone else answer.parts[self._seen :]
        self._seen = len(answer.parts)
        return new

    async def whole(self) -> Sequence[bytes]:
        """All parts once the answer has ended; none when the client has gone. Raises like `take`."""
        while await self.take():
            pass
        return () if self.gone else self._answer.parts

    def offer(self, part: bytes) -> bool:
        """Take the newest part. One that cannot be sent on the spot, or would overtake others, is left to `take`."""
        waiting = self._waiting is not None and not self._waiting.done()
        if waiting and self._push is not None and self._push(part):
            self._seen += 1
            return True
        self.wake()
        return False

    def wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def look(self) -> None:
        """The client is watched once the first round finds it still waiting; most answers are given before that."""
        if self._watch is None:
            self._watch = asyncio.get_running_loop().create_task(self._see_it_go())

    async def _see_it_go(self) -> None:
        """A GET has an empty body to be received before that; nothing else comes."""
        for _ in range(2):
            if (await self._receive())["type"] == "http.disconnect":
                self.gone = True
                self._answer.leave(self)
                self.wake()
                return
