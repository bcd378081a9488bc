"""What watches a run for the user: plain lines, JSON, or nothing. The live view is in `live`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol, TextIO

from notebook_bcc.engine.state import RunState
from notebook_bcc.journal.interface import Entry
from notebook_bcc.lifecycle.verify import SecondsLeft
from notebook_bcc.protocol.progress import WorkProgress
from notebook_bcc.views.narration import NarrationLine, Tone, local_time, narrate
from notebook_bcc.views.words import Words

# How often a log is told how far a verification is.
_TELL_SECONDS = 30.0


class View(Protocol):
    """Sees every entry of a run, and what the program itself has to say."""

    def saw(self, entry: Entry, state: RunState) -> None:
        """An entry was written and folded; `state` is the one after it."""
        ...

    def say(self, text: str, *, tone: Tone = "info") -> None:
        """Something that is not in the journal: a hint, a warning of the program, the result."""
        ...

    def verifying(self, number: int, of: int, left: SecondsLeft | None = None) -> None:
        """A cell of the verification is about to run; `left` is about how long it and the rest take."""
        ...

    def progress(self, progress: WorkProgress) -> None:
        """A long cell tells how far its work is."""
        ...

    def fact(self, kind: str, **facts: Any) -> None:  # Any: JSON values
        """A result for machines; people get it through `say`."""
        ...

    def suspend(self) -> None:
        """Leave the terminal alone: a person is asked something."""
        ...

    def resume(self) -> None:
        """The terminal is ours again."""
        ...

    async def keep(self) -> None:
        """Redraw until cancelled, for views that move."""
        ...

    def close(self) -> None:
        """Leave the terminal as it was found. May be called twice."""
        ...


class QuietView:
    """Says only what went wrong, on stderr."""

    def saw(self, entry: Entry, state: RunState) -> None:
        pass

    def say(self, text: str, *, tone: Tone = "info") -> None:
        if tone in ("warning", "error"):
            print(text, file=sys.stderr, flush=True)

    def verifying(self, number: int, of: int, left: SecondsLeft | None = None) -> None:
        pass

    def progress(self, progress: WorkProgress) -> None:
        pass

    def fact(self, kind: str, **facts: Any) -> None:  # Any: JSON values
        pass

    def suspend(self) -> None:
        pass

    def resume(self) -> None:
        pass

    async def keep(self) -> None:
        pass

    def close(self) -> None:
        pass


class PlainView(QuietView):
    """One line a stage, step, behavior and cell, with the time: for logs and pipes."""

    def __init__(self, words: Words, *, out: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._words = words
        self._out = out or sys.stdout
        self._clock = clock
        self._said_at = 0.0
        self._telling = ""
        self._open = True

    def saw(self, entry: Entry, state: RunState) -> None:
        for line in narrate(entry, state, self._words):
            self._print(f"{local_time(entry.at)}  {'  ' * line.depth}{line.text}")

    def say(self, text: str, *, tone: Tone = "info") -> None:
        self._print(f"{'':8}  {text}")

    def verifying(self, number: int, of: int, left: SecondsLeft | None = None) -> None:
        if number == 1 or self._clock() - self._said_at >= _TELL_SECONDS:
            self._said_at = self._clock()
            about = f" ({self._words.left(left.cell + left.after)})" if left is not None else ""
            self.say(self._words("verifying", number=number, of=of) + about)

    def progress(self, progress: WorkProgress) -> None:
        if progress.what != self._telling or self._clock() - self._said_at >= _TELL_SECONDS:
            self._telling, self._said_at = progress.what, self._clock()
            self.say(self._words.progress(progress))

    def _print(self, text: str) -> None:
        self._open = self._open and print_line(text, self._out)


class JsonView(QuietView):
    """One JSON object a line on stdout: every entry, then the results. For machines."""

    def __init__(self) -> None:
        self._open = True

    def saw(self, entry: Entry, state: RunState) -> None:
        record = entry.record.model_dump(mode="json", exclude_defaults=True)
        self._print({"seq": entry.seq, "at": entry.at, "kind": entry.record.kind, **record})

    def verifying(self, number: int, of: int, left: SecondsLeft | None = None) -> None:
        seconds = None if left is None else round(left.cell + left.after, 1)
        self.progress(WorkProgress(what="verify", done=number - 1, of=of, seconds_left=seconds))

    def progress(self, progress: WorkProgress) -> None:
        self._print({"kind": "progress", **progress.to_dict()})

    def fact(self, kind: str, **facts: Any) -> None:  # Any: JSON values
        self._print({"kind": kind, **facts})

    def _print(self, value: dict[str, Any]) -> None:
        self._open = self._open and print_line(json.dumps(value, ensure_ascii=False), sys.stdout)


def print_line(text: str, out: TextIO) -> bool:
    """Print and flush; False when nobody reads any more. A run must not end because its audience has left."""
    try:
        print(text, file=out, flush=True)
    except OSError:
        return False
    return True


def lasting_lines(entry: Entry, state: RunState, words: Words) -> list[NarrationLine]:
    """The lines of an entry that stay on the screen when the live view has moved on."""
    return [line for line in narrate(entry, state, words) if line.lasting]
