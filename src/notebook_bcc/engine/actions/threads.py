"""Blocking functions of others, called in a thread of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

_Made = TypeVar("_Made")


async def in_thread(call: Callable[[], _Made]) -> _Made:
    """What a blocking call returns, made in a thread of its own that knows the caller's context variables.

    Not the loop's pool: calls that wait for each other would fill it and wait for ever.
    """
    pool = ThreadPoolExecutor(1, thread_name_prefix="nbcc-call")
    try:
        return await asyncio.wrap_future(pool.submit(copy_context().run, call))
    finally:
        pool.shutdown(wait=False)
