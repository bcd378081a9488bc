"""The sample loops of 002 and 004, word for word, against `nbcc serve`: by our client, and by one of theirs."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import AsyncIterator, Iterator
from http.client import HTTPResponse
from types import SimpleNamespace
from typing import Any

import pytest

from cli.services import command_at
from notebook_bcc import ApiClient, ScriptStore, WorkflowEvent
from notebook_bcc.compat import GeneratingAPI, PlanningAPI, SampleStateMachine
from notebook_bcc.kernel.scripted import ScriptedKernel
from seeds.pages import block, inside
from seeds.states import step_observation, step_state

SCRIPT = """
name: Loading
goal: Load a table
stages:
  - id: data_analysis
    steps:
      - id: load_data
        goal: The table is loaded
        behaviors:
          - actions:
              - text: First the table.
              - code: rows = [3, 5, 8]; print(len(rows), "行")
          - actions:
              - code: total = sum(rows)
"""
FEEDBACK = {
    "behavior_id": "behavior_001",
    "actions_executed": 3,
    "actions_succeeded": 3,
    "sections_added": 0,
    "last_action_result": "success",
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("service")
    (folder / "loading.yaml").write_text(SCRIPT, encoding="utf-8")
    with command_at(folder, "serve", "loading.yaml", "--port", "0") as (_, url):
        yield url


class Body:
    """A response as the document's loop reads it: `response.content.iter_any()`."""

    def __init__(self, response: HTTPResponse) -> None:
        self._response = response

    async def iter_any(self) -> AsyncIterator[bytes]:
        while piece := self._response.read1(64):
            yield piece


class RawClient:
    """What 002 and 004 print and no more: their requests, their loop over the stream, the answers as they came."""

    def __init__(self, url: str) -> None:
        self._url = url

    def send_feedback_sync(
        self, stage_id: str, step_id: str, state: dict[str, Any], behavior_feedback: dict[str, Any] | None = None
    ) -> Any:
        body = {"observation": _observation(state), "options": {"stream": False}}
        if behavior_feedback is not None:
            body["behavior_feedback"] = behavior_feedback
        with self._post("/planning", body) as response:
            return json.load(response)

    def fetch_behavior_actions_sync(
        self, stage_id: str, step_id: str, state: dict[str, Any], stream: bool
    ) -> list[dict[str, Any]]:
        names: dict[str, Any] = {"json": json}
        exec(compile(inside("async def read(response):", block("002", 329)), "002:329", "exec"), names)

        async def all_of(response: HTTPResponse) -> list[dict[str, Any]]:
            return [action async for action in names["read"](SimpleNamespace(content=Body(response)))]

        body = {"observation": _observation(state), "options": {"stream": stream}}
        with self._post("/generating", body) as response:
            return asyncio.run(all_of(response))

    def check_step_goal(self, observation: dict[str, Any]) -> Any:
        return self.send_feedback_sync("", "", observation)

    def send_feedback(self, observation: dict[str, Any], feedback: dict[str, Any]) -> Any:
        return self.send_feedback_sync("", "", observation, feedback)

    def get_actions(self, observation: dict[str, Any]) -> list[dict[str, Any]]:
        return self.fetch_behavior_actions_sync("", "", observation, stream=True)

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        request = urllib.request.Request(
            self._url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        return urllib.request.urlopen(request, timeout=60)


def _observation(state: dict[str, Any]) -> dict[str, Any]:
    if "location" in state:
        return state
    context = {name: value for name, value in state.items() if name != "progress_info"}
    return {"location": state["progress_info"], "context": context}


class Names(dict[str, Any]):
    """The names of 004's loop. It asks for `is_last_action`, which changes with every action."""

    def __missing__(self, name: str) -> bool:
        if name != "is_last_action":
            raise KeyError(name)
        return self["action"] is self["actions"][-1]


@pytest.mark.parametrize("kind", ["ours", "raw"])
def test_the_loop_of_002_carries_out_a_behavior_and_goes_on_as_the_server_says(service: str, kind: str) -> None:
    machine = SampleStateMachine(state="step_running")
    with ApiClient(base_url=service) as client, ScriptStore(kernel=ScriptedKernel()) as store:
        names: dict[str, Any] = {
            "api_client": client if kind == "ours" else RawClient(service),
            "script_store": store,
            "transition": machine.transition,
            "WorkflowEvent": WorkflowEvent,
            "current_state": step_state(),
        }
        exec(compile(block("002", 518), "002:518", "exec"), names)
        assert store.variables == {"rows": [3, 5, 8]}
    # The step has a second behavior: the server lets the loop go on.
    assert names["feedback_response"]["transition"]["continue_behaviors"] is True
    assert [move["event"] for move in machine.history] == ["START_BEHAVIOR", "COMPLETE_BEHAVIOR", "NEXT_BEHAVIOR"]
    assert machine.refused == []


@pytest.mark.parametrize("kind", ["ours", "raw"])
def test_the_loop_of_004_carries_out_every_behavior_of_a_step(service: str, kind: str) -> None:
    machine = SampleStateMachine(state="step_running")
    with ApiClient(base_url=service) as client, ScriptStore(kernel=ScriptedKernel()) as store:
        raw = RawClient(service)
        names = Names(
            planning_api=PlanningAPI(client) if kind == "ours" else raw,
            generating_api=GeneratingAPI(client) if kind == "ours" else raw,
            state_machine=machine,
            script_store=store,
            observation=step_observation(),
            behavior_feedback=FEEDBACK,
        )
        exec(compile(block("004", 461), "004:461", "exec"), {}, names)
        assert machine.get_state() == "behavior_running"
        # The loop has one pass; the second behavior is the next one, with its number counted on.
        second = step_observation(variables=store.variables)
        second["location"]["current"] |= {"behavior_id": "behavior_002", "behavior_iteration": 2}
        second["location"]["progress"]["behaviors"] = {
            "completed": ["behavior_001"],
            "current": "behavior_002",
            "iteration": 2,
        }
        machine = SampleStateMachine(state="step_running")
        names |= {
            "state_machine": machine,
            "observation": second,
            "behavior_feedback": {**FEEDBACK, "behavior_id": "behavior_002", "actions_executed": 2},
        }
        exec(compile(block("004", 461), "004:461", "exec"), {}, names)
        assert store.variables == {"rows": [3, 5, 8], "total": 16}
    assert machine.get_state() == "step_completed"
    assert machine.refused == []


def test_a_goal_that_is_reached_completes_the_step_without_generating(service: str) -> None:
    state = step_state()
    state["progress_info"]["progress"]["behaviors"]["completed"] = ["behavior_001", "behavior_002"]
    state["progress_info"]["current"] |= {"behavior_id": None, "behavior_iteration": 2}
    machine = SampleStateMachine(state="step_running")
    names: dict[str, Any] = {
        "api_client": RawClient(service),
        "transition": machine.transition,
        "WorkflowEvent": WorkflowEvent,
        "current_state": state,
    }
    exec(compile(block("002", 518), "002:518", "exec"), names)
    assert machine.get_state() == "step_completed"
