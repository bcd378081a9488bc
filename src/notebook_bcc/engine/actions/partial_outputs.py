"""What a running cell has printed so far, for the journal: readers see it soon, and a crash does not lose all of it."""

from __future__ import annotations

from collections.abc import Callable

from notebook_bcc.journal.records import OutputReceived
from notebook_bcc.kernel.terminal import Line
from notebook_bcc.protocol.cells import Output

# The whole stands in the cell once it is done; until then its last words will do.
_CHARS = 20_000
_CHARS_A_SECOND = 2_000
_EVERY_SECONDS = 1.0
# Of the time that the cell has run: what is shown of a cell of an hour may be half a minute old.
_SHARE_OF_AGE = 0.01


class PartialOutputs:
    """The text of one cell since it was last written down, as a terminal would show it.

    A progress bar rewrites its line a thousand times: only what the line is at last goes into the journal, and only if
    it is another than before. The time between two records is a second at first and grows with what was written and
    with the age of the cell, so the journal grows with the logarithm of the time and not with every word.
    """

    def __init__(self, action_id: str, *, timer: Callable[[], float]) -> None:
        self._action_id = action_id
        self._timer = timer
        self._began = timer()
        self.heard_at = self._began
        """When the cell said something, or told how far it is."""
        self._due = self._began + _EVERY_SECONDS
        self._cell_id = ""
        self._lines = ""
        self._open = Line()
        self._shown = ""

    def note(self, cell_id: str, output: Output) -> None:
        """Remember the stream text of an output, bounded."""
        self.heard_at = self._timer()
        self._cell_id = cell_id
        text = output.get("text") if output.get("output_type") == "stream" else None
        if isinstance(text, str):
            self._lines = (self._lines + self._open.write(text))[-_CHARS:]

    def taken(self) -> OutputReceived | None:
        """What is new, as a record; None if nothing is, or if it is too soon."""
        now = self._timer()
        text = (self._lines + self._open.peek())[-_CHARS:]
        if now < self._due or text in ("", self._shown):
            return None
        self._due = now + max(_EVERY_SECONDS, len(text) / _CHARS_A_SECOND, (now - self._began) * _SHARE_OF_AGE)
        # The open line is not over: it comes again when it has changed.
        self._lines, self._shown = "", self._open.peek()
        output: Output = {"output_type": "stream", "name": "stdout", "text": text}
        return OutputReceived(action_id=self._action_id, cell_id=self._cell_id, outputs=(output,))
