"""Puts values into the holes of a rendered template, each as its place demands.

A template is rendered with a hole for every value. Only then is it known where each stands: in code it becomes a
literal, in a string or a comment text that cannot end it. What would join a value to a name or an escape is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from notebook_bcc.playbook.templates.tracing import Comparative, source_of
from notebook_bcc.playbook.templates.values import (
    WIDTH,
    Bare,
    Markdown,
    OnePerLine,
    code_text,
    inside_comment,
    inside_string,
    is_collection,
    literal,
    markdown,
    plain,
    wrapped,
)

# Neither a template nor a hole's number can hold this character.
HOLE = "\x00"
# Below this a literal stays on its line, even on a long one.
_WORTH_WRAPPING = 40
_HOLE = re.compile(rf"{HOLE}(\d+){HOLE}")
_TOKEN = re.compile(
    rf"""(?P<comment>\#[^\n]*)
    |(?P<string>(?P<prefix>(?<!\w)[bBfFrRuU]{{1,2}})?
        (?<!\\)(?:(?P<triple>\"\"\"|''')(?P<long>(?:\\.|(?!(?P=triple))[^\\])*)(?P=triple)
          |(?P<quote>["'])(?P<short>(?:\\.|(?!(?P=quote))[^\\\n])*)(?P=quote)))
    |(?P<hole>{HOLE}\d+{HOLE})""",
    re.VERBOSE | re.DOTALL,
)
_LINE_START = re.compile(r"[\s>*+-]*(?:\d{1,9}[.)]\s+)?")
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})[ ]*(\w*)")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){3,}")
_NOTED = re.compile(rf"{HOLE}(\d+){HOLE}([^{HOLE}]*){HOLE}")
_DIGIT = re.compile(r"\d")

Values = Sequence[Any]  # Any: what the template named, written by values.py


@dataclass(frozen=True, slots=True)
class Written:
    """A finished text, and for each number or comparative in it that came from the facts: its words, what it came
    from, where it begins and ends."""

    text: str
    notes: tuple[tuple[str, str, int, int], ...] = ()


def place_in_cell(text: str, values: Values) -> Written:
    """The finished source of a cell. Raises ValueError where a value cannot stand."""
    return Written(_code(text, values))


def _code(text: str, values: Values) -> str:
    lines = _TOKEN.sub(lambda found: _token(found, values), text).split("\n")
    return _tidy("\n".join(_code_line(line, values) for line in lines))


def place_in_prose(text: str, values: Values) -> Written:
    """The finished Markdown of a text. A fenced block of Python is written like a cell."""
    done: list[str] = []
    block: list[str] = []
    fence = ""
    for line in text.split("\n"):
        if not fence:
            done.append(_prose_line(line, values))
            found = _FENCE.match(line)
            fence, python = (found[1], found[2].startswith("py")) if found else ("", False)
        elif line.strip() == fence:
            done += [_block("\n".join(block), values, python=python), line] if block else [line]
            block, fence = [], ""
        else:
            block.append(line)
    return _written(_tidy("\n".join([*done, *block])), values)


def place_plainly(text: str, values: Values) -> Written:
    """The finished text of a goal or a name: one line, without any markup."""
    return _written(" ".join(_block(text, values, python=False).split()), values)


def _written(text: str, values: Values) -> Written:
    """The text without the marks around what is to be noted, and the notes."""
    notes: list[tuple[str, str, int, int]] = []
    removed = 0
    for found in _NOTED.finditer(text):
        start = found.start() - removed
        removed += len(found[0]) - len(found[2])
        notes.append((found[2], source_of(values[int(found[1])]), start, start + len(found[2])))
    return Written(_NOTED.sub(lambda found: found[2], text), tuple(notes))


def _marked(hole: re.Match[str], value: Any, text: str) -> str:
    """The value's text, marked where it is to be noted; the tidying of the lines cannot move it away from its mark."""
    noted = isinstance(value, Comparative) or (_DIGIT.search(text) and source_of(value))
    return f"{HOLE}{hole[1]}{HOLE}{text}{HOLE}" if noted else text


def _token(found: re.Match[str], values: Values) -> str:
    if HOLE not in found[0]:
        return found[0]
    try:
        return _filled(found, values)
    except (ValueError, TypeError) as error:
        start = found.string.rfind("\n", 0, found.start()) + 1
        line = _HOLE.sub("{{...}}", found.string[start:].split("\n")[0]).strip()
        raise ValueError(f"{error}: {line}") from error


def _filled(found: re.Match[str], values: Values) -> str:
    """The token with its holes filled; in code they stay for later, when the length of the line is known."""
    if found["hole"] is not None:
        _check_neighbours(found, values)
        return found[0]
    if found["comment"] is not None:
        return _HOLE.sub(lambda hole: inside_comment(_unwrapped(values[int(hole[1])])), found[0])
    prefix = (found["prefix"] or "").lower()
    quote = found["triple"] or found["quote"]
    body = found["long"] if found["triple"] else found["short"]
    if "r" in prefix:
        raise ValueError("a value cannot stand in a raw string; put it beside the string")
    return f"{found['prefix'] or ''}{quote}{_string(body, quote, values, braces='f' in prefix)}{quote}"


def _string(body: str, quote: str, values: Values, *, braces: bool) -> str:
    def text(hole: re.Match[str]) -> str:
        before = body[: hole.start()]
        if (len(before) - len(before.rstrip("\\"))) % 2:
            raise ValueError("a value cannot stand behind a backslash")
        if braces and _inside_braces(before):
            raise ValueError("a value cannot stand inside the braces of an f-string; give it a name first")
        return inside_string(_unwrapped(values[int(hole[1])]), quote[0], braces=braces)

    return _HOLE.sub(text, body)


def _inside_braces(text: str) -> bool:
    rest = text.replace("{{", "").replace("}}", "")
    return rest.count("{") > rest.count("}")


def _check_neighbours(found: re.Match[str], values: Values) -> None:
    if isinstance(values[int(found[0].strip(HOLE))], Bare):
        return
    text = found.string
    before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
    # `f{{ x }}` would be an f-string made of data.
    if any(each and (each.isalnum() or each in "_\\") for each in (before, after)):
        raise ValueError("a value cannot be joined to a name or a number; put a space or an operator between them")


def _code_line(line: str, values: Values) -> str:
    if HOLE not in line:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    short = _HOLE.sub(lambda found: _short(found, values), line)
    wanted = any(isinstance(values[int(found[1])], OnePerLine) for found in _HOLE.finditer(line))
    if len(short) <= WIDTH and not wanted:
        return short
    return _HOLE.sub(lambda found: _long(found, values, indent, line_is_long=len(short) > WIDTH), line)


def _short(found: re.Match[str], values: Values) -> str:
    value = _unwrapped(values[int(found[1])])
    if isinstance(value, Bare):
        return value.text
    text = literal(value)
    # `-1 ** 2` and `1.real` are not what the value means.
    follows = found.string[found.end() :].lstrip(" ")
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"({text})" if number and follows.startswith(("**", ".")) else text


def _long(found: re.Match[str], values: Values, indent: str, *, line_is_long: bool) -> str:
    value = values[int(found[1])]
    if isinstance(value, OnePerLine):
        return wrapped(value.value, indent, one_per_line=True)
    if line_is_long and is_collection(value) and len(literal(value)) > _WORTH_WRAPPING:
        return wrapped(value, indent)
    return _short(found, values)


def _prose_line(line: str, values: Values) -> str:
    if HOLE not in line:
        return line
    in_table = line.lstrip().startswith("|")

    def text(found: re.Match[str]) -> str:
        value, before = values[int(found[1])], line[: found.start()]
        if before.count("`") % 2 and "`" in line[found.end() :]:
            return _marked(found, value, code_text(value, in_table=in_table))
        shown = markdown(value, line_start=_LINE_START.fullmatch(before) is not None, in_table=in_table)
        return _marked(found, value, shown)

    return _HOLE.sub(text, line)


def _block(text: str, values: Values, *, python: bool) -> str:
    if python:
        return _code(text, values)
    return _HOLE.sub(lambda found: _marked(found, values[int(found[1])], plain(values[int(found[1])])), text)


def _unwrapped(value: Any) -> Any:  # Any: see Values
    if isinstance(value, Markdown):
        raise TypeError("text for a reader cannot stand in a cell; leave the last filter out")
    return value.value if isinstance(value, OnePerLine) else value


def _tidy(text: str) -> str:
    return _BLANK_LINES.sub("\n\n\n", text).strip("\n").rstrip()
