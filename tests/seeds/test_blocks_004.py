"""Document 004, the state machine: its Python blocks, carried out as printed."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any

import pytest

from notebook_bcc import StateMachine, get_transition_history, visualize_state_machine
from notebook_bcc.compat import (
    APIError,
    RecoverableError,
    call_planning_api_with_retry,
    fallback_planning_response,
    recover_from_error,
)
from notebook_bcc.errors import PlannerUnreachable
from notebook_bcc.fsm.machine import next_state
from notebook_bcc.fsm.table import ROWS
from notebook_bcc.protocol.messages import PlanningResponse
from notebook_bcc.protocol.vocabulary import Event, State
from seeds.pages import TYPING, before, block, inside
from seeds.states import step_observation

WRONG = "# ❌"


def run(line: int, text: str | None = None, **names: Any) -> dict[str, Any]:
    names = {**TYPING, "StateMachine": StateMachine, "logger": logging.getLogger("004"), **names}
    exec(compile(block("004", line) if text is None else text, f"004:{line}", "exec"), names)
    return names


class Answers:
    """A planning API that gives what it was made with, in turn, and remembers what it was told."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self.told: list[Any] = []

    def call(self, *given: Any) -> Any:
        self.told.append(given)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    check_step_goal = send_feedback = call


def judged(*, more: bool = False, reached: bool = False) -> dict[str, Any]:
    return {"targetAchieved": reached, "transition": {"continue_behaviors": more, "target_achieved": reached}}


def literal_class() -> Any:
    """The class of line 413 with the method of line 725, and the table lookup that the document leaves out."""
    base = run(413)["StateMachine"]
    methods = run(725, datetime=datetime)

    class Literal(base):  # type: ignore[misc,valid-type]
        transition = methods["transition"]

        def __init__(self) -> None:
            super().__init__()
            self._fsm_history: list[dict[str, str]] = []

        def _get_next_state(self, current: str, event: str) -> str | None:
            return next_state(State(current), Event(event))

    return Literal


def test_413_a_machine_without_a_table_refuses_everything_and_answers_its_questions() -> None:
    machine = run(413)["StateMachine"]()
    ours = StateMachine()
    assert (machine.get_state(), machine.is_running()) == (ours.get_state(), ours.is_running()) == ("idle", False)
    assert machine.transition("START_WORKFLOW") is False
    for state in State:
        machine._state = state.value
        assert machine.is_running() is StateMachine(state=state).is_running()


def test_725_the_documents_machine_and_ours_go_the_same_way_through_the_whole_table() -> None:
    literal_machine = literal_class()
    for state in {row.state for row in ROWS}:
        for event in Event:
            literal, ours = literal_machine(), StateMachine(state=state)
            literal._state = state.value
            assert literal.transition(event.value) is ours.transition(event.value)
            assert literal.get_state() == ours.get_state()
            moves = [{name: move[name] for name in ("from", "event", "to")} for move in literal._fsm_history]
            assert moves == [{name: move[name] for name in ("from", "event", "to")} for move in ours.history]


@pytest.mark.parametrize("reached", [True, False])
def test_497_a_planner_answers_in_our_form(reached: bool) -> None:
    # `{...}` is a set that holds an ellipsis; the reader is meant to fill it in.
    text = block("004", 497).replace("{...}", "{}")
    names = run(497, text, analyze_goal_achievement=lambda context, progress: reached)
    answer = PlanningResponse.parse(names["check_goal"](step_observation()))
    assert answer.target_achieved is reached
    assert answer.transition.continue_behaviors is not reached
    assert answer.context_update is not None
    assert answer.context_update.progress_update is not None


@pytest.mark.parametrize("failures", [0, 2, 3])
def test_541_planning_is_tried_again_as_ours_does_it(failures: int) -> None:
    class Clock:
        def __init__(self) -> None:
            self.slept: list[float] = []

        def sleep(self, seconds: float) -> None:
            self.slept.append(seconds)

    def api() -> Any:
        down = [PlannerUnreachable(planner="p", reason="down") for _ in range(failures)]
        return Answers(*down, judged(reached=True))

    clock = Clock()
    waited: list[float] = []
    names = run(
        541, planning_api=api(), APIError=APIError, time=clock, fallback_planning_response=fallback_planning_response
    )
    theirs = names["call_planning_api_with_retry"](step_observation())
    ours = call_planning_api_with_retry(step_observation(), planning_api=api(), wait=waited.append)
    assert ours == theirs
    assert waited == clock.slept


def test_555_the_fallback_is_ours() -> None:
    assert run(555)["fallback_planning_response"]() == fallback_planning_response()


@pytest.mark.parametrize("error", [RecoverableError("again"), ValueError("a bug")])
def test_568_recovery_leads_where_ours_leads(error: Exception) -> None:
    recover = run(568, RecoverableError=RecoverableError)["recover_from_error"]
    theirs, ours = StateMachine(state="error"), StateMachine(state="error")
    recover(theirs, error)
    recover_from_error(ours, error)
    assert theirs.get_state() == ours.get_state() != "error"


def test_645_a_machine_is_shown_in_the_documents_lines(capsys: pytest.CaptureFixture[str]) -> None:
    machine = StateMachine()
    machine.stage_id, machine.behavior_id = "prices", "behavior_001"
    run(645)["visualize_state_machine"](machine)
    printed = capsys.readouterr().out
    visualize_state_machine(machine)
    assert capsys.readouterr().out == printed


def test_655_the_history_is_read_from_an_observation() -> None:
    machine = StateMachine()
    machine.transition("START_WORKFLOW")
    observation = step_observation(FSM=machine.to_context())
    assert run(655)["get_transition_history"](observation) == get_transition_history(observation)


@pytest.mark.parametrize(("reached", "state"), [(True, "step_completed"), (False, "behavior_running")])
def test_669_planning_comes_first(reached: bool, state: str) -> None:
    # The part that the document marks as wrong asks Generating without Planning; it is not carried out.
    machine, generating = StateMachine(state="step_running"), Answers([])
    generating.get_actions = generating.call  # type: ignore[attr-defined]
    names = {"planning_api": Answers(judged(reached=reached)), "generating_api": generating}
    run(669, before(WRONG, block("004", 669)), state_machine=machine, observation=step_observation(), **names)
    assert machine.get_state() == state
    assert len(generating.told) == (0 if reached else 1)


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (judged(more=True), "behavior_running"),
        (judged(reached=True), "step_completed"),
        (judged(), "behavior_completed"),
    ],
)
def test_686_the_end_of_a_behavior_moves_the_machine_at_once(answer: dict[str, Any], state: str) -> None:
    # The part that the document marks as wrong awaits in a plain function, which is no Python.
    machine = StateMachine(state="behavior_completed")
    names = run(686, before(WRONG, block("004", 686)), behavior_feedback={})
    names["complete_behavior"](machine, Answers(answer), step_observation())
    assert machine.get_state() == state
    with pytest.raises(SyntaxError, match="await"):
        compile(block("004", 686), "004:686", "exec")


def test_708_an_error_cleans_up_before_the_state_changes() -> None:
    done: list[str] = []
    machine = StateMachine(state="action_running")
    names = run(
        708,
        cleanup_actions=lambda: done.append(f"actions in {machine.get_state()}"),
        cleanup_temporary_variables=lambda: done.append("variables"),
        log_error=lambda error: done.append(str(error)),
    )
    names["handle_error"](machine, ValueError("a bug"))
    assert machine.get_state() == "error"
    assert done == ["actions in action_running", "variables", "a bug"]


def test_461_is_a_body_that_needs_its_names() -> None:
    # Carried out against a server in test_literal_clients; here only that it is whole.
    compile(inside("def sample():", block("004", 461)), "004:461", "exec")
