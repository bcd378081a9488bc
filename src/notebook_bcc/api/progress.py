"""How far a run is, shown while somebody waits for it: in place in Jupyter, as plain lines on a terminal."""

from __future__ import annotations

import sys
import threading
import uuid
from collections.abc import Iterable
from html import escape
from typing import Protocol, TextIO

from notebook_bcc.engine.state import RunState
from notebook_bcc.journal.interface import Entry
from notebook_bcc.lifecycle.verify import SecondsLeft
from notebook_bcc.views.narration import local_time, narrate, one_line
from notebook_bcc.views.overview import step_counts
from notebook_bcc.views.words import Words

_VERIFYING_EVERY = 10


class RunProgress(Protocol):
    """Hears of everything on the thread that carries the run out, and shows it when `draw` is called by the one that
    waits: what is shown then belongs to the cell, or the terminal, that asked for it."""

    def saw(self, entry: Entry, state: RunState) -> None:
        """An entry was written and folded."""
        ...

    def verifying(self, number: int, of: int, left: SecondsLeft | None = None) -> None:
        """A cell of the verification is about to run."""
        ...

    def say(self, text: str) -> None:
        """Something that is not in the journal."""
        ...

    def draw(self) -> None:
        """Show what has become known since."""
        ...


class NoProgress:
    """Shows nothing."""

    def saw(self, entry: Entry, state: RunState) -> None:
        pass

    def verifying(self, number: int, of: int, left: SecondsLeft | None = None) -> None:
        pass

    def say(self, text: str) -> None:
        pass

    def draw(self) -> None:
        pass


class PlainProgress(NoProgress):
    """A line for every stage, step and cell, as `nbcc run` writes them into a log."""

    def __init__(self, words: Words, out: TextIO) -> None:
        self._words = words
        self._out = out
        self._changing = threading.Lock()
        self._lines: list[str] = []

    def saw(self, entry: Entry, state: RunState) -> None:
        self._add(
            f"{local_time(entry.at)}  {'  ' * line.depth}{line.text}" for line in narrate(entry, state, self._words)
        )

    def verifying(self, number: int, of: int, left: SecondsLeft | None = None) -> None:
        if number % _VERIFYING_EVERY == 1 or number == of:
            self.say(self._words("verifying", number=number, of=of))

    def say(self, text: str) -> None:
        self._add([f"{'':8}  {text}"])

    def draw(self) -> None:
        with self._changing:
            lines, self._lines = self._lines, []
        if lines:
            self._out.write("".join(f"{line}\n" for line in lines))
            self._out.flush()

    def _add(self, lines: Iterable[str]) -> None:
        with self._changing:
            self._lines.extend(lines)


class JupyterProgress(NoProgress):
    """One output of the cell, which is replaced: a bar, where the run is, and what it did last."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._display = uuid.uuid4().hex
        self._is_shown = False
        self._drawn = ""
        self._head = self._where = self._last = ""
        self._notes: list[str] = []
        self._steps = (0, 0)

    def saw(self, entry: Entry, state: RunState) -> None:
        lines = list(narrate(entry, state, self._words))
        if lines:
            self._last = lines[-1].text
        self._head = state.run_id
        titles = [level.title for level in (state.stage, state.step) if level is not None]
        self._where = " · ".join(one_line(title) for title in titles)
        self._steps = step_counts(state)

    def verifying(self, number: int, of: int, left: SecondsLeft | None = None) -> None:
        self._last = self._words("verifying", number=number, of=of)

    def say(self, text: str) -> None:
        self._notes = [*self._notes[-4:], text]

    def draw(self) -> None:
        html = self._html()
        if html == self._drawn:
            return
        self._drawn = html
        # Here and not at the top: loaded only where it is there already, in a kernel.
        from IPython.display import publish_display_data

        publish_display_data(  # type: ignore[no-untyped-call]  # IPython has no annotations
            {"text/html": html, "text/plain": self._last},
            transient={"display_id": self._display},
            update=self._is_shown,
        )
        self._is_shown = True

    def _html(self) -> str:
        done, of = self._steps
        bar = f'<progress value="{done}" max="{of}"></progress> {done}/{of} ' if of else ""
        texts = [self._head, self._where, self._last, *self._notes]
        return "<div>" + bar + "<br>".join(escape(text) for text in texts if text) + "</div>"


def progress_of(wanted: bool | None, words: Words) -> RunProgress:
    """What shows progress here. None: wherever somebody looks, in a notebook or at a terminal."""
    if wanted is False:
        return NoProgress()
    if in_jupyter():
        return JupyterProgress(words)
    if wanted or sys.stderr.isatty():
        return PlainProgress(words, sys.stderr)
    return NoProgress()


def in_jupyter() -> bool:
    """Whether this process is a kernel whose cells can show HTML."""
    loaded = sys.modules.get("IPython")
    # Another thread may be about to import it.
    shell = getattr(loaded, "get_ipython", lambda: None)()
    return shell is not None and getattr(shell, "kernel", None) is not None
