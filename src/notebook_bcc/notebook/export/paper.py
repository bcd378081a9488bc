"""How a table fits on paper, where nobody can scroll: the size of its type, and how its page lies. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from itertools import zip_longest
from typing import Final
from unicodedata import east_asian_width

_CHARACTERS_LOOKED_AT: Final = 20_000
_CELL: Final = re.compile(r"<t([hd])\b")
_TAG: Final = re.compile(r"<[^<>]*>")
# Lines may be broken after a blank or a hyphen, and between any two Chinese characters.
_BREAK: Final = re.compile(r"[\s-]+")
# In points: what the margins of A4 and Letter leave, upright and lying.
_UPRIGHT, _LYING = 520.0, 715.0
_USUAL_SIZE, _READABLE_SIZE, _SMALLEST_SIZE = 8.8, 6.5, 5.0
# In ems, as the style sheet has them: a character of the usual fonts, and the padding of a cell.
_CHARACTER, _PADDING = 0.64, 0.9


@dataclass(frozen=True, slots=True)
class Fit:
    """The size of a table's type in points; whether its page lies; what of it may be broken inside a word."""

    size: float
    lying: bool = False
    breaks_headers: bool = False
    breaks_values: bool = False


def fit(html: str) -> Fit | None:
    """How the tables of this HTML fit on paper; None where they do as they are."""
    rows = [_cells(row) for row in html[:_CHARACTERS_LOOKED_AT].split("<tr")[1:]]
    headers = [[_longest_word(text) for _, text in row] for row in rows if _is_header(row)]
    values = [[_longest_word(text) for _, text in row] for row in rows if not _is_header(row)]
    widths = [max(pair) for pair in zip_longest(_widest(headers), _widest(values), fillvalue=0)]
    whole = _size(widths, _UPRIGHT)
    if whole >= _READABLE_SIZE:
        return None if whole >= _USUAL_SIZE else Fit(_rounded(whole))
    # Half a header is still a word that one knows again; a number in two lines is a wrong number.
    halves = [-(-width // 2) for width in _widest(headers)]
    narrow = [max(pair) for pair in zip_longest(halves, _widest(values), fillvalue=0)]
    upright, lying = _size(narrow, _UPRIGHT), _size(narrow, _LYING)
    if upright >= _SMALLEST_SIZE:
        return Fit(_rounded(upright), breaks_headers=True)
    return Fit(_rounded(lying), lying=True, breaks_headers=True, breaks_values=lying < _SMALLEST_SIZE)


def _cells(row: str) -> list[tuple[str, str]]:
    """The cells of a row: `h` or `d`, and the HTML in it."""
    _, *parts = _CELL.split(row)
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return [(kind, rest.partition(">")[2].partition("</t")[0]) for kind, rest in pairs]


def _is_header(row: list[tuple[str, str]]) -> bool:
    return all(kind == "h" for kind, _ in row)


def _widest(rows: list[list[int]]) -> list[int]:
    return [max(column) for column in zip_longest(*rows, fillvalue=0)]


def _size(widths: list[int], room: float) -> float:
    return room / max(1.0, sum(width * _CHARACTER + _PADDING for width in widths))


def _rounded(size: float) -> float:
    return round(min(_USUAL_SIZE, max(_SMALLEST_SIZE, size)), 1)


def _longest_word(text: str) -> int:
    words = _BREAK.split(unescape(_TAG.sub("", text)).strip())
    return max((_unbroken(word) for word in words), default=0)


def _unbroken(word: str) -> int:
    """The longest part of a word that stays on one line; a Chinese character is as wide as two others."""
    longest = here = 0
    for character in word:
        if east_asian_width(character) in "WF":
            longest, here = max(longest, here, 2), 0
        else:
            here += 1
    return max(longest, here)
