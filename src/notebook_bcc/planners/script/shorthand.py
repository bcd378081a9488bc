"""The short forms of actions that are pleasant to write by hand, and the actions they stand for.

`- text: ...` is an `add`; `- code: ...` an `add` and an `exec`; `- think: ...` a thinking cell, opened and closed. Each
is a mapping with one word that says what it is, and beside it the options of that word.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import BaseModel

from notebook_bcc.errors import ActionMalformed, MessageInvalid
from notebook_bcc.planners.interface import StreamWarning
from notebook_bcc.planners.script.values import ScriptedAction
from notebook_bcc.protocol.actions import BUILTIN_ACTIONS, LAST_ADDED_CELL, parse_action
from notebook_bcc.protocol.cells import (
    ABSTRACT,
    ABSTRACT_PARTS,
    BARS,
    CELL_ID,
    FOLDED,
    FORMER_REPLACES,
    NUMBERS,
    ONCE,
    PROBE,
    REPLACES,
    TAGS,
    Bar,
)
from notebook_bcc.protocol.workflow import Step

_REPLACING = (REPLACES, FORMER_REPLACES)
# What stands on a folded thought.
LABEL: Final = "label"

Problem = tuple[str, str]
Values = Mapping[str, Any]  # Any: as the file has it; every form checks what it uses


@dataclass(frozen=True, slots=True)
class Expanded:
    """The actions that a list of short forms stands for, and the repairs written beside its cells."""

    actions: tuple[ScriptedAction, ...] = ()
    repairs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


# The steps of each stage by id, those included that only a change of the plan brings.
StepsOf = Mapping[str, Mapping[str, Step]]


@dataclass(frozen=True, slots=True)
class _Form:
    """What a word makes of its item (in a stage of these steps), and the options that may stand beside it."""

    expand: Callable[[Values, StepsOf, str], Iterable[ScriptedAction]]
    options: tuple[str, ...] = ()


def expand(items: Sequence[Any], *, steps: StepsOf, stage_id: str) -> Expanded:  # Any: as the file has it
    """All items in order. Raises MessageInvalid with the problem of every item that cannot be read."""
    actions: list[ScriptedAction] = []
    repairs: dict[str, tuple[str, ...]] = {}
    problems: list[Problem] = []
    for index, item in enumerate(items):
        try:
            form = _form_of(item)
            actions += form.expand(item, steps, stage_id)
            if "repairs" in item:
                repairs[item["id"]] = _texts(item, "repairs")
        except MessageInvalid as error:
            problems += [(f"{index}.{path}" if path else str(index), problem) for path, problem in error.problems]
    if problems:
        raise _invalid(problems)
    return Expanded(tuple(actions), repairs)


def unknown_fields(value: Any, path: str = "") -> Iterable[Problem]:  # Any: any part of a message
    """Fields that a message keeps because a newer peer may know them; in a file they are slips of the pen."""
    if isinstance(value, BaseModel):
        known = list(type(value).model_fields)
        for name in value.model_extra or {}:
            yield _under(path, name), unknown(name, known)
        for name in value.model_fields_set & set(known):
            yield from unknown_fields(getattr(value, name), _under(path, name))
    elif isinstance(value, tuple):
        for index, each in enumerate(value):
            yield from unknown_fields(each, _under(path, str(index)))


def unknown(name: str, known: Sequence[str]) -> str:
    """What is said about a word that is not one of those that may stand there."""
    close = difflib.get_close_matches(name, known, 1)
    return f"unknown key; did you mean {close[0]!r}?" if close else f"unknown key; known here: {', '.join(known)}"


def _form_of(item: Any) -> _Form:
    if not isinstance(item, dict):
        raise _invalid([("", f"an action is a mapping such as `text: ...`, not {type(item).__name__}")])
    heads = [name for name in item if name in _FORMS]
    if len(heads) != 1:
        problem = f"{heads[0]!r} and {heads[1]!r} cannot be one action" if heads else "no word says what this is"
        raise _invalid([("", f"{problem}; use one of: {', '.join(_FORMS)}")])
    form = _FORMS[heads[0]]
    strange = [name for name in item if name not in form.options and name != heads[0]]
    if strange:
        raise _invalid([(name, unknown(name, [heads[0], *form.options])) for name in strange])
    return form


def _text(item: Values, name: str) -> str:
    value = item[name]
    if not isinstance(value, str) or not value.strip():
        raise _invalid([(name, "a text is needed here; put it in quotes if it looks like a number")])
    return value.rstrip("\n")


def _texts(item: Values, name: str) -> tuple[str, ...]:
    value = item[name]
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise _invalid([(name, "a list of texts is needed here")])
    return tuple(each.rstrip("\n") for each in value)


def _flag(item: Values, name: str, default: bool) -> bool:
    value = item.get(name, default)
    if not isinstance(value, bool):
        raise _invalid([(name, "true or false is needed here")])
    return value


def _cell_id(item: Values, name: str) -> dict[str, str]:
    if name not in item:
        return {}
    value = _text(item, name)
    if not CELL_ID.fullmatch(value):
        raise _invalid([(name, "a cell's id is 1 to 64 letters, digits, '-' or '_'")])
    return {"store_id": value}


def _add(item: Values, head: str, shot_type: str, flag: str = "") -> dict[str, Any]:
    """The cell; `flag` is the one remark about its appearance that may stand beside it."""
    made = {"action": "add", "content": _text(item, head), "shot_type": shot_type, **_cell_id(item, "id")}
    extra: dict[str, Any] = {flag: True} if flag not in ("", ABSTRACT) and _flag(item, flag, False) else {}
    if flag == ABSTRACT:
        extra |= _abstract(item)
    if PROBE in item:
        extra[PROBE] = _text(item, PROBE)
    # The former name goes on as it is: a run that was begun with it gets the same actions after a stop.
    extra |= {name: list(_texts(item, name)) for name in _REPLACING if name in item}
    metadata: dict[str, Any] = {"extra": extra} if extra else {}
    if TAGS in item:
        metadata[TAGS] = list(_texts(item, TAGS))
    if _flag(item, ONCE, False):
        metadata[ONCE] = True
    return {**made, "metadata": metadata} if metadata else made


def _abstract(item: Values) -> dict[str, Any]:
    """What makes a text stand at the head of a report: in which part, and the bars beside it."""
    part = item.get(ABSTRACT, False)
    if not isinstance(part, bool) and part not in ABSTRACT_PARTS:
        raise _invalid([(ABSTRACT, f"true, false or one of {', '.join(ABSTRACT_PARTS)} is needed here")])
    bars = item.get(BARS, [])
    if not isinstance(bars, list) or any(Bar.read(one) is None for one in bars):
        raise _invalid([(BARS, "a list of [label, length from 0 to 1, value in words] is needed here")])
    noted = {NUMBERS: item[NUMBERS]} if item.get(NUMBERS) else {}
    return {**({ABSTRACT: part} if part else {}), **({BARS: bars} if bars else {}), **noted}


def _run(item: Values, cell_id: str) -> dict[str, Any]:
    options = {"need_output": _flag(item, "need_output", True), "auto_debug": _flag(item, "debug", False)}
    changed = {name: value for name, value in options.items() if value != (name == "need_output")}
    return {"action": "exec", "codecell_id": cell_id, **changed}


def _code(item: Values, steps: StepsOf, stage_id: str) -> Iterable[ScriptedAction]:
    if "repairs" in item and "id" not in item:
        raise _invalid([("repairs", "a cell that has repairs needs an `id`")])
    yield _add(item, "code", "action", FOLDED)
    if _flag(item, "run", True):
        yield _run(item, LAST_ADDED_CELL)


def _exec(item: Values, steps: StepsOf, stage_id: str) -> Iterable[ScriptedAction]:
    yield _run(item, _text(item, "exec"))


def _think(item: Values, steps: StepsOf, stage_id: str) -> Iterable[ScriptedAction]:
    words: dict[str, Any] = {"thinking_text": _text(item, "think")}
    if "agent" in item:
        words["agent_name"] = _text(item, "agent")
    if LABEL in item:
        words["custom_text"] = _text(item, LABEL)
    if item.get(NUMBERS):
        words["metadata"] = {"extra": {NUMBERS: item[NUMBERS]}}
    yield {"action": "is_thinking", **words}
    yield {"action": "finish_thinking"}


def _steps(item: Values, steps: StepsOf, stage_id: str) -> Iterable[ScriptedAction]:
    stage = _text(item, "stage") if "stage" in item else stage_id
    if stage not in steps:
        raise _invalid([("stage", f"the script has no stage {stage!r}; it has: {', '.join(steps)}")])
    wanted, known = _texts(item, "steps"), steps[stage]
    strange = [name for name in wanted if name not in known]
    if strange or not wanted:
        missing = ", ".join(map(repr, strange)) or "nothing"
        raise _invalid([("steps", f"stage {stage!r} has {', '.join(known)}; the list names {missing}")])
    updated = [known[name].to_dict() for name in wanted]
    yield {"action": "update_stage_steps", "stage_id": stage, "updated_steps": updated}


def _action(item: Values, steps: StepsOf, stage_id: str) -> Iterable[ScriptedAction]:
    try:
        action = parse_action(item["action"])
    except ActionMalformed as error:
        raise _invalid([(_under("action", path), problem) for path, problem in error.problems]) from error
    slips = list(unknown_fields(action, "action")) if action.action in BUILTIN_ACTIONS else []
    if slips:
        raise _invalid([(path, f"{problem} `raw` sends it as it is") for path, problem in slips])
    yield item["action"]


def _raw(item: Values, steps: StepsOf, stage_id: str) -> Iterable[ScriptedAction]:
    yield item["raw"]


def _warning(item: Values, steps: StepsOf, stage_id: str) -> Iterable[ScriptedAction]:
    yield StreamWarning(_text(item, "warning"))


def _adding(head: str, shot_type: str) -> _Form:
    return _Form(
        lambda item, steps, stage_id: [_add(item, head, shot_type, ABSTRACT)],
        ("id", ABSTRACT, BARS, NUMBERS, *_REPLACING),
    )


def _heading(head: str, action: str, field_name: str) -> _Form:
    return _Form(lambda item, steps, stage_id: [{"action": action, field_name: _text(item, head)}])


def _under(path: str, name: str) -> str:
    return f"{path}.{name}".strip(".")


def _invalid(problems: Sequence[Problem]) -> MessageInvalid:
    return MessageInvalid(what="The list of actions", problems=problems)


_FORMS: Mapping[str, _Form] = {
    "text": _adding("text", "dialogue"),
    "observe": _adding("observe", "observation"),
    "code": _Form(_code, ("id", "run", "debug", "need_output", "repairs", FOLDED, PROBE, *_REPLACING, TAGS, ONCE)),
    "exec": _Form(_exec, ("debug", "need_output")),
    "chapter": _heading("chapter", "new_chapter", "content"),
    "section": _heading("section", "new_section", "content"),
    "title": _heading("title", "update_title", "title"),
    "think": _Form(_think, ("agent", LABEL, NUMBERS)),
    "steps": _Form(_steps, ("stage",)),
    "action": _Form(_action),
    "raw": _Form(_raw),
    "warning": _Form(_warning),
}
