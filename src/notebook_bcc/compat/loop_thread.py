"""An event loop in a thread of its own: the way from a plain call into async code, also from inside another loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, TypeVar

_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class _Serving:
    """A loop that runs, its thread, and what ends it."""

    loop: asyncio.AbstractEventLoop
    thread: threading.Thread
    over: asyncio.Event


class LoopThread:
    """Carries coroutines out on one private loop. The thread starts with the first of them.

    `at_end` is awaited on the loop when it is closed: whatever lives on the loop is released there.
    """

    def __init__(self, name: str, *, at_end: Callable[[], Awaitable[None]] | None = None) -> None:
        self._name = name
        self._at_end = at_end
        self._changing = threading.Lock()
        self._serving: _Serving | None = None
        self._closed = False

    def submit(self, coroutine: Coroutine[Any, Any, _Made]) -> Future[_Made]:
        """Begin; the future has the outcome. Raises RuntimeError once closed."""
        try:
            serving = self._served()
        except RuntimeError:
            coroutine.close()
            raise
        return asyncio.run_coroutine_threadsafe(coroutine, serving.loop)

    def run(self, coroutine: Coroutine[Any, Any, _Made]) -> _Made:
        """Carry out and wait. Raises RuntimeError on the loop's own thread, where waiting would be for ever."""
        if self._serving is not None and self._serving.thread is threading.current_thread():
            coroutine.close()
            raise RuntimeError("this call would wait for its own event loop; await the asynchronous form instead")
        future = self.submit(coroutine)
        try:
            return future.result()
        except BaseException:
            # Ctrl-C ends the wait: what was asked for is not left running behind the caller's back.
            future.cancel()
            raise

    def close(self) -> None:
        """End the loop and its thread. May be called twice."""
        with self._changing:
            serving, self._serving, self._closed = self._serving, None, True
        if serving is None:
            return
        serving.loop.call_soon_threadsafe(serving.over.set)
        # The garbage collector may call this on any thread, the loop's own included.
        if serving.thread is not threading.current_thread():
            serving.thread.join()

    def _served(self) -> _Serving:
        with self._changing:
            if self._closed:
                raise RuntimeError(f"{self._name} is closed")
            if self._serving is None:
                started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
                thread = threading.Thread(target=self._hold_loop, args=(started,), name=self._name, daemon=True)
                thread.start()
                loop, over = started.result()
                self._serving = _Serving(loop, thread, over)
            return self._serving

    def _hold_loop(self, started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]) -> None:
        with asyncio.Runner() as runner:
            runner.run(self._until_closed(started))

    async def _until_closed(self, started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]) -> None:
        over = asyncio.Event()
        started.set_result((asyncio.get_running_loop(), over))
        await over.wait()
        if self._at_end is not None:
            await self._at_end()


async def in_thread(call: Callable[[], _Made]) -> _Made:
    """What a blocking call returns, made in a thread of its own that knows the caller's context variables.

    Not the loop's pool: calls that wait for each other would fill it and wait for ever.
    """
    pool = ThreadPoolExecutor(1, thread_name_prefix="nbcc-call")
    try:
        return await asyncio.wrap_future(pool.submit(copy_context().run, call))
    finally:
        pool.shutdown(wait=False)
