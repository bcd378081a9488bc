"""Values as Python source and as Markdown: nothing that a table holds can become code or markup."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

WIDTH = 100
DEEPEST = 20
NOT_A_NUMBER = "–"
# Python itself refuses to write longer integers.
_MOST_DIGITS = 4_000
_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|~$]|&(?=[#\w])|!(?=\[)")
_LIST_START = re.compile(r"[-+=](?=[-+=\s]|$)|(?P<number>\d{1,9})(?=[.)](?:\s|$))")
_BACKTICKS = re.compile(r"`+")


@dataclass(frozen=True, slots=True)
class Bare:
    """An identifier that stands in a cell as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class OnePerLine:
    """A collection whose items stand on a line each, however short it is."""

    value: Any  # Any: as a filter got it; written by `literal`


@dataclass(frozen=True, slots=True)
class Markdown:
    """Text that is Markdown already; `source` is the variable it was made of."""

    text: str
    source: str = ""


def literal(value: Any, *, depth: int = 0) -> str:  # Any: whatever a template names; what has no literal is refused
    """The value as Python source on one line. Raises ValueError for what cannot be written so."""
    if depth > DEEPEST:
        raise ValueError(f"a value of more than {DEEPEST} levels cannot be written as a literal")
    match value:
        case None | bool():
            return repr(value)
        case int():
            if value.bit_length() > 3 * _MOST_DIGITS:
                raise ValueError("the integer is too long to be written")
            return repr(value)
        case float():
            return repr(value) if math.isfinite(value) else f'float("{value}")'
        case str():
            return quoted(value)
        case list():
            return f"[{', '.join(literal(each, depth=depth + 1) for each in value)}]"
        case tuple():
            inner = ", ".join(literal(each, depth=depth + 1) for each in value)
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        case dict():
            pairs = (f"{literal(k, depth=depth + 1)}: {literal(v, depth=depth + 1)}" for k, v in value.items())
            return f"{{{', '.join(pairs)}}}"
        case _:
            raise ValueError(f"a {type(value).__name__} cannot be written as a Python literal")


def quoted(text: str) -> str:
    """A string literal, in double quotes where that needs no escaping."""
    plain = repr(text)
    return plain if '"' in text or plain[0] == '"' else f'"{plain[1:-1]}"'


def wrapped(value: Any, indent: str, *, one_per_line: bool = False) -> str:  # Any: see literal
    """A collection over several lines, as it stands in a line that is indented by `indent`; else its literal."""
    if not is_collection(value) or not value:
        return literal(value)
    brackets = "{}" if isinstance(value, dict) else "[]" if isinstance(value, list) else "()"
    inner = indent + "    "
    if isinstance(value, dict):
        items = [f"{literal(key)}: {_fitting(each, inner)}," for key, each in value.items()]
    else:
        items = [f"{_fitting(each, inner)}," for each in value]
    plain = not isinstance(value, dict) and not any(isinstance(each, list | tuple | dict) for each in value)
    lines = _filled(items, inner) if plain and not one_per_line else [inner + item for item in items]
    return "\n".join([brackets[0], *lines, indent + brackets[1]])


def _fitting(value: Any, indent: str) -> str:
    short = literal(value)
    return short if len(indent) + len(short) < WIDTH else wrapped(value, indent)


def _filled(items: list[str], indent: str) -> list[str]:
    """As many items in each line as the width allows."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + 1 + len(item) <= WIDTH:
            lines[-1] += f" {item}"
        else:
            lines.append(indent + item)
    return lines


def inside_string(value: Any, quote: str, *, braces: bool) -> str:
    """The value as text inside a string literal of this quote; `braces`: inside an f-string."""
    text = _text(value)
    escaped = "".join(_escaped(each, quote) for each in text)
    return escaped.replace("{", "{{").replace("}", "}}") if braces else escaped


def inside_comment(value: Any) -> str:
    """The value as text that stays in its comment."""
    text = _text(value)
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def _text(value: Any) -> str:
    if isinstance(value, Bare):
        return value.text
    return value if isinstance(value, str) else literal(value)


def _escaped(character: str, quote: str) -> str:
    if character in ("\\", quote):
        return "\\" + character
    return character if character.isprintable() else repr(character)[1:-1]


def plain(value: Any) -> str:  # Any: see literal
    """The value as a reader expects it in a sentence, on one line."""
    match value:
        case str():
            text = value
        case Markdown() | Bare():
            text = value.text
        case float() if not isinstance(value, bool):
            text = _number(value)
        case list() | tuple():
            text = ", ".join(plain(each) for each in value)
        case _:
            text = literal(value)
    return " ".join("".join(each if each.isprintable() else " " for each in text).split(" "))


def _number(value: float) -> str:
    if not math.isfinite(value):
        return NOT_A_NUMBER
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.6g}" if abs(value) < 1e6 else f"{value:.1f}"


def markdown(value: Any, *, line_start: bool, in_table: bool) -> str:  # Any: see literal
    """The value as Markdown that shows it and does nothing else."""
    if isinstance(value, Markdown):
        return value.text.replace("|", "\\|") if in_table else value.text
    escaped = _MARKUP.sub(lambda found: "\\" + found[0], plain(value))
    if line_start:
        # Four spaces would begin a block of code.
        escaped = escaped.lstrip(" ")
    if line_start and isinstance(value, str) and (start := _LIST_START.match(escaped)):
        number = start["number"]
        return f"{number}\\{escaped[len(number) :]}" if number else "\\" + escaped
    return escaped


def code_span(value: Any) -> str:  # Any: see literal
    """The value as a code span, whatever backticks it holds."""
    text = plain(value).strip() or " "
    fence = "`" * (max((len(run) for run in _BACKTICKS.findall(text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def code_text(value: Any, *, in_table: bool) -> str:  # Any: see literal
    """The value as text inside a code span that the template opens and closes."""
    text = plain(value).replace("`", "'")
    return text.replace("|", "\\|") if in_table else text


def is_collection(value: object) -> bool:
    """Whether the value has a literal that can be wrapped."""
    return isinstance(value, list | tuple | dict)
