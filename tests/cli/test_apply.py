from __future__ import annotations

import json
from typing import Any

import pytest

from cli.services import ear
from cli.shell import Done, Shell
from notebook_bcc.cli.codes import Exit

PLAN = {"name": "Two", "stages": [{"id": "a", "steps": [{"id": "one"}, {"id": "two"}]}, {"id": "b"}]}
AT_STEP = {
    "location": {
        "current": {"stage_id": "a", "step_id": "one"},
        "progress": {
            "stages": {"current": "a", "remaining": ["b"]},
            "steps": {"current": "one", "remaining": ["two"], "focus": "Old"},
        },
        "goals": {"workflow": "Both"},
    },
    "context": {"variables": {"x": 1}, "toDoList": ["first"], "FSM": {"state": "step_running"}},
}


def apply(shell: Shell, state: Any, answer: Any) -> Done:  # Any: JSON values, or a run's name
    if not isinstance(state, str):
        shell.write("state.json", json.dumps(state))
        state = "state.json"
    shell.write("answer.json", json.dumps(answer))
    return shell("planner", "apply", state, "answer.json")


def facts(shell: Shell) -> dict[str, Any]:
    (found,) = shell.json("planner", "apply", "state.json", "answer.json")
    return found


@pytest.fixture
def unplanned(shell: Shell) -> Shell:
    """A place with a run that has no plan yet: its planner refused."""
    with ear() as server:
        done = shell("run", "--planner", server.url, "--goal", "Both")
        assert done.returncode == Exit.STOPPED, done.stdout + done.stderr
    return shell


def test_the_first_plan_of_a_run_is_shown_and_the_run_left_alone(unplanned: Shell) -> None:
    journal = unplanned.runs[0] / "journal.sqlite"
    before = journal.read_bytes()
    done = apply(unplanned, "last", {"context_update": {"workflow_update": PLAN}})
    assert done.returncode == 0, done.stderr
    for line in (
        "    + a\n",
        "    +   one\n",
        "    + b\n",
        "START_WORKFLOW -> stage_running (a)\n",
        "judgement (stage)",
    ):
        assert line in done.stdout, done.stdout
    assert "does not tell" not in done.stdout
    assert journal.read_bytes() == before


def test_a_plan_that_contradicts_itself_is_a_problem(unplanned: Shell) -> None:
    twice = {"stages": [{"id": "a"}, {"id": "a"}]}
    done = apply(unplanned, "last", {"context_update": {"workflow_update": twice}})
    assert "problem: " in done.stdout
    assert "'a' is used twice" in done.stdout
    assert "then it stops (interrupted)" in done.stdout


def test_variables_tasks_and_focus_are_told_apart(shell: Shell) -> None:
    update = {
        "variables": {"x": 2, "y": [1]},
        "todo_list_update": {"operation": "add", "items": ["second"]},
        "progress_update": {"level": "steps", "focus": "New"},
    }
    done = apply(shell, AT_STEP, {"context_update": update, "context_filter": {"variables_to_include": ["x"]}})
    assert done.returncode == 0, done.stderr
    found = facts(shell)
    changes = {change["what"]: (change["before"], change["after"]) for change in found["changes"]}
    assert changes["variables.x"] == (1, 2)
    assert changes["variables.y"] == (None, [1])
    assert changes["todo"] == (["first"], ["first", "second"])
    assert changes["focus of steps"] == ("Old", "New")
    assert changes["context filter"][1]["variables_to_include"] == ["x"]
    assert found["events"] == ["START_BEHAVIOR"]
    assert "POST /generating" in found["then"]
    assert any("policies and limits" in one for one in found["not_derived"])
    assert any("behaviors" in one for one in found["not_derived"])
    assert "what an observation does not tell:" in done.stdout


def test_a_reached_target_moves_the_run_on(shell: Shell) -> None:
    apply(shell, {"observation": AT_STEP}, {"targetAchieved": True})
    found = facts(shell)
    assert (found["events"], found["state"]) == (["COMPLETE_STEP"], "step_completed")
    at_end = {**AT_STEP, "context": {"FSM": {"state": "step_completed"}}}
    apply(shell, at_end, {"targetAchieved": False})
    assert facts(shell)["events"] == ["NEXT_STEP"]
    apply(shell, at_end, {"targetAchieved": True})
    assert facts(shell)["events"] == ["COMPLETE_STAGE"]


def test_a_place_that_is_not_in_the_plan_is_a_problem_and_fails_the_run(shell: Shell) -> None:
    apply(shell, AT_STEP, {"transition": {"strategy": "server_controlled", "next_stage_id": "nowhere"}})
    found = facts(shell)
    assert found["said"] == ["the planner wants to go to stage 'nowhere', which is not in the plan"]
    assert found["events"] == ["FAIL"]


def test_a_change_of_the_plan_waits(shell: Shell) -> None:
    steps = [{"id": "one"}, {"id": "extra"}]
    done = apply(shell, AT_STEP, {"context_update": {"stage_steps_update": {"updated_steps": steps}}})
    assert "a change of the plan waits for its confirmation:" in done.stdout
    assert "+   extra" in done.stdout
    assert "-   two" in done.stdout


def test_without_a_state_machine_the_place_is_guessed_and_that_is_said(shell: Shell) -> None:
    apply(shell, {"location": AT_STEP["location"]}, {"targetAchieved": True})
    found = facts(shell)
    assert found["events"] == ["COMPLETE_STEP"]
    assert any("guessed" in one for one in found["not_derived"])


def test_where_no_judgement_is_awaited_only_the_context_counts(finished: Shell) -> None:
    done = apply(finished, "last", {"targetAchieved": True, "context_update": {"variables": {"told": 1}}})
    assert "no judgement is awaited here (it stops (completed))" in done.stdout
    assert "variables.told: nothing -> 1" in done.stdout


def test_bad_input_is_refused(shell: Shell) -> None:
    shell.write("state.json", json.dumps(AT_STEP))
    shell.write("action.json", '{"action": {"action": "add"}}')
    for arguments, message in (
        (("-", "-"), "only one of STATE and ANSWER"),
        (("state.json", "action.json"), "it is no judgement: it holds nothing but action"),
        (("state.json", "-"), "not JSON"),
        (("nowhere", "action.json"), "no run 'nowhere'"),
    ):
        done = shell("planner", "apply", *arguments)
        assert (done.returncode, message in done.stderr) == (Exit.USAGE, True), (arguments, done.stderr)
