"""Objects from the growing text of a model's answer, each as soon as it is closed.

Read are `{"actions": [{...}, ...]}` (each item by itself, while the list still grows), bare lists, one object a line,
and objects inside prose or Markdown fences. What is not inside an object is passed over. An object that the text ends
in is never given out: a half-built action must not be carried out.

An object that cannot be read as it is is mended (`mended_json`). Line breaks and other control characters may stand in
a string as they are. Quotation marks other than `"` are text. A closing bracket that fits an outer opening one ends
everything in between, which cannot be read.

Most pieces of an answer hold no closing brace, and most closing braces in code are seen to be text by what stands
before them: these cost next to nothing. An item of the list is read at once, by its last brace. All else is left to the
careful way (`bracket_walk`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence

from msgspec.json import Decoder

from notebook_bcc.llm.stream.bracket_walk import DEEPEST, FEW_BRACKETS, BracketWalk, Scanned, unwrapped

DEFAULT_LIMIT = 2_000_000
# An object of more characters is not looked at again and again while its strings hold braces.
_LARGE = 2_048
# A text of so few characters cannot be too deep: every level takes two, and a key has quotation marks.
_FLAT = 2 * DEEPEST
_SEPARATORS = ", \t\r\n"
# What may stand before the closing brace of an object that can be read: the last sign of a value, or of `True`, `null`
# and the like, a comma too many, white space; or nothing that is known. Any other closing brace is text, mostly code in
# a string.
_BEFORE = frozenset(["", *'"{}[]el,0123456789 \t\r\n'])
# The same for all braces of a piece, which is not an escaped quotation mark either.
_MAY_CLOSE = re.compile(r'\}(?<![^"{}\[\]el,0-9 \t\r\n]\})(?<![^\\]\\"\})')
# What may follow a quotation mark that ends a string.
_BEHIND = frozenset(":,]} \t\r\n")

# Strict: whatever it takes means the same to the careful way.
_read = Decoder(dict).decode


class Scanner:
    """Fed with pieces of text that end anywhere. Holds at most `limit` characters of an object that the careful way
    goes through, and else what came since the last closing brace; the time is linear in the text.

    `envelope` names the list whose items are given out one by one; without it the object around it is one object.
    """

    feed: Callable[[str], Sequence[Scanned]]
    """The objects that are closed by this piece."""

    def __init__(self, *, envelope: str | None = "actions", limit: int = DEFAULT_LIMIT) -> None:
        self._walk = BracketWalk(envelope=envelope, limit=limit)
        self._limit = limit
        self._waiting = [""]
        self._feeding = self._fed()
        next(self._feeding)
        # A generator: to call a method for every few characters takes longer than all that is done with them.
        self.feed = self._feeding.send

    def finish(self) -> Sequence[Scanned]:
        """What the end of the text leaves unfinished. Nothing can be fed afterwards."""
        self._feeding.close()
        return self._walk.finish("".join(self._waiting))

    def _fed(self) -> Generator[Sequence[Scanned], str, None]:
        """Sent a piece, gives the objects that it closes. What waits is never an empty list."""
        waiting = self._waiting
        before, may_close, read = _BEFORE, _MAY_CLOSE.search, _read
        large = min(self._limit, _LARGE)
        flat = min(large, _FLAT)
        in_list = False
        piece = yield ()
        while True:
            waiting.append(piece)
            # Without a closing brace nothing can be complete. This is all that most pieces cost.
            if "}" not in piece:
                piece = yield ()
                continue
            head, _, tail = piece.rpartition("}")
            last = head[-1] if head else waiting[-2][-1:]
            if last not in before and ("}" not in head or not may_close(piece)):
                piece = yield ()
                continue
            text = "".join(waiting)
            waiting.clear()
            end = len(text) - len(tail)
            if in_list and end <= large:
                closes = (last == '"' and text[end - 3] != "\\") or not _is_inside(text, end)
                if not closes and ("}" not in head or not may_close(head)):
                    waiting.append(text)
                    piece = yield ()
                    continue
                item = text[:end]
                if item[0] != "{":
                    item = item.lstrip(_SEPARATORS)
                if end <= flat or item.count("{") + item.count("[") <= FEW_BRACKETS:
                    try:
                        value = read(item)
                    except ValueError:
                        pass
                    else:
                        waiting.append(tail)
                        piece = yield (value if len(value) != 1 else unwrapped(value),)
                        continue
            found = self._looked_at(text, len(piece), several="}" in head)
            in_list = self._walk.is_between_items
            piece = yield found

    def _looked_at(self, text: str, newest: int, *, several: bool) -> list[Scanned]:
        """What is closed by a text; the `newest` characters of it are those that were not looked at before."""
        found: list[Scanned] = []
        if several and self._walk.is_between_items:
            text = text.lstrip(_SEPARATORS)
            if text[:1] == "{":
                found, text, more = self._items(text, max(0, len(text) - newest))
                if not more:
                    self._waiting.append(text)
                    return found
        walked, again = self._walk.walk(text)
        self._waiting.append(again)
        return found + walked

    def _items(self, text: str, at: int) -> tuple[list[Scanned], str, bool]:
        """The items of the list that begin here and are closed behind `at`; before it every closing brace is text.

        Each is read at once. Then what is left, and whether it is to be walked through: an item that needs care, and
        all behind it.
        """
        found: list[Scanned] = []
        large = min(self._limit, _LARGE)
        end = text.find("}", at) + 1
        while 0 < end <= large:
            if text[end - 2] not in _BEFORE or _is_inside(text, end):
                end = text.find("}", end) + 1
                continue
            if text.count("[", 0, end) + text.count("{", 0, end) > FEW_BRACKETS:
                return found, text, True
            try:
                found.append(unwrapped(_read(text[:end])))
            except ValueError:
                return found, text, True
            text = text[end:].lstrip(_SEPARATORS)
            if text[:1] != "{":
                return found, text, bool(text)
            end = text.find("}") + 1
        return found, text, len(text) > large


def _is_inside(text: str, end: int) -> bool:
    """Whether the closing brace before `end` is surely inside a string, in an object that begins with the text."""
    mark = text.rfind('"', 0, end)
    if mark < 2:
        return False
    if text[mark - 1] == "\\":
        # Behind two backslashes the mark may be one of either kind; an object is tried then.
        return text[mark - 2] != "\\"
    # A string may begin here, or end: then JSON goes on behind it.
    return text[mark + 1] not in _BEHIND
