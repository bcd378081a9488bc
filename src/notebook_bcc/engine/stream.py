"""The open stream of a behavior's actions, read ahead a little while the one before is carried out."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from notebook_bcc.planners.interface import ActionData, Generated, StreamWarning
from notebook_bcc.protocol.plain import canonical_bytes, plain

_READ_AHEAD = 64


@dataclass(frozen=True, slots=True)
class StreamEnd:
    """The stream has ended as it should."""


class ActionStream:
    """Reads a planner's answer in the background, so that actions arrive while others run.

    What was read ahead and not taken is not lost when the process dies: the same request is asked again, and what had
    been taken is skipped.
    """

    def __init__(self, source: AsyncIterator[Generated]) -> None:
        self._source = source
        self._queue: asyncio.Queue[Generated | StreamEnd | Exception] = asyncio.Queue(_READ_AHEAD)
        self._awaited = False
        self._task = asyncio.create_task(self._read())

    async def take(self) -> ActionData | StreamWarning | StreamEnd:
        """The next item, as soon as it is there. Raises PlannerFailed, or whatever else the planner did."""
        self._awaited = True
        try:
            item = await self._queue.get()
        finally:
            self._awaited = False
        if isinstance(item, Exception):
            raise item
        return item

    async def close(self) -> None:
        """End the answer, whatever is left of it."""
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def _read(self) -> None:
        try:
            async with contextlib.aclosing(self._source) as source:  # type: ignore[type-var]  # a generator in practice
                async for item in source:
                    await self._queue.put(item)
                    if self._awaited and _runs_cell(item):
                        # The cell goes to the kernel before we look for more of the answer.
                        await asyncio.sleep(0)
        except Exception as failure:  # noqa: BLE001  # a border post: other people's code
            # A fault of the planner's own as well: whoever waits for its next action would wait for ever.
            await self._queue.put(failure)
            return
        await self._queue.put(StreamEnd())


def _runs_cell(item: Generated) -> bool:
    data = item.data if isinstance(item, ActionData) else None
    return isinstance(data, dict) and data.get("action") == "exec"


def encoded(data: Any) -> tuple[Any, bytes]:
    """An action as plain JSON, and its bytes: the same for equal actions, so that a repeated answer is known."""
    quick = canonical_bytes(data)
    if quick is not None:
        return data, quick
    made = plain(data)
    return made, canonical_bytes(made) or b""
