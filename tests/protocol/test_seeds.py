"""Every JSON example of the seed documents, read from them where they are present.

The documents abbreviate: comments, `{...}`, `true/false`. What stands for something is filled with the least that says
the same; what only a reader could fill in (a location that is one comment) must be refused with its path.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.protocol.actions import parse_action
from notebook_bcc.protocol.dialects import request_from_v1, request_to_v1, response_from_v1, response_to_v1
from notebook_bcc.protocol.message import Message
from notebook_bcc.protocol.messages import ContextFilter, GeneratingResponse, PlanningResponse, Request
from notebook_bcc.protocol.ndjson import LineDecoder
from notebook_bcc.protocol.observation import Context, Current, Goals, Progress
from notebook_bcc.protocol.schemas import message_schemas
from seeds.pages import HASHES, documents, page

BLOCK = re.compile(r"^ *```json\n(.*?)^ *```", re.M | re.S)
COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.S)
STRING = re.compile(r'("(?:[^"\\]|\\.)*")')
# Members whose value in the documents is only a placeholder, and whose real form has required fields.
OUTLINED = ("workflow_update", "stage_steps_update", "todo_list_update")


def examples() -> list[tuple[str, str]]:
    """(document and line, example) of every block, comments and placeholders taken out."""
    found = []
    for name, text in documents().items():
        for block in BLOCK.finditer(text):
            line = text.count("\n", 0, block.start()) + 1
            found.append((f"{name}:{line}", cleaned(block[1])))
    return found


def cleaned(text: str) -> str:
    parts = STRING.split(COMMENT.sub(lambda match: match[1] or "", text))
    for index, part in enumerate(parts):
        if not part.startswith('"'):
            parts[index] = re.sub(r"\.\.\.|^POST .*$", "", part, flags=re.M).replace("true/false", "true")
    return "".join(parts).strip()


def values_of(text: str) -> list[Any]:
    """The JSON values of a block: one, a member without its object, or several in a row."""
    if text.startswith('"'):
        text = "{" + text + "}"
    values, decoder = [], json.JSONDecoder(object_hook=without_outlines)
    while text := text.strip():
        value, end = decoder.raw_decode(text)
        values.append(value)
        text = text[end:]
    return values


def without_outlines(value: dict[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in value.items() if one != {} or name not in OUTLINED}


@cache
def schemas() -> dict[str, Draft202012Validator]:
    return {name: Draft202012Validator(schema) for name, schema in message_schemas().items()}


def leaves(value: Any) -> Counter[str]:
    if isinstance(value, dict):
        return sum((leaves(one) for one in value.values()), Counter())
    if isinstance(value, list):
        return sum((leaves(one) for one in value), Counter())
    return Counter() if value is None else Counter([str(value).casefold()])


def read(model: type[Message], data: Any) -> None:
    """It parses, loses nothing, comes back equal, and its schema takes it when there is one."""
    message = model.parse(data)
    written = message.to_dict()

    assert not leaves(data) - leaves(written), "something was lost"
    assert model.parse(message.to_json()) == message
    if schema := schemas().get(model.__name__):
        schema.validate(data)
        schema.validate(written)


def read_action(data: Any) -> None:
    action = parse_action(data)

    assert not leaves(data) - leaves(action.to_dict())
    assert parse_action(action.to_dict()) == action
    schemas()["Action"].validate(data)


def read_request(data: Any) -> None:
    location = data["observation"]["location"]
    missing = [part for part in ("current", "progress") if part not in location]
    if "current_stage_id" in location:
        assert not leaves(data) - leaves(request_to_v1(request_from_v1(data)))
    elif missing:
        with pytest.raises(MessageInvalid) as caught:
            Request.parse(data)
        assert [path for path, _ in caught.value.problems] == [f"observation.location.{part}" for part in missing]
    else:
        read(Request, data)


def read_response(data: Any) -> None:
    if "metadata" in data:
        assert not leaves(data) - leaves(response_to_v1(*response_from_v1(data)))
    else:
        read(PlanningResponse, data)


def read_lines(data: Any) -> None:
    assert LineDecoder().feed(json.dumps(data).encode() + b"\n") == [data["action"]]
    schemas()["ActionLine"].validate(data)
    read_action(data["action"])


def read_actions(data: Any) -> None:
    read(GeneratingResponse, {"actions": data["actions"]})
    for action in data["actions"]:
        read_action(action)


# The first key found decides what an example is.
KINDS: dict[str, Callable[[Any], None]] = {
    "observation": read_request,
    "behavior": read_response,
    "targetAchieved": read_response,
    "context_update": read_response,
    "actions": read_actions,
    "action": lambda data: read_lines(data) if isinstance(data["action"], dict) else read_action(data),
    "current": lambda data: read(Current, data["current"]),
    "stage_id": lambda data: read(Current, data),
    "goals": lambda data: read(Goals, data["goals"]),
    **dict.fromkeys(("stages", "steps", "behaviors"), lambda data: read(Progress, data)),
    **dict.fromkeys(("variables", "effects", "notebook", "FSM"), lambda data: read(Context, data)),
    **dict.fromkeys(ContextFilter.model_fields, lambda data: read(ContextFilter, data)),
}


def check(value: Any) -> None:
    if isinstance(value, list):
        for one in value:
            check(one)
        return
    if "observation" in value and not value["observation"]["location"].get("current", True):
        value["observation"]["location"].pop("progress")  # an outline: every part is a placeholder
        value["observation"]["location"].pop("current")
    kind = next(kind for kind in KINDS if kind in value)
    KINDS[kind](value)


def test_the_examples_of_all_five_documents_are_found() -> None:
    assert all(page(name) for name in HASHES)
    assert {name[:3] for name, _ in examples()} == {"000", "001", "002", "003", "004"}
    assert len(examples()) > 50


@pytest.mark.parametrize(
    ("name", "text"),
    examples() or [pytest.param("", "", marks=pytest.mark.skip("no document is here: its examples were NOT read"))],
)
def test_an_example_of_the_seeds_is_read_and_written_again(name: str, text: str) -> None:
    values = values_of(text)

    assert values, f"nothing was found at {name}"
    for value in values:
        check(value)
