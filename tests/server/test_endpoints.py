"""What each endpoint answers when all is well."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.planners.interface import StreamWarning
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.messages import PlanningResponse, Request
from notebook_bcc.protocol.workflow import Workflow
from notebook_bcc.server.metrics import Counted
from server.living import QUESTIONS, Counting, Json, action, body, service

pytestmark = pytest.mark.anyio

PLAN = {"goal": "g", "stages": [{"id": "s", "steps": [{"id": "t", "expected_outputs": ["x"]}]}]}
CODE = [
    {"action": "add", "shot_type": "action", "content": "x = 1"},
    {"action": "exec", "codecell_id": "lastAddedCellId"},
]
REPAIR = {"cell_id": "c", "source": "x", "error_name": "NameError", "error": "no x"}


def script() -> ScriptedPlanner:
    behaviors = [Behavior(CODE, goal="make x", repairs={"c": ["x = 2"]}), Behavior([action("second")])]
    return ScriptedPlanner(Workflow.parse(PLAN), {("s", "t"): behaviors})


async def test_planning_answers_with_the_planners_judgement() -> None:
    async with service(script()) as client:
        answer = await client.post("/planning", json={"observation": {"location": {"current": {}, "progress": {}}}})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["context_update"]["workflow_update"]["stages"][0]["id"] == "s"
    assert answer.json()["targetAchieved"] is False


async def test_the_planner_sees_the_request_as_it_was_sent() -> None:
    counting = Counting()
    sent = body(ids=("run", "1"), later="kept") | {"behavior_feedback": {"behavior_id": "b", "actions_executed": 2}}
    async with service(counting.planner) as client:
        await client.post("/planning", json=sent)
    assert counting.asked == [Request.parse(sent)]


@pytest.mark.parametrize("path", ["/planning", "/generating", "/v1/reflection", "/v1/actions"])
async def test_a_newer_version_of_the_protocol_is_answered_and_said_once(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    asked = [body(ids=("run", str(number))) for number in range(3)]
    for one in asked:
        one["options"]["protocol_version"] = "9.1"
    async with service(Counting().planner) as client:
        answers = [await client.post(path, json=one) for one in asked]
    assert [answer.status_code for answer in answers] == [200] * 3
    assert caplog.text.count("protocol version '9.1' is newer") == 1


@pytest.mark.parametrize("path", ["/generating", "/generate"])
async def test_actions_come_as_lines_when_a_stream_is_wanted(path: str) -> None:
    async with service(script()) as client:
        answer = await client.post(path, json=body(stream=True))
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert [json.loads(line) for line in answer.text.splitlines()] == [{"action": each} for each in CODE]


@pytest.mark.parametrize("path", ["/generating", "/generate"])
@pytest.mark.parametrize("stream", [False, None])
async def test_actions_come_together_when_no_stream_is_wanted(path: str, stream: bool | None) -> None:
    async with service(script()) as client:
        answer = await client.post(path, json=body(stream=stream))
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {"actions": CODE}


@pytest.mark.parametrize("stream", [True, False])
async def test_a_behavior_without_actions_is_an_answer(stream: bool) -> None:
    async with service(CallablePlanner(plan=lambda _: {}, generate=lambda _: [])) as client:
        answer = await client.post("/generating", json=body(stream=stream))
    assert (answer.status_code, answer.text) == (200, "" if stream else '{"actions":[]}')


async def test_the_spare_endpoint_asks_the_planner_for_its_spare() -> None:
    asked: list[bool] = []

    class Planner(CallablePlanner):
        async def generate(self, request: Request, *, fallback: bool = False) -> AsyncIterator[Any]:
            asked.append(fallback)
            async for item in super().generate(request):
                yield item

    async with service(Planner(plan=lambda _: {}, generate=lambda _: [])) as client:
        for path in ("/generating", "/generate"):
            await client.post(path, json=body(stream=True))
    assert asked == [False, True]


async def test_the_spare_endpoint_repairs_a_cell() -> None:
    async with service(script()) as client:
        known = await client.post("/generate", json=body(repair=REPAIR))
        unknown = await client.post("/generate", json=body(repair={**REPAIR, "cell_id": "d"}, stream=True))
    assert known.json() == {"source": "x = 2"}
    assert unknown.json() == {"source": None}


async def test_what_a_planner_left_out_is_said_in_the_stream_and_beside_the_actions() -> None:
    items: list[Any] = [
        action(1),
        StreamWarning("a remark: Größe"),
        ["no object"],
        {"action": "add", "content": "é\u2028"},
    ]
    async with service(CallablePlanner(plan=lambda _: {}, generate=lambda _: items)) as client:
        streamed = await client.post("/generating", json=body(stream=True))
        together = (await client.post("/generating", json=body())).json()
        old = (await client.post("/v1/actions", json=body(stream=True) | {"behavior_feedback": {}})).json()
    lines = [json.loads(line) for line in streamed.content.split(b"\n")[:-1]]
    assert [list(line) for line in lines] == [["action"], ["warning"], ["warning"], ["action"]]
    assert lines[1]["warning"] == "a remark: Größe"
    assert [each["content"] for each in together["actions"]] == ["1", "é\u2028"]
    assert together["warnings"] == [lines[1]["warning"], lines[2]["warning"]] == old["warnings"]


async def test_numbers_that_are_none_and_integers_of_any_size_pass() -> None:
    answer = PlanningResponse.parse({"context_update": {"variables": {"big": 10**40, "nan": float("nan")}}})
    async with service(CallablePlanner(plan=lambda _: answer, generate=lambda _: [])) as client:
        got = await client.post("/planning", json=body())
    assert got.json()["context_update"]["variables"] == {"big": 10**40, "nan": None}


async def test_v1_brings_the_plan_and_then_the_actions_of_a_behavior() -> None:
    async with service(script()) as client:
        first = (await client.post("/v1/actions", json={"observation": {"location": {}}})).json()
        position = {"current_stage_id": "s", "current_step_id": "t", "behavior_iteration": 1}
        second = (await client.post("/v1/actions", json={"observation": {"location": position}})).json()
    assert first["transition"]["workflow_update"]["stages"][0]["id"] == "s"
    assert first["actions"] == []
    assert second["actions"] == [{"type": "execute_code", "content": "x = 1"}]
    assert second["behavior"]["id"] == "t.1"
    assert second["metadata"]["target_achieved"] is False


async def test_v1_asks_the_planner_to_judge_only_where_its_client_has_not() -> None:
    judged: list[Request] = []

    def plan(request: Request) -> Json:
        judged.append(request)
        return {"targetAchieved": True}

    location = {"current_stage_id": "s", "current_step_id": "t", "behavior_iteration": 1}
    async with service(CallablePlanner(plan=plan, generate=lambda _: [action(1)])) as client:

        async def actions(**more: Any) -> Json:
            answer = await client.post("/v1/actions", json={"observation": {"location": location, **more}})
            return dict(answer.json())

        assert (await actions())["actions"] == []
        assert len(judged) == 1
        asked = await actions(context={"FSM": {"state": "behavior_running"}})
        assert (len(asked["actions"]), asked["transition"]["continue_behaviors"]) == (1, True)
        location["behavior_iteration"] = 2
        assert len((await actions())["actions"]) == 1
    assert len(judged) == 1


async def test_v1_answers_a_get_with_its_position_in_the_query_or_in_a_body() -> None:
    async with service(script()) as client:
        query = {"stage_id": "s", "step_id": "t", "behavior_iteration": "2", "context": '{"variables": {"x": 1}}'}
        asked = await client.get("/v1/actions", params=query)
        location = {"current_stage_id": "s", "current_step_id": "t", "behavior_iteration": 2}
        same = await client.request("GET", "/v1/actions", json={"observation": {"location": location}})
    assert asked.json()["actions"] == [{"type": "add_content", "content_type": "text", "content": "second"}]
    assert same.json()["actions"] == asked.json()["actions"]


async def test_v1_reflection_is_a_judgement() -> None:
    request = {
        "observation": {"location": {"current_stage_id": "s", "current_step_id": "t", "behavior_iteration": 2}},
        "behavior_feedback": {"actions_executed": 1, "last_action_result": "success"},
    }
    async with service(script()) as client:
        answer = (await client.post("/v1/reflection", json=request)).json()
    assert answer["targetAchieved"] is answer["transition"]["target_achieved"] is True
    assert answer["actions"] == []


async def test_v1_passes_on_an_action_that_is_malformed_so_that_the_client_can_say_so() -> None:
    bad = {"content": "no kind"}
    async with service(CallablePlanner(plan=lambda _: {}, generate=lambda _: [bad, action(1)])) as client:
        request = {"observation": {"location": {"current_step_id": "t", "behavior_iteration": 2}}}
        answer = (await client.post("/v1/actions", json=request)).json()
    assert answer["actions"][0] == {"type": None, "content": "no kind"}
    assert answer["actions"][1]["type"] == "add_content"


async def test_health_says_what_is_behind() -> None:
    async with service(Counting().planner) as client:
        answer = await client.get("/health")
        bare = await client.head("/health")
    assert answer.json()["status"] == "ok"
    assert answer.json()["planner"] == "counting"
    assert (bare.status_code, bare.content) == (200, b"")


async def test_metrics_count_what_happened() -> None:
    async with service(Counting().planner) as client:
        for _ in range(2):
            await client.post("/planning", json=body(ids=("run", "1")))
        await client.post("/generating", json=body(stream=True))
        await client.post("/planning", json={})
        await client.get("/nowhere/at/all")
        answer = await client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = {each.name: each for each in text_string_to_metric_families(answer.text)}
    samples = {
        (each.name, *each.labels.values()): each.value for family in families.values() for each in family.samples
    }
    assert samples["nbcc_requests_total", "/planning", "200"] == 2
    assert samples["nbcc_requests_total", "/planning", "422"] == 1
    assert samples["nbcc_requests_total", "other", "404"] == 1
    assert samples["nbcc_replayed_total", "/planning"] == 1
    assert samples["nbcc_actions_sent_total",] == 3
    assert samples["nbcc_request_seconds_count", "/planning"] == 3
    assert samples["nbcc_request_seconds_bucket", "/planning", "+Inf"] == 3
    assert samples["nbcc_remembered_answers",] == 1
    assert samples["nbcc_requests_in_progress",] == 1


async def test_metrics_also_tell_what_the_planner_counts() -> None:
    asked = itertools.count()

    def counts() -> list[Counted]:
        return [Counted("dice", "Dice that were thrown.", next(asked))]

    async with service(Counting().planner, counts=counts) as client:
        first, second = [(await client.get("/metrics")).text for _ in range(2)]
    assert "# HELP nbcc_dice_total Dice that were thrown.\n# TYPE nbcc_dice_total counter\nnbcc_dice_total 0\n" in first
    assert "nbcc_dice_total 1\n" in second
    (family,) = [one for one in text_string_to_metric_families(second) if one.name == "nbcc_dice"]
    assert family.type == "counter"


async def test_the_page_needs_nothing_from_elsewhere_and_names_every_endpoint() -> None:
    async with service(Counting().planner) as client:
        answer = await client.get("/docs")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    for path in [*QUESTIONS, "/health", "/metrics", "/openapi.json"]:
        assert f"{path}</code></h2>" in answer.text
    assert not [word for word in ("<script", "http://", "https://", "src=", "@import", "url(") if word in answer.text]
