"""A machine follows the table, remembers its way and is not moved by what the table does not know."""

from __future__ import annotations

import itertools
import json
import logging
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from notebook_bcc.fsm.machine import StateMachine, allowed_events, is_final, is_running, next_state
from notebook_bcc.protocol.vocabulary import Event, State

FINAL = {State.WORKFLOW_COMPLETED, State.ERROR, State.CANCELLED}
spelled = st.sampled_from([spelling for event in Event for spelling in (event, event.value, event.value.lower())])
anything = st.one_of(spelled, st.text(max_size=20))
# No clock decides here: the machine may be busy with other things.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def ticking(start: int = 0) -> StateMachine:
    return StateMachine(clock=itertools.count(start, 1_500_000_000).__next__)


@unhurried
@given(st.lists(anything, max_size=60))
def test_history_is_a_path_of_the_table_from_idle_to_the_current_state(events: list[str]) -> None:
    machine = StateMachine()
    accepted = [machine.transition(event) for event in events]
    here = State.IDLE
    for entry in machine.history:
        assert entry["from"] == here
        following = next_state(here, Event(entry["event"]))
        assert following == entry["to"]
        here = following
    assert here is machine.get_state()
    assert (accepted.count(True), accepted.count(False)) == (len(machine.history), len(machine.refused))


@unhurried
@given(st.sampled_from(State), anything)
def test_a_refused_event_changes_nothing_but_the_list_of_refusals(state: State, event: str) -> None:
    machine = StateMachine(state=state)
    machine.stage_id, machine.step_id, machine.behavior_id, machine.behavior_iteration = "a", "b", "c", 4
    before = machine.to_context()
    if machine.transition(event):
        assert event.upper() in allowed_events(state)
        return
    assert machine.get_state() is state
    assert machine.to_context() == before
    assert (machine.stage_id, machine.step_id, machine.behavior_id, machine.behavior_iteration) == ("a", "b", "c", 4)
    assert [(entry["state"], entry["event"]) for entry in machine.refused] == [(state, event)]


@pytest.mark.parametrize("event", Event)
def test_an_event_is_the_same_in_any_spelling(event: Event) -> None:
    for state in State:
        answers = set()
        for spelling in (event, event.value, event.value.lower(), event.value.title()):
            machine = StateMachine(state=state.value.upper())
            answers.add((machine.transition(spelling), machine.get_state(), *(e["event"] for e in machine.history)))
        assert len(answers) == 1


@pytest.mark.parametrize("state", State)
def test_a_state_is_idle_or_running_or_final(state: State) -> None:
    assert is_final(state) == (state in FINAL)
    assert is_running(state) == (state not in FINAL and state is not State.IDLE)
    assert StateMachine(state=state).is_running() == is_running(state)


def test_a_refused_event_is_logged_as_a_warning_that_names_what_is_allowed(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="notebook_bcc.fsm.machine"):
        assert not StateMachine().transition("NEXT_ACTION")
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage() == "invalid transition: idle --NEXT_ACTION--> ?; allowed here: START_WORKFLOW"


def test_a_state_that_does_not_exist_is_no_place_to_start() -> None:
    with pytest.raises(ValueError, match="nowhere"):
        StateMachine(state="nowhere")


def test_entries_carry_the_clock_as_utc_text() -> None:
    machine = ticking(start=1_767_605_401_000_000_000)
    machine.transition("start_workflow")
    machine.transition("START_WORKFLOW")
    machine.transition(Event.START_STEP)
    assert machine.history == [
        {"from": "idle", "event": "START_WORKFLOW", "to": "stage_running", "timestamp": "2026-01-05T09:30:01.000000Z"},
        {
            "from": "stage_running",
            "event": "START_STEP",
            "to": "step_running",
            "timestamp": "2026-01-05T09:30:04.000000Z",
        },
    ]
    assert machine.refused == [
        {"state": "stage_running", "event": "START_WORKFLOW", "timestamp": "2026-01-05T09:30:02.500000Z"}
    ]


@unhurried
@given(st.integers(min_value=0, max_value=4_102_444_800_000_000_000))
def test_a_timestamp_reads_back_as_the_moment_it_was_made_from(moment: int) -> None:
    machine = StateMachine(clock=lambda: moment)
    machine.transition("START_WORKFLOW")
    read = datetime.fromisoformat(machine.history[0]["timestamp"])
    assert (read - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() == pytest.approx(moment / 1e9, abs=2e-6)
    assert machine.history[0]["timestamp"].endswith("Z")


def test_the_context_names_the_last_transition_and_is_plain_json() -> None:
    machine = ticking()
    assert machine.to_context() == {"state": "idle", "last_transition": None, "timestamp": None, "history": []}
    machine.transition("START_WORKFLOW")
    machine.transition("FAIL")
    context = machine.to_context()
    assert (context["state"], context["last_transition"]) == ("error", "FAIL -> error")
    assert context["timestamp"] == context["history"][-1]["timestamp"] == "1970-01-01T00:00:01.500000Z"
    assert json.loads(json.dumps(context)) == context


def test_history_and_refusals_are_bounded_and_keep_the_newest() -> None:
    machine = StateMachine(history_limit=3)
    for event in ("START_WORKFLOW", "START_STEP", "bad 0", "START_BEHAVIOR", "bad 1", "START_ACTION", "bad 2", "bad 3"):
        machine.transition(event)
    assert [entry["event"] for entry in machine.history] == ["START_STEP", "START_BEHAVIOR", "START_ACTION"]
    assert [entry["event"] for entry in machine.refused] == ["bad 1", "bad 2", "bad 3"]


def test_a_very_long_run_needs_no_deeper_stack_and_no_longer_history() -> None:
    machine = StateMachine()
    for event in ("START_WORKFLOW", "START_STEP", "START_BEHAVIOR", "START_ACTION"):
        assert machine.transition(event)
    for _ in range(5_000):
        assert machine.transition("COMPLETE_ACTION")
        assert machine.transition("NEXT_ACTION")
    assert len(machine.history) == 100


def test_what_is_handed_out_is_a_copy() -> None:
    machine = StateMachine()
    machine.transition("START_WORKFLOW")
    machine.history.clear()
    machine.to_context()["history"].clear()
    assert len(machine.history) == 1
