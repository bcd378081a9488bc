"""Carry something on until the user stops it: what `nbcc serve`, `nbcc backend` and `nbcc verify` have in common."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

_Result = TypeVar("_Result")
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


async def until_stopped(work: Coroutine[Any, Any, _Result]) -> _Result | None:
    """Wait for the work; what it came to. Ctrl-C, or a request to terminate, cancels it once and waits until it has
    cleaned up: then None."""
    loop = asyncio.get_running_loop()
    task = asyncio.create_task(work)
    asked = False

    def stop() -> None:
        nonlocal asked
        # Once: a second cancellation would tear the clean-up of the first.
        if not asked:
            asked = True
            task.cancel()

    for number in _SIGNALS:
        loop.add_signal_handler(number, stop)
    try:
        return await task
    except asyncio.CancelledError:
        if not asked:
            raise
        return None
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
