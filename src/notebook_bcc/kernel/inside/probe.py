"""Looks at the user's variables from inside a Python kernel. Its source is sent there: it imports nothing of ours.

It stays out of the user's sight: a module registered in `sys.modules` under a private name, no name in the user's
namespace, and no change to the user's objects, `_`, the execution count or the last exception. Python 3.9 or later.
"""

from __future__ import annotations

import enum
import json
import operator
import types
from typing import Any

MIME = "application/vnd.notebook-bcc.probe+json"

_SCALARS = frozenset({int, float, bool, str, type(None)})
_TEXTUAL_TYPES = frozenset(
    {
        "builtins.complex", "builtins.range", "datetime.date", "datetime.datetime", "datetime.time",
        "datetime.timedelta", "decimal.Decimal", "fractions.Fraction", "numpy.datetime64", "numpy.timedelta64",
        "numpy.complex128", "numpy.complex64", "pandas.Timestamp", "pandas.Timedelta",
        "pandas._libs.tslibs.timestamps.Timestamp", "pandas._libs.tslibs.timedeltas.Timedelta",
        "pandas._libs.tslibs.nattype.NaTType", "pathlib.PosixPath", "pathlib.PurePosixPath", "pathlib.WindowsPath",
        "pathlib._local.PosixPath", "pathlib._local.PurePosixPath", "pathlib._local.WindowsPath", "uuid.UUID",
    }
)  # fmt: skip
# How the work is done, not what it is done on: never listed as variables.
_NOT_DATA = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
_DEEPEST = 8
_FEW = 200
_UNSEEN = object()


class _TooLarge(Exception):
    """The value is neither a scalar nor a small container: its type summary is shown instead."""


class ProbeReply:
    """A result on its way out: JSON text in a bundle of a private type, which no formatter touches."""

    def __init__(self, content: Any) -> None:
        self._text = encode(content)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {MIME: self._text, "text/plain": ""}


class Values:
    """Shows any object as a JSON value or a type summary, whatever the object does when it is looked at."""

    def __init__(self, *, max_items: int, max_chars: int) -> None:
        self._max_items = max_items
        self._max_chars = max_chars

    def show(self, value: Any) -> Any:
        """The value when it is a scalar or a small container, else its summary. Never raises."""
        try:
            return self._plain(value, [self._max_items, self._max_chars], 0)
        except BaseException as error:  # noqa: BLE001  hostile objects raise anything
            _pass_interrupt(error)
        return summary(value)

    def _plain(self, value: Any, left: list[int], depth: int) -> Any:
        """`left` is what may still be shown: items, characters. Types are asked, not instances: those can lie."""
        kind = type(value)
        if value is None or kind is bool:
            return value
        if issubclass(kind, enum.Enum):
            return self._text(f"{kind.__name__}.{value._name_}", left)
        if issubclass(kind, str):
            return self._text(str.__str__(value), left)
        if issubclass(kind, int):
            return self._integer(int.__int__(value), left)
        if issubclass(kind, float):
            return _finite(float.__float__(value))
        if issubclass(kind, dict):
            return self._mapping(value, left, depth)
        for base in (list, tuple, set, frozenset):
            if issubclass(kind, base):
                return self._sequence(base, value, left, depth)
        return self._other(value, kind, left, depth)

    def _other(self, value: Any, kind: type, left: list[int], depth: int) -> Any:
        full = f"{kind.__module__}.{kind.__name__}"
        if full in _TEXTUAL_TYPES:
            return self._text(str(value), left)
        if full.startswith("numpy.") and full != "numpy.ndarray" and value.shape == ():
            return self._plain(value.item(), left, depth)
        if not depth:
            raise _TooLarge
        return self._text(summary(value), left)

    def _text(self, text: str, left: list[int]) -> str:
        left[1] -= len(text)
        if left[1] < 0:
            raise _TooLarge
        return text

    def _integer(self, number: int, left: list[int]) -> int | str:
        if -(2**63) <= number < 2**63:
            return number
        # Readers of JSON differ on integers beyond 64 bits; as text every digit arrives.
        if number.bit_length() > 3 * min(left[1], 4_000):
            raise _TooLarge
        return self._text(str(number), left)

    def _mapping(self, value: dict[Any, Any], left: list[int], depth: int) -> dict[str, Any]:
        _spend(dict.__len__(value), left, depth)
        shown: dict[str, Any] = {}
        for key, item in dict.items(value):
            plain = self._plain(key, left, depth + 1)
            if type(plain) not in _SCALARS:
                raise _TooLarge
            shown[plain if type(plain) is str else json.dumps(plain)] = self._plain(item, left, depth + 1)
        return shown

    def _sequence(self, base: Any, value: Any, left: list[int], depth: int) -> list[Any]:
        _spend(base.__len__(value), left, depth)
        items = [self._plain(item, left, depth + 1) for item in base.__iter__(value)]
        # A set has no order; a stable one keeps equal sets equal.
        return sorted(items, key=str) if base in (set, frozenset) else items


class _Sighting:
    """What an object looked like, without keeping it alive; `items` when all it holds are scalars."""

    __slots__ = ("identity", "items", "shown")

    def __init__(self, value: Any, shown: Any) -> None:
        self.identity = id(value)
        self.shown = shown
        items = _items(value)
        self.items = tuple(items) if all(map(_is_small_scalar, items)) else ()

    def is_surely_of(self, value: Any) -> bool:
        """A quick look, in place of showing it again: the same container of the very same scalars."""
        if self.identity != id(value) or not self.items:
            return False
        items = _items(value)
        return len(items) == len(self.items) and all(map(operator.is_, items, self.items))

    def looks_like(self, other: _Sighting) -> bool:
        return self.identity == other.identity and bool(self.shown == other.shown)


class Namespace:
    """The user's variables: what changed since the last look, summaries of them, and renaming."""

    def __init__(self, names: dict[str, Any], *, max_items: int, max_chars: int, max_summary: int) -> None:
        self._names = names
        self._values = Values(max_items=max_items, max_chars=max_chars)
        self._excerpts = Values(max_items=max_summary, max_chars=max_summary)
        self._max_summary = max_summary
        # IPython's own names, hidden as long as they are bound to IPython's own objects.
        self._own = dict(names)
        # name -> the object itself if it is a small immutable scalar, else what was seen of it: keeping a reference to
        # more would keep alive what the user has deleted.
        self._seen: dict[str, Any] = {}

    def changes(self) -> dict[str, Any]:
        """Variables that are new, rebound or shown differently, and names that are gone."""
        names, seen = self._names, self._seen
        marks, updated = {}, {}
        removed = [name for name in seen if name not in names]
        # A copy, made in one go: a thread of the user's may be adding names.
        for name, value in [pair for pair in list(names.items()) if seen.get(pair[0], _UNSEEN) is not pair[1]]:
            before = seen.get(name, _UNSEEN)
            if type(before) is _Sighting and before.is_surely_of(value):
                continue
            if not self._is_variable(name, value):
                removed += [name] if name in seen else []
                continue
            shown = self._values.show(value)
            mark = value if _is_small_scalar(value) else _Sighting(value, shown)
            marks[name] = mark
            if type(before) is not _Sighting or type(mark) is not _Sighting or not before.looks_like(mark):
                updated[name] = shown
        # At the end, all at once: an interrupt before this loses nothing.
        seen.update(marks)
        for name in removed:
            del seen[name]
        return {"updated": updated, "removed": removed}

    def summarize(self, wanted: dict[str, str]) -> dict[str, Any]:
        """Name -> summary by the strategy asked for, for names that exist."""
        names = self._names
        return {name: self._summarize(names[name], strategy) for name, strategy in wanted.items() if name in names}

    def is_own(self, name: str, value: Any) -> bool:
        """Whether a name is IPython's and not the user's."""
        return name in ("In", "Out") or self._own.get(name, _UNSEEN) is value

    def _is_variable(self, name: Any, value: Any) -> bool:
        if type(name) is not str or name.startswith("_") or self.is_own(name, value):
            return False
        return not issubclass(type(value), _NOT_DATA)

    def _summarize(self, value: Any, strategy: str) -> Any:
        try:
            shown = self._excerpt(value, strategy)
        except BaseException as error:  # noqa: BLE001  hostile objects raise anything
            _pass_interrupt(error)
            shown = summary(value)
        return _cut(shown, self._max_summary) if type(shown) is str else shown

    def _excerpt(self, value: Any, strategy: str) -> Any:
        kind = type(value)
        if strategy == "describe_only" and hasattr(kind, "describe"):
            return _as_text(value.describe())
        if strategy == "head_only":
            return _as_text(value.head()) if hasattr(kind, "head") else self._slice(value, 0, 5)
        if strategy.startswith("last_") and strategy.endswith("_only"):
            count = int(strategy[5:-5])
            return _as_text(value.tail(count)) if hasattr(kind, "tail") else self._slice(value, -count, count)
        return summary(value)

    def _slice(self, value: Any, start: int, count: int) -> Any:
        kind = type(value)
        if issubclass(kind, str):
            return str.__str__(value)
        if issubclass(kind, dict):
            items = list(dict.items(value))
            return self._excerpts.show(dict(items[start:][:count]))
        part = value[start:][:count]
        return self._excerpts.show(part.tolist() if hasattr(kind, "tolist") else part)


def summary(value: Any) -> str:
    """`DataFrame(1460×79)`, `list(10000)`, `LinearRegression`: the type and what is known of its size."""
    kind = type(value)
    name = str(type.__getattribute__(kind, "__name__"))[:100]
    try:
        size = _size(value, kind)
    except BaseException as error:  # noqa: BLE001  hostile objects raise anything
        _pass_interrupt(error)
        return name
    return f"{name}({size})" if size else name


def encode(content: Any) -> str:
    """JSON text that any reader takes: no NaN, no lone surrogates."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "replace").decode("utf-8")


def _size(value: Any, kind: type) -> str:
    if issubclass(kind, int):
        return f"{int.bit_length(value)} bits"
    # Only what the type defines: an object that invents attributes when asked would be changed by asking.
    bases = [base.__dict__ for base in kind.__mro__]
    if any("shape" in base for base in bases):
        shape = value.shape
        if issubclass(type(shape), tuple):
            return "×".join([str(int(side)) for side in tuple.__iter__(shape)])
    return str(len(value)) if any("__len__" in base for base in bases) else ""


def _is_small_scalar(value: Any) -> bool:
    return type(value) in _SCALARS and (type(value) is not str or len(value) <= 10_000)


def _items(value: Any) -> list[Any]:
    """The content of a small list, tuple or dict; nothing for all else."""
    kind = type(value)
    if (kind is not list and kind is not tuple and kind is not dict) or len(value) > _FEW:
        return []
    return [*value, *value.values()] if kind is dict else [*value]


def _finite(number: float) -> float | str:
    if number != number:
        return "NaN"
    if number in (float("inf"), float("-inf")):
        return "Infinity" if number > 0 else "-Infinity"
    return number


def _spend(items: int, left: list[int], depth: int) -> None:
    left[0] -= items
    # A number or a bool takes a few characters too; none of them is counted one by one.
    left[1] -= 4 * items
    if left[0] < 0 or left[1] < 0 or depth > _DEEPEST:
        raise _TooLarge


def _as_text(value: Any) -> str:
    return str(value.to_string() if hasattr(type(value), "to_string") else value)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters cut ...]\n{text[len(text) - half :]}"


def _pass_interrupt(error: BaseException) -> None:
    """A hostile object may raise anything; only the user's interrupt goes on."""
    if isinstance(error, KeyboardInterrupt):
        raise error
