"""Objects from the growing text of a model's answer, each as soon as it is closed.

Read are `{"actions": [{...}, ...]}` (each item by itself, while the list still grows), bare lists, one object a line,
and objects inside prose or Markdown fences. What is not inside an object is passed over. An object that the text ends
in is never given out: a half-built action must not be carried out.

An object that cannot be read as it is is mended (`mended_json`). Line breaks and other control characters may stand in
a string as they are. Quotation marks other than `"` are text. A closing bracket that fits an outer opening one ends
everything in between, which cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from pydantic_core import from_json

from notebook_bcc.planners.llm.mended_json import DECODER, read_mended

DEFAULT_LIMIT = 2_000_000
DEEPEST = 100
_EXCERPT = 120
# How far back of a `[` the name of its list is looked for.
_KEY_REACH = 200
# So many pieces without a closing brace are collected before they are looked at.
_MOST_WAITING = 1_000
# An object of more characters is not looked at again and again while its strings hold braces.
_LARGE = 2_048
# An object that has only just begun is kept as it is until more of it is there.
_SHORT = 256
# So few brackets cannot be too deep, also inside a list inside an object.
_FEW = DEEPEST - 2
_BLANKS = " \t\r\n"
_SEPARATORS = f",{_BLANKS}"
# What may stand before the closing brace of an object that can be read: the last sign of a value, or of `True`, `null`
# and the like, a comma too many, white space. Any other closing brace is text, mostly code in a string.
_BEFORE = frozenset('"{}[]el,0123456789 \t\r\n')

# Everything up to the next bracket, or to a string that does not end here. Possessive: a character is looked at once.
_CALM = re.compile(r'[^"{}\[\]]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"{}\[\]]*+)*+', re.DOTALL)
_STRING = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_BLANK = re.compile(r"[ \t\r\n]*+")
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


# By these names: to look one up in the class takes longer than all the rest of a piece.
_PROSE, _OPENING, _OBJECT, _LIST, _REST = _Mode


class Scanner:
    """Fed with pieces of text that end anywhere. Holds at most `limit` characters, and the newest pieces as long as
    none of them has a closing brace, at most 1,000; the time is linear in the text.

    `envelope` names the list whose items are given out one by one; without it the object around it is one object.
    """

    def __init__(self, *, envelope: str | None = "actions", limit: int = DEFAULT_LIMIT) -> None:
        self._envelope = "" if envelope is None else f'"{envelope}"'
        self._key = None if envelope is None else re.compile(rf'"{re.escape(envelope)}"\s*+:\s*+\Z')
        self._limit = limit
        self._short = min(limit, _LARGE)
        self._mode = _PROSE
        self._open: list[str] = []
        self._base = 0
        self._in_string = False
        self._escaped = False
        self._waiting: list[str] = []
        self._held: list[str] = []
        self._size = 0
        self._overrun = False
        self._ended = False

    def feed(self, text: str) -> Sequence[Scanned]:
        """The objects that are closed by this piece."""
        waiting = self._waiting
        waiting.append(text)
        # Without a closing brace nothing can be complete. This is all that most pieces cost.
        if "}" not in text and len(waiting) < _MOST_WAITING:
            return ()
        return self._look(text)

    def finish(self) -> Sequence[Scanned]:
        """What the end of the text leaves unfinished."""
        self._ended = True
        found = self._scan("".join(self._waiting))
        if self._mode is _OBJECT:
            found.append(self._bad("the text ends inside it", ""))
        self._waiting.clear()
        self._in_string = self._escaped = False
        self._leave(_PROSE)
        return found

    def _look(self, piece: str) -> Sequence[Scanned]:
        """What is closed by the newest piece of those that wait: most often one item of the list, by its last brace."""
        waiting = self._waiting
        head, brace, tail = piece.rpartition("}")
        if head and head[-1] not in _BEFORE and "}" not in head and len(waiting) < _MOST_WAITING:
            return ()
        waiting[-1] = head + brace
        text = "".join(waiting)
        waiting.clear()
        if self._mode is not _LIST or self._in_string or not brace:
            return self._scan(text + tail)
        if text[0] != "{":
            text = text.lstrip(_SEPARATORS)
            if text[0] != "{":
                return self._scan(text + tail)
        before = text[-2]
        likely = text[-3] != "\\" if before == '"' else before in _BLANKS
        if likely and "[" not in text and len(text) <= self._short:
            try:
                value = from_json(text, allow_inf_nan=False)
            except ValueError:
                return self._items(text + tail, len(text) - len(head) - 1)
            item = value if len(value) != 1 else _unwrapped(value)
            if rest := tail.lstrip(_SEPARATORS):
                if rest[0] != "{":
                    return (item, *self._scan(rest))
                waiting.append(rest)
            return (item,)
        return self._items(text + tail, len(text) - len(head) - 1)

    def _items(self, text: str, at: int) -> list[Scanned]:
        """The items of the list that begin here and are closed behind `at`; before it every closing brace is text.

        Each is read at once. One that needs care, and all behind it, are scanned.
        """
        found: list[Scanned] = []
        end = text.find("}", max(0, at)) + 1
        while 0 < end <= _LARGE:
            if _is_text(text, end):
                end = text.find("}", end) + 1
                continue
            if end > self._limit or ("[" in text and text.count("[", 0, end) > _FEW):
                break
            try:
                found.append(_unwrapped(from_json(text[:end], allow_inf_nan=False)))
            except ValueError:
                break
            text = text[end:].lstrip(_SEPARATORS)
            if text[:1] != "{":
                break
            end = text.find("}") + 1
        else:
            if len(text) <= _LARGE:
                self._waiting.append(text)
                return found
        if text:
            found += self._scan(text)
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
                self._waiting.append(text[at:])
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
        deep = text.count("{", at, end) + text.count("[", at, end) > _FEW
        if not value or deep or end - at > self._limit or text.find("\\u", at, end) >= 0:
            return 0
        found.append(_unwrapped(value))
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
        return _unwrapped(value)

    def _bad(self, reason: str, end: str) -> BadObject:
        return BadObject(reason, _excerpt("".join(self._held) + end))


def _read(text: str) -> Scanned:
    """The object that is this text, mended where it must be."""
    try:
        value = read_mended(text)
    except (ValueError, RecursionError) as error:
        return BadObject(str(error), _excerpt(text))
    return value if isinstance(value, dict) else BadObject("it is no object", _excerpt(text))


def _is_text(text: str, end: int) -> bool:
    """Whether the closing brace before `end` is surely inside a string, in an object that begins with the text."""
    before = text[end - 2]
    if before == '"':
        # Behind two backslashes the mark may be one of either kind; an object is tried then.
        return text[end - 3] == "\\" and text[end - 4] != "\\"
    if before not in _BEFORE:
        return True
    marks = text.count('"', 0, end) - text.count('\\"', 0, end)
    return marks % 2 == 1 and text.find("\\\\", 0, end) < 0


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
