"""The schemas take what the models take, and the files in docs/ are those of today's models."""

from __future__ import annotations

import json
import re
import runpy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from notebook_bcc.protocol.actions import parse_action
from notebook_bcc.protocol.message import Message
from notebook_bcc.protocol.messages import ActionLine
from notebook_bcc.protocol.schemas import MESSAGES, message_schemas

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = re.compile(r"^```json (\w+)\n(.*?)^```", re.M | re.S)
MODELS = {model.__name__: model for model in MESSAGES}


@cache
def schemas() -> dict[str, Draft202012Validator]:
    return {name: Draft202012Validator(schema) for name, schema in message_schemas().items()}


def doc_examples() -> list[Any]:
    """(page and message, example) of every named block in our own protocol documents."""
    found = []
    for page in ("messages", "actions", "observation"):
        text = (DOCS / "protocol" / f"{page}.md").read_text(encoding="utf-8")
        for name, block in EXAMPLE.findall(text):
            several = name in ("Action", "ActionLine")
            values = [json.loads(line) for line in block.splitlines()] if several else [json.loads(block)]
            found += [pytest.param(name, value, id=f"{page}-{name}-{index}") for index, value in enumerate(values)]
    return found


def test_the_schema_files_are_up_to_date() -> None:
    wanted: dict[str, str] = runpy.run_path(str(DOCS / "build_schemas.py"))["schema_files"]()
    present = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "schemas").glob("*.json")}

    stale = sorted(name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name))
    assert not stale, f"out of date: {', '.join(stale)}. Run: python docs/build_schemas.py"


def test_every_schema_is_itself_valid_and_there_is_one_for_every_message() -> None:
    for name, schema in message_schemas().items():
        Draft202012Validator.check_schema(schema)
        assert schema["title"] == name
    assert set(message_schemas()) == {*MODELS, "Action"}


@pytest.mark.parametrize(("name", "example"), doc_examples())
def test_an_example_of_our_documents_parses_and_fits_its_schema(name: str, example: Any) -> None:
    schemas()[name].validate(example)
    if name == "Action":
        assert parse_action(parse_action(example).to_dict()) == parse_action(example)
        return
    message = MODELS[name].parse(example)
    assert MODELS[name].parse(message.to_json()) == message
    schemas()[name].validate(message.to_dict())
    if isinstance(message, ActionLine):
        parse_action(message.action)


def test_the_examples_of_our_documents_show_all_eleven_actions() -> None:
    shown = [param.values[1]["action"] for param in doc_examples() if param.values[0] == "Action"]

    assert len(set(shown)) == 12, "the eleven and a custom one"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("PlanningResponse", {"target_achieved": True}),
        ("PlanningResponse", {"transition": {"targetAchieved": True, "strategy": "SERVER_CONTROLLED"}}),
        ("PlanningResponse", {"context_update": {"stage_steps_update": {"steps": [{"step_id": "s"}]}}}),
        ("PlanningResponse", {"context_update": {"progress_update": [{"level": "steps"}]}}),
        (
            "Observation",
            {
                "location": {
                    "current": {"current_stage_id": "a", "step_index": "s"},
                    "progress": {"stages": {"completed": ["a", {"stage_id": "b"}]}},
                },
                "context": {"todo_list": ["t"], "effect": {}, "FSM": {"state": "IDLE", "transition": []}},
            },
        ),
        ("Workflow", {"stages": [{"stage_id": "a"}]}),
        ("Action", {"type": "add", "content": "x", "shotType": "dialogue"}),
        ("Action", {"type": "add", "content": "x", "content_type": "code"}),
        ("Action", {"type": "plot", "x": 1}),
        ("Action", {"action": "plot", "type": "add"}),
        ("TransitionRecord", {"source": "IDLE", "event": "start_workflow", "to": "stage_running", "timestamp": "t"}),
    ],
)
def test_old_spellings_fit_the_schema_and_the_model(name: str, data: dict[str, Any]) -> None:
    schemas()[name].validate(data)
    if name == "Action":
        parse_action(data)
    else:
        model: type[Message] = MODELS[name]
        model.parse(data)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("Request", {}),
        ("Request", {"observation": {"location": {"current": {}}}}),
        ("PlanningResponse", {"targetAchieved": "perhaps"}),
        ("PlanningResponse", {"context_update": {"todo_list_update": {"operation": "forget"}}}),
        ("Workflow", {"stages": [{"name": "no id"}]}),
        ("Action", {"content": "no type"}),
        ("Action", {"action": "exec"}),
        ("Action", {"type": "exec"}),
        ("Action", {"action": "add", "content": "x", "shot_type": "closeup"}),
        ("ActionLine", {"action": {"action": "exec"}}),
        ("GeneratingResponse", {"actions": [{"action": "add"}]}),
    ],
)
def test_what_is_wrong_does_not_fit_the_schema(name: str, data: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        schemas()[name].validate(data)


def test_old_spellings_are_marked_in_the_schema() -> None:
    context = message_schemas()["Observation"]["$defs"]["Context"]["properties"]

    assert context["todo_list"]["deprecated"]
    assert context["todo_list"]["description"] == "Old spelling of toDoList."
    assert "deprecated" not in context["toDoList"]
