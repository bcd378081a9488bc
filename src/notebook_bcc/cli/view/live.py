"""The live view: the plan as a tree, the running cell, time, progress and trouble, redrawn a few times a second.

What lasts (stages, warnings, errors) is printed above and scrolls away; the picture below it is drawn from the newest
state, so its cost depends on the height of the screen and not on the length of the run.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from notebook_bcc.cli.view.picture import Picture, Symbols, draw
from notebook_bcc.cli.view.plain import lasting_lines
from notebook_bcc.engine.state import RunState
from notebook_bcc.journal.interface import Entry
from notebook_bcc.lifecycle.verify import SecondsLeft
from notebook_bcc.protocol.progress import WorkProgress
from notebook_bcc.views.narration import Tone
from notebook_bcc.views.words import Words

FRAMES_PER_SECOND = 8

_STYLES = {"head": "bold", "info": "", "good": "green", "warning": "yellow", "error": "red"}


class LiveView:
    """A view for a terminal."""

    def __init__(
        self,
        words: Words,
        *,
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
        verifies: bool = True,
    ) -> None:
        """`verifies`: the notebook will be run again at the end, which counts for how long is left."""
        self._console = console or Console(highlight=False, soft_wrap=False)
        self._words = words
        self._gone = False
        self._picture = Picture(clock=clock, verifies=verifies)
        self._symbols = Symbols.for_encoding(self._console.encoding)
        self._live = self._started()

    def saw(self, entry: Entry, state: RunState) -> None:
        self._picture.saw(entry, state)
        for line in lasting_lines(entry, state, self._words):
            self._print(line.text, line.tone, depth=line.depth)

    def say(self, text: str, *, tone: Tone = "info") -> None:
        self._print(text, tone)

    def verifying(self, number: int, of: int, left: SecondsLeft | None = None) -> None:
        self._picture.verifying = (number, of)
        self._picture.remaining.verifying(left)

    def progress(self, progress: WorkProgress) -> None:
        self._picture.progress = progress

    def fact(self, kind: str, **facts: Any) -> None:  # Any: JSON values
        """Nothing: people get results through `say`."""

    def suspend(self) -> None:
        self._live.stop()

    def resume(self) -> None:
        # A new one: the old one would erase what was written meanwhile.
        self._live = self._started()

    async def keep(self) -> None:
        """Redraw until cancelled. On the event loop: a picture takes a few milliseconds."""
        while True:
            if self._live.is_started:
                self._attempt(self._live.refresh)
            await asyncio.sleep(1 / FRAMES_PER_SECOND)

    def close(self) -> None:
        # The last picture is not worth keeping: what it showed was said above it.
        self._picture.closed = True
        self._attempt(self._live.stop)

    def _attempt(self, show: Callable[[], object]) -> None:
        """A terminal may be gone (a lost connection, a closed window); the run goes on without it."""
        if self._gone:
            return
        try:
            show()
        except OSError:
            self._gone = True

    def _started(self) -> Live:
        live = Live(
            console=self._console,
            get_renderable=self._render,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )
        live.start()
        return live

    def _print(self, text: str, tone: Tone, *, depth: int = 0) -> None:
        # Not markup: a planner's text may hold brackets.
        line = Text("  " * depth + text, style=_STYLES[tone])
        self._attempt(lambda: self._console.print(line))

    def _render(self) -> Text:
        width, height = self._console.size
        return draw(self._picture, self._words, self._symbols, width=width, height=height)
