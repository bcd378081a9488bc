"""What a model is asked to answer with, and what is made of it. Few fields: a small model fills them as well."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from notebook_bcc.llm.chat import Schema
from notebook_bcc.llm.stream.scanner import BadObject, Scanned, Scanner
from notebook_bcc.protocol.actions import LAST_ADDED_CELL

LONGEST_TEXT: Final = 1_500
LONGEST_CODE: Final = 6_000
MOST_ACTIONS: Final = 8
MOST_TEXTS: Final = 3
MOST_NAMES: Final = 6

Action = Mapping[str, Any]  # Any: an action as the protocol writes it


def _closed(**fields: object) -> dict[str, object]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def generate_schema(*, prose: bool = False, longest: int = LONGEST_CODE) -> Schema:
    """What the actions of a behavior look like; with `prose` only texts. `longest` is in characters."""
    kinds = ["text"] if prose else ["text", "code"]
    content = {"type": "string", "maxLength": min(longest, LONGEST_TEXT if prose else LONGEST_CODE)}
    most = MOST_TEXTS if prose else MOST_ACTIONS
    items = _closed(kind={"enum": kinds}, content=content)
    return _closed(actions={"type": "array", "minItems": 1, "maxItems": most, "items": items})


def judge_schema(*, steps: Sequence[str] = (), variables: bool = False) -> Schema:
    """What a judgement looks like. `steps` are those that it may leave out or add; with `variables` it may say which
    ones the next part shall see."""
    fields: dict[str, object] = {
        "achieved": {"type": "boolean"},
        "reason": {"type": "string", "maxLength": 300},
        "focus": {"type": "string", "maxLength": 300},
    }
    if variables:
        name = {"type": "string", "maxLength": 60}
        fields["look_at"] = {"type": "array", "maxItems": MOST_NAMES, "items": name}
    if steps:
        chosen = {"type": "array", "maxItems": MOST_NAMES, "items": {"enum": list(steps)}}
        fields |= {"skip": chosen, "add": chosen}
    return _closed(**fields)


REPAIR: Final[Schema] = _closed(code={"type": "string", "maxLength": LONGEST_CODE})

_FENCE = re.compile(r"\A\s*```[\w+-]*[ \t]*\n(.*?)\n?```\s*\Z", re.DOTALL)
# A shell or an installer in a cell: not what a plan asks for.
_SHELL = re.compile(r"^[^\S\n]*(?:!|%(?:pip|conda|sx|system)\b|%%(?:bash|sh|script)\b)", re.MULTILINE)
_KINDS = {
    "text": "text",
    "markdown": "text",
    "dialogue": "text",
    "observation": "text",
    "code": "code",
    "action": "code",
}


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing a model wrote for the notebook: its actions, and the code or the text in them."""

    actions: tuple[Action, ...]
    code: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a model thinks of a behavior, and what it proposes: variables that the next part shall see, steps of the
    stage to leave out or to add."""

    achieved: bool
    reason: str
    focus: str
    look_at: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    add: tuple[str, ...] = ()


def piece_of(found: Scanned) -> Piece | str:
    """The actions of one object, or what is wrong with it. The protocol's own spelling is understood as well."""
    if isinstance(found, BadObject):
        return str(found)
    named = found.get("kind", found.get("shot_type", found.get("type", "")))
    kind = _KINDS.get(named) if isinstance(named, str) else None
    content = found.get("content")
    if kind is None or not isinstance(content, str):
        return f"an object has no kind and content: its fields are {', '.join(map(repr, list(found)[:6]))}"
    content = bare(content)
    if not content.strip():
        return f"a {kind} is empty"
    if len(content) > (LONGEST_CODE if kind == "code" else LONGEST_TEXT):
        return f"a {kind} is too long: {len(content)} characters"
    if kind == "text":
        return Piece(({"action": "add", "shot_type": "dialogue", "content": content},), text=content)
    if _SHELL.search(content):
        return "a cell calls a shell or an installer, which is not allowed"
    add = {"action": "add", "shot_type": "action", "content": content}
    run = {"action": "exec", "codecell_id": LAST_ADDED_CELL, "auto_debug": True}
    return Piece((add, run), code=content)


def judgement_of(text: str) -> Judgement | None:
    """The judgement in an answer; None: there is none."""
    for found in _objects(text):
        achieved = found.get("achieved")
        if isinstance(achieved, bool):
            return Judgement(
                achieved,
                _short(found.get("reason")),
                _short(found.get("focus")),
                look_at=_names(found.get("look_at")),
                skip=_names(found.get("skip")),
                add=_names(found.get("add")),
            )
    return None


def code_of(text: str) -> str | None:
    """The source in an answer; a fenced block will do where there is no object."""
    for found in _objects(text):
        code = found.get("code", found.get("content"))
        if isinstance(code, str) and code.strip():
            return None if _SHELL.search(bare(code)) else bare(code)
    # In two steps: a fence that is never closed would be looked for again from every other one.
    fence = re.search(r"```(?:python)?[ \t]*\n", text)
    end = text.find("\n```", fence.end()) if fence else -1
    fenced = text[fence.end() : end] if fence and end >= 0 else ""
    return fenced if fenced and not _SHELL.search(fenced) else None


def bare(content: str) -> str:
    """The content without the fence that models like to put around it."""
    fenced = _FENCE.match(content)
    return fenced[1] if fenced else content


def _objects(text: str) -> list[dict[str, Any]]:
    scanner = Scanner(envelope=None)
    return [one for one in (*scanner.feed(text), *scanner.finish()) if not isinstance(one, BadObject)]


def _names(value: object) -> tuple[str, ...]:
    found = value if isinstance(value, list) else []
    return tuple(one[:100] for one in found if isinstance(one, str) and one)[:MOST_NAMES]


def _short(value: object) -> str:
    return " ".join(value.split())[:300] if isinstance(value, str) else ""
