"""A DSLC server that misbehaves on command: raw bytes on loopback, nothing between a test and the wire.

Without a fault it answers well, in front of any planner, so that whole runs can be carried out over it. A fault is a
coroutine function that gets one exchange and does to it what it likes; each one queued for a path is used once.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from notebook_bcc.errors import PlannerFailed
from notebook_bcc.planners.interface import ActionData, Planner
from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.ndjson import encode_line

PATIENCE = 30.0


@dataclass(frozen=True)
class Heard:
    """A request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    connection: int

    @property
    def request(self) -> Request:
        return Request.parse(self.body)


class Exchange:
    """One request, and the raw way back."""

    def __init__(self, heard: Heard, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard = heard
        self._reader = reader
        self._writer = writer
        self.sent = 0

    async def send(self, *parts: bytes) -> None:
        """Each part is flushed by itself. Raises ConnectionError once the client has gone."""
        for part in parts:
            self._writer.write(part)
            await self._writer.drain()
            self.sent += len(part)

    async def head(self, status: str = "200 OK", **headers: str) -> None:
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.send("\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode())

    async def answer(self, status: str, body: bytes, **headers: str) -> None:
        """A whole answer with its length."""
        await self.head(status, **{"content_type": "application/json", "content_length": str(len(body)), **headers})
        await self.send(body)

    async def begin_stream(self, content_type: str = "application/x-ndjson") -> None:
        await self.head(content_type=content_type, transfer_encoding="chunked")

    async def chunk(self, *parts: bytes) -> None:
        await self.send(*(b"%x\r\n%s\r\n" % (len(part), part) for part in parts))

    async def end_stream(self) -> None:
        await self.send(b"0\r\n\r\n")

    async def gone(self) -> None:
        """Wait until the client has closed the connection."""
        with contextlib.suppress(ConnectionError):
            await asyncio.wait_for(self._reader.read(), PATIENCE)

    def reset(self) -> None:
        """End the connection as a crash does: with a reset, not with an end."""
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    def close(self) -> None:
        self._writer.close()

    @property
    def is_closed(self) -> bool:
        return self._writer.is_closing()


Fault = Callable[[Exchange], Awaitable[None]]


class FaultProxy:
    """Listens on a port of loopback while it is entered. `heard` is every request that came, in order."""

    def __init__(self, planner: Planner | None = None) -> None:
        self.heard: list[Heard] = []
        self.connections = 0
        self._planner = planner
        self._faults: dict[str, list[Fault]] = defaultdict(list)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def fail(self, path: str, *faults: Fault) -> None:
        """The next requests to this path get these, one each."""
        self._faults[path] += faults

    @property
    def url(self) -> str:
        if self._server is None:
            raise ValueError("the proxy is not entered")
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def heard_at(self, path: str) -> list[Heard]:
        return [heard for heard in self.heard if heard.path == path]

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=2**24)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is None:
            raise ValueError("the proxy is not entered")
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        number = self.connections
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while not writer.is_closing():
                    heard = await _read_request(reader, number)
                    self.heard.append(heard)
                    await self._serve(Exchange(heard, reader, writer))
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve(self, exchange: Exchange) -> None:
        queued = self._faults[exchange.heard.path]
        if queued:
            await queued.pop(0)(exchange)
        elif self._planner is not None:
            await answer_well(exchange, self._planner)
        else:
            await exchange.answer("200 OK", b"{}")


async def answer_well(exchange: Exchange, planner: Planner) -> None:
    """What a sound server does with this request."""
    request = exchange.heard.request
    if exchange.heard.path == "/planning":
        try:
            judged = await planner.plan(request)
        except PlannerFailed as failure:
            await exchange.answer("503 Service Unavailable", str(failure).encode(), content_type="text/plain")
            return
        await exchange.answer("200 OK", judged.to_json())
        return
    fallback = exchange.heard.path == "/generate"
    if request.options.repair is not None:
        source = await planner.repair(request)
        cell = {"action": "add", "shot_type": "action", "content": source}
        await answer_actions(exchange, [] if source is None else [cell])
        return
    await exchange.begin_stream()
    async for item in planner.generate(request, fallback=fallback):
        if isinstance(item, ActionData):
            await exchange.chunk(encode_line(item.data))
    await exchange.end_stream()


async def answer_actions(exchange: Exchange, actions: Iterable[Mapping[str, Any]]) -> None:
    """`{"actions": [...]}`, not streamed."""
    listed = b",".join(encode_line(action)[len(b'{"action":') : -2] for action in actions)
    await exchange.answer("200 OK", b'{"actions":[%s]}' % listed)


def status(line: str, body: bytes = b"", **headers: str) -> Fault:
    """Answer with this status."""

    async def fault(exchange: Exchange) -> None:
        await exchange.answer(line, body, **headers)

    return fault


def raw(*parts: bytes, close: bool = True) -> Fault:
    """Send these bytes, each flushed by itself, and nothing else."""

    async def fault(exchange: Exchange) -> None:
        await exchange.send(*parts)
        if close:
            exchange.close()

    return fault


def stream(*parts: bytes, content_type: str = "application/x-ndjson") -> Fault:
    """A sound chunked stream with each part as a chunk."""

    async def fault(exchange: Exchange) -> None:
        await exchange.begin_stream(content_type)
        await exchange.chunk(*parts)
        await exchange.end_stream()

    return fault


async def reset(exchange: Exchange) -> None:
    """No answer, and no end of the connection either: a reset."""
    exchange.reset()


async def silence(exchange: Exchange) -> None:
    """No answer until the client gives up."""
    await exchange.gone()


def stall_after(*parts: bytes) -> Fault:
    """A stream that stops without an end, until the client gives up."""

    async def fault(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.chunk(*parts)
        await exchange.gone()

    return fault


def reset_after(*parts: bytes, when: Callable[[], bool]) -> Fault:
    """A stream that is reset in the middle, once `when` is true: a reset may overtake what was sent before it."""

    async def fault(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.chunk(*parts)
        await until(when)
        exchange.reset()

    return fault


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition, with a deadline."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110  # what is waited for knows no event
            await asyncio.sleep(0.005)


async def _read_request(reader: asyncio.StreamReader, connection: int) -> Heard:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Heard(method, path, headers, body, connection)
