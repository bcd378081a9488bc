"""What a model is asked to answer with, and what is made of it. Few fields: a small model fills them as well."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from notebook_bcc.planners.llm.chat import Schema
from notebook_bcc.planners.llm.scanner import BadObject, Scanned, Scanner
from notebook_bcc.protocol.actions import LAST_ADDED_CELL

LONGEST_TEXT: Final = 1_500
LONGEST_CODE: Final = 6_000
MOST_ACTIONS: Final = 8

Action = Mapping[str, Any]  # Any: an action as the protocol writes it


def _closed(**fields: object) -> dict[str, object]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


GENERATE: Final[Schema] = _closed(
    actions={
        "type": "array",
        "minItems": 1,
        "maxItems": MOST_ACTIONS,
        "items": _closed(kind={"enum": ["text", "code"]}, content={"type": "string", "maxLength": LONGEST_CODE}),
    }
)
JUDGE: Final[Schema] = _closed(
    achieved={"type": "boolean"},
    reason={"type": "string", "maxLength": 300},
    focus={"type": "string", "maxLength": 300},
)
REPAIR: Final[Schema] = _closed(code={"type": "string", "maxLength": LONGEST_CODE})

_FENCE = re.compile(r"\A\s*```[\w+-]*[ \t]*\n(.*?)\n?```\s*\Z", re.DOTALL)
# A shell or an installer in a cell: not what a plan asks for.
_SHELL = re.compile(r"^\s*(?:!|%(?:pip|conda|sx|system)\b|%%(?:bash|sh|script)\b)", re.MULTILINE)
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
    """What a model thinks of a behavior."""

    achieved: bool
    reason: str
    focus: str


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
            return Judgement(achieved, _short(found.get("reason")), _short(found.get("focus")))
    return None


def code_of(text: str) -> str | None:
    """The source in an answer; a fenced block will do where there is no object."""
    for found in _objects(text):
        code = found.get("code", found.get("content"))
        if isinstance(code, str) and code.strip():
            return None if _SHELL.search(bare(code)) else bare(code)
    fenced = re.search(r"```(?:python)?[ \t]*\n(.*?)\n```", text, re.DOTALL)
    return fenced[1] if fenced and not _SHELL.search(fenced[1]) else None


def bare(content: str) -> str:
    """The content without the fence that models like to put around it."""
    fenced = _FENCE.match(content)
    return fenced[1] if fenced else content


def _objects(text: str) -> list[dict[str, Any]]:
    scanner = Scanner(envelope=None)
    return [one for one in (*scanner.feed(text), *scanner.finish()) if not isinstance(one, BadObject)]


def _short(value: object) -> str:
    return " ".join(value.split())[:300] if isinstance(value, str) else ""
