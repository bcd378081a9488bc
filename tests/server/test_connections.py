"""Connections are bounded: how many there are, and how long one may take to say what it wants."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress

import pytest

from server.living import Counting, body, port_of, service, until

pytestmark = pytest.mark.anyio

HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def test_one_connection_too_many_is_told_so_and_closed_and_room_is_used_again() -> None:
    async with service(Counting().planner, connections=3) as client:
        port = port_of(client)
        idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        for reader, writer in idle:
            writer.write(HEALTH)
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        refused = await reader.read()
        writer.close()
        assert refused.startswith(b"HTTP/1.1 503 ")
        head, _, said = refused.partition(b"\r\n\r\n")
        assert b"retry-after: 1" in head.lower()
        assert json.loads(said)["error"]["code"] == "too_many_connections"
        for _, each in idle:
            each.close()
            await each.wait_closed()
        answered: list[int] = []

        async def try_again() -> None:
            answered.append((await client.post("/planning", json=body())).status_code)

        # The service hears of a closed connection a moment later.
        while 200 not in answered:
            await try_again()
        assert len(answered) < 100


@pytest.mark.parametrize("sent", [b"", b"GET /health HTTP/1.1\r\nHost: loc"])
async def test_a_head_that_does_not_come_is_408_and_its_connection_closed(sent: bytes) -> None:
    async with service(Counting().planner, head_seconds=0.2) as client:
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(client))
        writer.write(sent)
        answer = await reader.read()
        writer.close()
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b'"head_too_slow"' in answer


async def test_the_head_of_a_later_request_has_as_long_as_that_of_the_first() -> None:
    async with service(Counting().planner, head_seconds=0.2) as client:
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(client))
        writer.write(HEALTH)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        writer.write(b"GET /hea")
        assert b"HTTP/1.1 408 " in await reader.read()
        writer.close()


async def test_a_head_that_drips_is_cut_off_however_slowly_it_comes() -> None:
    async with service(Counting().planner, head_seconds=0.2) as client:
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(client))
        writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: ")
        answer = asyncio.ensure_future(reader.read())

        def drip() -> bool:
            writer.write(b"x")
            return answer.done()

        await until(drip)
        # What drips after the server has closed resets the connection, at times before the answer is read.
        with suppress(ConnectionResetError):
            assert (await answer).startswith(b"HTTP/1.1 408 ")
        writer.close()


async def test_a_slow_answer_is_not_taken_for_a_slow_head() -> None:
    async with service(Counting().planner, head_seconds=0.05, linger_seconds=5) as client:
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(client))
        raw = json.dumps(body()).encode()
        writer.write(b"POST /planning HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(raw))
        # The body waits longer than a head may: it has a limit of its own.
        later = time.monotonic() + 0.15
        await until(lambda: time.monotonic() > later)
        writer.write(raw)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        writer.close()
