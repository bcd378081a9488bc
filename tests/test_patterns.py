"""Regular expressions: read right by every Python from 3.11.0 on."""

from __future__ import annotations

import re

from patterns import SOURCE, literals, read_source

PATTERNS, UNREAD = read_source()
# Patterns that are not written in the source, and why they need not be.
MADE_AT_RUN_TIME = {
    "engine/context_filter.py": "a planner's own pattern: the library `regex` stops it after a time limit",
    "playbooks/dslc/cells/integrity_write_more.py": "given by the cells that call it, and read there",
}
# Groups that never give back: `re` of Python 3.11.2, which is Debian 12's own, reads them wrong.
GIVES_NOTHING_BACK = re.compile(r"\)(?:[*+?]|\{\d*,?\d*\})\+|\(\?>")
# The same after a single character or a class: read right, but a plain quantifier does as well.
POSSESSIVE = re.compile(r"(?:[*+?]|\{\d*,?\d*\})\+")
NO_QUANTIFIERS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)


def test_nothing_in_the_source_has_a_possessive_or_an_atomic_group() -> None:
    rules = ((path.name, path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.yaml"))
    assert [place for place, text in [*literals(), *rules] if GIVES_NOTHING_BACK.search(text)] == []


def test_every_quantifier_is_a_plain_one() -> None:
    bare = {one.place: NO_QUANTIFIERS.sub("c", str(one.text)) for one in PATTERNS}
    assert [place for place, text in bare.items() if POSSESSIVE.search(text)] == []


def test_every_pattern_is_in_the_source() -> None:
    assert {one.place for one in UNREAD} == set(MADE_AT_RUN_TIME), UNREAD
