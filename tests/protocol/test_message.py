"""Every spelling read, one written; unknown fields kept; errors that name the path."""

from __future__ import annotations

import json
from typing import Any

import pytest

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.protocol.actions import Add, EndPhase, parse_action
from notebook_bcc.protocol.message import Message
from notebook_bcc.protocol.messages import PlanningResponse, Request, TransitionAdvice
from notebook_bcc.protocol.observation import Context, Current, FsmView, Observation, TransitionRecord
from notebook_bcc.protocol.vocabulary import State
from notebook_bcc.protocol.workflow import Workflow

REQUEST: dict[str, Any] = {
    "observation": {
        "location": {
            "current": {"stage_id": "clean", "step_id": "missing", "behavior_id": "b3", "behavior_iteration": 3},
            "progress": {
                "stages": {
                    "completed": [
                        {
                            "stage_id": "load",
                            "outputs_produced": {
                                "artifacts": [{"artifact_id": "df@load", "variable_name": "df_load"}],
                            },
                        }
                    ],
                    "current": "clean",
                    "remaining": ["model"],
                    "current_outputs": {"expected": ["df"]},
                },
            },
            "goals": {"stage": "a clean table"},
        },
        "context": {
            "variables": {"rows": 3, "nothing": None},
            "toDoList": ["look", "fill"],
            "effects": {"current": ["3 rows"], "history": []},
            "notebook": {"title": "Study"},
            "FSM": {"state": "BEHAVIOR_RUNNING"},
            "section_progress": {"current_section_id": "s1"},
        },
    },
    "behavior_feedback": {"behavior_id": "b2", "errors": [{"action_id": "a1", "action": "exec", "error": "boom"}]},
    "options": {"stream": True},
}


@pytest.mark.parametrize(
    ("model", "old", "canonical", "value"),
    [
        (PlanningResponse, "target_achieved", "targetAchieved", True),
        (TransitionAdvice, "targetAchieved", "target_achieved", True),
        (Context, "todo_list", "toDoList", ["look"]),
        (Context, "effect", "effects", {"current": ["x"], "history": []}),
        (Context, "fsm", "FSM", {"state": "idle", "history": []}),
        (FsmView, "transition", "history", ["START_WORKFLOW"]),
        (Current, "current_stage_id", "stage_id", "s"),
        (Current, "current_step_id", "step_id", "s"),
        (Current, "step_index", "step_id", "s"),
        (EndPhase, "step_index", "step_id", "s"),
    ],
)
def test_both_spellings_are_read_and_one_is_written(
    model: type[Message], old: str, canonical: str, value: object
) -> None:
    by_old, by_canonical = model.parse({old: value}), model.parse({canonical: value})

    assert by_old == by_canonical
    assert by_old.to_dict()[canonical] == value
    assert old not in by_old.to_dict()
    assert by_old.model_extra == {}


@pytest.mark.parametrize("name", ["shot_type", "shotType", "content_type"])
@pytest.mark.parametrize("kind", ["action", "type"])
def test_an_action_is_read_under_every_spelling_and_written_under_one(name: str, kind: str) -> None:
    action = parse_action({kind: "add", name: "action", "content": "1"})

    assert action == Add.parse({"content": "1", "shot_type": "action"})
    assert action.to_dict() == {"action": "add", "shot_type": "action", "content": "1"}


def test_two_spellings_of_one_field_are_written_once_with_the_canonical_value() -> None:
    response = PlanningResponse.parse({"target_achieved": False, "targetAchieved": True})

    assert response.target_achieved
    assert json.loads(response.to_json()).get("target_achieved") is None
    assert response.to_dict()["targetAchieved"] is True


def test_the_canonical_name_is_the_first_that_is_read() -> None:
    def all_messages(root: type[Message]) -> list[type[Message]]:
        return [one for child in root.__subclasses__() for one in (child, *all_messages(child))]

    for model in all_messages(Message):
        for name, field in model.model_fields.items():
            choices = getattr(field.validation_alias, "choices", [field.validation_alias or name])
            assert model.spellings[name][0] == choices[0], (model, name)


def objects_of(data: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The path of every object in the data, except those whose members are names and not fields."""
    if isinstance(data, list):
        return [found for index, one in enumerate(data) for found in objects_of(one, (*path, index))]
    if not isinstance(data, dict) or (path and path[-1] == "variables"):
        return []
    return [path] + [found for name, one in data.items() for found in objects_of(one, (*path, name))]


@pytest.mark.parametrize("unknown", [None, 0, "text", {"deep": [None]}])
@pytest.mark.parametrize("path", objects_of(REQUEST), ids=lambda path: ".".join(map(str, path)) or "top")
def test_an_unknown_field_is_kept_at_every_level(path: tuple[str | int, ...], unknown: object) -> None:
    data = json.loads(json.dumps(REQUEST))
    place = data
    for part in path:
        place = place[part]
    place["x_new"] = unknown

    first = Request.parse(data)
    written: Any = first.to_dict()
    for part in path:
        written = written[part]

    assert "x_new" in written
    assert written["x_new"] == unknown
    assert Request.parse(first.to_json()) == first


def test_a_request_is_read_from_bytes_text_and_decoded_json_alike() -> None:
    text = json.dumps(REQUEST)

    assert Request.parse(text) == Request.parse(text.encode()) == Request.parse(bytearray(text.encode()))
    assert Request.parse(text) == Request.parse(REQUEST)


@pytest.mark.parametrize("missing", ["current", "progress"])
def test_a_request_without_a_required_part_of_location_names_its_path(missing: str) -> None:
    data = json.loads(json.dumps(REQUEST))
    del data["observation"]["location"][missing]

    with pytest.raises(MessageInvalid) as caught:
        Request.parse(data)

    assert caught.value.problems == ((f"observation.location.{missing}", "is required"),)
    assert f"observation.location.{missing}" in str(caught.value)


def test_every_problem_of_a_message_is_named() -> None:
    with pytest.raises(MessageInvalid) as caught:
        Workflow.parse({"stages": [{"name": "no id"}, {"id": "a", "steps": [{"id": ""}]}]})

    assert [path for path, _ in caught.value.problems] == ["stages.0.id", "stages.1.steps.0.id"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[" * 5000, '{"a": "\\ud800"}', b"\xff", b'{"a":"\xff"}', "\ud800", "null", "3", "[]", '"x"'],
)
def test_what_is_not_a_json_object_is_invalid_and_nothing_worse(text: str | bytes) -> None:
    with pytest.raises(MessageInvalid):
        Request.parse(text)


def test_a_null_where_a_value_is_wanted_counts_as_absent() -> None:
    response = PlanningResponse.parse(
        {
            "targetAchieved": None,
            "transition": {"continue_behaviors": None, "target_achieved": True},
            "context_update": None,
            "metadata": None,
            "context_filter": {"effects_config": {"include_current": None}},
            "x_unknown": None,
        }
    )

    assert response.target_achieved, "with no verdict at the top, the one in transition counts"
    assert response.transition == TransitionAdvice(target_achieved=True)
    assert response.context_filter is not None
    assert response.context_filter.effects_config is not None
    assert response.context_filter.effects_config.include_current
    assert response.model_extra == {"x_unknown": None}
    assert Context.parse({"todo_list": None, "effect": None}) == Context()


def test_a_null_at_a_required_field_or_in_a_list_is_still_an_error() -> None:
    with pytest.raises(MessageInvalid, match=r"observation\.location is required"):
        Request.parse({"observation": {"location": None}})
    with pytest.raises(MessageInvalid, match=r"toDoList\.0"):
        Context.parse({"toDoList": [None]})


def test_the_data_a_message_is_made_of_is_not_changed() -> None:
    data = {"context_update": None}
    PlanningResponse.parse(data)

    assert data == {"context_update": None}


def test_the_oldest_places_of_the_verdict_are_read() -> None:
    assert PlanningResponse.parse({"transition": {"target_achieved": True}}).target_achieved
    assert PlanningResponse.parse({"metadata": {"target_achieved": True}}).target_achieved
    assert not PlanningResponse.parse({"targetAchieved": False, "metadata": {"target_achieved": True}}).target_achieved


def test_a_state_is_read_in_any_case_and_written_in_lower_case() -> None:
    view = FsmView.parse({"state": "BEHAVIOR_RUNNING"})

    assert view.state is State.BEHAVIOR_RUNNING
    assert view.to_dict()["state"] == "behavior_running"
    with pytest.raises(MessageInvalid, match="state"):
        FsmView.parse({"state": "asleep"})


def test_a_transition_record_is_written_with_from() -> None:
    data = {"from": "idle", "event": "START_WORKFLOW", "to": "stage_running", "timestamp": "2026-01-01T00:00:00Z"}

    assert TransitionRecord.parse(data).to_dict() == data


def test_values_that_fast_encoders_refuse_are_still_written() -> None:
    variables = {"big": 2**90, "torn": "a\ud800b", "rate": float("nan"), "名": "值\u2028"}
    context = Context.parse({"variables": variables})

    assert Context.parse(context.to_json()).variables == {"big": 2**90, "torn": "a?b", "rate": None, "名": "值\u2028"}
    assert Context.parse({"variables": {"rate": float("inf")}}).to_dict()["variables"] == {"rate": None}


def test_nulls_inside_opaque_values_are_kept() -> None:
    context = Context.parse({"variables": {"a": None, "b": {"c": None}}, "workflow_progress": {"d": None}})

    assert context.to_dict()["variables"] == {"a": None, "b": {"c": None}}
    assert context.to_dict()["workflow_progress"] == {"d": None}


def test_messages_are_frozen() -> None:
    observation = Observation.parse(REQUEST["observation"])

    with pytest.raises(ValueError, match="frozen"):
        observation.context = Context()  # type: ignore[misc]


def test_what_is_not_json_cannot_be_written() -> None:
    with pytest.raises(TypeError, match="not a JSON value"):
        Context(variables={"a": object()}).to_json()
