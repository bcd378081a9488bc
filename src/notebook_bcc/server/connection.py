"""One client's connection: HTTP/1.1 by httptools, its requests answered one after the other by an ASGI application.

uvicorn's own protocol does the same. This one writes the head of an answer together with its first bytes, wakes the
application once for a request that is short, has one look at the clock in place of a timer for each request, and reads
into a buffer of its own, where asyncio would make room for 256 KB at every read: more than half of what HTTP costs a
short request is in these four. It bounds the head of a request in size and time as well.
"""

from __future__ import annotations

import asyncio
import functools
from collections import deque
from typing import Any, cast
from urllib.parse import unquote_to_bytes

import httptools
import uvicorn
from uvicorn.server import ServerState

from notebook_bcc.server.exchange import Application, Exchange, Line
from notebook_bcc.server.first_step import TaskOnCall
from notebook_bcc.server.wire import Scope

_HEAD_BYTES = 64 * 1024
_HEAD_SECONDS = 30.0
_TICK = 0.2
_BUFFER_BYTES = 64 * 1024
# A body of up to this many bytes is waited for before the application is woken.
_SHORT_BODY = 64 * 1024
_SHORT_URL = 100
_ASGI = {"version": "3.0", "spec_version": "2.3"}
_REFUSAL = b"HTTP/1.1 %s\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class Connection(asyncio.BufferedProtocol):
    """Made by uvicorn's server for every client; `shutdown` is its word that no more requests are wanted."""

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],  # Any: the application's, handed through
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._config = config
        self._app: Application = config.loaded_app
        self._server = server_state
        self._app_state = app_state
        self._loop = _loop or asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        self._buffer = memoryview(bytearray(_BUFFER_BYTES))
        self._line: Line
        self._transport: asyncio.Transport
        self._addresses: tuple[Any, Any] = (None, None)
        self._waiting: deque[Exchange] = deque()
        self._answering: Exchange | None = None
        self._on_call: TaskOnCall
        self._task: asyncio.Task[None] | None = None
        self._reading: Exchange | None = None
        self._url = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._in_head = False
        self._head_bytes = 0
        self._rest = 0
        self._ticks = 0
        self._patience = _HEAD_SECONDS
        self._last = False
        self._deaf = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # By name: another loop's transports need not be asyncio's in class.
        self._transport = transport = cast("asyncio.Transport", transport)
        self._line = Line(transport, self._loop, lambda: self._server.default_headers)
        self._on_call = TaskOnCall(self._loop, ended=self._finished)
        self._addresses = (transport.get_extra_info("peername"), transport.get_extra_info("sockname"))
        self._server.connections.add(self)  # type: ignore[arg-type]  # uvicorn lists its own protocols by name
        self._loop.call_later(_TICK, self._tick)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.discard(self)
        self._deaf = True
        self._line.resume_writing()
        for exchange in (self._answering, *self._waiting):
            if exchange is not None:
                exchange.lose()
        self._waiting.clear()
        self._on_call.close()

    def pause_writing(self) -> None:
        self._line.pause_writing()

    def resume_writing(self) -> None:
        self._line.resume_writing()

    def shutdown(self) -> None:
        """Take no further request; what has arrived is answered."""
        self._last = True
        if self._answering is None and not self._waiting:
            self._transport.close()
        for exchange in (self._answering, *self._waiting):
            if exchange is not None:
                exchange.keep_alive = False

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        data = self._buffer[:nbytes]
        if self._deaf:
            self._read_rest(bytes(data))
            self._advance()
            return
        was_in_head = self._in_head
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._ignore_upgrade(bytes(data[upgrade.args[0] :]))
        except httptools.HttpParserError:
            self._refuse(b"400 Bad Request")
        if self._in_head and was_in_head:
            self._head_bytes += nbytes
            if self._head_bytes > _HEAD_BYTES:
                self._refuse(b"431 Request Header Fields Too Large")
        # Not in the parser's callbacks: what the application raises is no fault of the request.
        self._advance()

    # What follows up to the answer is called by the parser.

    def on_message_begin(self) -> None:
        self._in_head = True
        self._head_bytes = self._ticks = 0
        self._url = b""
        self._headers = []

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        self._in_head = False
        parser = self._parser
        version: str = parser.get_http_version()
        method: bytes = parser.get_method()
        scope = self._scope(version, "POST" if method == b"POST" else method.decode("ascii"))
        keep_alive = version != "1.0" and not self._last and parser.should_keep_alive()
        self._reading = exchange = Exchange(self._line, scope, keep_alive=keep_alive, ended=self._answered)
        self._waiting.append(exchange)
        self._rest = 0
        for name, value in self._headers:
            if name == b"content-length":
                self._rest = int(value)
                exchange.eager = exchange.eager or self._rest > _SHORT_BODY
            elif name == b"transfer-encoding":
                exchange.eager = True
            elif name == b"expect" and value.lower() == b"100-continue":
                exchange.eager = exchange.expects_continue = True
        if self._answering is not None or len(self._waiting) > 1:
            # A client that sends its next request before the answer may wait for it.
            self._line.pause_reading()

    def on_body(self, body: bytes) -> None:
        if self._reading is not None:
            self._reading.feed(body)

    def on_message_complete(self) -> None:
        if self._parser.should_upgrade() and self._rest:
            # The parser takes the body for words of the other protocol.
            return
        exchange, self._reading = self._reading, None
        if exchange is not None:
            exchange.feed_end()

    def _ignore_upgrade(self, data: bytes) -> None:
        """Nothing else is spoken here: the request is answered as if it had not asked, and is the last."""
        self._deaf = True
        if last := self._waiting[-1] if self._waiting else self._answering:
            last.keep_alive = False
        self._read_rest(data)

    def _read_rest(self, data: bytes) -> None:
        """The body of a request that the parser has left alone with it."""
        if self._reading is not None:
            self._reading.feed(data[: self._rest])
            self._rest -= min(self._rest, len(data))
            if not self._rest:
                self._reading.feed_end()
                self._reading = None

    def _scope(self, version: str, method: str) -> Scope:
        path, raw, query = _target(self._url) if len(self._url) <= _SHORT_URL else _target.__wrapped__(self._url)
        client, server = self._addresses
        return {
            "type": "http",
            "asgi": _ASGI,
            "http_version": version,
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": raw,
            "query_string": query,
            "root_path": "",
            "headers": self._headers,
            "client": client,
            "server": server,
            "state": self._app_state.copy(),
        }

    def _advance(self) -> None:
        """Let the application answer the next requests, one after the other, until one has to be waited for."""
        waiting = self._waiting
        while waiting and self._task is None and (waiting[0].whole or waiting[0].eager):
            if self._transport.is_closing():
                return
            self._answering = exchange = waiting.popleft()
            self._task = self._on_call.run(exchange.run(self._app))
            if self._task is not None:
                # The server waits for it when it stops.
                self._server.tasks.add(self._task)

    def _finished(self) -> None:
        """The application has done with a request that had to wait."""
        if self._task is not None:
            self._server.tasks.discard(self._task)
            self._task = None
        self._loop.call_soon(self._advance)

    def _answered(self, exchange: Exchange) -> None:
        """The answer is out, or never will be."""
        self._answering = None
        self._server.total_requests += 1
        self._ticks = 0
        self._patience = self._config.timeout_keep_alive
        if not exchange.complete or not exchange.keep_alive or (self._last and not self._waiting):
            self._deaf = True
            self._transport.close()
            return
        if self._line.reading_paused:
            self._line.resume_reading()

    def _refuse(self, status: bytes) -> None:
        """What cannot be read is refused in HTTP's own words; after it nothing on this connection is understood."""
        self._deaf = self._last = True
        broken, self._reading = self._reading, None
        if broken is not None and broken is not self._answering:
            self._waiting.remove(broken)
        elif broken is not None and broken.begun:
            broken.keep_alive = False
            return
        if self._answering in (None, broken) and not self._waiting:
            self._transport.write(_REFUSAL % status)
            self._transport.close()

    def _tick(self) -> None:
        """Some times a second: close what is idle or does not come to its point."""
        if self._transport.is_closing():
            return
        self._ticks += 1
        if self._waiting and self._answering is None:
            # A short body that takes its time: the application has its own limit for that.
            self._waiting[0].eager = True
            self._advance()
        elif self._answering is None and self._ticks * _TICK > (_HEAD_SECONDS if self._in_head else self._patience):
            self._transport.close()
            return
        self._loop.call_later(_TICK, self._tick)


# Of the short ones, which are asked again and again; what others cost, they cost their sender as much.
@functools.lru_cache(maxsize=64)
def _target(url: bytes) -> tuple[str, bytes, bytes]:
    """Path, raw path and query of the target in a request's first line."""
    if not url.startswith(b"/") and url != b"*":
        # The absolute form, as proxies are asked.
        parts = httptools.parse_url(url)
        url = (parts.path or b"/") + (b"?" + parts.query if parts.query else b"")
    raw, _, query = url.partition(b"#")[0].partition(b"?")
    path = raw if b"%" not in raw else unquote_to_bytes(raw)
    return path.decode(errors="replace"), raw, query
