"""The filters and tests that rules and templates may use: pure functions of plain values.

Each is bounded by the size of what it is given. Nothing here is Jinja's own, so that the list is closed.
"""

from __future__ import annotations

import keyword
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from notebook_bcc.playbook.mentions import mentions
from notebook_bcc.playbook.templates.values import NOT_A_NUMBER, Bare, Markdown, OnePerLine, code_span, markdown

# Any, throughout: values of the observation, which every filter checks before it uses them.


def number_text(value: Any, decimals: int | None = None) -> str:
    """1,234.5: whole numbers whole, others with four digits that count, or with so many decimals."""
    number = _number(value)
    if not math.isfinite(number):
        return NOT_A_NUMBER
    if decimals is not None:
        return _no_minus_zero(f"{number:,.{_small(decimals, 12)}f}")
    if number == int(number) and abs(number) < 1e15:
        return f"{int(number):,}"
    if abs(number) >= 100_000:
        # More digits than these would claim to know what nobody has measured.
        return f"{float(f'{number:.5g}'):,.0f}"
    if abs(number) >= 1000:
        return f"{number:,.{0 if abs(number) >= 10_000 else 1}f}"
    if 1e-12 <= abs(number) < 1e-4:
        # Readers of a report are not used to powers of ten.
        return f"{number:.{3 - math.floor(math.log10(abs(number)))}f}".rstrip("0")
    return f"{number:.4g}"


def value_text(value: Any) -> str:
    """A value of a column: 12,500, but four digits as a year is written, 2018."""
    number = _number(value)
    if math.isfinite(number) and number == int(number) and 1000 <= abs(number) < 10_000:
        return str(int(number))
    return number_text(value)


def _no_minus_zero(text: str) -> str:
    return text if text.strip("-0.,") else text.removeprefix("-")


def percent_text(value: Any, decimals: int = 1, *, lang: str = "en") -> str:
    """0.123 as 12.3 %."""
    number = _number(value)
    text = _no_minus_zero(f"{100 * number:.{_small(decimals, 12)}f}") if math.isfinite(number) else NOT_A_NUMBER
    return f"{text}%" if lang == "zh" else f"{text} %"


def names(value: Any, most: int = 6, *, lang: str = "en") -> Markdown:
    """Names as a reader lists them, set as code: the first few, and how many more."""
    spans = [code_span(each) for each in _items(value)]
    shown, more = spans[: max(1, most)], len(spans) - max(1, most)
    if lang == "zh":
        return Markdown("、".join(shown) + (f" 等 {len(spans)} 项" if more > 0 else ""))
    if more > 0:
        return Markdown(f"{', '.join(shown)} and {more:,} more")
    return Markdown(" and ".join([part for part in (", ".join(shown[:-1]), *shown[-1:]) if part]))


def code(value: Any) -> Markdown:
    """The value set as code."""
    return Markdown(code_span(value))


def spans(value: Any) -> Markdown:
    """A sentence in which names stand between backticks: these as code, the rest as text that is no markup."""
    pieces = _string(value).split("`")
    parts = [
        code_span(piece) if at % 2 else markdown(piece, line_start=False, in_table=False)
        for at, piece in enumerate(pieces)
    ]
    return Markdown("".join(parts))


def file_name(value: Any) -> str:
    """The last part of a path."""
    return PurePosixPath(str(value)).name


def bare_name(value: Any) -> Bare:
    """An identifier, to stand in a cell as it is. Anything else is an error."""
    if not isinstance(value, str) or not value.isidentifier() or keyword.iskeyword(value):
        raise ValueError(f"{value!r} is not a name that Python code could use")
    return Bare(value)


def label(value: Any) -> str:
    """A text for a figure, where a dollar sign would begin a formula."""
    return str(value).replace("$", "\\$")


def default(value: Any, other: Any = "") -> Any:
    """The value, or the other one where it is none; one that does not exist never gets here."""
    return other if value is None else value


def first(value: Any) -> Any:
    items = _items(value)
    return items[0] if items else None


def last(value: Any) -> Any:
    items = _items(value)
    return items[-1] if items else None


def length(value: Any) -> int:
    if not isinstance(value, str | Sequence | Mapping):
        raise TypeError(f"{_shown(value)} has no length")
    return len(value)


def sort(value: Any, *, reverse: bool = False, by: Any = None) -> list[Any]:
    """In order; `by` is the position or key of each item to go by. Numbers come before texts."""
    items = _items(value)
    return sorted(items, key=lambda each: _order(each if by is None else _part(each, by)), reverse=bool(reverse))


def unique(value: Any) -> list[Any]:
    """Each item once, where it stands first."""
    return list({_order(each): each for each in reversed(_items(value))}.values())[::-1]


def join(value: Any, between: str = ", ") -> str:
    return str(between).join(each if isinstance(each, str) else str(each) for each in _items(value))


def rounded(value: Any, decimals: int = 0) -> int | float:
    number = _number(value)
    return round(number, _small(decimals, 12)) if decimals else (round(number) if math.isfinite(number) else number)


def absolute(value: Any) -> int | float:
    return abs(_number(value))


def least(value: Any) -> Any:
    return min(_items(value), key=_order, default=None)


def greatest(value: Any) -> Any:
    return max(_items(value), key=_order, default=None)


def total(value: Any) -> int | float:
    return sum(_number(each) for each in _items(value))


def lower(value: Any) -> str:
    return _string(value).lower()


def upper(value: Any) -> str:
    return _string(value).upper()


def keys(value: Any) -> list[Any]:
    return list(_mapping(value))


def values(value: Any) -> list[Any]:
    return list(_mapping(value).values())


def items(value: Any) -> list[tuple[Any, Any]]:
    """A mapping as pairs."""
    return list(_mapping(value).items())


def select_in(value: Any, wanted: Any) -> list[Any]:
    """The items that are in the other list too, in their own order."""
    known = {_order(each) for each in _items(wanted)}
    return [each for each in _items(value) if _order(each) in known]


def reject_in(value: Any, unwanted: Any) -> list[Any]:
    """The items that are not in the other list."""
    known = {_order(each) for each in _items(unwanted)}
    return [each for each in _items(value) if _order(each) not in known]


def mentioned_in(value: Any, text: Any) -> list[str]:
    """The names that stand in a text, best match first."""
    return mentions([each for each in _items(value) if isinstance(each, str)], text if isinstance(text, str) else "")


def one_per_line(value: Any) -> OnePerLine:
    """A collection as a literal with an item on each line."""
    return OnePerLine(value)


Filter = Callable[..., Any]
# What stands everywhere, only in cells, only in text, and what is told the language.
SHARED: Mapping[str, Filter] = {
    "num": number_text,
    "value": value_text,
    "pct": percent_text,
    "items": items,
    "first": first,
    "last": last,
    "length": length,
    "sort": sort,
    "unique": unique,
    "join": join,
    "round": rounded,
    "abs": absolute,
    "min": least,
    "max": greatest,
    "sum": total,
    "lower": lower,
    "upper": upper,
    "default": default,
    "file_name": file_name,
    "keys": keys,
    "values": values,
    "select_in": select_in,
    "reject_in": reject_in,
    "mentioned_in": mentioned_in,
}
CELL_ONLY: Mapping[str, Filter] = {"name": bare_name, "wrapped": one_per_line, "label": label}
TEXT_ONLY: Mapping[str, Filter] = {"code": code, "names": names, "spans": spans}
WITH_LANGUAGE = frozenset({"pct", "names"})
# What these give is their value as a reader sees it, or one of its items: it speaks of the same variable.
AS_SHOWN = frozenset(
    {"num", "value", "pct", "code", "names", "spans", "file_name", "default", "join", "lower", "upper", "label"}
)
TESTS: Mapping[str, Callable[..., bool]] = {
    "none": lambda value: value is None,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "sequence": lambda value: isinstance(value, list | tuple),
    "mapping": lambda value: isinstance(value, dict),
    "sameas": lambda value, other: value is other,
    "even": lambda value: isinstance(value, int) and value % 2 == 0,
    "odd": lambda value: isinstance(value, int) and value % 2 == 1,
}


def _number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{_shown(value)} is not a number")
    return value


def _small(value: Any, most: int) -> int:
    if not isinstance(value, int) or not 0 <= value <= most:
        raise ValueError(f"the number of decimals must be 0 to {most}, not {_shown(value)}")
    return value


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{_shown(value)} is not a text")
    return value


def _items(value: Any) -> list[Any]:
    if not isinstance(value, list | tuple | dict):
        raise TypeError(f"{_shown(value)} is not a list")
    return list(value)


def _mapping(value: Any) -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"{_shown(value)} is not a mapping")
    return value


def _part(value: Any, by: Any) -> Any:
    if isinstance(value, dict) and by in value:
        return value[by]
    if isinstance(value, list | tuple) and isinstance(by, int) and -len(value) <= by < len(value):
        return value[by]
    raise ValueError(f"{_shown(value)} has no part {by!r} to sort by")


def _order(value: Any) -> tuple[Any, ...]:
    """Something hashable that puts values of any kind into one order."""
    match value:
        case None:
            return (0,)
        case bool() | int() | float():
            return (1, math.inf if math.isnan(value) else value)
        case str():
            return (2, value)
        case list() | tuple():
            return (3, *(_order(each) for each in value))
        case _:
            return (4, repr(value))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def filter_names(groups: Iterable[Mapping[str, Filter]]) -> list[str]:
    """The names of these groups, in the order a message lists them."""
    return sorted({name for group in groups for name in group})
