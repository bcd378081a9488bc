"""Which names a text speaks of: how a goal in words finds its column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# A run of capitals, a word with or without a capital, digits; in scripts without capitals a run of letters.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\u3040-\u30ff]")
# Words of one or two letters stand in any sentence; only their exact spelling counts.
_TOO_SHORT = 3
_MOST_TEXT = 10_000


def mentions(names: Sequence[str], text: str) -> list[str]:
    """The names that stand in the text: those spelt exactly so first, then the longer ones, then the earlier."""
    text = text[:_MOST_TEXT]
    words = [word.casefold() for word in _WORD.findall(text)]
    phrases = _phrases(words)
    found = [
        (rank, -len(name), index, name) for index, name in enumerate(names) if (rank := _rank(name, text, phrases))
    ]
    return [name for *_, name in sorted(found)]


def _rank(name: str, text: str, phrases: frozenset[str]) -> int:
    """0: not there; 1: spelt so; 2: the same words."""
    bare = name.strip()
    if not bare:
        return 0
    if _WIDE.search(bare):
        # These scripts put no spaces between words.
        return 1 if bare in text else 0
    if re.search(rf"(?<!\w){re.escape(bare)}(?!\w)", text):
        return 1
    joined = "".join(word.casefold() for word in _WORD.findall(bare))
    if len(joined) < _TOO_SHORT:
        return 0
    return 2 if any(form in phrases for form in _forms(joined)) else 0


def _forms(word: str) -> Iterable[str]:
    yield word
    yield f"{word}s"
    if word.endswith("s"):
        yield word[:-1]


def _phrases(words: Sequence[str], longest: int = 6) -> frozenset[str]:
    """Every run of neighbouring words, joined."""
    return frozenset(
        "".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(start + longest, len(words)) + 1)
    )
