"""One event loop in a thread of its own: the way from a plain call into async code, also from inside another loop."""

from __future__ import annotations

import asyncio
import functools
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

_Made = TypeVar("_Made")


class LoopThread:
    """An event loop that runs as long as the process does. `loop_thread()` is the one that all callers share."""

    def __init__(self) -> None:
        started: Future[asyncio.AbstractEventLoop] = Future()
        self._thread = threading.Thread(target=self._hold_loop, args=(started,), name="notebook-bcc", daemon=True)
        self._thread.start()
        self.loop = started.result()

    @property
    def is_current(self) -> bool:
        """True on the loop's own thread."""
        return self._thread is threading.current_thread()

    def submit(self, coroutine: Coroutine[Any, Any, _Made]) -> Future[_Made]:
        """Begin; the future has the outcome."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)

    def run(self, coroutine: Coroutine[Any, Any, _Made]) -> _Made:
        """Carry out and wait. Raises RuntimeError on the loop's own thread, where waiting would be for ever."""
        self.check_waiting(coroutine)
        return waited(self.submit(coroutine))

    def check_waiting(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        """Raises RuntimeError on the loop's own thread, where waiting for the coroutine would be for ever."""
        if self.is_current:
            coroutine.close()
            raise RuntimeError("this call would wait for its own event loop; await the asynchronous form instead")

    def _hold_loop(self, started: Future[asyncio.AbstractEventLoop]) -> None:
        with asyncio.Runner() as runner:
            runner.run(self._forever(started))

    async def _forever(self, started: Future[asyncio.AbstractEventLoop]) -> None:
        started.set_result(asyncio.get_running_loop())
        await asyncio.Event().wait()


def loop_thread() -> LoopThread:
    """The loop thread of this process; it starts with the first call. A forked process gets one of its own."""
    return _loop_thread(os.getpid())


@functools.cache
def _loop_thread(pid: int) -> LoopThread:
    return LoopThread()


class LoopClient:
    """Somebody's share of the loop thread, which can be closed. The thread starts with the first call.

    `at_end` is awaited on the loop when it is closed: whatever lives on the loop is released there.
    """

    def __init__(self, name: str, *, at_end: Callable[[], Awaitable[None]] | None = None) -> None:
        self._name = name
        self._at_end = at_end
        self._changing = threading.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()  # Any: whatever was asked for
        self._used_in = 0
        self._closed = False

    def submit(self, coroutine: Coroutine[Any, Any, _Made]) -> Future[_Made]:
        """Begin; the future has the outcome. Raises RuntimeError once closed."""
        with self._changing:
            if self._closed:
                coroutine.close()
                raise RuntimeError(f"{self._name} is closed")
            self._used_in = os.getpid()
            return loop_thread().submit(self._tracked(coroutine))

    def run(self, coroutine: Coroutine[Any, Any, _Made]) -> _Made:
        """Carry out and wait. Raises RuntimeError on the loop's own thread, where waiting would be for ever."""
        loop_thread().check_waiting(coroutine)
        return waited(self.submit(coroutine))

    def close(self) -> None:
        """End what is under way and await `at_end`. May be called twice."""
        with self._changing:
            used_in, self._used_in, self._closed = self._used_in, 0, True
        # What a parent process has begun is the parent's to end.
        if used_in != os.getpid():
            return
        ending = loop_thread().submit(self._end())
        # The garbage collector may call this on any thread, the loop's own included.
        if not loop_thread().is_current:
            ending.result()

    async def _tracked(self, coroutine: Coroutine[Any, Any, _Made]) -> _Made:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            return await coroutine
        finally:
            self._tasks.discard(task)

    async def _end(self) -> None:
        under_way = list(self._tasks)
        for task in under_way:
            task.cancel()
        if under_way:
            await asyncio.wait(under_way)
        if self._at_end is not None:
            await self._at_end()


def waited(future: Future[_Made]) -> _Made:
    """The outcome. Ctrl-C ends the wait: what was asked for is not left running behind the caller's back."""
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise
