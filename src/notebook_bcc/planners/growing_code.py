"""Reads code while somebody still writes it, statement by statement: at its end only the last is left to read. Pure.

Where a line begins another statement, what stands before it does not change by what is written behind: so it is read
once and for all.
"""

from __future__ import annotations

import re
from typing import Final

from notebook_bcc.planners.code_names import Code, Statement, joined, read_code, read_statements

# The first word of a line with what ends it, or a sign that a statement may begin with.
_FIRST: Final = re.compile(r"(?:([^\W\d]\w*)\W|[@(\[{*])")
_GOES_ON: Final = frozenset({"else", "elif", "except", "finally"})
_UNREADABLE: Final = (SyntaxError, ValueError, RecursionError, MemoryError)


class GrowingCode:
    """One cell. What is shown of it before it is written is only a help: `read` gives the same without."""

    def __init__(self) -> None:
        self._done = ""
        self._statements: list[Statement] = []
        self._seen = 0
        self._unread = 0
        self._read: tuple[str, Code] | None = None

    def grow(self, text: str) -> None:
        """Read what can be read of a cell that begins with this text; each text begins with the one before."""
        line = text.rfind("\n") + 1
        if line <= self._seen:
            return
        first = _FIRST.match(text, line)
        if first is None:
            return
        self._seen = line
        start = len(self._done)
        # What could not be read is tried again when it is half as long again: so the time is linear in the text.
        if first[1] in _GOES_ON or 2 * (line - start) < 3 * self._unread or "\r" in text:
            return
        try:
            self._statements += read_statements(text[start:line])
        except _UNREADABLE:
            self._unread = line - start
        else:
            self._done, self._unread = text[:line], 0

    def read(self, source: str) -> Code:
        """What is in a cell, now that it is written. Raises SyntaxError for what is no Python."""
        if self._read is None or self._read[0] != source:
            self._read = (source, self._whole(source))
        return self._read[1]

    def _whole(self, source: str) -> Code:
        if self._statements and source.startswith(self._done):
            try:
                return joined([*self._statements, *read_statements(source[len(self._done) :])])
            except _UNREADABLE:
                # Said as of the whole cell, with the line that it is in.
                pass
        return read_code(source)
