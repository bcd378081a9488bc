"""Payloads, histories and pictures: dicts or models in, nothing of what was given changed."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from notebook_bcc import (
    StateMachine,
    WorkflowEvent,
    get_transition_history,
    prepare_generating_payload,
    visualize_state_machine,
)
from notebook_bcc.errors import MessageInvalid
from notebook_bcc.protocol.messages import ContextFilter
from notebook_bcc.protocol.observation import Observation


@pytest.fixture
def observation(state: dict[str, Any]) -> dict[str, Any]:
    location = state["progress_info"]
    location["progress"]["behaviors"] |= {"focus": "fill the gaps", "current_outputs": {"expected": ["filled"]}}
    return {
        "location": location,
        "context": {
            "variables": {"df": "DataFrame(1460×79)", "gaps": {"PoolQC": 1453}, "losses": list(range(1000))},
            "effects": {"current": ["one", "two", "three", "four"], "history": ["long ago"]},
        },
    }


def test_a_payload_holds_what_the_filter_asks_for(observation: dict[str, Any]) -> None:
    payload = prepare_generating_payload(
        observation,
        {
            "variables_to_include": ["df", "gaps"],
            "effects_config": {"current_limit": 3, "include_history": False},
            "focus_to_include": ["behaviors"],
        },
    )
    assert payload["options"] == {"stream": True}
    context, location = payload["observation"]["context"], payload["observation"]["location"]
    assert context["variables"] == {"df": "DataFrame(1460×79)", "gaps": {"PoolQC": 1453}}
    assert context["effects"] == {"current": ["two", "three", "four"]}
    assert [name for name, level in location["progress"].items() if "focus" in level] == ["behaviors"]
    assert location["progress"]["behaviors"]["focus"] == "fill the gaps"
    assert location["progress"]["behaviors"]["current_outputs"]["expected"] == ["filled"]
    assert location["current"]["step_id"] == "load"


def test_a_variable_that_is_asked_for_and_missing_is_a_warning_in_the_payloads_effects(
    observation: dict[str, Any],
) -> None:
    before = copy.deepcopy(observation)
    payload = prepare_generating_payload(
        observation, {"variables_to_include": ["df", "ghost"], "effects_config": {"current_limit": 1}}
    )
    current = payload["observation"]["context"]["effects"]["current"]
    assert current[0] == "four"
    assert current[1].startswith("WARN")
    assert "ghost" in current[1]
    assert "ghost" not in payload["observation"]["context"]["variables"]
    assert observation == before


def test_variables_are_summarized_from_the_values_at_hand(observation: dict[str, Any]) -> None:
    wanted = {
        "variables_to_include": [],
        "variables_to_summarize": {"df": "shape_only", "losses": "last_5_only", "gaps": "shape_only"},
    }
    payload = prepare_generating_payload(observation, wanted)
    assert payload["observation"]["context"]["variables"] == {
        "df": "DataFrame(1460×79)",
        "losses": [995, 996, 997, 998, 999],
        "gaps": "dict(1)",
    }
    better = prepare_generating_payload(observation, wanted, summaries={"df": "1460 rows, 79 columns"})
    assert better["observation"]["context"]["variables"]["df"] == "1460 rows, 79 columns"


def test_models_and_whole_requests_give_the_same_payload_as_dicts(observation: dict[str, Any]) -> None:
    wanted = {"variables_to_include": ["gaps"]}
    payload = prepare_generating_payload(observation, wanted)
    assert prepare_generating_payload(Observation.parse(observation), ContextFilter.parse(wanted)) == payload
    assert prepare_generating_payload({"observation": observation, "options": {}}, wanted) == payload


def test_without_a_filter_the_whole_observation_goes_out(observation: dict[str, Any]) -> None:
    context = prepare_generating_payload(observation, stream=False)["observation"]["context"]
    assert context["variables"] == observation["context"]["variables"]
    assert context["effects"]["history"] == ["long ago"]


def test_an_observation_that_is_none_is_refused_by_the_name_of_what_is_missing() -> None:
    with pytest.raises(MessageInvalid, match="location"):
        prepare_generating_payload({"context": {}}, {})


def test_the_history_is_that_of_the_machine_which_filled_the_observation(observation: dict[str, Any]) -> None:
    machine = StateMachine()
    machine.transition(WorkflowEvent.START_WORKFLOW)
    machine.transition("START_STEP")
    observation["context"]["FSM"] = machine.to_context()
    history = get_transition_history(observation)
    assert [(move["from"], move["event"], move["to"]) for move in history] == [
        ("idle", "START_WORKFLOW", "stage_running"),
        ("stage_running", "START_STEP", "step_running"),
    ]
    assert all(move["timestamp"].endswith("Z") for move in history)
    assert get_transition_history(Observation.parse(observation)) == history
    assert get_transition_history({"observation": observation}) == history


def test_an_older_peers_name_for_the_history_is_read_and_none_at_all_is_empty() -> None:
    moves = [{"from": "IDLE", "event": "START_WORKFLOW", "to": "STAGE_RUNNING", "timestamp": "2025-10-30T10:00:00Z"}]
    assert get_transition_history({"context": {"FSM": {"state": "STAGE_RUNNING", "transition": moves}}}) == moves
    assert get_transition_history({"context": {}}) == []
    with pytest.raises(MessageInvalid, match="context"):
        get_transition_history({})


def test_a_machine_is_shown_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    machine = StateMachine(state="behavior_running")
    machine.stage_id, machine.step_id = "prices", "load"
    machine.behavior_id, machine.behavior_iteration = "behavior_003", 3
    text = visualize_state_machine(machine)
    assert capsys.readouterr().out == text + "\n"
    assert text.splitlines() == [
        "Current State: behavior_running",
        "Stage: prices",
        "Step: load",
        "Behavior: behavior_003 (iteration 3)",
    ]
