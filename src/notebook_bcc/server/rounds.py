"""One look at everything that is under way, some times a second, instead of a timer for each thing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

Look = Callable[[float], None]

_INTERVAL = 0.05


class Rounds:
    """Calls every look that was added, with the loop's time, until it is removed. Idle when there is none.

    A request has three limits of time, and hardly ever comes near one. A timer for each would cost it more than all the
    rest of its way through the service; so limits are kept to a twentieth of a second.
    """

    def __init__(self) -> None:
        self._looks: set[Look] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def add(self, look: Look) -> None:
        self._looks.add(look)
        loop = asyncio.get_running_loop()
        # A loop that has ended calls nobody any more.
        if self._loop is not loop:
            self._loop = loop
            loop.call_later(_INTERVAL, self._go, loop)

    def remove(self, look: Look) -> None:
        self._looks.discard(look)

    def _go(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._loop is not loop:
            return
        now = loop.time()
        for look in tuple(self._looks):
            look(now)
        if self._looks:
            loop.call_later(_INTERVAL, self._go, loop)
        else:
            self._loop = None
