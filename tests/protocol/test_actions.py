"""Eleven actions, custom ones, and malformed ones that say what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from notebook_bcc.errors import ActionMalformed
from notebook_bcc.protocol.actions import BUILTIN_ACTIONS, Add, CustomAction, Exec, NextEvent, parse_action
from notebook_bcc.protocol.vocabulary import Event, ShotType

METADATA = {
    "is_step": True, "is_chapter": True, "is_section": True, "chapter_id": "chapter-1", "section_id": "section-2",
    "chapter_number": 1, "section_number": 2, "finished_thinking": True, "thinking_text": "hm", "extra": {"k": [1]},
    "once": True,
}  # fmt: skip

WHOLE: list[dict[str, Any]] = [
    {"action": "add", "shot_type": "observation", "content": "seen", "store_id": "cell-1", "metadata": METADATA},
    {
        "action": "exec", "codecell_id": "code-1", "need_output": False, "auto_debug": True,
        "keep_debug_button_visible": True, "shot_type": "action",
    },
    {
        "action": "is_thinking", "thinking_text": "hm", "agent_name": "Analyst", "custom_text": "wait",
        "text_array": ["one", "two"], "shot_type": "dialogue",
    },
    {"action": "finish_thinking"},
    {"action": "new_chapter", "content": "Data", "metadata": METADATA},
    {"action": "new_section", "content": "Gaps", "metadata": METADATA},
    {"action": "update_title", "title": "Study"},
    {
        "action": "update_workflow",
        "updated_workflow": {
            "name": "Plan", "goal": "g", "description": "d", "sections": ["one"],
            "stages": [{
                "id": "stage1", "name": "Stage 1", "goal": "g", "description": "d", "expected_outputs": ["df"],
                "steps": [{"id": "s", "name": "S", "goal": "g", "description": "d", "expected_outputs": ["df"]}],
            }],
        },
    },
    {
        "action": "update_stage_steps", "stage_id": "stage1",
        "updated_steps": [{"id": "s", "name": "S", "goal": "g", "description": "d", "expected_outputs": []}],
    },
    {"action": "end_phase", "step_id": "s"},
    {"action": "next_event", "event_type": "NEXT_STEP"},
]  # fmt: skip

REQUIRED = {
    "add": ["content"],
    "exec": ["codecell_id"],
    "new_chapter": ["content"],
    "new_section": ["content"],
    "update_title": ["title"],
    "update_workflow": ["updated_workflow"],
    "update_stage_steps": ["stage_id", "updated_steps"],
    "next_event": ["event_type"],
}


def test_the_eleven_are_all_here() -> None:
    assert [action["action"] for action in WHOLE] == list(BUILTIN_ACTIONS)


@pytest.mark.parametrize("data", WHOLE, ids=lambda data: data["action"])
def test_every_field_of_an_action_comes_back_as_it_was(data: dict[str, Any]) -> None:
    action = parse_action(data)

    assert type(action) is BUILTIN_ACTIONS[data["action"]]
    assert action.to_dict() == data
    assert parse_action(action.to_dict()) == action


@pytest.mark.parametrize("data", WHOLE, ids=lambda data: data["action"])
def test_unknown_fields_of_an_action_are_kept(data: dict[str, Any]) -> None:
    action = parse_action({**data, "x_new": {"a": None}, "x_null": None})

    assert action.to_dict() == {**data, "x_new": {"a": None}, "x_null": None}


@pytest.mark.parametrize(("name", "field"), [(name, field) for name, fields in REQUIRED.items() for field in fields])
def test_a_missing_required_field_is_named(name: str, field: str) -> None:
    whole = next(action for action in WHOLE if action["action"] == name)
    data = {key: value for key, value in whole.items() if key != field}

    with pytest.raises(ActionMalformed) as caught:
        parse_action(data)

    assert caught.value.action == name
    assert caught.value.problems == ((field, "is required"),)
    with pytest.raises(ActionMalformed):
        parse_action({**data, field: None})


@pytest.mark.parametrize(
    "data", [None, "add", 3, [], {}, {"action": ""}, {"action": 3}, {"action": None}, {"type": []}]
)
def test_an_action_without_a_type_is_malformed(data: object) -> None:
    with pytest.raises(ActionMalformed):
        parse_action(data)


def test_a_type_that_is_not_one_of_the_eleven_is_a_custom_action_with_all_its_fields() -> None:
    data = {"action": "plot", "type": "bar", "columns": ["a"], "metadata": {"is_step": True, "x": 1}}
    action = parse_action(data)

    assert isinstance(action, CustomAction)
    assert action.to_dict()["type"] == "bar"
    assert action.to_dict()["columns"] == ["a"]
    assert parse_action(action.to_dict()) == action


def test_type_beside_the_same_action_is_only_another_spelling() -> None:
    assert parse_action({"action": "add", "type": "add", "content": "x"}) == Add(content="x")


@pytest.mark.parametrize(
    ("read", "meant"),
    [("text", "dialogue"), ("markdown", "dialogue"), ("code", "action"), ("ACTION", "action")],
)
def test_old_kinds_of_content_are_read_as_shot_types(read: str, meant: str) -> None:
    action = parse_action({"action": "add", "content": "x", "content_type": read})

    assert action.shot_type is ShotType(meant)


def test_a_shot_type_that_does_not_exist_is_named() -> None:
    with pytest.raises(ActionMalformed, match="shot_type"):
        parse_action({"action": "add", "content": "x", "shot_type": "closeup"})


def test_a_null_at_an_optional_field_is_the_default() -> None:
    action = parse_action({"action": "exec", "codecell_id": "c", "need_output": None, "auto_debug": None})

    assert action == Exec(codecell_id="c")


def test_an_event_is_found_whatever_its_case_and_an_unknown_one_is_none() -> None:
    assert NextEvent(event_type="next_step").event is Event.NEXT_STEP
    assert NextEvent(event_type="custom_event").event is None


def test_a_title_may_stand_in_content() -> None:
    assert parse_action({"action": "update_title", "content": "Study"}).to_dict()["title"] == "Study"
