"""The way below HTTP's meaning: connections over asyncio, answers parsed by httptools, for httpx2 to use.

httpx2's own transport takes an answer apart in Python, at ten times the price of reading its lines. Here what has
arrived together is handed on together, whatever the chunks that the server made of it.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator

import httptools
import httpx2

_HEAD_BYTES = 128 * 1024
# Answers that nobody takes stop at the connection, not in our memory.
_PENDING_BYTES = 1024 * 1024
_PORTS = {"http": 80, "https": 443}


class AsyncioTransport(httpx2.AsyncBaseTransport):
    """HTTP/1.1 with connections that are used again, each for one answer at a time.

    Of the timeouts in a request's extensions `connect` and `read` (the wait for more of an answer's body) are kept; how
    long the head of an answer may take is the caller's to bound. Failures are httpx2's, with their causes.
    """

    def __init__(self, *, trust: ssl.SSLContext | None, keep_alive: float) -> None:
        """`trust` is for https; an idle connection is given up after `keep_alive` seconds."""
        self._trust = trust
        self._keep_alive = keep_alive
        self._idle: dict[tuple[str, str, int], list[_Connection]] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        origin = (url.scheme, url.raw_host.decode("ascii"), url.port or _PORTS[url.scheme])
        patience = request.extensions.get("timeout", {})
        connection = self._reusable(origin)
        if connection is None:
            connection = await self._connect(origin, patience.get("connect"))
        try:
            connection.send(_written(request, await request.aread()))
            await connection.head()
        except BaseException:
            connection.abort()
            raise
        body = _Body(self, origin, connection, patience)
        version = {"http_version": b"HTTP/" + connection.version.encode("ascii")}
        return httpx2.Response(connection.status, headers=connection.headers, stream=body, extensions=version)

    async def aclose(self) -> None:
        """Close the connections that are not in use. The others are closed with their answers."""
        idle = [connection for each in self._idle.values() for connection in each]
        self._idle.clear()
        for connection in idle:
            connection.abort()
        for connection in idle:
            await connection.lost

    def release(self, origin: tuple[str, str, int], connection: _Connection) -> None:
        """Keep a connection for the next request, if it can have one."""
        if connection.is_reusable:
            connection.idle_since = connection.loop.time()
            self._idle.setdefault(origin, []).append(connection)
        else:
            connection.abort()

    def _reusable(self, origin: tuple[str, str, int]) -> _Connection | None:
        """The one that was used last, if its server is still there."""
        idle = self._idle.get(origin, [])
        while idle:
            connection = idle.pop()
            fresh = connection.loop.time() - connection.idle_since < self._keep_alive
            if fresh and connection.is_reusable and connection.loop is asyncio.get_running_loop():
                return connection
            connection.abort()
        return None

    async def _connect(self, origin: tuple[str, str, int], seconds: float | None) -> _Connection:
        scheme, host, port = origin
        loop = asyncio.get_running_loop()
        trust, name = (self._trust, host) if scheme == "https" else (None, None)
        failure: OSError = OSError("the host has no address")
        try:
            async with asyncio.timeout(seconds):
                for *_, address in await loop.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM):
                    try:
                        _, made = await loop.create_connection(
                            _Connection, str(address[0]), port, ssl=trust, server_hostname=name
                        )
                    except OSError as error:
                        failure = error
                    else:
                        return made
        except TimeoutError as error:
            raise httpx2.ConnectTimeout("no connection in time") from error
        except OSError as error:
            failure = error
        raise httpx2.ConnectError(str(failure)) from failure


class _Connection(asyncio.Protocol):
    """One connection and the answer that is arriving on it."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.lost: asyncio.Future[None] = self.loop.create_future()
        self.idle_since = 0.0
        self.status = 0
        self.version = "1.1"
        self.headers: list[tuple[bytes, bytes]] = []
        self._transport: asyncio.Transport
        self._parser = httptools.HttpResponseParser(self)
        self._asked = False
        self._head_done = False
        self._complete = False
        self._delimited = False
        self._last = False
        self._head_bytes = 0
        self._pieces: list[bytes] = []
        self._pending = 0
        self._paused = False
        self._failure: httpx2.TransportError | None = None
        self._waiting: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    @property
    def is_reusable(self) -> bool:
        free = self._complete or not self._asked
        return free and not self._last and self._failure is None and not self._transport.is_closing()

    def send(self, data: bytes) -> None:
        """Ask. All of the request is in memory already; what the system does not take at once stays there."""
        self._asked, self._head_done, self._complete, self._delimited = True, False, False, False
        self._head_bytes = self._pending = 0
        # Of the answer before, whatever nobody took.
        self._pieces = []
        self.headers = []
        self._resume()
        self._transport.write(data)

    async def head(self) -> None:
        """Until the head of the answer is here. Raises httpx2's errors."""
        while not self._head_done:
            if self._failure is not None:
                raise self._failure
            await self._wait(None)

    async def more(self, seconds: float | None) -> bytes:
        """What has arrived of the body since the last time; nothing at its end. Raises httpx2's errors."""
        while not self._pieces:
            if self._complete:
                return b""
            if self._failure is not None:
                raise self._failure
            await self._wait(seconds)
        pieces, self._pieces = self._pieces, []
        self._pending = 0
        self._resume()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _resume(self) -> None:
        if self._paused:
            self._paused = False
            self._transport.resume_reading()

    def abort(self) -> None:
        """Close without a word."""
        self._last = True
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if not self._asked or self._complete:
            # Nobody asked for this: whatever it is, the next answer could not be told from it.
            self.abort()
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            if not self._complete:
                self._fail(httpx2.RemoteProtocolError(str(error)))
            self._last = True
        self._head_bytes += 0 if self._head_done else len(data)
        if self._head_bytes > _HEAD_BYTES:
            self._fail(httpx2.RemoteProtocolError(f"the head of the answer is longer than {_HEAD_BYTES} bytes"))
        self._wake()

    def eof_received(self) -> bool:
        self._ended(None)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended(exc)
        if not self.lost.done():
            self.lost.set_result(None)

    # What follows is called by the parser.

    def on_message_begin(self) -> None:
        # A second answer to one question: it is not read, and nothing more is asked here.
        self._last = self._last or self._complete

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._head_done:
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        if self._head_done:
            return
        self.status = self._parser.get_status_code()
        if self.status < 200:
            # An interim answer; the answer follows.
            self.headers = []
            return
        self.version = self._parser.get_http_version()
        self._last = not self._parser.should_keep_alive()
        names = {name.lower() for name, _ in self.headers}
        self._delimited = not names.isdisjoint((b"content-length", b"transfer-encoding"))
        self._head_done = True

    def on_body(self, body: bytes) -> None:
        if self._complete:
            return
        self._pieces.append(body)
        self._pending += len(body)
        if self._pending > _PENDING_BYTES and not self._paused:
            self._paused = True
            self._transport.pause_reading()

    def on_message_complete(self) -> None:
        if self._head_done:
            self._complete = True

    def _ended(self, cause: Exception | None) -> None:
        """The server says no more. Only an answer without a length may end so."""
        self._last = True
        if self._head_done and not self._delimited and cause is None:
            self._complete = True
        elif not self._complete:
            what = "in the middle of an answer" if self._head_done else "without an answer"
            failure: httpx2.TransportError = httpx2.RemoteProtocolError(f"the server closed the connection {what}")
            if cause is not None:
                failure = httpx2.ReadError(str(cause))
                failure.__cause__ = cause
            self._fail(failure)
        self._wake()

    def _fail(self, failure: httpx2.TransportError) -> None:
        self._failure = self._failure or failure
        self._last = True
        self._transport.abort()
        self._wake()

    async def _wait(self, seconds: float | None) -> None:
        self._waiting = self.loop.create_future()
        timer = self.loop.call_later(seconds, self._too_late) if seconds is not None else None
        try:
            await self._waiting
        finally:
            if timer is not None:
                timer.cancel()

    def _too_late(self) -> None:
        self._fail(httpx2.ReadTimeout("nothing more of the answer in time"))

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


class _Body(httpx2.AsyncByteStream):
    """The body of an answer. Closed before its end, it takes the connection with it."""

    def __init__(
        self,
        transport: AsyncioTransport,
        origin: tuple[str, str, int],
        connection: _Connection,
        patience: dict[str, float | None],
    ) -> None:
        self._transport = transport
        self._origin = origin
        self._connection: _Connection | None = connection
        self._patience = patience

    async def __aiter__(self) -> AsyncIterator[bytes]:
        connection, patience = self._connection, self._patience
        while connection is not None and (chunk := await connection.more(patience.get("read"))):
            yield chunk

    async def aclose(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            self._transport.release(self._origin, connection)


def _written(request: httpx2.Request, body: bytes) -> bytes:
    lines = [request.method.encode("ascii") + b" " + request.url.raw_path + b" HTTP/1.1"]
    lines += [name + b": " + value for name, value in request.headers.raw]
    return b"\r\n".join([*lines, b"", body])
