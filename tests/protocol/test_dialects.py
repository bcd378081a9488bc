"""The first dialect comes in and goes out at the edge, and nothing is lost on the way."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from notebook_bcc.errors import ActionMalformed, MessageInvalid
from notebook_bcc.protocol.actions import parse_action
from notebook_bcc.protocol.dialects import (
    actions_from_v1,
    actions_to_v1,
    request_from_v1,
    request_to_v1,
    response_from_v1,
    response_to_v1,
)
from notebook_bcc.protocol.messages import BehaviorInfo, PlanningResponse, Request
from notebook_bcc.protocol.observation import Progress, SectionProgress
from notebook_bcc.protocol.workflow import Workflow

REQUEST: dict[str, Any] = {
    "observation": {
        "location": {
            "current_stage_id": "insight",
            "current_step_id": "begin",
            "behavior_id": "behavior_003",
            "behavior_iteration": 3,
        },
        "context": {
            "variables": {"csv_file_path": "houses.csv"},
            "toDoList": ["Section 2: look at the data"],
            "effects": {"current": [], "history": [{"action": "load_data", "result": "success"}]},
            "section_progress": {
                "current_section_id": "loading",
                "current_section_number": 2,
                "completed_sections": ["introduction"],
                "all": [],
            },
            "notebook": {"title": "Houses", "cells": [{"id": "c1"}]},
        },
    },
    "behavior_feedback": {
        "actions_executed": 5,
        "sections_added": 1,
        "last_action_result": "success",
        "errors": [],
        "missing_outputs": [],
    },
    "options": {"stream": True},
}

PLAN = {"name": "Plan", "stages": [{"id": "a", "steps": [{"id": "s"}]}]}

RESPONSE: dict[str, Any] = {
    "behavior": {"id": "behavior_004", "iteration": 4, "target": "finish section 2"},
    "actions": [
        {
            "type": "add_content",
            "content_type": "text",
            "content": "## Section 2",
            "metadata": {"is_section": True, "section_id": "assessment", "section_number": 2},
        },
        {"type": "add_content", "content_type": "code", "content": "data.info()"},
    ],
    "transition": {
        "strategy": "server_controlled",
        "next_stage_id": None,
        "next_step_id": None,
        "continue_behaviors": True,
        "target_achieved": False,
        "workflow_update": PLAN,
    },
    "context_update": {
        "variables": {"data_shape": "(2930, 82)"},
        "todo_list_update": {"operation": "remove", "items": ["Section 2"]},
        "section_progress": {"current_section_id": "definition", "current_section_number": 3},
    },
    "metadata": {"target_achieved": False, "estimated_remaining_behaviors": 2},
}


# A busy machine is no reason to fail.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def holds(whole: Any, part: Any) -> bool:
    """Whether everything of the part stands in the whole, at its place."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(name in whole and holds(whole[name], one) for name, one in part.items())
    if isinstance(part, list):
        return len(whole) == len(part) and all(map(holds, whole, part))
    return bool(whole == part)


def test_a_v1_request_becomes_ours_with_an_empty_progress() -> None:
    request = request_from_v1(REQUEST)
    location, context = request.observation.location, request.observation.context

    assert location.current.to_dict() == {
        "stage_id": "insight",
        "step_id": "begin",
        "behavior_id": "behavior_003",
        "behavior_iteration": 3,
    }
    assert location.progress == Progress()
    assert location.model_extra == {}
    assert context.todo_list == ("Section 2: look at the data",)
    assert context.effects.history == ({"action": "load_data", "result": "success"},)
    assert isinstance(context.section_progress, SectionProgress)
    assert request.behavior_feedback is not None
    assert request.behavior_feedback.behavior_id is None
    assert request.behavior_feedback.actions_succeeded is None, "v1 does not say, so nobody may claim it"


def test_a_v1_request_comes_back_as_it_was() -> None:
    before = copy.deepcopy(REQUEST)

    assert request_to_v1(request_from_v1(REQUEST)) == REQUEST
    assert before == REQUEST


def test_a_v2_request_survives_the_way_through_v1() -> None:
    request = Request.parse(
        {
            "observation": {
                "location": {
                    "current": {"stage_id": "a", "step_id": "s"},
                    "progress": {"steps": {"completed": ["r"], "focus": "look"}},
                    "goals": {"stage": "g"},
                    "x_place": 1,
                },
                "context": {"toDoList": ["t"], "x_context": None},
            },
            "x_top": [1],
        }
    )
    v1 = request_to_v1(request)

    assert v1["observation"]["location"]["current_stage_id"] == "a"
    assert "current" not in v1["observation"]["location"]
    assert request_from_v1(v1) == request


def test_a_v2_location_at_a_v1_door_is_read_as_v2() -> None:
    location = {"current": {"stage_id": "a"}, "progress": {}}

    assert request_from_v1({"observation": {"location": location}}).observation.location.current.stage_id == "a"
    with pytest.raises(MessageInvalid, match=r"observation\.location\.progress"):
        request_from_v1({"observation": {"location": {"current": {}}}})


def test_names_older_than_v1_are_read() -> None:
    request = request_from_v1(
        {"observation": {"location": {"stage_id": "a", "step_index": "s"}, "state": {"todo_list": ["t"]}}}
    )

    assert request.observation.location.current.stage_id == "a"
    assert request.observation.location.current.step_id == "s"
    assert request.observation.context.todo_list == ("t",)


@pytest.mark.parametrize("removed", ["stageStatus", "checklist", "thinking", "updated_steps"])
def test_a_removed_field_is_dropped_and_an_unknown_one_kept(removed: str) -> None:
    data = copy.deepcopy(REQUEST)
    for place in ("location", "context"):
        data["observation"][place] |= {removed: {"a": 1}, "x_new": 1}
    request = request_from_v1(data)

    assert request.observation.context.model_extra == {"x_new": 1}
    assert request.observation.location.model_extra == {"x_new": 1}


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ({}, "observation"),
        ({"observation": {}}, "observation.location"),
        ({"observation": {"location": []}}, "observation.location"),
        ({"observation": {"location": {}, "context": 3}}, "observation.context"),
    ],
)
def test_a_broken_v1_request_names_the_path(data: object, path: str) -> None:
    with pytest.raises(MessageInvalid) as caught:
        request_from_v1(data)
    assert caught.value.problems[0][0] == path


@pytest.mark.parametrize("data", [None, [], "x", {"actions": {}}, {"transition": []}, {"transition": 3}])
def test_what_is_no_v1_response_is_invalid(data: object) -> None:
    with pytest.raises(MessageInvalid):
        response_from_v1(data)


def test_a_v1_response_becomes_a_judgement_and_v2_actions() -> None:
    before = copy.deepcopy(RESPONSE)
    response, actions = response_from_v1(RESPONSE)

    assert response.behavior == BehaviorInfo(id="behavior_004", iteration=4, target="finish section 2")
    assert response.transition.continue_behaviors
    assert response.transition.workflow_update is None
    assert response.context_update.workflow_update == Workflow.parse(PLAN)
    assert response.metadata.estimated_remaining_behaviors == 2
    assert [parse_action(action).to_dict()["shot_type"] for action in actions] == ["dialogue", "action"]
    assert actions[0]["metadata"]["section_id"] == "assessment"
    assert before == RESPONSE


def test_a_v1_response_comes_back_with_everything_it_had() -> None:
    assert holds(response_to_v1(*response_from_v1(RESPONSE)), RESPONSE)


@pytest.mark.parametrize("place", [None, "transition", "metadata"])
def test_the_verdict_of_a_v1_response_is_found_and_written_in_all_three_places(place: str | None) -> None:
    data = {place: {"target_achieved": True}} if place else {"targetAchieved": True}
    response, _ = response_from_v1(data)
    written = response_to_v1(response)

    assert response.target_achieved
    assert written["targetAchieved"] is True
    assert written["transition"]["target_achieved"] is True
    assert written["metadata"]["target_achieved"] is True


def test_a_v2_response_survives_the_way_through_v1() -> None:
    response = PlanningResponse.parse(
        {
            "targetAchieved": True,
            "transition": {"continue_behaviors": False, "target_achieved": True, "next_stage_id": "b"},
            "context_update": {"workflow_update": PLAN, "progress_update": {"level": "steps", "focus": "f"}},
            "context_filter": {"variables_to_include": ["df"]},
            "behavior": {"id": "b1"},
            "metadata": {"target_achieved": True},
            "x_new": None,
        }
    )

    assert response_from_v1(response_to_v1(response)) == (response, [])


@pytest.mark.parametrize(
    ("v1", "v2"),
    [
        (
            [{"type": "add_content", "content": "x"}],
            [{"action": "add", "shot_type": "dialogue", "content": "x"}],
        ),
        (
            [{"type": "add_content", "content_type": "code", "content": "1", "store_id": "c"}],
            [{"action": "add", "shot_type": "action", "content": "1", "store_id": "c"}],
        ),
        (
            [{"type": "add_section", "title": "### Gaps", "section_id": "gaps", "section_number": 2}],
            [
                {
                    "action": "new_section",
                    "content": "Gaps",
                    "metadata": {"is_section": True, "section_id": "gaps", "section_number": 2},
                }
            ],
        ),
        (
            [{"type": "execute_code", "code": "1", "need_output": False, "metadata": {"is_step": True}}],
            [
                {"action": "add", "shot_type": "action", "content": "1", "metadata": {"is_step": True}},
                {"action": "exec", "codecell_id": "lastAddedCellId", "need_output": False},
            ],
        ),
        (
            [{"type": "execute_code", "codecell_id": "c"}],
            [{"action": "exec", "codecell_id": "c"}],
        ),
        ([{"type": "execute_code"}], [{"action": "exec"}]),
        ([{"type": "new_chapter", "content": "A"}], [{"type": "new_chapter", "content": "A"}]),
        ([{"action": "add", "content": "A"}], [{"action": "add", "content": "A"}]),
        (["broken", None, {}], ["broken", None, {}]),
    ],
)
def test_v1_actions_become_v2_actions(v1: list[Any], v2: list[Any]) -> None:
    assert actions_from_v1(v1) == v2


@pytest.mark.parametrize(
    "broken",
    [
        {"type": "add_content", "content_type": ["text"], "content": "x"},
        {"type": "add_section", "content": 3},
        {"type": "add_section", "content": "x", "metadata": "y"},
        {"type": "execute_code", "content": None},
        {"type": ["add_content"]},
    ],
)
def test_a_malformed_v1_action_is_left_for_the_reader_of_actions(broken: dict[str, Any]) -> None:
    (action, *_) = actions_from_v1([broken])

    with pytest.raises(ActionMalformed):
        parse_action(action)


def test_actions_without_a_v1_word_keep_their_name_in_type() -> None:
    actions = [{"action": "new_section", "content": "Gaps"}, {"action": "end_phase", "step_id": "s"}]

    v1 = actions_to_v1(actions)
    assert v1 == [{"type": "add_section", "content": "Gaps"}, {"type": "end_phase", "step_id": "s"}]
    section, end = map(parse_action, actions_from_v1(v1))
    assert section.metadata is not None
    assert section.metadata.is_section
    assert end == parse_action(actions[1])


def test_code_that_is_added_and_run_is_one_v1_action() -> None:
    added = {"action": "add", "shot_type": "action", "content": "1"}
    run = {"action": "exec", "codecell_id": "lastAddedCellId", "need_output": True}

    assert actions_to_v1([added, run]) == [{"type": "execute_code", "content": "1", "need_output": True}]
    assert len(actions_to_v1([added, {**run, "metadata": {}}])) == 2
    assert len(actions_to_v1([added, {**run, "codecell_id": "c"}])) == 2
    assert len(actions_to_v1([run, added])) == 2


names = st.sampled_from(["x", "y", "metadata", "need_output", "codecell_id", "store_id"])
others = st.dictionaries(names, st.integers(), max_size=2)
v2_actions = st.one_of(
    st.builds(
        lambda shot, content, more: {**more, "action": "add", "shot_type": shot, "content": content},
        st.sampled_from(["dialogue", "observation", "action"]),
        st.text(max_size=3),
        others,
    ),
    st.builds(
        lambda cell, more: {**more, "action": "exec", "codecell_id": cell},
        st.sampled_from(["lastAddedCellId", "c1"]),
        others,
    ),
    st.builds(lambda more: {"type": "bar", **more, "action": "plot"}, others),
)


@unhurried
@given(st.lists(v2_actions, max_size=5))
def test_v2_actions_survive_the_way_through_v1(actions: list[dict[str, Any]]) -> None:
    assert actions_from_v1(actions_to_v1(actions)) == actions
