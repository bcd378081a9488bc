"""What of a request may go into a prompt: `--share values|schema|none`. Pure.

- `values`: all of it.
- `schema`: names, types, shapes and aggregate numbers; no values of cells. Variables that hold texts are told by their
  size, unless the text is the name of a column; what code printed is told as `sharing_text` says; tracebacks go.
- `none`: the goal as the person wrote it, the plan's own words and the names it promises, and kinds of errors.

Which texts are names of columns is known from lists that are called so (`columns`, `numeric_columns`, `features`, ...)
and are no longer than the widest table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from notebook_bcc.llm.limits import Share
from notebook_bcc.llm.prompt.sharing_text import (
    WITHHELD,
    Vocabulary,
    any_of,
    error_kind,
    is_error,
    scrub,
    shared_effect,
    shared_error,
    vocabulary,
)
from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.observation import Context, FigureView

INPUTS = "inputs"
_COLUMN_LISTS = re.compile(r"(?:.*_)?(?:columns|features|column)(?:_.*)?")
_SUMMARY = re.compile(r"[A-Za-z_]\w{0,60}\((?:\d+(?:×\d+)*|\d+ bits)\)")
_KIND = re.compile(
    r"[A-Z]\w{0,50}(?:Classifier|Regressor|Regression|Pipeline|Transformer|Encoder|Scaler|Imputer|SearchCV|Selector|"
    r"Forest|Lasso|Ridge|KFold|Split|Figure|Axes|Booster|PCA|KMeans)|Pipeline|DataFrame|Series|PCA|KMeans"
)
_LIST = re.compile(r"list\((\d{1,6})\)")
_FRAME = re.compile(r"DataFrame\(\d+×(\d+)\)")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_STRING = re.compile(
    r"[rbfuRBFU]{0,2}(?:'''.*?'''|\"\"\".*?\"\"\"|(?<!\\)'(?:[^'\\\n]|\\.)*'|(?<!\\)\"(?:[^\"\\\n]|\\.)*\")", re.DOTALL
)
_AXES = re.compile(r"with (\d{1,3}) Axes")
_SHORTEST_SECRET = 3
_MOST_SECRETS = 5_000
_MOST_SHOWN = 60
_ANYTHING = re.compile(r".+", re.DOTALL)
_LONGEST_VALUE = 2_000


@dataclass(frozen=True, slots=True)
class Sharing:
    """What one request lets us tell. Everything that goes into a prompt goes through one of its methods."""

    level: Share
    known: Vocabulary
    secrets: frozenset[str]
    hidden: re.Pattern[str] | None
    values: Mapping[str, Any]  # Any: JSON, as the kernel's variables are shown

    def words(self, text: str) -> str:
        """A text of the plan: ours, but made by templates that may name what the data holds."""
        return text if self.level == "values" else scrub(text, self.hidden)

    def code(self, source: str) -> str:
        """Code of a cell. With `none` no text in it is told."""
        if self.level == "none":
            return _STRING.sub(f'"{WITHHELD}"', re.sub(r"#.*", "", source))
        return source if self.level == "values" else scrub(source, self.hidden)

    def effect(self, text: str) -> str:
        """What code printed, returned or raised."""
        if self.level == "values":
            return text
        if self.level == "none":
            return error_kind(text) if is_error(text) else f"[an output of {len(text.splitlines())} lines withheld]"
        return scrub(shared_effect(text, self.known), self.hidden)

    def error(self, text: str, *, source: str = "") -> str:
        """What is said about an error. The identifiers of the code that failed are known to whoever wrote it."""
        if self.level == "values":
            return text
        if self.level == "none":
            return error_kind(text)
        own = {word for word in _IDENTIFIER.findall(source) if word not in self.secrets}
        own |= {one for one in (text[1:-1] for text in _STRING.findall(source)) if one not in self.secrets}
        return scrub(shared_error(text, vocabulary(self.known.names | own)), self.hidden)

    def figure(self, figure: FigureView) -> str:
        """A picture in words. Where values may not be told, what the code calls it is told as printed text is."""
        size = f"{figure.width}×{figure.height} pixels" if figure.width and figure.height else "a picture"
        axes = _AXES.search(figure.text)
        said = [f"{axes[1]} axes"] if axes else []
        if self.level != "none":
            said += [self.effect(text) for text in (figure.caption, *figure.labels) if text]
        return "; ".join([size, *said])

    def variables(self) -> tuple[str, ...]:
        """One line for each variable."""
        if self.level == "none":
            return (f"[{len(self.values)} variables withheld]",) if self.values else ()
        if self.level == "values":
            return tuple(f"{name} = {_written(value)}" for name, value in self.values.items())
        return tuple(f"{name}: {self._described(name, value)}" for name, value in self.values.items())

    def _described(self, name: str, value: Any) -> str:  # Any: JSON
        match value:
            case None | bool():
                return str(value)
            case int() | float():
                return str(value) if abs(value) < 10_000_000 else f"{value:.4g}"
            case str():
                return self._text(value)
            case list() | tuple():
                return self._sequence(value)
            case dict():
                return self._mapping(name, value)
            case _:
                return WITHHELD

    def _text(self, value: str) -> str:
        if value in self.known.names or not value:
            return json.dumps(value, ensure_ascii=False)
        if _SUMMARY.fullmatch(value) or _KIND.fullmatch(value):
            return value
        return f"a text of {len(value)} characters"

    def _sequence(self, value: list[Any] | tuple[Any, ...]) -> str:
        if value and all(isinstance(one, str) and one in self.known.names for one in value):
            shown = json.dumps(value[:_MOST_SHOWN], ensure_ascii=False)
            cut = len(value) - _MOST_SHOWN
            return shown if cut <= 0 else f"{shown} [... {cut} more cut ...]"
        kinds = {
            "number" if isinstance(one, int | float) else "text" if isinstance(one, str) else "item" for one in value
        }
        kind = kinds.pop() if len(kinds) == 1 else "item"
        return f"a list of {len(value)} {kind}s"

    def _mapping(self, name: str, value: dict[str, Any]) -> str:
        if name != INPUTS and not all(self.known.knows(key) for key in value):
            return f"a dict of {len(value)} entries"
        shown = [f"{key}: {self._described('', one)}" for key, one in list(value.items())[:_MOST_SHOWN]]
        cut = len(value) - _MOST_SHOWN
        return "{" + ", ".join(shown) + (f", ... {cut} more cut ..." if cut > 0 else "") + "}"


def sharing(request: Request, *, level: Share) -> Sharing:
    """What this request lets us tell at this level."""
    values = request.observation.context.variables
    if level == "values":
        return Sharing(level=level, known=vocabulary(()), secrets=frozenset(), hidden=None, values=values)
    given = set(_texts(values.get(INPUTS)))
    # A file is spoken of by its path and by its name.
    names = _column_names(values) | given | {PurePosixPath(one).name for one in given if one}
    secrets = {one for name, value in values.items() if name != INPUTS for one in _texts(value)}
    if level == "none":
        secrets |= names
    else:
        secrets -= names
    kept = {one for one in secrets if len(one) >= _SHORTEST_SECRET and not _SUMMARY.fullmatch(one)}
    known = vocabulary(() if level == "none" else names | set(values))
    hidden = frozenset(one for one in kept if level == "none" or not known.knows(one))
    # More than can be looked for: then nothing that may hold one is told.
    pattern = any_of(hidden) if len(hidden) <= _MOST_SECRETS else _ANYTHING
    return Sharing(level=level, known=known, secrets=hidden, hidden=pattern, values=values)


def list_of_columns(context: Context) -> str:
    """The variable that names most columns, empty if there is none. Without it their names are taken for values."""
    summarized = context.variables_summarized or ()
    lists: dict[str, int] = {}
    for name, value in context.variables.items():
        if not _COLUMN_LISTS.fullmatch(name):
            continue
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            lists[name] = len(value)
        elif name in summarized and (summary := _LIST.fullmatch(value)):
            # Too long for this request: its name says what it is.
            lists[name] = int(summary[1])
    return max(lists, key=lambda name: lists[name], default="")


def _column_names(values: Mapping[str, Any]) -> set[str]:
    widths = [int(match[1]) for one in values.values() if isinstance(one, str) and (match := _FRAME.fullmatch(one))]
    widest = max(widths, default=None)
    found: set[str] = set()
    for name, value in values.items():
        if not _COLUMN_LISTS.fullmatch(name):
            continue
        texts = [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else []
        if all(isinstance(one, str) for one in texts) and (widest is None or len(texts) <= widest):
            found |= {one for one in texts if not _SUMMARY.fullmatch(one)}
    return found


def _texts(value: Any) -> Iterator[str]:  # Any: JSON
    match value:
        case str():
            yield value
        case list() | tuple():
            for one in value:
                yield from _texts(one)
        case dict():
            for key, one in value.items():
                yield key
                yield from _texts(one)


def _written(value: Any) -> str:  # Any: JSON
    text = json.dumps(value, ensure_ascii=False, default=str)
    cut = len(text) - _LONGEST_VALUE
    return text if cut <= 0 else f"{text[:_LONGEST_VALUE]} [... {cut} characters cut ...]"
