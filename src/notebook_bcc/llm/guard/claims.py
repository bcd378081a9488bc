"""Whether the numbers and names in a model's text are ones that it was told. Pure.

A model that writes about a table likes to invent counts, shares and columns. A number may stand in a text when it was
told, when it is a told one rounded, or a told share as a percentage; small whole numbers are words of the language. A
name is what stands in quotes or backticks, or holds an underscore.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_NUMBER: Final = re.compile(r"(?<![\w.])[-+\u2212]?\d+(?:,\d{3})*(?:\.\d+)?(?![\w])")
_CODE: Final = re.compile(r"`[^`\n]*`")
_NAME: Final = re.compile(r"`([^`\n]{1,80})`|'(\w{1,80})'|\"(\w{1,80})\"|(?<![\w`'\"])([^\W\d_]\w*_\w+)")
_WORDLIKE: Final = 10
_MOST_FACTS: Final = 4
_SPELLED: Final = (
    ("no", "zero", "零", "没有"), ("one", "a ", "一"), ("two", "both", "二", "两"), ("three", "三"), ("four", "四"),
    ("five", "五"), ("six", "六"), ("seven", "七"), ("eight", "八"), ("nine", "九"), ("ten", "十"),
)  # fmt: skip


def unfounded(text: str, evidence: str) -> str:
    """The first number of a text that nobody told; empty: all were. What stands in backticks is a name."""
    return next(_not_among(_CODE.sub(" ", text), evidence), "")


def left_out(text: str, facts: str) -> str:
    """A number of the facts that a text does not tell; empty: enough are told. Of many only the first few count, and of
    three and more one may be missing: it is often the sum of the others."""
    numbers = _NUMBER.findall(_CODE.sub(" ", facts))[:_MOST_FACTS]
    missing = [one for one in numbers if _is_word(one) and not _is_said(one, text)]
    missing += _not_among(" ".join(numbers), text, rounded=True)
    return missing[0] if len(missing) > len(numbers) // 3 else ""


def _not_among(text: str, evidence: str, *, rounded: bool = False) -> Iterator[str]:
    """The numbers of one text that are not in the other; `rounded`: there with fewer places."""
    known = [(float(_plain(one)), _places(one)) for one in _NUMBER.findall(evidence)]
    known += [(100 * one, places - 2) for one, places in known if abs(one) <= 1]
    known += [(one / 100, places + 2) for one, places in known if rounded]
    for found in _NUMBER.findall(text):
        value, places = float(_plain(found)), _places(found)
        # Half a unit of the last place that is written, and a little for the way numbers are kept.
        if not _is_word(found) and not any(
            abs(abs(one) - abs(value)) <= 0.5 * 10.0 ** -(its if rounded else places) + 1e-9 for one, its in known
        ):
            yield str(found)


def _is_said(number: str, text: str) -> bool:
    """Whether a small number stands in a text, in digits or in letters."""
    spelled = _SPELLED[abs(int(float(_plain(number))))]
    return _plain(number) in map(_plain, _NUMBER.findall(text)) or any(one in text.casefold() for one in spelled)


def _is_word(number: str) -> bool:
    value = float(_plain(number))
    return value == int(value) and abs(value) <= _WORDLIKE


def _places(number: str) -> int:
    return len(_plain(number).partition(".")[2])


def unheard(text: str, evidence: str) -> str:
    """The first name of a text that nobody told; empty: all were."""
    for found in _NAME.finditer(text):
        name = next(one for one in found.groups() if one is not None)
        if name not in evidence:
            return name
    return ""


def _plain(number: str) -> str:
    return number.replace(",", "").replace("\u2212", "-")
