"""The cell that a model is writing: its text as far as it goes, out of an object that is not closed yet.

Never more than a guess, by the form that the model was asked for: it is there to be read while there is time, and only
what the scanner gives out counts.
"""

from __future__ import annotations

import re

from notebook_bcc.planners.llm.mended_json import DECODER

_BEGIN = re.compile(r'"kind"\s*:\s*"code"\s*,\s*"content"\s*:\s*"')
# So much of the text is looked through for the beginning of a cell.
_REACH = 200
# No escape takes more characters.
_ESCAPE = 6


class OpenCell:
    """Fed with the same pieces as the scanner. `text` is the cell so far; all of it, once it `is_whole`. The time is
    linear in the text: a cell that is too long, or that cannot be read, is given up."""

    def __init__(self, *, longest: int) -> None:
        self._longest = longest
        self._unread = self.text = ""
        self._begun = self._given_up = self.is_whole = False

    def feed(self, piece: str) -> bool:
        """Whether more of a cell is known now."""
        if self.is_whole or self._given_up:
            return False
        if self._begun:
            self._unread += piece
            return self._go_on()
        self._unread = self._unread[-_REACH:] + piece
        begin = _BEGIN.search(self._unread) if '"' in piece else None
        if begin is None:
            return False
        self._begun = True
        self._unread = self._unread[begin.end() :]
        return self._go_on()

    def close(self, piece: str) -> None:
        """An object has been closed by this piece: what follows is another."""
        self._unread, self.text = piece.rpartition("}")[2], ""
        self._begun = self._given_up = self.is_whole = False

    def _go_on(self) -> bool:
        unread = self._unread
        found = _string(unread) if '"' in unread else None
        self.is_whole = found is not None
        rest = ""
        if found is None and (found := _string(f'{unread}"')) is None:
            # It may end inside of an escape.
            at = unread.rfind("\\", -_ESCAPE)
            rest = unread[at:]
            found = _string(f'{unread[:at]}"') if at >= 0 else None
        if found is None or len(self.text) + len(found) > self._longest:
            self.is_whole, self._given_up = False, True
            return False
        self.text += found
        self._unread = rest
        return bool(found) or self.is_whole


def _string(text: str) -> str | None:
    """The string that is closed in this text; None where it is not. Control characters are text."""
    try:
        found, _ = DECODER.raw_decode(f'"{text}')
    except ValueError:
        return None
    return str(found)
