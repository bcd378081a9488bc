"""The careful way through a model's answer: bracket by bracket, over pieces that end anywhere.

What can be read at once never comes here. This walk knows where in the text it stands (prose, an object, the list of
actions, behind it), bounds size and depth, and mends what cannot be read as it is (`mended_json`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from notebook_bcc.llm.stream.json_repair import DECODER, read_mended

DEEPEST = 100
# So few brackets cannot be too deep, also inside a list inside an object.
FEW_BRACKETS = DEEPEST - 2
_EXCERPT = 120
# How far back of a `[` the name of its list is looked for.
_KEY_REACH = 200
# An object that has only just begun is kept as it is until more of it is there.
_SHORT = 256

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


# By these names: to look one up in the class takes longer than what is done with it.
_PROSE, _OPENING, _OBJECT, _LIST, _REST = _Mode


class BracketWalk:
    """Shown the text piece by piece. Holds at most `limit` characters; the time is linear in the text."""

    def __init__(self, *, envelope: str | None, limit: int) -> None:
        self._envelope = "" if envelope is None else f'"{envelope}"'
        self._key = None if envelope is None else re.compile(rf'"{re.escape(envelope)}"\s*:\s*\Z')
        self._limit = limit
        self._mode = _PROSE
        self._open: list[str] = []
        self._base = 0
        self._in_string = False
        self._escaped = False
        self._held: list[str] = []
        self._size = 0
        self._overrun = False
        self._ended = False
        self._again = ""

    @property
    def is_between_items(self) -> bool:
        """Whether what comes next is an item of the list, or what separates two, or its end."""
        return self._mode is _LIST and not self._in_string

    def walk(self, text: str) -> tuple[list[Scanned], str]:
        """The objects that are closed by this text, and what of it is to be shown again, with more behind it."""
        self._again = ""
        return self._scan(text), self._again

    def finish(self, text: str) -> list[Scanned]:
        """The same for the last of the text, and what its end leaves unfinished."""
        self._ended = True
        found = self._scan(text)
        if self._mode is _OBJECT:
            found.append(self._bad("the text ends inside it", ""))
        self._in_string = self._escaped = False
        self._leave(_PROSE)
        return found

    def _scan(self, text: str) -> list[Scanned]:
        found: list[Scanned] = []
        start = at = 0
        while at < len(text):
            if self._in_string:
                at = self._through_string(text, at)
            elif self._mode is _OBJECT:
                at = _past(_CALM, text, at)
                if at < len(text):
                    at = self._in_object(text, start, at, found)
            elif self._mode is _OPENING:
                at = _past(_BLANK, text, at)
                if at < len(text):
                    self._opened(text[at])
            else:
                start = at = text.find("{", at) if self._mode is _PROSE else _past(_CALM, text, at)
                if at < 0:
                    break
                if at < len(text):
                    at = self._between(text, at, found)
        if self._mode is _OBJECT or self._mode is _OPENING:
            self._hold(text[start:])
        return found

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
                self._leave(_LIST)
            elif len(self._open) >= DEEPEST:
                found.append(self._bad(f"more than {DEEPEST} levels", text[start:at]))
                self._leave(_PROSE)
                return at + 1
            self._open.append(_CLOSERS[sign])
        elif self._close(sign) and len(self._open) <= self._base:
            whole = len(self._open) == self._base
            found.append(self._made(text[start : at + 1]) if whole else self._bad("it is not closed", text[start:at]))
            self._leave(_LIST if len(self._open) > 1 else _REST if self._open else _PROSE)
        return at + 1

    def _between(self, text: str, at: int, found: list[Scanned]) -> int:
        """At a brace in prose; or at a bracket or at a string that does not end in this piece, around objects."""
        sign = text[at]
        if sign == "{" and self._mode is not _REST:
            if text.find("}", at) < 0 and len(text) - at < _SHORT and not self._ended:
                # Looked at again when more is there: most objects are read at once then.
                self._again = text[at:]
                return len(text)
            end = self._at_once(text, at, found)
            if end:
                return end
            self._begin(_OPENING if self._mode is _PROSE else _OBJECT)
            if self._mode is _OBJECT:
                self._open.append("}")
        elif sign == '"':
            self._in_string = True
        elif sign in _CLOSERS:
            self._open.append(_CLOSERS[sign])
            if len(self._open) > DEEPEST:
                self._leave(_PROSE)
        elif self._close(sign) and len(self._open) < 2:
            self._mode = _REST if self._open else _PROSE
        return at + 1

    def _at_once(self, text: str, at: int, found: list[Scanned]) -> int:
        """Read an object that is whole and needs no care, and say where it ends; 0 for all others."""
        if self._mode is _PROSE and self._envelope and self._envelope in text:
            return 0
        try:
            value, end = DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return 0
        deep = text.count("{", at, end) + text.count("[", at, end) > FEW_BRACKETS
        if not value or deep or end - at > self._limit or text.find("\\u", at, end) >= 0:
            return 0
        found.append(unwrapped(value))
        return end

    def _begin(self, mode: _Mode) -> None:
        self._mode = mode
        self._base = len(self._open)
        self._held.clear()
        self._size = 0
        self._overrun = False

    def _opened(self, sign: str) -> None:
        """The first character behind a brace: only `"` begins an object, the rest is prose."""
        if sign == '"':
            self._mode = _OBJECT
            self._open.append("}")
        else:
            self._leave(_PROSE)

    def _leave(self, mode: _Mode) -> None:
        self._mode = mode
        self._held.clear()
        self._size = 0
        if mode is _PROSE:
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
        if self._mode is not _OBJECT and self._mode is not _OPENING:
            return
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
        value = _read(text)
        if isinstance(value, BadObject):
            return value
        return unwrapped(value)

    def _bad(self, reason: str, end: str) -> BadObject:
        return BadObject(reason, _excerpt("".join(self._held) + end))


def _read(text: str) -> Scanned:
    """The object that is this text, mended where it must be."""
    try:
        value = read_mended(text)
    except (ValueError, RecursionError) as error:
        return BadObject(str(error), _excerpt(text))
    return value if isinstance(value, dict) else BadObject("it is no object", _excerpt(text))


def unwrapped(value: dict[str, Any]) -> dict[str, Any]:
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
