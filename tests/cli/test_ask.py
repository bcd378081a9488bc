from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from cli.services import COUNTING, command_at, ear
from cli.shell import Shell
from notebook_bcc.cli.codes import Exit

REQUEST = {
    "observation": {"location": {"current": {"stage_id": "start", "step_id": "make"}, "progress": {}}},
    "options": {"request_id": "r.1", "run_id": "r"},
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("service")
    Shell(folder).write("counting.yaml", COUNTING)
    with command_at(folder, "serve", "counting.yaml", "--port", "0") as (_, url):
        yield url


def test_a_file_is_asked_and_the_judgement_shown(shell: Shell, service: str) -> None:
    shell.write("request.json", json.dumps(REQUEST))
    done = shell("planner", "ask", "request.json", "--url", service)
    assert done.returncode == 0, done.stderr
    assert "the target is not reached" in done.stdout
    (answer,) = shell.json("planner", "ask", "request.json", "--url", service)
    assert answer["behavior"]["id"] == "make.1"


@pytest.mark.parametrize("dialect", ["v2", "v1"])
def test_actions_are_shown_one_a_line(shell: Shell, service: str, dialect: str) -> None:
    shell.write("request.json", json.dumps(REQUEST))
    done = shell("planner", "ask", "request.json", "--url", service, "--generating", "--dialect", dialect)
    assert done.returncode == 0, done.stderr
    assert "update_title  Counting" in done.stdout
    assert "the end, after 3 actions" in done.stdout
    lines = shell.json("planner", "ask", "request.json", "--url", service, "--generating", "--dialect", dialect)
    kinds = [line["action"].get("action") or line["action"].get("type") for line in lines]
    assert kinds == ["update_title", "add", "exec"]


def test_the_address_comes_from_the_environment_for_a_file(shell: Shell, service: str) -> None:
    shell.write("request.json", json.dumps({**REQUEST, "options": {"stream": True}}))
    done = shell("planner", "ask", "request.json", DSLC_BASE_URL=service)
    assert "the end, after 3 actions" in done.stdout, done.stderr


def test_a_run_is_asked_for_with_its_own_script_unless_told_otherwise(shell: Shell, service: str) -> None:
    shell.write("counting.yaml", COUNTING.replace("It is done.", "Mine."))
    done = shell("run", "counting.yaml", "--max-behaviors", "1")
    assert done.returncode == Exit.STOPPED, done.stdout + done.stderr
    for url, name in (((), "scripted"), (("--url", service), service)):
        done = shell("planner", "ask", "last", *url)
        assert done.returncode == 0, done.stderr
        assert f"asking {name}: /generating" in done.stdout
        assert "add action  print(sum(rows))" in done.stdout
    done = shell("planner", "ask", "last", "--planning")
    assert "this is not what goes out next: it asks for a behavior" in done.stdout


def test_a_request_has_an_id_of_its_own_unless_it_shall_keep_it(shell: Shell) -> None:
    shell.write("request.json", json.dumps(REQUEST))
    with ear() as server:
        for more in ((), (), ("--keep-id",)):
            done = shell("planner", "ask", "request.json", "--url", server.url, *more, DSLC_TOKEN="a-secret")
            assert (done.returncode, "a-secret" in done.stderr) == (Exit.FAILED, False)
    ids = [body["options"]["request_id"] for body in server.bodies]
    assert len(set(ids)) == 3
    assert ids[2] == "r.1"
    assert {headers["authorization"] for _, _, headers in server.heard} == {"Bearer a-secret"}


def test_what_observe_wrote_can_be_asked(shell: Shell, finished: Shell) -> None:
    for flag in ("--json", "--body"):
        shell.write("request.json", finished("planner", "observe", "last", flag).stdout)
        with ear() as server:
            shell("planner", "ask", "request.json", "--url", server.url)
        assert server.bodies[0]["observation"]["context"]["FSM"]["state"] == "workflow_completed"


def test_bad_input_is_refused_with_the_field_that_is_wrong(shell: Shell) -> None:
    shell.write("request.json", json.dumps(REQUEST))
    shell.write("broken.json", "{")
    shell.write("empty.json", '{"observation": {"location": {"current": {}}}}')
    for arguments, message in (
        (("broken.json",), "not JSON"),
        (("nowhere.json",), "cannot be read"),
        (("empty.json",), "observation.location.progress"),
        (("nowhere",), "no run 'nowhere'"),
        (("request.json", "--url", "planner"), "--url 'planner' cannot be used"),
        (("request.json", "--url", "http://me:hush@planner"), "holds credentials"),
    ):
        done = shell("planner", "ask", *arguments)
        assert done.returncode == Exit.USAGE, (arguments, done.stderr)
        assert message in done.stderr, (arguments, done.stderr)
        assert "hush" not in done.stderr
