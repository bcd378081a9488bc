"""Objects from the growing text of a model's answer, each as soon as it is closed.

Read are `{"actions": [{...}, ...]}` (each item by itself, while the list still grows), bare lists, one object a line,
and objects inside prose or Markdown fences. What is not inside an object is passed over. An object that the text ends
in is never given out: a half-built action must not be carried out.

An object that cannot be read as it is is repaired (`json_repair`). Line breaks and other control characters may stand
in a string as they are. Quotation marks other than `"` are text. A closing bracket that fits an outer opening one ends
everything in between, which cannot be read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from notebook_bcc.llm.stream.json_repair import read_mended

DEFAULT_LIMIT = 2_000_000
DEEPEST = 100
_EXCERPT = 120
# How far back of a `[` the name of its list is looked for.
_KEY_REACH = 200

# Everything up to the next bracket, or to a string that does not end here. Neighbouring parts share no character, so
# that there is one way to read a text, and a character is looked at twice at most.
_CALM = re.compile(r'[^"{}\[\]]*(?:"[^"\\]*(?:\\.[^"\\]*)*"[^"{}\[\]]*)*', re.DOTALL)
_STRING = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
_BLANK = re.compile(r"[ \t\r\n]*")
_CLOSERS = {"{": "}", "[": "]"}


@dataclass(frozen=True, slots=True)
class BadObject:
    """An object that was passed over. Those after it are not affected."""

    reason: str
    excerpt: str

    def __str__(self) -> str:
        return f"an object was passed over: {self.reason}: {self.excerpt!r}"


Scanned = dict[str, Any] | BadObject  # Any: JSON, looked at by whoever asked for it


class _Mode(Enum):
    PROSE = auto()
    OPENING = auto()  # after a brace that may begin an object
    OBJECT = auto()
    LIST = auto()  # between the items of the list
    REST = auto()  # behind the list, in the object around it


class Scanner:
    """Fed with pieces of text that end anywhere. Holds at most `limit` characters; the time is linear in the text.

    `envelope` names the list whose items are given out one by one; without it the object around it is one object.
    """

    def __init__(self, *, envelope: str | None = "actions", limit: int = DEFAULT_LIMIT) -> None:
        self._key = None if envelope is None else re.compile(rf'"{re.escape(envelope)}"\s*:\s*\Z')
        self._limit = limit
        self._mode = _Mode.PROSE
        self._open: list[str] = []
        self._base = 0
        self._in_string = False
        self._escaped = False
        self._held: list[str] = []
        self._size = 0
        self._overrun = False

    def feed(self, text: str) -> list[Scanned]:
        """The objects that are closed by this piece."""
        found: list[Scanned] = []
        start = at = 0
        while at < len(text):
            if self._in_string:
                at = self._through_string(text, at)
            elif self._mode is _Mode.OBJECT:
                at = _past(_CALM, text, at)
                if at < len(text):
                    at = self._in_object(text, start, at, found)
            elif self._mode is _Mode.OPENING:
                at = _past(_BLANK, text, at)
                if at < len(text):
                    self._opened(text[at])
            else:
                start = at = text.find("{", at) if self._mode is _Mode.PROSE else _past(_CALM, text, at)
                if at < 0:
                    break
                if at < len(text):
                    at = self._between(text, at, found)
        if self._mode in (_Mode.OBJECT, _Mode.OPENING):
            self._hold(text[start:])
        return found

    def finish(self) -> list[Scanned]:
        """What the end of the text leaves unfinished."""
        unfinished: list[Scanned] = []
        if self._mode is _Mode.OBJECT:
            unfinished.append(self._bad("the text ends inside it", ""))
        self._in_string = self._escaped = False
        self._leave(_Mode.PROSE)
        return unfinished

    def _through_string(self, text: str, at: int) -> int:
        """To the end of the string, or of the text. A backslash at the very end concerns what comes next."""
        if self._escaped:
            self._escaped = False
            at += 1
        at = _past(_STRING, text, at)
        if at < len(text):
            self._escaped = text[at] == "\\"
            self._in_string = self._escaped
            at += 1
        return at

    def _in_object(self, text: str, start: int, at: int, found: list[Scanned]) -> int:
        """At a bracket, or at a string that does not end in this piece, inside an object."""
        sign = text[at]
        if sign == '"':
            self._in_string = True
        elif sign in _CLOSERS:
            if sign == "[" and len(self._open) == 1 and self._is_envelope(text[max(start, at - _KEY_REACH) : at]):
                self._leave(_Mode.LIST)
            elif len(self._open) >= DEEPEST:
                found.append(self._bad(f"more than {DEEPEST} levels", text[start:at]))
                self._leave(_Mode.PROSE)
                return at + 1
            self._open.append(_CLOSERS[sign])
        elif self._close(sign) and len(self._open) <= self._base:
            whole = len(self._open) == self._base
            found.append(self._made(text[start : at + 1]) if whole else self._bad("it is not closed", text[start:at]))
            self._leave(_Mode.LIST if len(self._open) > 1 else _Mode.REST if self._open else _Mode.PROSE)
        return at + 1

    def _between(self, text: str, at: int, found: list[Scanned]) -> int:
        """At a brace in prose; or at a bracket or at a string that does not end in this piece, around objects."""
        sign = text[at]
        if sign == "{" and self._mode is not _Mode.REST:
            self._begin(_Mode.OPENING if self._mode is _Mode.PROSE else _Mode.OBJECT)
            if self._mode is _Mode.OBJECT:
                self._open.append("}")
        elif sign == '"':
            self._in_string = True
        elif sign in _CLOSERS:
            self._open.append(_CLOSERS[sign])
            if len(self._open) > DEEPEST:
                self._leave(_Mode.PROSE)
        elif self._close(sign) and len(self._open) < 2:
            self._mode = _Mode.REST if self._open else _Mode.PROSE
        return at + 1

    def _begin(self, mode: _Mode) -> None:
        self._mode = mode
        self._base = len(self._open)
        self._held.clear()
        self._size = 0
        self._overrun = False

    def _opened(self, sign: str) -> None:
        """The first character behind a brace: only `"` begins an object, the rest is prose."""
        if sign == '"':
            self._mode = _Mode.OBJECT
            self._open.append("}")
        else:
            self._leave(_Mode.PROSE)

    def _leave(self, mode: _Mode) -> None:
        self._mode = mode
        self._held.clear()
        self._size = 0
        if mode is _Mode.PROSE:
            self._open.clear()

    def _close(self, sign: str) -> bool:
        """Whether a bracket closed something: the innermost one that it fits, and all inside that."""
        if sign not in self._open:
            return False
        while self._open.pop() != sign:
            pass
        return True

    def _is_envelope(self, text: str) -> bool:
        if self._key is None or self._base or self._overrun:
            return False
        tail = text
        for piece in reversed(self._held):
            if len(tail) >= _KEY_REACH:
                break
            tail = piece + tail
        return self._key.search(tail[-_KEY_REACH:]) is not None

    def _hold(self, text: str) -> None:
        self._size += len(text)
        if self._size <= self._limit:
            self._held.append(text)
        elif not self._overrun:
            # Its end is still looked for, since what follows may be sound; its text is let go.
            self._overrun = True
            self._held[:] = ["".join([*self._held, text])[:_EXCERPT]]

    def _made(self, end: str) -> Scanned:
        text = "".join(self._held) + end
        if self._overrun or len(text) > self._limit:
            return BadObject(f"it is longer than {self._limit} characters", _excerpt(text))
        try:
            value = read_mended(text)
        except (ValueError, RecursionError) as error:
            return BadObject(str(error), _excerpt(text))
        return _unwrapped(value) if isinstance(value, dict) else BadObject("it is no object", _excerpt(text))

    def _bad(self, reason: str, end: str) -> BadObject:
        return BadObject(reason, _excerpt("".join(self._held) + end))


def _unwrapped(value: dict[str, Any]) -> dict[str, Any]:
    """The action of a line `{"action": {...}}`, or what came."""
    if len(value) != 1:
        return value
    inner = value.get("action")
    return inner if isinstance(inner, dict) else value


def _past(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where a match that begins here ends."""
    match = pattern.match(text, at)
    return at if match is None else match.end()


def _excerpt(text: str) -> str:
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}..."
