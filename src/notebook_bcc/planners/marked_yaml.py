"""YAML text into plain values that remember their lines. The adapter for yaml.

Only what a person writes by hand: one document of mappings, lists and scalars. Aliases and tags are refused, so that a
small file cannot become a large value and nothing is constructed that the file names. Plain scalars are read as YAML
1.2 does it: `yes`, `on` and dates are texts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml

from notebook_bcc.errors import MessageInvalid

MOST_BYTES = 1_000_000
DEEPEST = 40

_INTEGER = re.compile(r"[-+]?[0-9]{1,18}|0x[0-9a-fA-F]{1,15}|0o[0-7]{1,20}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: Mapping[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
# The C parser is ten times faster; a yaml without it reads the same.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # Any: the two loaders share no type


@dataclass(frozen=True, slots=True)
class Marked:
    """A value and the line that each of its parts stands on, by path: `stages.0.id`."""

    value: Any
    lines: Mapping[str, int]

    def at(self, path: str) -> str:
        """The path as a message names it, with the line of the innermost part that is in the file."""
        known = path
        while known and known not in self.lines:
            known = known.rpartition(".")[0]
        line = self.lines.get(known)
        return ", ".join(part for part in (f"line {line}" if line else "", path) if part)


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end has not come yet."""

    path: str
    value: list[Any] | dict[str, Any]
    key: str | None = None


@dataclass(slots=True)
class _Builder:
    """Puts the parser's events together, without recursion."""

    source: str
    lines: dict[str, int] = field(default_factory=dict)
    stack: list[_Open] = field(default_factory=list)
    value: Any = None
    documents: int = 0

    def take(self, event: Any) -> None:  # Any: yaml's events have no common typed base
        line = event.start_mark.line + 1
        match event:
            case yaml.DocumentStartEvent():
                self.documents += 1
                if self.documents > 1:
                    self._refuse(line, "a second document begins; put everything into one")
            case yaml.AliasEvent():
                self._refuse(line, f"the alias *{event.anchor} is not allowed; write the value out")
            case yaml.ScalarEvent():
                self._scalar(event, line)
            case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                self._open(event, line)
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                self.stack.pop()

    def _scalar(self, event: Any, line: int) -> None:
        if event.tag is not None:
            self._refuse(line, f"the tag {event.tag!r} is not allowed; write the plain value")
        top = self.stack[-1] if self.stack else None
        if top is not None and isinstance(top.value, dict) and top.key is None:
            if event.value in top.value:
                self._refuse(line, f"the key {event.value!r} stands twice in this mapping", top.path)
            top.key = event.value
            self.lines[_join(top.path, event.value)] = line
            return
        self._put(_plain(event.value) if event.implicit[0] else event.value, line)

    def _open(self, event: Any, line: int) -> None:
        if event.tag is not None:
            self._refuse(line, f"the tag {event.tag!r} is not allowed; write the plain value")
        if len(self.stack) >= DEEPEST:
            self._refuse(line, f"more than {DEEPEST} levels are nested here")
        value: list[Any] | dict[str, Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
        self.stack.append(_Open(self._put(value, line), value))

    def _put(self, value: Any, line: int) -> str:
        """Place a value where the parser is, and say under which path."""
        if not self.stack:
            self.value = value
            return ""
        top = self.stack[-1]
        if isinstance(top.value, list):
            path = _join(top.path, str(len(top.value)))
            top.value.append(value)
        elif top.key is None:
            self._refuse(line, "a key must be a plain text", top.path)
        else:
            path = _join(top.path, top.key)
            top.value[top.key] = value
            top.key = None
        self.lines.setdefault(path, line)
        return path

    def _refuse(self, line: int, problem: str, path: str = "") -> NoReturn:
        where = ", ".join(part for part in (f"line {line}", path) if part)
        raise MessageInvalid(what=self.source, problems=[(where, problem)])


def load_marked(content: str | bytes, *, source: str) -> Marked:
    """Read one YAML document. `source` is what messages call it. Raises MessageInvalid with the line."""
    try:
        data = content.encode() if isinstance(content, str) else content
        text = data.decode("utf-8-sig")
    except UnicodeError as error:
        raise MessageInvalid(
            what=source, problems=[("", f"it is not UTF-8 text ({error}); save it as UTF-8")]
        ) from error
    if len(data) > MOST_BYTES:
        raise MessageInvalid(what=source, problems=[("", f"it has more than {MOST_BYTES} bytes, the most allowed")])
    builder = _Builder(source)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = ", ".join(part for part in (error.context, error.problem) if part)
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
        raise MessageInvalid(what=source, problems=[(where, f"this is not YAML: {reason}")]) from error
    except yaml.YAMLError as error:
        raise MessageInvalid(what=source, problems=[("", f"this is not YAML: {error}")]) from error
    return Marked(builder.value, builder.lines)


def _join(path: str, part: str) -> str:
    return f"{path}.{part}" if path else part


def _plain(text: str) -> str | int | float | bool | None:
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        base = {"0x": 16, "0o": 8}.get(text[:2], 10)
        return int(text, base)
    if _FLOAT.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return text
