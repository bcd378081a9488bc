"""Retries, fallback and recovery by hand, as the fourth document names them."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from notebook_bcc import ApiClient, CallablePlanner, StateMachine
from notebook_bcc.compat import (
    APIError,
    GeneratingAPI,
    OutputTracking,
    PlanningAPI,
    RecoverableError,
    call_planning_api_with_retry,
    fallback_planning_response,
    handle_error,
    recover_from_error,
)
from notebook_bcc.errors import KernelDied, PlannerUnreachable
from notebook_bcc.protocol.messages import Request

FALLBACK = {"targetAchieved": False, "transition": {"continue_behaviors": False, "target_achieved": False}}


def failing(times: int) -> tuple[ApiClient, list[Request]]:
    asked: list[Request] = []

    def plan(request: Request) -> dict[str, Any]:
        asked.append(request)
        if len(asked) <= times:
            raise PlannerUnreachable(planner="busy", reason="come back")
        return {"targetAchieved": True}

    return ApiClient(
        planner=CallablePlanner(plan=plan, generate=lambda request: [{"action": "finish_thinking"}])
    ), asked


@pytest.mark.parametrize(
    ("failures", "reached", "waits"), [(0, True, []), (2, True, [1.0, 2.0]), (3, False, [1.0, 2.0]), (9, False, [1, 2])]
)
def test_planning_is_asked_three_times_with_growing_waits_and_then_the_fallback_stands(
    state: dict[str, Any], failures: int, reached: bool, waits: list[float]
) -> None:
    waited: list[float] = []
    client, asked = failing(failures)
    with client:
        answer = call_planning_api_with_retry(state, planning_api=PlanningAPI(client), wait=waited.append)
    assert answer["targetAchieved"] is reached
    assert waited == waits
    assert len(asked) == len(waits) + 1
    assert (answer == FALLBACK) is not reached


def test_a_state_that_no_attempt_can_mend_is_not_asked_twice(state: dict[str, Any]) -> None:
    client, asked = failing(0)
    with client, pytest.raises(ValueError, match="progress_info"):
        call_planning_api_with_retry({}, planning_api=PlanningAPI(client))
    assert asked == []


def test_the_fallback_ends_the_loop_without_reaching_the_goal() -> None:
    assert fallback_planning_response() == FALLBACK
    assert fallback_planning_response() is not fallback_planning_response()


@pytest.mark.parametrize(
    ("error", "after"),
    [
        (RecoverableError("again"), "behavior_running"),
        (PlannerUnreachable(planner="p", reason="gone"), "behavior_running"),
        (KernelDied(cause="memory"), "behavior_running"),
        (ValueError("a bug"), "idle"),
    ],
)
def test_what_may_pass_restarts_the_behavior_and_the_rest_resets(error: Exception, after: str) -> None:
    machine = StateMachine(state="error")
    assert recover_from_error(machine, error)
    assert machine.get_state() == after


def test_recovery_is_refused_where_the_table_has_none() -> None:
    machine = StateMachine(state="step_running")
    assert not recover_from_error(machine, ValueError("a bug"))
    assert machine.get_state() == "step_running"


def test_an_error_clears_what_was_in_progress_and_leaves_what_was_produced(caplog: pytest.LogCaptureFixture) -> None:
    machine, tracking = StateMachine(state="action_running"), OutputTracking()
    tracking.current_outputs |= {"produced": ["a"], "in_progress": ["b"]}
    with caplog.at_level(logging.ERROR):
        assert handle_error(machine, ValueError("a bug"), tracking=tracking)
    assert machine.get_state() == "error"
    assert (tracking.current_outputs["produced"], tracking.current_outputs["in_progress"]) == (["a"], [])
    assert "a bug" in caplog.text
    assert not handle_error(machine, ValueError("twice"))


def test_the_two_halves_of_the_service_are_asked_with_an_observation(state: dict[str, Any]) -> None:
    client, asked = failing(0)
    observation = {"location": state["progress_info"], "context": {"variables": {"rows": 3}}}
    with client:
        assert PlanningAPI(client).check_step_goal(observation)["targetAchieved"]
        assert PlanningAPI(client).send_feedback(observation, {"actions_executed": 2})["transition"]["target_achieved"]
        assert GeneratingAPI(client).get_actions(observation) == [{"action": "finish_thinking"}]
    assert [request.behavior_feedback is None for request in asked] == [True, False]
    assert issubclass(PlannerUnreachable, APIError)
