"""ApiClient: the documents' calls, answered by a planner in this process or by a server over HTTP."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from notebook_bcc import ApiClient, CallablePlanner, Config
from notebook_bcc.errors import MessageInvalid, PlannerUnreachable, RunRefused, StreamBroken
from notebook_bcc.planners.interface import ActionData, Generated, StreamWarning
from notebook_bcc.protocol.messages import BehaviorFeedback, Request
from notebook_bcc.protocol.observation import Location, Observation

ACTIONS = [{"action": "add", "content": "x = 1", "shot_type": "action"}, {"action": "exec", "codecell_id": "c"}]


class Asked:
    """A planner that remembers what it was asked."""

    def __init__(self, *, answer: dict[str, Any] | None = None, actions: list[Any] | None = None) -> None:
        self.requests: list[Request] = []
        self._answer = answer if answer is not None else {"targetAchieved": False}
        self._actions = ACTIONS if actions is None else actions
        self.planner = CallablePlanner(plan=self.plan, generate=self.generate)

    def plan(self, request: Request) -> dict[str, Any]:
        self.requests.append(request)
        return self._answer

    def generate(self, request: Request) -> list[Any]:
        self.requests.append(request)
        return self._actions


@pytest.fixture
def asked() -> Asked:
    return Asked()


@pytest.fixture
def client(asked: Asked) -> Iterator[ApiClient]:
    with ApiClient(planner=asked.planner) as made:
        yield made


def test_a_question_carries_the_state_as_an_observation(client: ApiClient, asked: Asked, state: dict[str, Any]) -> None:
    response = client.send_feedback_sync(stage_id="prices", step_id="load", state=state)
    assert response["targetAchieved"] is False
    request = asked.requests[0].to_dict()
    location, context = request["observation"]["location"], request["observation"]["context"]
    assert location["current"]["behavior_id"] == "behavior_001"
    assert location["progress"]["steps"]["remaining"] == ["clean"]
    assert location["goals"]["step"] == "Load the table"
    assert context["variables"] == {"rows": 3}
    assert context["toDoList"] == ["count the gaps"]
    assert context["FSM"]["state"] == "step_running"
    assert "behavior_feedback" not in request
    assert request["options"]["stream"] is False
    assert {"request_id", "run_id", "attempt"} <= request["options"].keys()


def test_every_question_has_an_id_of_its_own(client: ApiClient, asked: Asked, state: dict[str, Any]) -> None:
    for _ in range(2):
        client.send_feedback_sync("prices", "load", state)
    first, second = [request.options for request in asked.requests]
    assert first.request_id != second.request_id
    assert first.run_id == second.run_id


@pytest.mark.parametrize(
    ("answer", "continues", "reached"),
    [
        ({"targetAchieved": True}, False, True),
        ({"targetAchieved": False, "transition": {"continue_behaviors": True}}, True, False),
        ({"transition": {"continue_behaviors": False, "target_achieved": True}}, False, True),
        ({}, False, False),
    ],
)
def test_the_verdict_stands_wherever_the_documents_look_for_it(
    state: dict[str, Any], answer: dict[str, Any], continues: bool, reached: bool
) -> None:
    with ApiClient(planner=Asked(answer=answer).planner) as client:
        response = client.send_feedback_sync(stage_id="prices", step_id="load", state=state)
    assert response["targetAchieved"] is reached
    assert response["transition"]["target_achieved"] is reached
    assert response["transition"]["continue_behaviors"] is continues


@pytest.mark.parametrize("kind", [dict, BehaviorFeedback.parse])
def test_feedback_goes_along_as_a_dict_or_as_a_value(
    client: ApiClient, asked: Asked, state: dict[str, Any], kind: Callable[[Any], Any]
) -> None:
    told = {"behavior_id": "behavior_001", "actions_executed": 5, "actions_succeeded": 4, "sections_added": 2}
    client.send_feedback_sync(stage_id="prices", step_id="load", state=state, behavior_feedback=kind(told))
    feedback = asked.requests[0].behavior_feedback
    assert feedback is not None
    assert (feedback.actions_executed, feedback.actions_succeeded, feedback.sections_added) == (5, 4, 2)


@pytest.mark.parametrize("stream", [True, False])
def test_actions_come_as_a_list_that_also_answers_by_the_name_of_the_whole(
    client: ApiClient, asked: Asked, state: dict[str, Any], stream: bool
) -> None:
    actions = client.fetch_behavior_actions_sync(stage_id="prices", step_id="load", state=state, stream=stream)
    assert actions == ACTIONS
    assert actions["actions"] == ACTIONS
    assert (len(actions), actions[0], actions[1:]) == (2, ACTIONS[0], ACTIONS[1:])
    assert asked.requests[0].options.stream is stream
    with pytest.raises(KeyError):
        actions["behavior"]


def test_what_was_skipped_on_the_way_is_kept_with_the_actions_and_logged(
    state: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    asked = Asked(actions=[ACTIONS[0], StreamWarning("line 2 is no JSON"), ACTIONS[1]])
    with ApiClient(planner=asked.planner) as client, caplog.at_level(logging.WARNING):
        actions = client.fetch_behavior_actions_sync("prices", "load", state)
    assert actions == ACTIONS
    assert actions.warnings == ("line 2 is no JSON",)
    assert "line 2 is no JSON" in caplog.text


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"variables": {}},
        {"progress_info": None},
        {"progress_info": {}},
        {"progress_info": {"current": {}}},
        {"progress_info": {"progress": {}}},
        {"location": {"current": {}}},
        {"observation": {"context": {}}},
    ],
)
def test_a_state_without_progress_information_is_a_value_error_that_says_so(
    client: ApiClient, asked: Asked, broken: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=r"^Missing required 'progress_info' in state\. New POMDP protocol requires"):
        client.send_feedback_sync(stage_id="a", step_id="b", state=broken)
    with pytest.raises(ValueError, match="progress_info"):
        client.fetch_behavior_actions_sync(stage_id="a", step_id="b", state=broken)
    with pytest.raises(ValueError, match="progress_info"):
        client.fetch_behavior_actions("a", "b", broken)
    assert asked.requests == []


def test_a_state_that_is_wrong_elsewhere_names_the_field(client: ApiClient, state: dict[str, Any]) -> None:
    state["progress_info"]["current"]["behavior_iteration"] = "often"
    with pytest.raises(MessageInvalid, match="behavior_iteration"):
        client.send_feedback_sync(stage_id="prices", step_id="load", state=state)


def test_a_state_may_be_an_observation_in_any_form(client: ApiClient, asked: Asked, state: dict[str, Any]) -> None:
    location = state["progress_info"]
    observation = {"location": location, "context": {"variables": {"rows": 3}}}
    forms: list[Any] = [
        observation,
        {"observation": observation},
        Observation.parse(observation),
        {"progress_info": Location.parse(location), "variables": {"rows": 3}},
        {"progress_info": location, "context": {"variables": {"rows": 3}}},
    ]
    for form in forms:
        client.send_feedback_sync("prices", "load", form)
    assert len({request.observation.to_json() for request in asked.requests}) == 1


def test_the_ids_of_the_call_count_and_removed_fields_are_left_behind(
    client: ApiClient, asked: Asked, state: dict[str, Any]
) -> None:
    client.send_feedback_sync(stage_id="report", step_id="write", state={**state, "stageStatus": {}, "mine": 1})
    observation = asked.requests[0].observation
    assert (observation.location.current.stage_id, observation.location.current.step_id) == ("report", "write")
    assert observation.context.model_extra == {"mine": 1}
    assert state["progress_info"]["current"]["stage_id"] == "prices"


@pytest.mark.anyio
async def test_the_asynchronous_calls_stream_each_action_as_it_comes(state: dict[str, Any]) -> None:
    passed: list[str] = []

    class Streaming(CallablePlanner):
        async def generate(self, request: Request, *, fallback: bool = False) -> AsyncIterator[Generated]:
            try:
                for number in range(3):
                    passed.append(f"made {number}")
                    yield ActionData({"action": "add", "content": str(number)})
            finally:
                passed.append("closed")

    client = ApiClient(planner=Streaming(plan=lambda request: {"targetAchieved": True}, generate=lambda request: []))
    assert (await client.send_feedback("prices", "load", state))["targetAchieved"] is True
    actions = client.fetch_behavior_actions(stage_id="prices", step_id="load", state=state, stream=True)
    async for action in actions:
        passed.append(f"took {action['content']}")
        if action["content"] == "1":
            break
    await actions.aclose()
    assert passed == ["made 0", "took 0", "made 1", "took 1", "closed"]


@pytest.mark.anyio
async def test_actions_can_be_fetched_with_stream_alone_in_both_of_the_documents_ways(
    client: ApiClient, asked: Asked, state: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match="told no state before"):
        client.fetch_behavior_actions(stream=True)
    client.send_feedback_sync(stage_id="prices", step_id="load", state=state)
    assert [action async for action in client.fetch_behavior_actions(stream=True)] == ACTIONS
    response = client.fetch_behavior_actions(stream=False)
    assert response["actions"] == response["actions"] == ACTIONS
    assert client.fetch_behavior_actions_sync() == ACTIONS
    assert [request.options.stream for request in asked.requests] == [False, True, False, True]
    assert len({request.observation.to_json() for request in asked.requests}) == 1
    assert asked.requests[-1].observation.location.current.step_id == "load"
    with pytest.raises(KeyError):
        response["behavior"]


@pytest.mark.anyio
async def test_the_synchronous_calls_work_inside_a_running_loop(
    client: ApiClient, asked: Asked, state: dict[str, Any]
) -> None:
    assert client.send_feedback_sync("prices", "load", state)["targetAchieved"] is False
    assert client.fetch_behavior_actions_sync("prices", "load", state) == ACTIONS


def test_a_stream_that_breaks_is_an_error_and_not_a_short_list(state: dict[str, Any]) -> None:
    def generate(request: Request) -> Iterator[Any]:
        yield ACTIONS[0]
        raise StreamBroken(planner="p", received=1, reason="gone")

    planner = CallablePlanner(plan=lambda request: {}, generate=generate)
    with ApiClient(planner=planner) as client, pytest.raises(StreamBroken):
        client.fetch_behavior_actions_sync("prices", "load", state)


def test_a_closed_client_refuses(client: ApiClient, state: dict[str, Any]) -> None:
    client.close()
    client.close()
    with pytest.raises(RunRefused, match="closed"):
        client.send_feedback_sync("prices", "load", state)
    with pytest.raises(RunRefused, match="closed"):
        client.fetch_behavior_actions_sync("prices", "load", state)


class Service(ThreadingHTTPServer):
    """A DSLC service of few words on a port of its own."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Door)
        self.asked: list[tuple[str, dict[str, Any]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Door(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, request))
        if self.path == "/planning":
            self._answer("application/json", b'{"targetAchieved": false, "transition": {"continue_behaviors": true}}')
        elif request["options"]["stream"]:
            lines = [json.dumps({"action": action}) for action in ACTIONS]
            self._answer("application/json", "\n".join([lines[0], "no JSON", lines[1]]).encode())
        else:
            self._answer("application/json", json.dumps({"actions": ACTIONS}).encode())

    def _answer(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads the log of a test's server."""


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("told_by", ["argument", "config"])
def test_without_a_planner_the_service_is_asked_over_http(
    service: Service, state: dict[str, Any], told_by: str
) -> None:
    client = ApiClient(base_url=service.url) if told_by == "argument" else ApiClient()
    # Set after the client was made: it looks when it asks.
    if told_by == "config":
        Config.set_dslc_url(service.url)
    with client:
        response = client.send_feedback_sync(
            stage_id="prices", step_id="load", state=state, behavior_feedback={"actions_executed": 1}
        )
        streamed = client.fetch_behavior_actions_sync(stage_id="prices", step_id="load", state=state, stream=True)
        whole = client.fetch_behavior_actions_sync(stage_id="prices", step_id="load", state=state, stream=False)
    assert response["transition"] == {"continue_behaviors": True, "target_achieved": False}
    assert streamed == whole == ACTIONS
    assert len(streamed.warnings) == 1
    assert [path for path, _ in service.asked] == ["/planning", "/generating", "/generating"]
    assert service.asked[0][1]["behavior_feedback"]["actions_executed"] == 1


@pytest.mark.anyio
async def test_the_service_is_asked_from_async_code_too(service: Service, state: dict[str, Any]) -> None:
    client = ApiClient(base_url=service.url)
    response = await client.send_feedback("prices", "load", state)
    actions = [action async for action in client.fetch_behavior_actions("prices", "load", state)]
    assert response["targetAchieved"] is False
    assert actions == ACTIONS


def test_a_service_that_is_not_there_is_told_by_its_address(service: Service, state: dict[str, Any]) -> None:
    service.server_close()
    with ApiClient(base_url=service.url) as client, pytest.raises(PlannerUnreachable, match=str(service.server_port)):
        client.send_feedback_sync("prices", "load", state)
