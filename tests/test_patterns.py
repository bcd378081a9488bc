"""Regular expressions: read right by every Python from 3.11.0 on, and linear in the text whatever it holds."""

from __future__ import annotations

import contextlib
import re
import string
import time
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException

from patterns import SOURCE, Pattern, literals, read_source

PATTERNS, UNREAD = read_source()
DISTINCT = list({(one.text, one.flags, one.is_anchored): one for one in PATTERNS}.values())
# Patterns that are not written in the source, and why they need not be.
MADE_AT_RUN_TIME = {
    "engine/observation/context_filter.py": "a planner's own pattern: the library `regex` stops it after a time limit",
    "playbooks/dslc/integrity/cells/integrity_more_helpers.py": "given by the cells that call it, and read there",
    "playbooks/dslc/integrity/cells/integrity_time_parts.py": "words at the end of a column's name, without repetition",
    "web/numbers.py": "marks that only the page sets, each once, with a digit or two between",
}
# Groups that never give back: `re` of Python 3.11.2, which is Debian 12's own, reads them wrong.
GIVES_NOTHING_BACK = re.compile(r"\)(?:[*+?]|\{\d*,?\d*\})\+|\(\?>")
# The same after a single character or a class: read right, but a plain quantifier does as well.
POSSESSIVE = re.compile(r"(?:[*+?]|\{\d*,?\d*\})\+")
NO_QUANTIFIERS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)

MEGABYTE = 1_000_000
# All texts are tried at the first size, the slowest at the others.
SIZES = (8_000, 62_500, MEGABYTE)
# Processor seconds for a megabyte; a short text may take a breath. On a quiet machine each takes less than one: beside
# other tests on the same core up to half as much again is counted. A quadratic one takes minutes.
LIMIT = 2.5
BREATH = 0.1
CLASSES = [
    " ",
    "\t",
    "\n",
    " \n",
    "7",
    "a",
    "A",
    "_",
    "é",
    "字",
    "'",
    '"',
    "`",
    "\\",
    '\\"',
    "\\'",
    "[",
    "{",
    "(",
    "<",
    "\x1b[",
]
EXAMPLES = 3
LONGEST_UNIT = 30
# Continues nothing that a pattern repeats, so that the end of the text is no help.
TAIL = "\x00" * 12 + "7"


def test_nothing_in_the_source_has_a_possessive_or_an_atomic_group() -> None:
    rules = ((path.name, path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.yaml"))
    assert [place for place, text in [*literals(), *rules] if GIVES_NOTHING_BACK.search(text)] == []


def test_every_quantifier_is_a_plain_one() -> None:
    bare = {one.place: NO_QUANTIFIERS.sub("c", str(one.text)) for one in PATTERNS}
    assert [place for place, text in bare.items() if POSSESSIVE.search(text)] == []


def test_every_pattern_is_in_the_source() -> None:
    assert {one.place for one in UNREAD} == set(MADE_AT_RUN_TIME), UNREAD


@pytest.mark.parametrize("pattern", DISTINCT, ids=lambda one: one.place)
def test_a_megabyte_of_anything_takes_about_a_second_at_most(pattern: Pattern) -> None:
    use = way_of_use(pattern)
    spent = {unit: seconds(use, unit, SIZES[0]) for unit in dict.fromkeys(units(pattern))}
    slowest = max(spent, key=spent.__getitem__)
    for size in SIZES:
        limit = LIMIT if size == MEGABYTE else BREATH + LIMIT * size / MEGABYTE
        # Once more if it was slow: the machine is not ours alone.
        assert min(seconds(use, slowest, size) for _ in range(2)) < limit, (ascii(slowest), size)


def way_of_use(pattern: Pattern) -> Callable[[str], object]:
    """A pattern that is only tried at the beginning of a text is tried there; all others through the whole text."""
    compiled = pattern.compiled()
    if not pattern.is_anchored:
        return lambda text: sum(1 for _ in compiled.finditer(text))
    return compiled.fullmatch if pattern.methods == {"fullmatch"} else compiled.match


def seconds(use: Callable[[str], object], unit: str, size: int) -> float:
    text = unit * (size // len(unit)) + TAIL
    start = time.thread_time()
    use(text)
    return time.thread_time() - start


def units(pattern: Pattern) -> Iterator[str]:
    """What to repeat: characters of one class, those of the pattern, pairs of them, and its own beginnings."""
    own = [sign for sign in dict.fromkeys(str(pattern.text)) if sign in string.punctuation or not sign.isascii()][:20]
    yield from [*CLASSES, *own]
    for sign in own:
        yield from (f"{sign}a", f"{sign}1", f"{sign} ", f"{sign}\\", f"a{sign}", f"1{sign}", f" {sign}", f"\\{sign}")
    for example in examples(pattern):
        yield from (example[:length] for length in range(1, min(len(example), LONGEST_UNIT) + 1))


def examples(pattern: Pattern) -> list[str]:
    """Some texts that hold what is looked for; none where that cannot be made up, as half of a surrogate pair."""
    found: list[str] = []

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        st.from_regex(pattern.compiled(), fullmatch="(?=" not in str(pattern.text) and "(?!" not in str(pattern.text))
    )
    def collect(text: str) -> None:
        found.append(text)

    with contextlib.suppress(HypothesisException):
        collect()
    return [text for text in dict.fromkeys(found) if text]
