from __future__ import annotations

import json
import shutil

import pytest

from cli.services import COUNTING, ear
from cli.shell import Shell, wait_until
from notebook_bcc.cli.codes import Exit


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A place with a run whose second behavior nobody has answered; its question had a filter."""
    shell = Shell(tmp_path_factory.mktemp("stopped"))
    silent = "fail: {times: 99, fallback: true, retry_after: 0}"
    counting = COUNTING.replace("focus: Add them up", f"focus: Add them up\n            {silent}")
    shell.write("counting.yaml", counting.replace("include_history", "include_current"))
    done = shell("run", "counting.yaml")
    assert done.returncode == Exit.FAILED, done.stdout + done.stderr
    return shell


def test_the_next_request_is_shown_with_its_size_and_what_the_filter_removed(stopped: Shell) -> None:
    text = stopped("planner", "observe", "last").stdout
    assert text.startswith("POST /generating  ")
    (facts,) = stopped.json("planner", "observe", "last")
    body = stopped("planner", "observe", "last", "--body").stdout.removesuffix("\n")
    assert facts["request"] == json.loads(body)
    assert facts["bytes"] == len(body.encode())
    assert f"{facts['bytes']:,} bytes" in text
    assert facts["request"]["observation"]["context"]["variables"] == {"rows": [3, 5, 8]}
    parts = {part["part"]: part for part in facts["filter"]["parts"]}
    assert parts["variables"]["removed"] == "secret"
    assert parts["variables"]["after"] < parts["variables"]["before"]
    assert facts["filter"]["warnings"] == ["variable 'nowhere' was requested but does not exist"]
    for part in parts:
        assert f"\n{part} " in text


def test_the_run_asks_exactly_what_was_shown(stopped: Shell, shell: Shell) -> None:
    shutil.copytree(stopped.folder / "nbcc-runs", shell.folder / "nbcc-runs")
    shown = shell("planner", "observe", "last", "--body").stdout.removesuffix("\n")
    with ear() as server:
        done = shell("resume", "last", "--planner", server.url)
    assert done.returncode == Exit.FAILED, done.stdout
    path, body, headers = server.heard[0]
    assert (path, body.decode()) == ("/generating", shown)
    assert headers["x-request-id"] == json.loads(shown)["options"]["request_id"]


def test_looking_at_a_completed_run_says_that_nothing_is_asked_and_changes_nothing(finished: Shell) -> None:
    journal = finished.runs[0] / "journal.sqlite"
    before = journal.read_bytes()
    (facts,) = finished.json("planner", "observe", "last")
    assert (facts["next"], "it stops (completed)" in facts["note"]) == (False, True)
    (facts,) = finished.json("planner", "observe", "last", "--generating")
    assert (facts["endpoint"], facts["request"]["options"]["stream"]) == ("/generating", True)
    assert "no context filter is in force" in finished("planner", "observe", "last", "--generating").stdout
    assert journal.read_bytes() == before


def test_the_first_dialect_has_its_own_place_and_words(finished: Shell) -> None:
    (facts,) = finished.json("planner", "observe", "last", "--dialect", "v1")
    assert facts["endpoint"] == "/v1/reflection"
    assert facts["request"]["observation"]["location"]["current_stage_id"] == "start"


def test_before_the_first_answer_it_is_the_first_question(shell: Shell) -> None:
    with ear() as server:
        done = shell("run", "--planner", server.url, "--dialect", "v1", "--goal", "Find out")
        assert done.returncode == Exit.STOPPED, done.stdout + done.stderr
    (facts,) = shell.json("planner", "observe", "last")
    assert (facts["endpoint"], facts["next"]) == ("/v1/reflection", True)
    assert facts["request"]["options"]["attempt"] == 1, "a header counts them: the body is the same each time"
    assert facts["request"]["observation"]["location"]["goals"] == {"workflow": "Find out"}


def test_summaries_that_only_the_kernel_can_make_are_said_to_be_left_out(shell: Shell) -> None:
    wanted = "{variables_to_include: [], variables_to_summarize: {rows: head_only}}"
    shell.write(
        "summary.yaml",
        "stages: [{id: s, steps: [{id: t, behaviors: [{actions: [{code: rows = list(range(9))}]}, "
        f"{{context_filter: {wanted}, fail: {{times: 1}}, actions: [{{code: '1'}}]}}]}}]}}]",
    )
    done = shell("run", "summary.yaml", "--max-behaviors", "1")
    assert done.returncode == Exit.STOPPED, done.stdout + done.stderr
    assert "summaries of rows (head_only)" in shell("planner", "observe", "last").stdout
    (facts,) = shell.json("planner", "observe", "last")
    assert facts["filter"]["summaries_left_out"] == ["rows (head_only)"]


def test_a_run_that_is_under_way_is_looked_at_without_disturbing_it(shell: Shell) -> None:
    wait = "import pathlib, time\\nwhile not pathlib.Path('go').exists():\\n    time.sleep(0.02)"
    shell.write("slow.yaml", f'stages: [{{id: s, steps: [{{id: t, behaviors: [{{actions: [{{code: "{wait}"}}]}}]}}]}}]')
    with shell.background("run", "slow.yaml", "--no-verify") as command:
        wait_until(lambda: "kernel python3 is up" in command.said)
        (facts,) = shell.json("planner", "observe", "last")
        assert (facts["next"], facts["request"]["observation"]["context"]["FSM"]["state"]) == (False, "action_running")
        assert "it carries out the action that has arrived" in facts["note"]
        (shell.runs[0] / "work" / "go").touch()
        assert command.exit_code() == Exit.COMPLETED, command.said


def test_a_run_that_is_not_there_is_refused(shell: Shell) -> None:
    assert shell("planner", "observe", "last").returncode == Exit.USAGE
