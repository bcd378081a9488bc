"""Whether texts may be dates or times at all: only what is certain is said."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

_WORD: Final = re.compile(r"[^\W\d_]+")
# Words that the playbook's cells read within a date, and zones.
_WORDS: Final = (
    "jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august september "
    "october november december mon tue tues wed thu thur thurs fri sat sun monday tuesday wednesday thursday friday "
    "saturday sunday am pm a p m t z q w kw cw week quarter st nd rd th of at utc gmt"
)
_KNOWN: Final = frozenset(_WORDS.split())
_WIDE: Final = frozenset("年月日号时分秒点季度第周星期礼拜一二三四五六七八九十天上下午早晚")


def may_hold_moments(values: Collection[str]) -> bool:
    """False where most of these values hold a word that stands in no date, or no digit."""
    return sum(map(_may_be_moment, values)) * 2 >= len(values)


def looks_like_dates(values: Collection[str]) -> bool:
    """Whether all of these values may be dates and are no plain numbers: what to suggest for a column of time."""
    return bool(values) and all(_may_be_moment(one) and re.search(r"\d\D+\d", one) is not None for one in values)


def _may_be_moment(text: str) -> bool:
    words = _WORD.findall(text.casefold())
    return any(letter.isdigit() for letter in text) and all(one in _KNOWN or _WIDE.issuperset(one) for one in words)
