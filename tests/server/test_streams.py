"""Streams: one action at a time, broken ones visibly broken, and cut ones to be had again."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import logging
import threading
from collections.abc import AsyncIterator, Iterator, MutableMapping
from typing import Any

import httpx2
import pytest

from notebook_bcc.errors import PlannerAnswerInvalid, StreamBroken
from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.protocol.messages import Request
from notebook_bcc.server.app import build_app
from server.living import PATIENCE, Counting, Json, action, body, port_of, service, until

pytestmark = pytest.mark.anyio


class Gated:
    """A planner whose every action waits for its gate to be opened; `closed` once it was stopped."""

    def __init__(self, count: int, *, failure: Exception | None = None) -> None:
        self.gates = asyncio.Semaphore(0)
        self.made = 0
        self.asked = 0
        self.closed = asyncio.Event()
        self._count = count
        self._failure = failure
        self.planner = CallablePlanner(plan=self._plan, generate=self._generate)

    async def _plan(self, request: Request) -> Json:
        self.asked += 1
        await self._pass()
        return {"context_update": {"variables": {"asked": self.asked}}}

    async def _generate(self, request: Request) -> AsyncIterator[Json]:
        self.asked += 1
        for number in range(self._count):
            await self._pass()
            self.made += 1
            yield action(number)
        if self._failure is not None:
            await self._pass()
            raise self._failure

    async def _pass(self) -> None:
        try:
            await self.gates.acquire()
        except asyncio.CancelledError:
            self.closed.set()
            raise

    def open(self, count: int = 1) -> None:
        for _ in range(count):
            self.gates.release()


@contextlib.asynccontextmanager
async def asking(client: httpx2.AsyncClient, sent: Json) -> AsyncIterator[AsyncIterator[bytes]]:
    """The chunks of a streamed answer, as they arrive."""
    async with client.stream("POST", "/generating", json=sent) as answer:
        assert answer.status_code == 200
        yield answer.aiter_raw()


def contents(raw: bytes) -> list[str]:
    return [json.loads(line)["action"]["content"] for line in raw.splitlines()]


async def test_a_hundred_actions_arrive_one_by_one_each_before_the_next_is_made() -> None:
    gated = Gated(100)
    async with service(gated.planner) as client:
        gated.open()
        async with asking(client, body(stream=True)) as chunks:
            for number in range(100):
                assert contents(await anext(chunks)) == [str(number)]
                assert gated.made == number + 1
                gated.open()
            assert [chunk async for chunk in chunks] == []


async def test_an_action_is_on_its_way_before_the_next_is_made_also_by_a_planner_that_never_waits() -> None:
    """The planner blocks the service's loop until its action has reached the client, which is a thread."""
    arrived = threading.Semaphore(0)

    def generate(request: Request) -> Iterator[Json]:
        for number in range(50):
            yield action(number)
            assert arrived.acquire(timeout=PATIENCE)

    def read(port: int) -> list[str]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        connection.request("POST", "/generating", json.dumps(body(stream=True)), {"content-type": "application/json"})
        answer = connection.getresponse()
        lines: list[bytes] = []
        while line := answer.readline():
            lines.append(line)
            arrived.release()
        connection.close()
        return contents(b"".join(lines))

    async with service(CallablePlanner(plan=lambda _: {}, generate=generate)) as client:
        assert await asyncio.to_thread(read, port_of(client)) == [str(number) for number in range(50)]


async def test_behind_another_server_each_action_is_sent_before_the_next_is_made() -> None:
    made = 0

    async def generate(request: Request) -> AsyncIterator[Json]:
        nonlocal made
        for number in range(50):
            made += 1
            yield action(number)

    sent: list[int] = []
    raw = json.dumps(body(stream=True)).encode()

    received = iter([{"type": "http.request", "body": raw}])

    async def receive() -> Json:
        if (message := next(received, None)) is not None:
            return message
        await asyncio.Event().wait()
        raise AssertionError("the client stays")

    async def send(message: MutableMapping[str, Any]) -> None:
        if message.get("more_body"):
            sent.append(made)

    app = build_app(CallablePlanner(plan=lambda _: {}, generate=generate))
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/generating", "headers": headers, "http_version": "1.1"}
    await app(scope, receive, send)
    assert sent == list(range(1, 51))


@pytest.mark.parametrize("failure", [StreamBroken(planner="p", received=2, reason="gone"), ValueError("unforeseen")])
async def test_a_failure_after_the_first_action_leaves_the_stream_without_its_end(
    failure: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    gated = Gated(2, failure=failure)
    gated.open(9)
    async with service(gated.planner) as client:
        received: list[bytes] = []

        async def read() -> None:
            async with asking(client, body(stream=True, ids=("run", "1"))) as chunks:
                async for chunk in chunks:
                    received.append(chunk)  # noqa: PERF401  # a comprehension would lose what came before the break

        with pytest.raises(httpx2.RemoteProtocolError):
            await read()
        assert contents(b"".join(received)) == ["0", "1"]
        again = await client.get("/metrics")
    assert str(failure) in caplog.text
    if isinstance(failure, StreamBroken):
        assert "nbcc_streams_broken_total 1" in again.text


async def test_a_failed_stream_is_not_remembered() -> None:
    gated = Gated(1, failure=StreamBroken(planner="p", received=1, reason="gone"))
    gated.open(9)
    async with service(gated.planner) as client:
        for _ in range(2):
            with pytest.raises(httpx2.RemoteProtocolError):
                await client.post("/generating", json=body(stream=True, ids=("run", "1")))
    assert gated.asked == 2


async def test_the_same_failure_without_a_stream_is_a_status_and_nothing_of_it_is_sent() -> None:
    gated = Gated(2, failure=StreamBroken(planner="p", received=2, reason="gone"))
    gated.open(9)
    async with service(gated.planner) as client:
        answer = await client.post("/generating", json=body())
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "planner_failed")


async def test_a_stream_that_its_client_cut_is_replayed_and_goes_on_when_asked_for_again() -> None:
    gated = Gated(4)
    sent = body(stream=True, ids=("run", "1"))
    async with service(gated.planner) as client:
        gated.open(2)
        async with asking(client, sent) as chunks:
            first = await anext(chunks)
        assert contents(first)[0] == "0"
        gated.open()
        await until(lambda: gated.made == 3)
        sent["options"]["attempt"] = 2
        async with client.stream("POST", "/generating", json=sent) as again:
            assert again.headers["idempotent-replayed"] == "true"
            chunks = again.aiter_raw()
            replayed = b"".join([await anext(chunks) for _ in range(3)])
            assert contents(replayed) == ["0", "1", "2"]
            gated.open()
            assert contents(b"".join([chunk async for chunk in chunks])) == ["3"]
        gated.open(9)
        third = await client.post("/generating", json=sent)
        together = await client.post("/generating", json=body(ids=("run", "1")))
    assert contents(third.content) == ["0", "1", "2", "3"]
    assert [each["content"] for each in together.json()["actions"]] == ["0", "1", "2", "3"]
    assert gated.asked == 1


async def test_a_client_that_hangs_holds_up_nobody_who_asks_again() -> None:
    """The first client never reads: its connection fills up. The second gets everything."""
    filling = "x" * 1_000_000
    counting = Counting()

    async def generate(request: Request) -> AsyncIterator[Json]:
        counting.asked.append(request)
        for _ in range(20):
            yield action(filling)

    async with service(CallablePlanner(plan=lambda _: {}, generate=generate)) as client:
        raw = json.dumps(body(stream=True, ids=("run", "1"))).encode()
        head = f"POST /generating HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(raw)}\r\n\r\n".encode()
        _, writer = await asyncio.open_connection("127.0.0.1", port_of(client), limit=1024)
        writer.write(head + raw)
        await until(lambda: bool(counting.asked))
        answer = await client.post("/generating", json=body(stream=True, ids=("run", "1"), attempt=2))
        writer.close()
    assert len(answer.content.splitlines()) == 20
    assert len(counting.asked) == 1


async def test_questions_that_come_at_the_same_time_wait_for_the_first() -> None:
    gated = Gated(0)
    async with service(gated.planner) as client:
        asked = [asyncio.create_task(client.post("/planning", json=body(ids=("run", "1")))) for _ in range(5)]
        await until(lambda: gated.asked == 1)
        gated.open(1)
        answers = [await each for each in asked]
    assert {each.text for each in answers} == {answers[0].text}
    assert sorted("idempotent-replayed" in each.headers for each in answers) == [False, True, True, True, True]
    assert gated.asked == 1


@pytest.mark.parametrize("ids", [None, ("run", "1")])
async def test_a_planner_that_nobody_waits_for_any_more_is_stopped(ids: tuple[str, str] | None) -> None:
    gated = Gated(3)
    async with service(gated.planner, linger_seconds=0.1) as client:
        gated.open()
        async with asking(client, body(stream=True, ids=ids)) as chunks:
            await anext(chunks)
        await gated.closed.wait()
        gated.closed.clear()
        with pytest.raises(httpx2.ReadTimeout):
            await client.post("/planning", json=body(ids=ids), timeout=0.2)
        await gated.closed.wait()
        # Whoever comes later is planned for anew.
        gated.open(9)
        assert (await client.post("/planning", json=body(ids=ids))).status_code == 200


async def test_a_judgement_whose_client_lost_patience_is_there_when_it_asks_again() -> None:
    gated = Gated(0)
    async with service(gated.planner) as client:
        with pytest.raises(httpx2.ReadTimeout):
            await client.post("/planning", json=body(ids=("run", "1")), timeout=0.2)
        gated.open()
        answer = await client.post("/planning", json=body(ids=("run", "1"), attempt=2))
    assert answer.json()["context_update"]["variables"] == {"asked": 1}
    assert gated.asked == 1


async def test_an_old_http_client_gets_a_stream_whole_because_it_could_not_see_it_break() -> None:
    async with service(Counting().planner) as client:
        raw = json.dumps(body(stream=True)).encode()
        head = f"POST /generating HTTP/1.0\r\nHost: localhost\r\nContent-Length: {len(raw)}\r\n\r\n".encode()
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(client))
        writer.write(head + raw)
        head, _, lines = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
    assert b"content-length: %d" % len(lines) in head.lower()
    assert len(lines.splitlines()) == 3


async def test_a_planner_that_stops_in_the_middle_breaks_its_stream_after_the_time_limit() -> None:
    gated = Gated(5)
    async with service(gated.planner, answer_seconds=0.3) as client:
        gated.open(2)
        with pytest.raises(httpx2.RemoteProtocolError):
            await client.post("/generating", json=body(stream=True))
        await gated.closed.wait()


async def test_time_counts_from_one_action_to_the_next() -> None:
    async def generate(request: Request) -> AsyncIterator[Json]:
        for number in range(6):
            await asyncio.sleep(0.3)
            yield action(number)

    async with service(CallablePlanner(plan=lambda _: {}, generate=generate), answer_seconds=1.5) as client:
        answer = await client.post("/generating", json=body(stream=True))
    assert len(answer.content.splitlines()) == 6


@pytest.mark.parametrize("limits", [{"line_bytes": 500}, {"answer_bytes": 500}])
async def test_an_answer_over_the_limit_breaks_the_stream(limits: dict[str, Any]) -> None:
    planner = CallablePlanner(plan=lambda _: {}, generate=lambda _: [action(1), action("x" * 1000)])
    async with service(planner, **limits) as client:
        with pytest.raises(httpx2.RemoteProtocolError):
            await client.post("/generating", json=body(stream=True))
        together = await client.post("/generating", json=body())
    assert together.status_code == 502
    assert "500 bytes" in together.json()["error"]["message"]


async def test_stopping_the_service_stops_its_planner(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, logger="uvicorn.error")
    gated = Gated(3)
    async with service(gated.planner) as client:
        gated.open()
        asked = asyncio.create_task(client.post("/generating", json=body(stream=True)))
        await until(lambda: gated.made == 1)
    await gated.closed.wait()
    with pytest.raises((httpx2.HTTPError, PlannerAnswerInvalid)):
        await asked
