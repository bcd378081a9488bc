"""HTTP/1.1 by the byte, as it is promised: what clients and proxies send that a well-behaved library does not."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator

import httpx2
import pytest

from server.living import TOKEN, Counting, Json, body, port_of, service

pytestmark = pytest.mark.anyio


def request(sent: Json, *more: str, path: str = "/planning", version: str = "1.1") -> bytes:
    raw = json.dumps(sent).encode()
    head = [f"POST {path} HTTP/{version}", "Host: localhost", "Content-Type: application/json", *more]
    return "\r\n".join([*head, f"Content-Length: {len(raw)}", "", ""]).encode() + raw


@contextlib.asynccontextmanager
async def connected(client: httpx2.AsyncClient) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection to the same service."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of(client))
    try:
        yield reader, writer
    finally:
        writer.close()


async def answers(reader: asyncio.StreamReader, count: int) -> list[tuple[bytes, bytes]]:
    """Status line and body of so many answers with a length."""
    found: list[tuple[bytes, bytes]] = []
    for _ in range(count):
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        found.append((head.partition(b"\r\n")[0], await reader.readexactly(length)))
    return found


def asked(answer: tuple[bytes, bytes]) -> int:
    assert answer[0] == b"HTTP/1.1 200 OK"
    number: int = json.loads(answer[1])["context_update"]["variables"]["asked"]
    return number


async def test_requests_that_come_together_are_answered_in_their_order() -> None:
    async with service(Counting().planner) as client, connected(client) as (reader, writer):
        writer.write(request(body()) * 20 + b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        *planned, health = await answers(reader, 21)
    assert [asked(one) for one in planned] == list(range(1, 21))
    assert json.loads(health[1])["status"] == "ok"


@pytest.mark.parametrize("size", [1, 7, 4096])
async def test_a_request_may_be_cut_anywhere(size: int) -> None:
    raw = request(body()) * 2
    async with service(Counting().planner) as client, connected(client) as (reader, writer):
        for start in range(0, len(raw), size):
            writer.write(raw[start : start + size])
            await asyncio.sleep(0)
        found = await answers(reader, 2)
    assert [asked(one) for one in found] == [1, 2]


async def test_a_body_in_chunks_is_read() -> None:
    raw = json.dumps(body()).encode()
    pieces = b"".join(b"%x\r\n%b\r\n" % (len(raw[at : at + 9]), raw[at : at + 9]) for at in range(0, len(raw), 9))
    head = b"POST /planning HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with service(Counting().planner) as client, connected(client) as (reader, writer):
        writer.write(head + pieces + b"0\r\n\r\n" + request(body()))
        found = await answers(reader, 2)
    assert [asked(one) for one in found] == [1, 2]


async def test_a_client_that_waits_for_leave_to_send_gets_it_once() -> None:
    whole = request(body(), "Expect: 100-continue")
    head, _, raw = whole.partition(b"\r\n\r\n")
    async with service(Counting().planner) as client, connected(client) as (reader, writer):
        writer.write(head + b"\r\n\r\n")
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(raw)
        assert [asked(one) for one in await answers(reader, 1)] == [1]


async def test_a_client_that_waits_for_leave_is_refused_without_it() -> None:
    large = b"POST /planning HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\nExpect: 100-continue\r\n\r\n"
    async with service(Counting().planner, body_bytes=1000) as client, connected(client) as (reader, writer):
        writer.write(large)
        [(status, _)] = await answers(reader, 1)
    assert status.startswith(b"HTTP/1.1 413 ")


async def test_the_last_request_of_a_connection_is_answered_and_then_it_is_closed() -> None:
    async with service(Counting().planner) as client, connected(client) as (reader, writer):
        writer.write(request(body(), "Connection: close"))
        answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"connection: close\r\n" in answer.lower()


async def test_a_request_for_another_protocol_is_answered_as_if_it_had_not_asked() -> None:
    async with service(Counting().planner) as client, connected(client) as (reader, writer):
        writer.write(request(body(), "Connection: Upgrade", "Upgrade: websocket"))
        assert [asked(one) for one in await answers(reader, 1)] == [1]


async def test_a_path_with_a_line_break_is_no_way_around_the_token() -> None:
    counting = Counting()
    async with service(counting.planner, token=TOKEN) as client, connected(client) as (reader, writer):
        writer.write(request(body(), path="/planning%0A"))
        [(status, _)] = await answers(reader, 1)
    assert status.startswith(b"HTTP/1.1 404 ")
    assert not counting.asked


async def test_an_old_client_is_answered_and_its_connection_closed() -> None:
    async with service(Counting().planner) as client, connected(client) as (reader, writer):
        writer.write(request(body(), version="1.0"))
        answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"transfer-encoding" not in answer


async def test_a_head_request_gets_no_body() -> None:
    async with service(Counting().planner) as client, connected(client) as (reader, writer):
        writer.write(b"HEAD /health HTTP/1.1\r\nHost: localhost\r\n\r\n" + request(body()))
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"content-length: " in head
        assert [asked(one) for one in await answers(reader, 1)] == [1]


async def test_many_requests_at_once_neither_nest_nor_mix() -> None:
    async with service(Counting().planner) as client, connected(client) as (reader, writer):
        writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" * 3000 + request(body()))
        *healthy, planned = await answers(reader, 3001)
    assert {status for status, _ in healthy} == {b"HTTP/1.1 200 OK"}
    assert asked(planned) == 1


LONG = b"x" * 70_000


@pytest.mark.parametrize(
    "head",
    [
        b"this is not HTTP\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        b"GET /health HTTP/1.1\r\n\r\n",
    ],
    ids=["no HTTP", "two hosts", "no host"],
)
async def test_a_head_that_uvicorn_refuses_is_400_in_plain_text_and_the_end_of_its_connection(head: bytes) -> None:
    counting = Counting()
    async with service(counting.planner) as client, connected(client) as (reader, writer):
        writer.write(head)
        answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"content-type: text/plain" in answer.lower()
    assert not counting.asked


@pytest.mark.parametrize(
    ("head", "whole"),
    [
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: " + LONG + b"\r\n\r\n", b"431"),
        (b"GET /v1/actions?a=" + LONG + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", b"414"),
    ],
    ids=["long header", "long query"],
)
async def test_a_head_that_is_too_large_is_refused_whole_and_in_pieces(head: bytes, whole: bytes) -> None:
    counting = Counting()
    async with service(counting.planner) as client:
        async with connected(client) as (reader, writer):
            writer.write(head)
            [(status, _)] = await answers(reader, 1)
        assert status.startswith(b"HTTP/1.1 " + whole)
        async with connected(client) as (reader, writer):
            writer.write(head[:-4])
            await writer.drain()
            assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
    assert not counting.asked


async def test_a_target_for_proxies_is_404() -> None:
    async with service(Counting().planner) as client, connected(client) as (reader, writer):
        writer.write(b"GET http://localhost/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        [(status, _)] = await answers(reader, 1)
    assert status.startswith(b"HTTP/1.1 404 ")


async def test_a_connection_that_is_idle_after_an_answer_is_closed_after_five_seconds() -> None:
    async with service(Counting().planner) as client, connected(client) as (reader, writer):
        writer.write(request(body()))
        await answers(reader, 1)
        started = time.monotonic()
        assert await reader.read() == b""
    assert 4 < time.monotonic() - started < 30
