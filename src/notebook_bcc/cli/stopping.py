"""Carry something on until the user stops it: what `nbcc serve` and `nbcc backend` have in common."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


async def until_stopped(work: Coroutine[Any, Any, None]) -> None:
    """Wait for the work. Ctrl-C, or a request to terminate, cancels it once and waits until it has cleaned up."""
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
        await task
    except asyncio.CancelledError:
        if not asked:
            raise
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
