"""Output tracking by hand: what the observation's document does with globals, done with a value."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from notebook_bcc import ApiClient, CallablePlanner, StateMachine
from notebook_bcc.compat import (
    OutputTracking,
    PlanningAPI,
    SampleStateMachine,
    complete_behavior,
    filter_variables,
    plain_observation,
    promote_temp_variable,
)
from notebook_bcc.errors import ActionRefused, MessageInvalid


def tracking() -> OutputTracking:
    return OutputTracking(
        namespace={"df_working": [1, 2], "log": "done"},
        current_outputs={"expected": ["df_working", "log"], "produced": [], "in_progress": ["df_working", "log"]},
    )


def test_a_promotion_renames_registers_and_moves_a_temporary() -> None:
    outputs = tracking()
    working = outputs.namespace["df_working"]
    artifact = promote_temp_variable("df_working", "df_imputed@iter3", tracking=outputs)
    assert outputs.namespace == {"df_imputed_iter3": [1, 2], "log": "done"}
    assert outputs.namespace["df_imputed_iter3"] is not working
    assert outputs.artifacts == [artifact]
    assert (artifact["artifact_id"], artifact["variable_name"]) == ("df_imputed@iter3", "df_imputed_iter3")
    assert artifact["parent"] == "df_working"
    assert artifact["created_at"].endswith("Z")
    assert outputs.current_outputs["in_progress"] == ["log"]
    assert outputs.current_outputs["produced"] == ["df_imputed_iter3"]


@pytest.mark.parametrize(
    ("name", "artifact_id", "error"), [("ghost", "df@1", ActionRefused), ("df_working", "no version", MessageInvalid)]
)
def test_a_promotion_that_cannot_be_made_changes_nothing(name: str, artifact_id: str, error: type[Exception]) -> None:
    outputs = tracking()
    with pytest.raises(error):
        promote_temp_variable(name, artifact_id, tracking=outputs)
    assert outputs == tracking()


def test_a_late_promotion_corrects_the_step_as_well() -> None:
    outputs = tracking()
    complete_behavior("behavior_003", {"produced": ["df_working", "log"]}, tracking=outputs)
    promote_temp_variable("df_working", "df_imputed@iter3", tracking=outputs)
    assert outputs.step_outputs["produced"] == ["df_imputed_iter3", "log"]


def test_the_end_of_a_behavior_hands_its_outputs_up_and_tells_what_is_missing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    outputs = tracking()
    outputs.rename_and_register_artifact("df_working", "df_imputed@behavior_003")
    with caplog.at_level(logging.WARNING):
        missing = complete_behavior("behavior_003", {"produced": ["log"]}, tracking=outputs)
    assert missing == ["df_working"]
    assert "df_working" in caplog.text
    assert outputs.step_outputs["produced"] == ["log"]
    assert outputs.current_outputs == {"expected": [], "produced": [], "in_progress": []}
    assert outputs.artifacts[0]["source"] == "behavior_003"
    with pytest.raises(TypeError, match="tracking"):
        complete_behavior("behavior_003", {"produced": []})  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("answer", "after"),
    [
        ({"transition": {"continue_behaviors": True}}, "behavior_running"),
        ({"targetAchieved": True}, "step_completed"),
        ({"targetAchieved": False}, "behavior_completed"),
    ],
)
def test_the_end_of_a_behavior_moves_the_machine_by_the_planners_answer(
    state: dict[str, Any], answer: dict[str, Any], after: str
) -> None:
    machine = StateMachine(state="behavior_completed")
    with ApiClient(planner=CallablePlanner(plan=lambda request: answer, generate=lambda request: [])) as client:
        complete_behavior(machine, PlanningAPI(client), state, behavior_feedback={"actions_executed": 1})
    assert machine.get_state() == after
    assert machine.refused == []


def test_variables_that_do_not_exist_are_warned_of_and_left_out(caplog: pytest.LogCaptureFixture) -> None:
    effects: dict[str, list[str]] = {"current": ["printed"]}
    with caplog.at_level(logging.WARNING):
        assert filter_variables(["a", "ghost"], {"a": 1, "b": 2}, effects) == {"a": 1}
    assert effects["current"] == ["printed", "WARN: variable 'ghost' was requested but does not exist"]
    assert "ghost" in caplog.text


def test_a_plain_observation_is_read_by_attribute_and_changed_without_touching_the_original(
    state: dict[str, Any],
) -> None:
    given = {"location": state["progress_info"], "context": {"effects": {"current": ["one"]}}}
    observation = plain_observation(given)
    observation.context.effects.current.append("two")
    observation.location.progress["steps"].focus = "Look here"
    assert observation["context"]["effects"]["current"] == ["one", "two"]
    assert given["context"]["effects"]["current"] == ["one"]
    assert plain_observation(observation).location.progress.steps.focus == "Look here"
    with pytest.raises(AttributeError, match="nowhere"):
        observation.context.nowhere  # noqa: B018


@pytest.mark.parametrize("here", ["behavior_running", "action_completed"])
@pytest.mark.parametrize(
    ("event", "there"), [("COMPLETE_STEP", "step_completed"), ("NEXT_BEHAVIOR", "behavior_running")]
)
def test_a_sample_loop_may_leave_the_end_of_a_behavior_out(here: str, event: str, there: str) -> None:
    machine = SampleStateMachine(state=here)
    assert machine.transition(event)
    assert machine.get_state() == there
    assert [move["event"] for move in machine.history] == ["COMPLETE_BEHAVIOR", event]
    assert not StateMachine(state=here).transition(event)


def test_nothing_else_is_filled_in() -> None:
    for machine in (SampleStateMachine(state="idle"), SampleStateMachine(state="action_running")):
        for event in ("COMPLETE_STEP", "NEXT_BEHAVIOR", "no event"):
            assert not machine.transition(event)
        assert machine.history == []
