from __future__ import annotations

import json
import re
import shlex
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from cli.shell import HELLO, Background, Shell, wait_until
from notebook_bcc.cli.codes import Exit
from notebook_bcc.journal.lock import RunLock
from notebook_bcc.notebook.reading import read_notebook

SLOW = """
stages:
  - id: only
    steps:
      - id: wait
        behaviors:
          - actions:
              - code: started = 1
              - code: |
                  import pathlib, time
                  pathlib.Path("waiting").touch()
                  while not pathlib.Path("go").exists():
                      time.sleep(0.02)
              - code: print("after", started)
"""
PROPOSING = """
stages:
  - id: only
    steps:
      - id: first
        behaviors: [{actions: [{code: a = 1}, {steps: [first, extra]}]}]
      - id: extra
        later: true
        behaviors: [{actions: [{code: a + 1}]}]
"""


def test_one_command_makes_a_verified_notebook_and_a_page(finished: Shell) -> None:
    (folder,) = finished.runs
    file = read_notebook(folder / "notebook.ipynb")
    assert file.document.title == "Greetings"
    assert file.run["stopped"] == "completed"
    assert file.run["verified"]["ok"] is True
    assert "Greetings" in (folder / "notebook.html").read_text()


def test_plain_lines_tell_stage_step_behavior_and_cell(shell: Shell) -> None:
    shell.write("hello.yaml", HELLO)
    done = shell("run", "hello.yaml", "--no-verify", "--name", "My run", "--goal", "Another goal")
    lines = [line[10:] for line in done.stdout.splitlines()]
    assert lines[0].endswith("-my-run started")
    for expected in ("goal: Another goal", "stage 1/1  The start", "  step 1/1  Greet", "    behavior 1"):
        assert expected in lines
    assert any(line.startswith("      cell hello  ok") for line in lines)
    assert any(line.startswith("completed: 5 actions, 2 code cells") for line in lines)


def test_the_view_speaks_chinese(shell: Shell) -> None:
    shell.write("hello.yaml", HELLO)
    done = shell("run", "hello.yaml", "--lang", "zh")
    assert "阶段 1/1  The start" in done.stdout
    assert "已验证" in done.stdout


def test_json_is_one_object_a_line_for_every_entry(shell: Shell) -> None:
    shell.write("hello.yaml", HELLO)
    lines = shell.json("run", "hello.yaml")
    entries = [line for line in lines if line["kind"] != "progress"]
    assert [line["what"] for line in lines if line["kind"] == "progress"] == ["verify"] * 2
    assert [entry["seq"] for entry in entries if "seq" in entry] == list(range(1, len(entries) - 1))
    assert entries[0]["kind"] == "run_started"
    assert [entry["kind"] for entry in entries[-2:]] == ["run_ended", "verified"]
    assert shell.json("show", "last") == entries[:-2]


def test_quiet_says_nothing_when_all_is_well(shell: Shell) -> None:
    shell.write("hello.yaml", HELLO)
    done = shell("run", "hello.yaml", "--quiet", "--no-verify")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_notebook_goes_where_it_is_wanted(shell: Shell) -> None:
    shell.write("hello.yaml", HELLO)
    done = shell("run", "hello.yaml", "--out", "mine.ipynb")
    assert done.returncode == 0, done.stderr
    assert read_notebook(shell.folder / "mine.ipynb").run["verified"]["ok"] is True
    assert (shell.folder / "mine.html").exists()


def test_data_files_of_the_script_are_beside_the_cells(shell: Shell) -> None:
    shell.write("data.csv", "1\n2\n")
    shell.write(
        "sum.yaml",
        "files: [data.csv]\nstages: [{id: s, steps: [{id: t, behaviors: [{actions: ["
        "{code: 'print(sum(map(int, open(\"data.csv\"))))'}]}]}]}]",
    )
    done = shell("run", "sum.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    (folder,) = shell.runs
    (cell,) = read_notebook(folder / "notebook.ipynb").document.cells
    assert cell.outputs[0]["text"] == "3\n"


def test_a_run_that_misses_its_goal_fails_and_says_how_to_go_on(shell: Shell) -> None:
    shell.write("bad.yaml", "stages: [{id: s, steps: [{id: t, behaviors: [{actions: [{code: 1/0}]}]}]}]")
    done = shell("run", "bad.yaml")
    assert done.returncode == Exit.FAILED
    assert "ZeroDivisionError" in done.stdout
    assert "nbcc resume" in done.stdout
    assert shell("run", "bad.yaml", "--on-unachieved", "skip", "--no-verify").returncode == Exit.COMPLETED


SILENT = (
    "stages: [{id: s, steps: [{id: t, behaviors: [{fail_feedback: {times: 4, retry_after: 0}, "
    "actions: [{code: x = 1}]}]}]}]"
)


def test_a_planner_that_does_not_judge_stops_the_run_and_the_cell_is_not_run_again(shell: Shell) -> None:
    shell.write("silent.yaml", SILENT)
    done = shell("run", "silent.yaml", "--no-verify")
    assert done.returncode == Exit.STOPPED, done.stdout + done.stderr
    assert "--on-outage fallback" in done.stdout
    done = shell("resume", "last", "--no-verify")
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    kinds = [entry["kind"] for entry in shell.json("show", "last")]
    assert kinds.count("action_received") == 2
    assert shell("run", "silent.yaml", "--no-verify", "--on-outage", "fallback").returncode == Exit.FAILED


@pytest.mark.parametrize("place", ["other runs", "nbcc-runs", ""])
def test_the_command_that_goes_on_works_when_it_is_pasted(shell: Shell, place: str) -> None:
    shell.write("hello.yaml", HELLO)
    kept = ["--runs", place] if place else []
    done = shell("run", "hello.yaml", "--max-actions", "1", *kept)
    assert done.returncode == Exit.STOPPED
    command = next(line for line in done.stdout.splitlines() if "Resume with: " in line).partition(
        "Resume with: nbcc "
    )[2]
    assert ("--runs" in command) == (place == "other runs"), "a place that commands look in by themselves is not said"
    status = shell("status", "last", *kept).stdout
    assert f"nbcc {command}" in status
    done = shell(*shlex.split(command), "--max-actions", "0", "--no-verify")
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr


def test_a_limit_from_the_environment_stops_and_resume_goes_on(shell: Shell) -> None:
    shell.write("hello.yaml", HELLO)
    done = shell("run", "hello.yaml", MAX_EXECUTION_STEPS="2")
    assert done.returncode == Exit.STOPPED
    assert "MAX_EXECUTION_STEPS" in done.stdout
    done = shell("resume", "last", "--max-actions", "0")
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr


@contextmanager
def slow_run(shell: Shell) -> Iterator[Background]:
    """A run whose second cell waits for the file `go`."""
    shell.write("slow.yaml", SLOW)
    with shell.background("run", "slow.yaml", "--no-verify") as command:
        wait_until(lambda: bool(shell.runs) and (shell.runs[0] / "work" / "waiting").exists())
        yield command


def let_go(shell: Shell) -> None:
    (shell.runs[0] / "work" / "go").touch()


def test_ctrl_c_pauses_after_the_current_action(shell: Shell) -> None:
    with slow_run(shell) as command:
        command.press(signal.SIGINT, until="Ctrl-C again")
        let_go(shell)
        assert command.exit_code() == Exit.STOPPED, command.said
    (facts,) = shell.json("status", "last")
    assert (facts["status"], facts["actions"]) == ("paused", 4)
    done = shell("resume", "last", "--no-verify")
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    assert "rebuilt: 2 cells, no differences" in done.stdout


def test_ctrl_c_twice_stops_at_once_and_the_action_is_done_on_resume(shell: Shell) -> None:
    with slow_run(shell) as command:
        command.press(signal.SIGINT, until="Ctrl-C again")
        command.press(signal.SIGINT, until="stopping now")
        assert command.exit_code() == Exit.STOPPED, command.said
    (facts,) = shell.json("status", "last")
    assert (facts["status"], facts["actions"]) == ("interrupted", 3)
    let_go(shell)
    assert shell("resume", "last", "--no-verify").returncode == Exit.COMPLETED


def test_after_kill_nine_resume_goes_on_from_the_last_completed_action(shell: Shell) -> None:
    with slow_run(shell) as command:
        command.process.kill()
        command.exit_code()
    (facts,) = shell.json("status", "last")
    assert (facts["status"], facts["actions"]) == ("killed", 3)
    let_go(shell)
    done = shell("resume", "last", "--no-verify")
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    kinds = [entry["kind"] for entry in shell.json("show", "last")]
    assert kinds.count("action_completed") == 6


SLOW_AGAIN = """
stages:
  - id: only
    steps:
      - id: first
        behaviors:
          - actions:
              - code: "import os, time; time.sleep(60 if 'nbcc-verify-' in os.getcwd() else 0)"
"""


def test_a_request_to_terminate_during_the_final_verification_skips_it_and_leaves_nothing_behind(shell: Shell) -> None:
    shell.write("again.yaml", SLOW_AGAIN)
    place = shell.folder / "tmp"
    place.mkdir()
    with shell.background("run", "again.yaml", TMPDIR=str(place)) as command:
        wait_until(lambda: "verifying: cell 1" in command.said)
        command.process.send_signal(signal.SIGTERM)
        assert command.exit_code() == Exit.COMPLETED, command.said
        assert "the verification was skipped" in command.said
    assert list(place.glob("nbcc-verify-*")) == []
    assert (shell.runs[0] / "report.html").exists()


def test_a_request_to_terminate_a_verification_leaves_nothing_behind(shell: Shell) -> None:
    shell.write("again.yaml", SLOW_AGAIN)
    place = shell.folder / "tmp"
    place.mkdir()
    assert shell("run", "again.yaml", "--no-verify").returncode == Exit.COMPLETED
    with shell.background("verify", "last", TMPDIR=str(place)) as command:
        wait_until(lambda: "verifying: cell 1" in command.said)
        assert shell("cancel", "last").returncode == Exit.LOCKED
        command.process.send_signal(signal.SIGTERM)
        assert command.exit_code() == Exit.INTERRUPTED, command.said
    assert list(place.glob("nbcc-verify-*")) == []


def test_another_process_cancels_a_run(shell: Shell) -> None:
    with slow_run(shell) as command:
        done = shell("cancel", "last", "--comment", "enough")
        assert done.returncode == 0, done.stderr
        assert command.exit_code() == Exit.CANCELLED, command.said
    (facts,) = shell.json("status", "last")
    assert (facts["status"], facts["detail"]) == ("cancelled", "enough")


def test_a_pause_that_is_followed_by_a_cancel_ends_cancelled(shell: Shell) -> None:
    with slow_run(shell) as command:
        assert shell("pause", "last").returncode == 0
        done = shell("cancel", "last", "--comment", "enough")
        assert done.returncode == 0, done.stderr
        assert command.exit_code() == Exit.CANCELLED, command.said
    assert shell.json("status", "last")[0]["status"] == "cancelled"


@pytest.mark.parametrize("told", ["--journal", "--log"])
def test_who_follows_a_run_is_let_go_when_it_ends(shell: Shell, told: str) -> None:
    with slow_run(shell) as command, shell.background("show", "last", told, "--follow") as follower:
        wait_until(lambda: ("waiting" if told == "--journal" else "kernel") in follower.said)
        let_go(shell)
        assert command.exit_code() == Exit.COMPLETED, command.said
        assert follower.exit_code() == Exit.COMPLETED, follower.said
        assert ('"run_stopped"' if told == "--journal" else "completed") in follower.said
    done = shell("show", "last", told, "--follow")
    assert done.returncode == Exit.COMPLETED
    assert len(done.stdout.splitlines()) > 5


def test_another_process_pauses_a_run(shell: Shell) -> None:
    with slow_run(shell) as command:
        assert shell("pause", "last").returncode == 0
        let_go(shell)
        assert command.exit_code() in (Exit.STOPPED, Exit.COMPLETED), command.said


def test_another_process_answers_and_carries_on(shell: Shell) -> None:
    shell.write("propose.yaml", PROPOSING)
    done = shell("run", "propose.yaml", "--no-verify")
    assert done.returncode == Exit.STOPPED
    assert "nbcc confirm" in done.stdout
    (facts,) = shell.json("status", "last")
    number = facts["waiting"]["answers"]
    assert facts["waiting"]["change"] == ["  only", "    first", "+   extra"]
    assert re.search(rf"change +{number} waits for an answer\n +\+   extra\n", shell("status", "last").stdout)
    shown = f"change {number} of the plan waits for an answer\n    only\n      first\n  +   extra\n"
    assert shown in shell("show", "last").stdout
    assert shown in shell("show", "last", "--plan").stdout + "\n"
    assert shell("reject", "last", "--runs", "elsewhere").returncode == Exit.USAGE
    other = shell("confirm", "last", "--answers", str(number - 1))
    assert (other.returncode, other.stdout) == (Exit.USAGE, "")
    assert f"change {number - 1} of the plan" in other.stderr
    done = shell("confirm", "last", "--answers", str(number), "--comment", "why not", "--resume")
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    assert "+   extra" in done.stdout
    late = shell("reject", "last")
    assert late.returncode == Exit.USAGE
    assert "the last one was accepted by" in late.stderr
    assert "waiting" not in shell.json("status", "last")[0]
    plan = shell("show", "last", "--plan").stdout
    assert "[x] extra" in plan


def test_a_replay_gives_the_same_notebook(shell: Shell, finished: Shell) -> None:
    (recorded,) = finished.runs
    done = shell("replay", str(recorded), "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert (result["kind"], result["identical"], result["differences"]) == ("replayed", True, [])


def test_the_same_command_with_an_id_starts_a_run_once_and_then_says_what_it_came_to(shell: Shell) -> None:
    shell.write("hello.yaml", HELLO)
    first = shell("run", "hello.yaml", "--id", "nightly-7", "--max-actions", "2")
    assert first.returncode == Exit.STOPPED, first.stdout + first.stderr
    second = shell("run", "hello.yaml", "--id", "nightly-7", "--no-verify")
    assert second.returncode == Exit.COMPLETED, second.stdout + second.stderr
    assert "goes on after 2 completed actions" in second.stdout
    third = shell("run", "hello.yaml", "--id", "nightly-7")
    assert third.returncode == Exit.COMPLETED
    assert "run nightly-7 is over already" in third.stdout
    assert "nbcc-runs/nightly-7/notebook.ipynb" in third.stdout
    assert [path.name for path in shell.runs] == ["nightly-7"]
    other = shell("run", "hello.yaml", "--id", "nightly-7", "--goal", "Another")
    assert other.returncode == Exit.USAGE
    assert "goal was none and is 'Another' now" in other.stderr
    with RunLock(shell.folder / "nbcc-runs" / "nightly-7" / "run.lock"):
        assert shell("run", "hello.yaml", "--id", "nightly-7", "--no-wait").returncode == Exit.LOCKED


def test_verifying_without_the_data_is_bad_input_and_changes_nothing(shell: Shell) -> None:
    shell.write("data.csv", "1\n")
    steps = "[{id: t, behaviors: [{actions: [{code: 'open(\"data.csv\").read()'}]}]}]"
    shell.write("sum.yaml", f"files: [data.csv]\nstages: [{{id: s, steps: {steps}}}]")
    assert shell("run", "sum.yaml", "--no-verify").returncode == Exit.COMPLETED
    (folder,) = shell.runs
    (folder / "inputs" / "data.csv").unlink()
    before = (folder / "notebook.ipynb").read_bytes()
    done = shell("verify", "last")
    assert done.returncode == Exit.USAGE, done.stdout + done.stderr
    assert "is not here" in done.stderr
    assert "--inputs FOLDER" in done.stderr
    assert (folder / "notebook.ipynb").read_bytes() == before
