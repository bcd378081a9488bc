"""Errors in Chinese. They are raised in English, deep inside; here a message is found again by its template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from notebook_bcc.cli.chinese.texts import read_texts

_PLACE: Final = "{}"
# A message that is longer holds somebody's data; no sentence of ours is.
_LONGEST: Final = 4000


def in_chinese(message: str) -> str:
    """The message in Chinese, its facts as they are. One that no template fits stays as it is."""
    return _translated(message, depth=0)


def error_templates() -> Mapping[str, str]:
    """English sentences with `{}` for each fact, and the same in Chinese."""
    return read_texts("errors.yaml")


@cache
def _by_length() -> Sequence[tuple[tuple[str, ...], str]]:
    """The templates, those first that say the most themselves: a fact may hold anything."""
    found = [(tuple(english.split(_PLACE)), chinese) for english, chinese in error_templates().items()]
    return sorted(found, key=lambda each: -sum(map(len, each[0])))


def _translated(message: str, *, depth: int) -> str:
    if not message or len(message) > _LONGEST or depth > 4:
        return message
    for pieces, chinese in _by_length():
        facts = facts_of(message, pieces)
        if facts is not None:
            # A fact may be a sentence itself: the reason that another layer gave.
            return chinese.format(*(_translated(fact, depth=depth + 1) for fact in facts))
    return message


def facts_of(message: str, pieces: Sequence[str]) -> list[str] | None:
    """What stands between the pieces of a template; None where it does not fit."""
    first, *middle = pieces
    if not message.startswith(first) or (not middle and message != first):
        return None
    return list(_between(message, len(first), middle)) if _fits(message, len(first), middle) else None


def _fits(message: str, at: int, pieces: Sequence[str]) -> bool:
    for piece in pieces[:-1]:
        found = message.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return not pieces or (message.endswith(pieces[-1]) and at <= len(message) - len(pieces[-1]))


def _between(message: str, at: int, pieces: Sequence[str]) -> Iterator[str]:
    for piece in pieces[:-1]:
        found = message.find(piece, at)
        yield message[at:found]
        at = found + len(piece)
    if pieces:
        yield message[at : len(message) - len(pieces[-1])]
