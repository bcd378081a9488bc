"""The quick reference: each closed set of the code is on the page, whole and nothing else; its examples are true."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import notebook_bcc
from notebook_bcc.cli.codes import Exit
from notebook_bcc.cli.main import COMMANDS, PLANNER_COMMANDS
from notebook_bcc.fsm.table import ROWS
from notebook_bcc.planners.script.file import read_script
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.protocol.actions import BUILTIN_ACTIONS, ActionBase
from notebook_bcc.protocol.limits import Limits, Policies
from notebook_bcc.protocol.messages import INCLUDABLE, ContextFilter, ContextUpdate, EffectsConfig
from notebook_bcc.protocol.secret_variables import MODEL_KEYS
from notebook_bcc.protocol.tracking import OutputsTrackingSpec
from notebook_bcc.protocol.vocabulary import Level, ShotType, State, TodoOperation
from notebook_bcc.server.openapi import openapi
from notebook_bcc.settings import variables
from server.living import service

DOCS = Path(__file__).parents[1] / "docs"
TEXT = (DOCS / "quick-reference.md").read_text(encoding="utf-8")
CODE = re.compile(r"`([^`]+)`")


def section(title: str) -> str:
    """What stands under a heading, up to the next one of its level."""
    (found,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)
    return str(found)


def tables(title: str) -> list[list[list[str]]]:
    """The rows of each table of a section, without heads: cells as they are written."""
    blocks = re.findall(r"(?:^\|.*\n)+", section(title), re.MULTILINE)
    return [[[cell.strip() for cell in row[1:-1].split(" |")] for row in one.splitlines()[2:]] for one in blocks]


def named(cell: str) -> list[str]:
    return CODE.findall(cell)


def fields(model: type[BaseModel]) -> dict[str, bool]:
    """Each field, and whether it is required."""
    return {name: one.is_required() for name, one in model.model_fields.items()}


def test_every_row_of_the_state_machine_is_there() -> None:
    (rows,) = tables("States and events")
    assert [named(state) for state, *_ in rows] == [[state] for state in State]
    moves = [(named(state)[0], *move) for state, _, cell in rows for move in re.findall(r"`(\w+)` → `(\w+)`", cell)]
    assert moves == [(row.state, row.event, row.next_state) for state in State for row in ROWS if row.state is state]


def test_every_state_says_which_endpoint_is_asked_there() -> None:
    (rows,) = tables("States and events")
    deciding = {row.state: row.endpoint_or_note for row in ROWS if row.endpoint_or_note.startswith("/")}
    # Between actions nobody is asked: the judgement is that of the completed behavior.
    del deciding[State.ACTION_COMPLETED]
    deciding[State.BEHAVIOR_RUNNING] = "/generating"
    assert {named(state)[0]: named(asked)[0] for state, asked, _ in rows if asked} == deciding


def test_every_endpoint_is_there() -> None:
    (rows,) = tables("Endpoints")
    listed = {tuple(name.split()) for cell, _ in rows for name in named(cell)}
    paths = openapi(version="1", token=False)["paths"]
    # HEAD is answered wherever GET is.
    there = {(method.upper(), path) for path, methods in paths.items() for method in methods if method != "head"}
    assert listed == there


def test_every_action_is_there_with_its_fields() -> None:
    (rows,) = tables("Actions")
    listed = {named(row[0])[0]: (named(row[1]), named(row[2])) for row in rows}
    common = {*ActionBase.model_fields, "action"}
    for name, model in BUILTIN_ACTIONS.items():
        own = {field: needed for field, needed in fields(model).items() if field not in common}
        required, optional = listed.pop(name)
        assert required == [field for field, needed in own.items() if needed], name
        assert optional == [field for field, needed in own.items() if not needed], name
    assert listed == {}
    head = section("Actions").partition("|")[0]
    assert {*ActionBase.model_fields, *ShotType} == {*named(head)}


def test_every_field_of_an_update_and_a_filter_is_there() -> None:
    (updates,), (filters,) = tables("context_update"), tables("context_filter")
    assert [named(name) for name, _ in updates] == [[name] for name in ContextUpdate.model_fields]
    assert [named(name) for name, _ in filters] == [[name] for name in ContextFilter.model_fields]
    of = {named(name)[0]: named(text) for name, text in filters}
    assert [*EffectsConfig.model_fields] == [
        name for name in of["effects_config"] if name not in ("include", "exclude")
    ]
    assert of["outputs_tracking"] == [*OutputsTrackingSpec.model_fields]
    assert of["focus_to_include"] == [*Level]
    assert of["include"] == [*INCLUDABLE]
    assert all(operation in dict(updates)["`todo_list_update`"] for operation in TodoOperation)


def test_every_command_is_there() -> None:
    (rows,) = tables("Commands")
    commands = {re.match(r"nbcc (\w+)", named(cell)[0])[1]: text for cell, text in rows}  # type: ignore[index]
    assert [*commands] == [*COMMANDS]
    assert named(commands["planner"]) == [*PLANNER_COMMANDS]


def test_every_variable_of_the_environment_is_there() -> None:
    (rows,) = tables("Settings")
    listed = [name for cell, *_ in rows for name in named(cell)]
    assert sorted(listed) == sorted([*variables().values(), *MODEL_KEYS.values()])


def test_every_policy_and_every_limit_is_there_with_its_default() -> None:
    policies, limits = tables("Policies and limits")
    assert [named(name) for name, *_ in policies] == [[name] for name in Policies.model_fields]
    for name, _, values in policies:
        default = getattr(Policies(), named(name)[0])
        assert named(values)[0] == (str(default).lower() if isinstance(default, bool) else default)
    defaults = {named(name)[0]: float(default) for name, _, default in limits}
    assert defaults == {name: float(getattr(Limits(), name)) for name in Limits.model_fields}


def test_every_exit_code_is_there() -> None:
    (rows,) = tables("Exit codes")
    assert [int(code) for code, _ in rows] == [*Exit]


def test_every_option_on_the_page_exists() -> None:
    sources = (Path(notebook_bcc.__file__).parent / "cli").rglob("*.py")
    known = {option for path in sources for option in re.findall(r"--[a-z][a-z-]+", path.read_text(encoding="utf-8"))}
    assert set(re.findall(r"(?<=[` ])--[a-z][a-z-]+", TEXT)) <= known


@pytest.mark.anyio
async def test_every_example_gets_the_answer_that_is_shown() -> None:
    shown = re.findall(
        r"^### (\w+) (/\S+)\n.*?^```json\n(.*?)^```\n+^```(?:nd)?json\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL
    )
    assert [path for _, path, *_ in shown] == ["/planning", "/generating", "/generate", "/v1/actions", "/v1/reflection"]
    planner = ScriptedPlanner.from_script(read_script(DOCS / "endpoints" / "example.yaml"))
    async with service(planner) as client:
        for method, path, body, answer in shown:
            got = await client.request(method, path, json=json.loads(body))
            assert got.status_code == 200, got.text
            assert messages(got.text) == messages(answer), path


def messages(text: str) -> list[Any]:  # Any: decoded JSON
    """One JSON text, or one a line."""
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.splitlines()]
