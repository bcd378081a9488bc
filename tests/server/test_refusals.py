"""Every status that is not 200, over a real socket."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import httpx2
import pytest
from starlette.types import Message, Scope

from notebook_bcc.errors import (
    EvidenceMissing,
    PlannerAnswerInvalid,
    PlannerFailed,
    PlannerUnreachable,
    PositionUnknown,
)
from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.playbook.check import load_playbook
from notebook_bcc.playbook.folder import open_playbook
from notebook_bcc.playbook.planner import PlaybookPlanner
from notebook_bcc.protocol.messages import Request
from notebook_bcc.server.app import build_app
from server.living import QUESTIONS, TOKEN, Counting, Json, action, body, port_of, service, until

pytestmark = pytest.mark.anyio


def failing(error: Exception) -> CallablePlanner:
    def fail(request: Request) -> Any:
        raise error

    return CallablePlanner(plan=fail, generate=fail, repair=fail, name="failing")


def error_of(answer: httpx2.Response) -> Json:
    assert answer.headers["content-type"] == "application/json"
    error: Json = answer.json()["error"]
    assert set(error) == {"code", "message", "problems"}
    return error


@pytest.mark.parametrize("path", ["/planning", "/generating", "/generate"])
@pytest.mark.parametrize("field", ["current", "progress"])
async def test_a_missing_part_of_the_location_is_named_with_its_path(path: str, field: str) -> None:
    sent = body()
    del sent["observation"]["location"][field]
    counting = Counting()
    async with service(counting.planner) as client:
        answer = await client.post(path, json=sent)
    assert answer.status_code == 422
    assert error_of(answer)["problems"] == [{"path": f"observation.location.{field}", "problem": "is required"}]
    assert not counting.asked


@pytest.mark.parametrize(
    ("sent", "path"),
    [
        ({}, "observation"),
        ([], ""),
        (None, ""),
        ({"observation": {"location": 3}}, "observation.location"),
        (body() | {"behavior_feedback": {"errors": [{"action_id": "a"}]}}, "behavior_feedback.errors.0.action"),
        (body() | {"options": {"attempt": "many"}}, "options.attempt"),
    ],
)
async def test_an_invalid_body_is_refused_with_the_path_of_the_field(sent: Any, path: str) -> None:
    async with service(Counting().planner) as client:
        answer = await client.post("/planning", content=json.dumps(sent))
    assert answer.status_code == 422
    assert path in [each["path"] for each in error_of(answer)["problems"]]


async def test_of_a_thousand_faults_the_first_are_named_and_the_rest_counted() -> None:
    sent = body() | {"behavior_feedback": {"errors": [{} for _ in range(1000)]}}
    async with service(Counting().planner) as client:
        answer = await client.post("/planning", json=sent)
    assert len(error_of(answer)["problems"]) == 20
    assert "more problems" in error_of(answer)["message"]


@pytest.mark.parametrize("path", ["/v1/actions", "/v1/reflection"])
async def test_a_v1_body_without_a_location_is_refused_too(path: str) -> None:
    async with service(Counting().planner) as client:
        answer = await client.post(path, json={"observation": {}})
        query = await client.get("/v1/actions", params={"context": "{"})
        number = await client.get("/v1/actions", params={"behavior_iteration": "many"})
    assert answer.status_code == 422
    assert error_of(answer)["problems"][0]["path"] == "observation.location"
    assert (query.status_code, error_of(query)["problems"][0]["path"]) == (422, "context")
    assert number.status_code == 422
    assert error_of(number)["problems"][0]["path"] == "observation.location.current.behavior_iteration"


@pytest.mark.parametrize("sent", [b"", b"{", b"\xff", b'{"a": "\\ud800"}', b"nul"])
@pytest.mark.parametrize("path", QUESTIONS)
async def test_what_is_not_json_is_400(path: str, sent: bytes) -> None:
    async with service(Counting().planner) as client:
        answer = await client.post(path, content=sent)
    assert (answer.status_code, error_of(answer)["code"]) == (400, "bad_json")


@pytest.mark.parametrize("depth", [250, 100_000])
async def test_json_that_is_nested_too_deep_is_400(depth: int) -> None:
    async with service(Counting().planner) as client:
        answer = await client.post("/planning", content=b"[" * depth + b"]" * depth)
    assert (answer.status_code, error_of(answer)["code"]) == (400, "too_deep")


async def test_a_lower_limit_of_depth_is_kept() -> None:
    deep: Json = {}
    for _ in range(20):
        deep = {"x": deep}
    async with service(Counting().planner, json_depth=20) as client:
        good = await client.post("/planning", json=body())
        bad = await client.post("/planning", json=body(more=deep))
    assert (good.status_code, bad.status_code) == (200, 400)


async def test_a_body_over_the_limit_is_413_whether_it_says_its_length_or_not() -> None:
    async def chunks() -> Any:
        for _ in range(20):
            yield b"x" * 100

    async with service(Counting().planner, body_bytes=1000) as client:
        said = await client.post("/planning", content=b"x" * 10_000_000)
        unsaid = await client.post("/planning", content=chunks())
        fits = await client.post("/planning", json=body())
    assert [said.status_code, unsaid.status_code, fits.status_code] == [413, 413, 200]
    assert error_of(said)["code"] == error_of(unsaid)["code"] == "too_large"


async def test_a_text_over_the_limit_is_413() -> None:
    async with service(Counting().planner, string_bytes=1000) as client:
        long = await client.post("/planning", json=body(more="ä" * 501))
        name = await client.post("/planning", json=body(more={"x" * 1001: 1}))
        many = await client.post("/planning", json=body(more=["ä" * 499] * 3))
    assert [each.status_code for each in (long, name, many)] == [413, 413, 200]
    assert error_of(long)["code"] == "text_too_long"


async def test_a_query_over_the_limits_is_refused() -> None:
    async with service(Counting().planner) as client:
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(client))
        writer.write(
            b"GET /v1/actions?a=" + b"x" * 40_000 + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        long = await reader.read()
        writer.close()
        many = await client.get("/v1/actions?" + "&".join(f"a{number}=1" for number in range(60)))
    assert long.startswith(b"HTTP/1.1 414")
    assert many.status_code == 422


async def test_another_kind_of_body_is_415_and_told_what_to_do() -> None:
    async with service(Counting().planner) as client:
        answer = await client.post("/planning", data={"a": "b"})
        plain = await client.post("/planning", content=b"{}", headers={"content-type": "text/plain"})
        kin = await client.post("/planning", json=body(), headers={"content-type": "application/vnd.bcc+json"})
    assert [answer.status_code, plain.status_code, kin.status_code] == [415, 415, 200]
    assert "application/json" in error_of(answer)["message"]


async def test_an_unknown_path_and_a_wrong_method_are_said_in_json() -> None:
    async with service(Counting().planner) as client:
        unknown = await client.get("/planning/")
        wrong = await client.get("/planning")
        options = await client.options("/v1/actions", headers={"access-control-request-method": "POST"})
    assert (unknown.status_code, error_of(unknown)["code"]) == (404, "not_found")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")
    assert (options.status_code, options.headers["allow"]) == (405, "GET, HEAD, POST")
    assert not [name for name in options.headers if name.startswith("access-control")]


async def test_without_the_token_nothing_is_asked_and_the_token_is_never_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    counting = Counting()
    wrong = ["", "Bearer", f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer \u00e4"]
    async with service(counting.planner, token=TOKEN) as client:
        for path in [*QUESTIONS, "/metrics"]:
            method = "GET" if path == "/metrics" else "POST"
            bare = await client.request(method, path, json=body())
            assert (bare.status_code, bare.headers["www-authenticate"]) == (401, "Bearer")
            for given in wrong:
                answer = await client.request(method, path, json=body(), headers={b"authorization": given.encode()})
                assert answer.status_code == 401
                assert "invalid_token" in answer.headers["www-authenticate"]
                assert TOKEN[:-1] not in answer.text
        assert not counting.asked
        for path in ("/health", "/docs", "/openapi.json"):
            assert (await client.get(path)).status_code == 200
        for right in (f"Bearer {TOKEN}", f"bearer   {TOKEN}"):
            good = await client.post("/planning", json=body(), headers={"authorization": right})
            assert good.status_code == 200
    assert TOKEN not in caplog.text


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil", "", "10.0.0.1", "[::2]", "["]
)
async def test_a_name_of_somebody_else_is_421(host: str) -> None:
    async with service(Counting().planner) as client:
        answer = await client.post("/planning", json=body(), headers={"host": host})
        health = await client.get("/health", headers={"host": host})
    assert [answer.status_code, health.status_code] == [421, 421]
    assert error_of(answer)["code"] == "host_refused"


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "127.0.0.1:28600", "[::1]:28600", "127.1.2.3", "box.lan:8"]
)
async def test_loopback_names_and_configured_ones_are_answered(host: str) -> None:
    async with service(Counting().planner, names=("box.lan",)) as client:
        assert (await client.post("/planning", json=body(), headers={"host": host})).status_code == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://["])
async def test_a_page_of_another_site_is_403(origin: str) -> None:
    counting = Counting()
    async with service(counting.planner) as client:
        own = f"http://127.0.0.1:{port_of(client)}"
        answer = await client.post("/planning", json=body(), headers={"origin": origin})
        same = await client.post("/planning", json=body(), headers={"origin": own})
    assert (answer.status_code, error_of(answer)["code"]) == (403, "origin_refused")
    assert same.status_code == 200
    assert len(counting.asked) == 1


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
@pytest.mark.parametrize("site", ["cross-site", "same-site", "Cross-Site", "", "same-origin, cross-site"])
async def test_a_browser_that_asks_for_a_page_of_another_origin_makes_nobody_work(method: str, site: str) -> None:
    counting = Counting()
    async with service(counting.planner) as client:
        given = {"sec-fetch-site": site, "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
        content = json.dumps(body()) if method == "POST" else None
        answer = await client.request(method, "/v1/actions?stage_id=s&step_id=t", content=content, headers=given)
        metrics = await client.get("/metrics", headers=given)
        page = await client.get("/docs", headers=given)
    assert [answer.status_code, metrics.status_code, page.status_code] == [403, 403, 200]
    assert not counting.asked


@pytest.mark.parametrize("site", ["same-origin", "none", None])
async def test_a_get_of_a_program_or_of_our_own_page_makes_the_planner_work(site: str | None) -> None:
    counting = Counting()
    async with service(counting.planner) as client:
        headers = {} if site is None else {"sec-fetch-site": site}
        answer = await client.get("/v1/actions?stage_id=s&step_id=t", headers=headers)
    assert answer.status_code == 200
    assert counting.asked


async def test_a_get_under_two_names_or_a_strange_one_makes_nobody_work() -> None:
    counting = Counting()
    async with service(counting.planner) as client:
        port = port_of(client)
        for host in ("evil.example", "evil.example:80"):
            assert (await client.get("/v1/actions?step_id=t", headers={"host": host})).status_code == 421
        for second in (b"evil.example", b"localhost"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /v1/actions?step_id=t HTTP/1.1\r\nHost: localhost\r\nHost: " + second + b"\r\n\r\n")
            assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
            writer.close()
    assert not counting.asked


async def test_two_names_are_400_whatever_server_carries_the_application() -> None:
    sent: list[Message] = []
    scope: Scope = {"type": "http", "method": "GET", "path": "/health", "query_string": b"", "http_version": "1.1"}
    scope["headers"] = [(b"host", b"localhost"), (b"host", b"localhost")]

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    await build_app(Counting().planner)(scope, receive, send)
    assert sent[0]["status"] == 400
    assert json.loads(sent[1]["body"])["error"]["code"] == "two_hosts"


@pytest.mark.parametrize("path", QUESTIONS)
@pytest.mark.parametrize(
    ("error", "status", "retry"),
    [
        (PlannerUnreachable(planner="p", reason="busy"), 503, None),
        (PlannerUnreachable(planner="p", reason="busy", retry_after=6.2), 503, "7"),
        (PlannerAnswerInvalid(planner="p", reason="nonsense"), 502, None),
        (PlannerFailed("no idea"), 502, None),
        (TimeoutError("too slow"), 504, None),
    ],
)
async def test_a_planner_that_fails_before_its_first_action_is_a_status(
    path: str, error: Exception, status: int, retry: str | None
) -> None:
    async with service(failing(error)) as client:
        answer = await client.post(path, json=body(stream=True))
    assert (answer.status_code, answer.headers.get("retry-after")) == (status, retry)
    assert str(error) in error_of(answer)["message"]


@pytest.mark.parametrize("path", QUESTIONS)
async def test_a_planner_that_does_not_know_the_place_is_409_with_what_it_knows(path: str) -> None:
    known = {"work": ("load", "look")}
    async with service(failing(PositionUnknown(planner="p", stage_id="work", step_id="t", known=known))) as client:
        answer = await client.post(path, json=body(stream=True))
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (409, "unknown_position")
    assert error["known"] == {"stages": {"work": ["load", "look"]}}
    assert error["problems"] == [{"path": "observation.location.current.step_id", "problem": "is not known here"}]
    assert "it has: load, look" in error["message"]


@pytest.mark.parametrize("path", QUESTIONS)
async def test_a_planner_that_lacks_evidence_is_409_with_the_names_it_needs(path: str) -> None:
    async with service(failing(EvidenceMissing(planner="p", needs=["rows", "columns"]))) as client:
        answer = await client.post(path, json=body(stream=True))
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["needs"]) == (409, "missing_evidence", ["rows", "columns"])
    assert [each["path"] for each in error["problems"]] == [
        "observation.context.variables.rows",
        "observation.context.variables.columns",
    ]


@pytest.mark.parametrize("path", QUESTIONS)
async def test_the_built_in_playbook_asks_for_its_table_instead_of_planning_without_it(path: str) -> None:
    async with service(PlaybookPlanner(load_playbook(open_playbook("dslc")))) as client:
        sent = body()
        sent["observation"]["location"]["current"] = {}
        answer = await client.post(path, json=sent)
    error = answer.json()["error"]
    # Content for no step at all is a question about a place; every other question is one for evidence.
    expected = "unknown_position" if path in ("/generating", "/generate") else "missing_evidence"
    assert (answer.status_code, error["code"]) == (409, expected)


@pytest.mark.parametrize("path", QUESTIONS)
async def test_the_unforeseen_is_a_500_with_an_id_that_the_log_has_too(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with service(failing(ZeroDivisionError("a secret of the planner"))) as client:
        answer = await client.post(path, json=body())
        after = await client.get("/health")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text
    assert error_of(answer)["code"] == "internal_error"
    error_id = error_of(answer)["message"].split()[-1].rstrip(".")
    assert f"internal error {error_id}" in caplog.text
    assert "a secret of the planner" in caplog.text
    assert after.status_code == 200


async def test_an_answer_that_is_no_json_is_the_planners_fault() -> None:
    odd = action(object) | {"content": object()}
    async with service(CallablePlanner(plan=lambda _: {}, generate=lambda _: [odd])) as client:
        answer = await client.post("/generating", json=body(stream=True))
    assert answer.status_code == 502
    assert "JSON" in error_of(answer)["message"]


async def test_a_planner_that_takes_too_long_is_504() -> None:
    async def plan(request: Request) -> Json:
        await asyncio.Event().wait()
        return {}

    async with service(CallablePlanner(plan=plan, generate=lambda _: []), answer_seconds=0.1) as client:
        answer = await client.post("/planning", json=body(ids=("run", "1")))
    assert (answer.status_code, error_of(answer)["code"]) == (504, "planner_too_slow")


async def test_a_body_that_does_not_come_is_408() -> None:
    async with service(Counting().planner, body_seconds=0.1) as client:
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(client))
        writer.write(b'POST /planning HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"obs')
        raw = await reader.read()
        writer.close()
    assert raw.startswith(b"HTTP/1.1 408")
    assert json.loads(raw.partition(b"\r\n\r\n")[2])["error"]["code"] == "body_too_slow"


async def test_one_request_too_many_is_503_and_health_still_answers() -> None:
    gate, waiting = asyncio.Event(), []

    async def plan(request: Request) -> Json:
        waiting.append(request)
        await gate.wait()
        return {}

    async with service(CallablePlanner(plan=plan, generate=lambda _: []), concurrent=2) as client:
        asked = [asyncio.create_task(client.post("/planning", json=body())) for _ in range(2)]
        await until(lambda: len(waiting) == 2)
        refused = await client.post("/planning", json=body())
        health = await client.get("/health")
        gate.set()
        served = [(await each).status_code for each in asked]
        later = await client.post("/planning", json=body())
    assert (refused.status_code, refused.headers["retry-after"], error_of(refused)["code"]) == (503, "1", "busy")
    assert [health.status_code, *served, later.status_code] == [200, 200, 200, 200]
