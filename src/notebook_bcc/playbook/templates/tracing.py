"""Values that know where they came from: `v.score.value`, or what was computed of it, as a rule would write it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from notebook_bcc.playbook.templates.values import Markdown

# Any, throughout: values of the observation, which may be whatever JSON can hold.
_MOST_NAMED = 4
_LONGEST = 300


class _Traced:
    """What a traced value has beside its value."""

    source: str = ""


class TracedInt(_Traced, int):
    """A whole number and its source."""


class TracedFloat(_Traced, float):
    """A number and its source."""


class TracedText(_Traced, str):
    """A text and its source."""


class Comparative(TracedText):
    """Words that compare, and the variables that they compare."""


class TracedList(_Traced, list[Any]):
    """A list and its source; its items have their own."""


class TracedDict(_Traced, dict[Any, Any]):
    """A mapping and its source; its keys and values have their own."""


class TracedRoot(dict[str, Any]):
    """A mapping of the facts whose entries are traced when they are first read: of many variables a text needs few."""

    def __init__(self, values: Mapping[str, Any], source: str) -> None:
        super().__init__(values)
        self._source = source
        self._read: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._read:
            self._read[name] = traced(super().__getitem__(name), part_of(self._source, name))
        return self._read[name]


def traced(value: Any, source: str) -> Any:
    """The same value, each of its parts with the source that names it. What is traced already keeps its source."""
    match value:
        case None | bool() | _Traced():
            return value
        case int():
            return _with(TracedInt(value), source)
        case float():
            return _with(TracedFloat(value), source)
        case str():
            return _with(TracedText(value), source)
        case dict():
            keys = f"{source} | keys"
            return _with(
                TracedDict({traced(key, keys): traced(each, part_of(source, key)) for key, each in value.items()}),
                source,
            )
        case list():
            return _with(TracedList(traced(each, part_of(source, at)) for at, each in enumerate(value)), source)
        case tuple():
            return tuple(traced(each, part_of(source, at)) for at, each in enumerate(value))
        case Markdown():
            return value if value.source else Markdown(value.text, source)
        case _:
            return value


def derived(value: Any, source: str) -> Any:
    """What was computed of traced values, with its source; the items of a list keep theirs."""
    match value:
        case list() if not isinstance(value, TracedList):
            return _with(TracedList(value), source)
        case int() | float() | str() | Markdown():
            return traced(value, source)
        case _:
            return value


def untraced(value: Any) -> Any:
    """The plain value, to leave the playbook with."""
    match value:
        case TracedInt():
            return int(value)
        case TracedFloat():
            return float(value)
        case TracedText():
            return str(value)
        case dict():
            return {untraced(key): untraced(each) for key, each in value.items()}
        case list():
            return [untraced(each) for each in value]
        case tuple():
            return tuple(untraced(each) for each in value)
        case _:
            return value


def source_of(*values: Any) -> str:
    """What the values came from; empty where all were written in the template itself. A bounded list of sources is
    a tuple in the language of rules."""
    named = dict.fromkeys(_sources(values))
    return ", ".join(list(named)[:_MOST_NAMED])


def operand(value: Any) -> str:
    """The value as a part of an expression: its source, or the constant that it is."""
    source = source_of(value)
    if not source:
        return json.dumps(value, ensure_ascii=False, default=str)
    return f"({source})" if "," in source or " " in source else source


def part_of(source: str, name: Any) -> str:
    """`v.scores.mae`, `v.scores["0.5"]`, `v.pairs[0]`; too long a name would make the note longer than its text."""
    if isinstance(name, str) and name.isidentifier() and name.isascii():
        made = f"{source}.{name}"
    else:
        made = f"{source}[{json.dumps(name, ensure_ascii=False, default=str)}]"
    return made if len(made) <= _LONGEST else source


def _sources(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if source := getattr(value, "source", ""):
            yield source
        elif isinstance(value, list | tuple):
            yield from _sources(value[:_MOST_NAMED])


def _with(value: Any, source: str) -> Any:
    value.source = source
    return value
