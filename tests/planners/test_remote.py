"""The remote planner against a server that behaves: what it sends, what it reads, and when."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

from engine.play import one_step, play, run_code
from notebook_bcc.errors import PlannerAnswerInvalid, PlannerUnreachable, SettingsInvalid
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.planners.interface import ActionData, Generated
from notebook_bcc.planners.remote.planner import RemotePlanner
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.messages import Options, RepairWanted, Request
from notebook_bcc.protocol.ndjson import encode_line
from planners.fault_proxy import Exchange, FaultProxy, answer_actions, status, stream, until

pytestmark = pytest.mark.anyio

TOKEN = "s3cret-token"
WAIT = 30.0


def request(*, stream: bool = False, **options: Any) -> Request:
    location = {"current": {"stage_id": "s", "step_id": "t"}, "progress": {}}
    ids = {"request_id": "run.1", "run_id": "run", "attempt": 2}
    return Request.parse({"observation": {"location": location}, "options": {"stream": stream, **ids, **options}})


def line(number: int) -> bytes:
    return encode_line({"action": "add", "content": f"cell {number}", "shot_type": "dialogue"})


async def collect(planner: RemotePlanner, *, fallback: bool = False) -> list[Generated]:
    return [item async for item in planner.generate(request(stream=True), fallback=fallback)]


async def test_a_judgement_is_asked_for_and_read() -> None:
    async with FaultProxy() as server:
        server.fail("/planning", status("200 OK", b'{"targetAchieved": true, "newer": 1}'))
        planner = RemotePlanner(server.url)
        answer = await planner.plan(request())
        assert answer.target_achieved
        assert answer.to_dict()["newer"] == 1
        (heard,) = server.heard
        assert (heard.method, heard.path) == ("POST", "/planning")
        assert heard.request == request(attempt=1), "a body is the same however often it is sent"
        await planner.close()
        await planner.close()


async def test_every_request_carries_its_ids_and_its_token_in_headers() -> None:
    async with FaultProxy() as server:
        planner = RemotePlanner(server.url, token=TOKEN)
        await planner.plan(request(run_id="20261115-数据 分析"))
        headers = server.heard[0].headers
        assert headers["x-request-id"] == "run.1"
        assert headers["x-run-id"] == "20261115-%E6%95%B0%E6%8D%AE %E5%88%86%E6%9E%90"
        assert headers["x-attempt"] == "2"
        assert headers["authorization"] == f"Bearer {TOKEN}"
        assert headers["accept-encoding"] == "identity"
        assert headers["content-type"] == "application/json"
        await planner.close()


async def test_the_token_is_shown_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with FaultProxy() as server:
        echo = f'{{"error": "bad token Bearer {TOKEN}"}}'.encode()
        server.fail("/planning", status("401 Unauthorized", echo))
        server.fail("/generating", stream(TOKEN.encode() + b"\n"), stream(line(1), TOKEN.encode() + b"\n"))
        planner = RemotePlanner(server.url, token=TOKEN)
        with pytest.raises(PlannerAnswerInvalid, match=r"401.*bad token Bearer \*\*\*") as refused:
            await planner.plan(request())
        with pytest.raises(PlannerAnswerInvalid) as garbage:
            await collect(planner)
        items = await collect(planner)
        shown = [repr(planner), planner.name, repr(refused.value), str(garbage.value), str(items), caplog.text]
        assert TOKEN not in "".join(shown)
        assert "/planning" in caplog.text
        await planner.close()


async def test_a_password_in_the_address_is_sent_and_not_shown() -> None:
    async with FaultProxy() as server:
        planner = RemotePlanner(server.url.replace("//", "//me:hidden@") + "/base/?q=1")
        assert planner.name == f"{server.url}/base"
        assert "hidden" not in repr(planner)
        await planner.plan(request())
        assert server.heard[0].path == "/base/planning"
        assert server.heard[0].headers["authorization"].startswith("Basic ")
        await planner.close()


@pytest.mark.parametrize("token", ["", "two words", "line\nbreak", "ключ"])
def test_a_token_that_no_header_can_carry_is_refused_without_showing_it(token: str) -> None:
    with pytest.raises(SettingsInvalid) as refused:
        RemotePlanner("http://127.0.0.1:1", token=token)
    assert not token or token not in str(refused.value)


@pytest.mark.parametrize("address", ["", "localhost:28600", "ftp://host", "http://", "http://[::1", "/planning"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(SettingsInvalid):
        RemotePlanner(address)


async def test_one_connection_serves_all_questions() -> None:
    async with FaultProxy() as server:
        planner = RemotePlanner(server.url)
        server.fail("/planning", status("503 Service Unavailable", b"busy"))
        with pytest.raises(PlannerUnreachable):
            await planner.plan(request())
        for _ in range(5):
            server.fail("/generating", stream(line(1), line(2)))
            assert len(await collect(planner)) == 2
            await planner.plan(request())
        assert server.connections == 1
        await planner.close()


async def test_a_hundred_actions_arrive_one_by_one() -> None:
    arrived = asyncio.Semaphore(0)

    async def gated(exchange: Exchange) -> None:
        await exchange.begin_stream()
        for number in range(100):
            await exchange.chunk(line(number))
            # The next line is not even written before this one was given out at the other end.
            await asyncio.wait_for(arrived.acquire(), WAIT)
        await exchange.end_stream()

    async with FaultProxy() as server:
        server.fail("/generating", gated)
        planner = RemotePlanner(server.url)
        seen = []
        async with asyncio.timeout(WAIT):
            async for item in planner.generate(request(stream=True)):
                assert isinstance(item, ActionData)
                seen.append(item.data["content"])
                arrived.release()
        assert seen == [f"cell {number}" for number in range(100)]
        await planner.close()


async def test_an_action_is_carried_out_while_the_stream_goes_on() -> None:
    kernel = ScriptedKernel()
    actions = run_code("print('first')", "print('second')")

    async def waits_for_the_first(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.chunk(*[encode_line(action) for action in actions[:2]])
        await until(lambda: kernel.executed == ["print('first')"])
        await exchange.chunk(*[encode_line(action) for action in actions[2:]])
        await exchange.end_stream()

    async with FaultProxy(one_step(actions)) as server:
        server.fail("/generating", waits_for_the_first)
        planner = RemotePlanner(server.url)
        played = await play(planner, kernel=kernel)
        assert played.sources[-2:] == kernel.executed == ["print('first')", "print('second')"]
        await planner.close()


async def test_closing_the_iterator_closes_the_connection_at_once() -> None:
    left = asyncio.Event()

    async def endless(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.chunk(line(1))
        await exchange.gone()
        left.set()

    async with FaultProxy() as server:
        server.fail("/generating", endless)
        planner = RemotePlanner(server.url)
        answer = planner.generate(request(stream=True))
        await anext(answer)
        await answer.aclose()  # type: ignore[attr-defined]  # a generator in practice
        await asyncio.wait_for(left.wait(), WAIT)
        await planner.close()


@pytest.mark.parametrize("path", ["/generating", "/planning"])
async def test_a_cancelled_wait_closes_the_connection_at_once(path: str) -> None:
    asked, left = asyncio.Event(), asyncio.Event()

    async def silent(exchange: Exchange) -> None:
        if path == "/generating":
            await exchange.begin_stream()
        asked.set()
        await exchange.gone()
        left.set()

    async with FaultProxy() as server:
        server.fail(path, silent)
        planner = RemotePlanner(server.url)
        waiting = asyncio.create_task(collect(planner) if path == "/generating" else planner.plan(request()))
        await asyncio.wait_for(asked.wait(), WAIT)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await asyncio.wait_for(left.wait(), WAIT)
        await planner.plan(request())
        await planner.close()


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "application/json; charset=utf-8",
        "application/x-ndjson",
        "application/ndjson",
        "text/plain; charset=utf-8",
        "APPLICATION/X-NDJSON",
    ],
)
async def test_lines_come_under_many_content_types(content_type: str) -> None:
    async with FaultProxy() as server:
        server.fail("/generating", stream(line(1), b"\r\n", line(2).strip(), content_type=content_type))
        planner = RemotePlanner(server.url)
        assert len(await collect(planner)) == 2
        await planner.close()


async def test_a_server_that_does_not_stream_is_understood() -> None:
    async def whole(exchange: Exchange) -> None:
        await answer_actions(exchange, [{"action": "add", "content": "x"}, {"action": "finish_thinking"}])

    async with FaultProxy() as server:
        server.fail("/generating", whole)
        planner = RemotePlanner(server.url)
        items = await collect(planner)
        assert [item.data["action"] for item in items if isinstance(item, ActionData)] == ["add", "finish_thinking"]
        await planner.close()


async def test_the_spare_endpoint_is_asked_on_demand() -> None:
    async with FaultProxy() as server:
        server.fail("/generate", stream(line(1)))
        planner = RemotePlanner(server.url)
        assert len(await collect(planner, fallback=True)) == 1
        assert [heard.path for heard in server.heard] == ["/generate"]
        await planner.close()


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        ('{"source": "x = 1"}', "x = 1"),
        ('{"actions": [{"action": "add", "shot_type": "action", "content": "x = 1"}]}', "x = 1"),
        ('{"actions": [{"action": "add", "shot_type": "action", "content": "x"}, {"action": "exec"}]}', "x"),
        ('{"actions": []}', None),
        ('{"source": null}', None),
        ("{}", None),
        ('{"actions": [{"action": "add", "content": "only text"}]}', None),
        (json.dumps({"actions": [{"action": "add", "shot_type": "action", "content": "two"}] * 2}), None),
    ],
)
async def test_a_repair_is_the_source_to_run_instead(answer: str, source: str | None) -> None:
    wanted = RepairWanted(cell_id="c", source="x =", error_name="SyntaxError", error="invalid syntax")
    async with FaultProxy() as server:
        server.fail("/generate", status("200 OK", answer.encode()))
        planner = RemotePlanner(server.url)
        asked = request().model_copy(update={"options": Options(run_id="run", repair=wanted)})
        assert await planner.repair(asked) == source
        assert server.heard[0].request.options.repair == wanted
        assert "x-request-id" not in server.heard[0].headers
        await planner.close()


async def test_a_run_repairs_a_cell_over_the_wire() -> None:
    scripted = one_step(
        Behavior(
            actions=[
                {"action": "add", "shot_type": "action", "content": "1/0", "store_id": "sum"},
                {"action": "exec", "codecell_id": "sum", "auto_debug": True},
            ],
            repairs={"sum": ["print('better')"]},
        )
    )
    async with FaultProxy(scripted) as server:
        planner = RemotePlanner(server.url)
        played = await play(planner)
        assert played.state.fsm == "workflow_completed"
        assert played.sources[-1] == "print('better')"
        await planner.close()


async def test_the_first_dialect_is_spoken_on_demand() -> None:
    reflection = {"targetAchieved": True, "behavior": {}, "actions": [], "transition": {}, "metadata": {}}
    run_a_cell = {"type": "execute_code", "content": "print(1)"}
    answer = {"behavior": {"id": "b"}, "actions": [run_a_cell], "transition": {"strategy": None}, "metadata": {}}
    async with FaultProxy() as server:
        server.fail("/v1/reflection", status("200 OK", json.dumps(reflection).encode()))
        whole = status("200 OK", json.dumps(answer).encode())
        server.fail("/v1/actions", whole, stream(json.dumps({"action": run_a_cell}).encode()), whole)
        planner = RemotePlanner(server.url, dialect="v1")
        assert (await planner.plan(request())).target_achieved
        for fallback in (False, False, True):
            items = await collect(planner, fallback=fallback)
            assert [item.data["action"] for item in items if isinstance(item, ActionData)] == ["add", "exec"]
        assert await planner.repair(request()) is None
        sent = [json.loads(heard.body) for heard in server.heard]
        assert [heard.path for heard in server.heard] == ["/v1/reflection", *["/v1/actions"] * 3]
        assert sent[0]["observation"]["location"]["current_stage_id"] == "s"
        assert [one["options"]["stream"] for one in sent] == [False, True, True, False]
        await planner.close()


@pytest.mark.parametrize("dialect", ["v2", "v1"])
@pytest.mark.parametrize(
    "body", [b"", b"[]", b'"yes"', b"{", b"[" * 5000, b"\xff", b'{"transition": 5}', b'{"error": 1}']
)
async def test_an_answer_that_is_no_judgement_is_said_to_be_none(dialect: Any, body: bytes) -> None:
    async with FaultProxy() as server:
        path = "/planning" if dialect == "v2" else "/v1/reflection"
        server.fail(path, status("200 OK", body))
        planner = RemotePlanner(server.url, dialect=dialect)
        with pytest.raises(PlannerAnswerInvalid, match=f"POST {path}: "):
            await planner.plan(request())
        await planner.close()


async def test_a_run_over_the_wire_makes_the_same_notebook_as_one_in_process() -> None:
    def scripted() -> Any:
        return one_step(
            [{"action": "new_chapter", "content": "Größe 漢字 \u2028"}, *run_code("x = 1\nprint('x', x)", "y = x + 1")],
            [{"action": "add", "content": "done"}, *run_code("1/0")],
            run_code("print(y)"),
            expected_outputs=["x", "y"],
        )

    inside = await play(scripted())
    async with FaultProxy(scripted()) as server:
        planner = RemotePlanner(server.url)
        outside = await play(planner)
        await planner.close()
    assert outside.state.fsm == inside.state.fsm
    assert outside.state.document == inside.state.document
    assert outside.events == inside.events
    assert len(outside.sources) > 3


async def test_cancelling_a_run_ends_the_stream_at_the_server() -> None:
    left = asyncio.Event()

    async def thinking(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.chunk(line(1))
        await exchange.gone()
        left.set()

    async with FaultProxy(one_step(run_code("x = 1"))) as server:
        server.fail("/generating", thinking)
        planner = RemotePlanner(server.url)
        playing = asyncio.create_task(play(planner))
        await until(lambda: bool(server.heard_at("/generating")))
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing
        await asyncio.wait_for(left.wait(), WAIT)
        await planner.close()
