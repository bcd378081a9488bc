"""What people say who run a foreign planner: starting variables, no stream, the notebook's cells, limits."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import notebook_bcc as nb
from cli.shell import Shell
from notebook_bcc.cli.codes import Exit
from notebook_bcc.errors import RunRefused, SettingsInvalid

PLAN = {"name": "One text", "stages": [{"id": "only", "steps": [{"id": "text"}]}]}
TEXT = {"action": "add", "shot_type": "dialogue", "content": "Hello."}


class Service:
    """A planner that writes one text as often as it is told, and remembers what it was asked."""

    def __init__(self) -> None:
        self.url = ""
        self.actions: list[Any] = [TEXT]
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def answer(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        self.asked.append((path, body))
        if path == "/generating":
            return {"actions": self.actions}
        return {
            "targetAchieved": "behavior_feedback" in body,
            "transition": {"continue_behaviors": False},
            "context_update": {"workflow_update": PLAN}
            if body["observation"]["context"]["FSM"]["state"] == "idle"
            else {},
        }

    def bodies(self, path: str) -> list[dict[str, Any]]:
        return [body for asked, body in self.asked if asked == path]


@contextmanager
def serving() -> Iterator[Service]:
    service = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            content = json.dumps(service.answer(self.path, body)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        service.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield service
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def service() -> Iterator[Service]:
    with serving() as found:
        yield found


def run(shell: Shell, service: Service, *options: str) -> None:
    done = shell("run", "--planner", service.url, "--goal", "Say hello", "--no-verify", *options)
    assert done.returncode == 0, done.stdout + done.stderr


def test_starting_variables_reach_the_context_of_every_request(shell: Shell, service: Service) -> None:
    said = ("--var", "csv_file_path=data/train.csv", "--var", "problem_description=Predict a=b", "--var", "folds=5")
    run(shell, service, *said, "--var", 'options={"deep": [true, null]}', "--var", 'zip="01234"', "--var", "odd=NaN")
    assert len(service.asked) >= 4
    for _, body in service.asked:
        assert body["observation"]["context"]["variables"] == {
            "csv_file_path": "data/train.csv",
            "problem_description": "Predict a=b",
            "folds": 5,
            "options": {"deep": [True, None]},
            "zip": "01234",
            "odd": "NaN",
        }


@pytest.mark.parametrize("said", [("folds",), ("=5",), ("a b=5",), ("folds=5", "folds=6")])
def test_a_starting_variable_that_cannot_be_read_begins_nothing(shell: Shell, service: Service, said: Any) -> None:
    pairs = [part for one in said for part in ("--var", one)]
    done = shell("run", "--planner", service.url, "--goal", "Say hello", *pairs)
    assert done.returncode == Exit.USAGE
    assert "--var" in done.stderr
    assert (shell.runs, service.asked) == ([], [])


def test_without_a_stream_the_behavior_is_asked_for_whole(shell: Shell, service: Service) -> None:
    run(shell, service, "--no-stream")
    run(shell, service)
    assert [body["options"]["stream"] for body in service.bodies("/generating")] == [False, True]


def test_an_answer_without_a_stream_may_be_longer_than_a_line_of_one(shell: Shell, service: Service) -> None:
    service.actions = [{**TEXT, "content": "long " * 4_000_000}]
    run(shell, service, "--no-stream")


def test_the_cells_of_the_notebook_go_along_where_that_is_asked_for(shell: Shell, service: Service) -> None:
    run(shell, service, "--notebook-detail", "cells")
    notebook = service.bodies("/planning")[-1]["observation"]["context"]["notebook"]
    assert [cell["source"] for cell in notebook["cells"]] == ["Hello."]
    run(shell, service, "--notebook-detail", "summary")
    assert "cells" not in service.bodies("/planning")[-1]["observation"]["context"]["notebook"]


def test_a_behavior_stops_at_its_limit_of_actions_and_says_which_option_it_is(shell: Shell, service: Service) -> None:
    service.actions = [TEXT] * 3
    order = ("run", "--planner", service.url, "--goal", "Say hello", "--no-verify")
    done = shell(*order, "--max-actions-per-behavior", "2")
    assert done.returncode == Exit.STOPPED
    assert "has had 2 actions, the most allowed (--max-actions-per-behavior)" in done.stdout
    done = shell("resume", "last", "--no-verify", "--max-actions-per-behavior", "0")
    assert done.returncode == 0, done.stdout + done.stderr


def test_python_says_the_same_by_keywords(shell: Shell, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shell.folder)
    order: Any = {"planner": service.url, "goal": "Say hello", "run_id": "hello", "verify": False, "progress": False}
    given = {"csv_file_path": "train.csv", "folds": 5}
    assert nb.run(**order, variables=given, stream=False, notebook_detail="cells").status == "completed"
    assert service.bodies("/generating")[0]["options"]["stream"] is False
    assert service.bodies("/generating")[0]["observation"]["context"]["variables"] == given
    with pytest.raises(RunRefused, match="variables was"):
        nb.run(**order, variables={"folds": 6})
    with pytest.raises(SettingsInvalid, match="'folds' is not a JSON value: set"):
        nb.run(**order, variables={"folds": {5}})
    with pytest.raises(SettingsInvalid, match="cannot be called 'a b'"):
        nb.run(**order, variables={"a b": 5})


def test_what_only_a_planner_at_an_address_can_do_is_refused_for_others(shell: Shell) -> None:
    shell.write("hello.yaml", "goal: Say hello\nstages: [{id: a, steps: [{id: b, behaviors: [{actions: []}]}]}]\n")
    done = shell("run", "hello.yaml", "--no-stream")
    assert (done.returncode, shell.runs) == (Exit.USAGE, [])
    assert "for a planner at an address" in done.stderr
