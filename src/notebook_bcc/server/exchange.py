"""One request and its answer on a connection: ASGI on the one side, the bytes of HTTP/1.1 on the other."""

from __future__ import annotations

import asyncio
import functools
import http
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

from notebook_bcc.server.wire import SEND_NOW, SEND_WHOLE, WHOLE_BODY, Receive, Scope, Send

HeaderLines = Sequence[tuple[bytes, bytes]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_PENDING_BYTES = 64 * 1024
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_END = b"0\r\n\r\n"


class Line:
    """The way out of a connection, and both of its taps."""

    def __init__(
        self,
        transport: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        default_headers: Callable[[], HeaderLines],
    ) -> None:
        """`default_headers` are what every answer has. They change now and then, for they hold the date."""
        self.write = transport.write
        self.loop = loop
        self.default_headers = default_headers
        self._transport = transport
        self.full: asyncio.Future[None] | None = None
        """Ends when the client has taken enough of what was written, or is gone; None: it may be written to."""
        self.reading_paused = False
        self._written: HeaderLines = ()
        self._lines = b""

    def default_lines(self) -> bytes:
        """The default headers, written."""
        headers = self.default_headers()
        if headers is not self._written:
            self._written = headers
            self._lines = b"".join([b"%b: %b\r\n" % line for line in headers])
        return self._lines

    async def drained(self) -> None:
        if self.full is not None:
            await asyncio.shield(self.full)

    def pause_writing(self) -> None:
        self.full = self.full or self.loop.create_future()

    def resume_writing(self) -> None:
        waited, self.full = self.full, None
        if waited is not None:
            waited.set_result(None)

    def pause_reading(self) -> None:
        if not self.reading_paused and not self._transport.is_closing():
            self.reading_paused = True
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        if self.reading_paused and not self._transport.is_closing():
            self.reading_paused = False
            self._transport.resume_reading()


class Exchange:
    """Feeds the application with a request and writes its answer. `complete`: all of the answer was written."""

    __slots__ = (
        *("scope", "keep_alive", "whole", "begun", "complete", "eager", "expects_continue"),
        *("_line", "_ended", "_pieces", "_pending", "_told_whole", "_lost", "_waiting", "_head", "_chunked", "_left"),
    )

    def __init__(self, line: Line, scope: Scope, *, keep_alive: bool, ended: Callable[[Exchange], None]) -> None:
        """`ended` is called once, when nothing more of the answer will come."""
        self.scope = scope
        self.keep_alive = keep_alive
        self.whole = False
        self.begun = False
        self.complete = False
        self.eager = False
        """Whether the application begins before the body is whole."""
        self.expects_continue = False
        self._line = line
        self._ended = ended
        self._pieces: list[bytes] = []
        self._pending = 0
        self._told_whole = False
        self._lost = False
        self._waiting: asyncio.Future[None] | None = None
        self._head = b""
        self._chunked = False
        self._left = 0

    def feed(self, body: bytes) -> None:
        """A piece of the request's body; after the answer nobody wants it."""
        if self.complete:
            return
        self._pieces.append(body)
        self._pending += len(body)
        if self._pending > _PENDING_BYTES:
            self._line.pause_reading()
        if self._waiting is not None:
            self._wake()

    def feed_end(self) -> None:
        """The request is whole."""
        self.whole = True
        if self._waiting is not None:
            self._wake()

    def lose(self) -> None:
        """The client is gone."""
        self._lost = True
        self._wake()

    async def run(self, app: Application) -> None:
        """Let the application answer. An answer that it does not end is broken, not finished for it."""
        extensions: dict[str, Any] = {SEND_NOW: self.send_now, SEND_WHOLE: self.send_whole}
        if self.whole:
            pieces = self._pieces
            extensions[WHOLE_BODY] = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        self.scope["extensions"] = extensions
        try:
            await app(self.scope, self.receive, self.send)
        finally:
            # They hold this exchange, and it them: left so, the request would stay until garbage is collected.
            extensions.clear()
            self._pieces = []
            if not self.complete:
                self._ended(self)

    async def receive(self) -> MutableMapping[str, Any]:  # Any: ASGI
        if self.expects_continue and not self.begun and not self._lost:
            self.expects_continue = False
            self._line.write(_CONTINUE)
        while not (self._lost or self.complete):
            if self._pieces or (self.whole and not self._told_whole):
                pieces, self._pieces = self._pieces, []
                self._pending = 0
                self._told_whole = self.whole
                self._line.resume_reading()
                body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
                return {"type": "http.request", "body": body, "more_body": not self.whole}
            self._waiting = self._line.loop.create_future()
            await self._waiting
        return {"type": "http.disconnect"}

    async def send(self, message: MutableMapping[str, Any]) -> None:  # Any: ASGI
        """Raises RuntimeError for what is no answer. What the client cannot take yet is waited for."""
        while not self.send_now(message):
            await self._line.drained()

    def send_now(self, message: MutableMapping[str, Any]) -> bool:  # Any: ASGI
        """Send without waiting, or say that it must be waited for. To a client that is gone everything can be sent."""
        if self._lost:
            return True
        if self._line.full is not None:
            return False
        if message["type"] == "http.response.body":
            self._body(message.get("body", b""), more=message.get("more_body", False))
        elif message["type"] == "http.response.start" and not self.begun:
            self._begin(message["status"], message.get("headers", ()))
        else:
            raise RuntimeError(f"an answer cannot go on with {message['type']!r}")
        return True

    def send_whole(self, status: int, lines: bytes, body: bytes) -> bool:
        """Send an answer whose header lines are written, all but its length; or say that it must go the usual way."""
        if self._lost:
            return True
        if self._line.full is not None or self.begun or self.scope["method"] == "HEAD":
            return False
        self.begun = self.complete = True
        end = b"" if self.keep_alive else b"connection: close\r\n"
        head = (_status_line(status), self._line.default_lines(), lines, b"content-length: %d\r\n" % len(body), end)
        self._line.write(b"".join((*head, b"\r\n", body)))
        if self._waiting is not None:
            self._wake()
        self._ended(self)
        return True

    def _begin(self, status: int, headers: HeaderLines) -> None:
        """The head waits for the first bytes of the body: one packet, and one call of the system, for both."""
        self.begun = True
        length: bytes | None = None
        lines = [_status_line(status)]
        for name, value in (*self._line.default_headers(), *headers):
            if name == b"content-length":
                length = value
            elif name == b"connection" and value == b"close":
                self.keep_alive = False
                continue
            lines.append(b"%b: %b\r\n" % (name, value))
        if length is not None:
            self._left = int(length)
        elif self.scope["http_version"] != "1.0":
            self._chunked = True
            lines.append(b"transfer-encoding: chunked\r\n")
        if not self.keep_alive:
            lines.append(b"connection: close\r\n")
        if any(line.count(b"\n") != 1 for line in lines):
            raise RuntimeError("a header of the answer holds a line break")
        lines.append(b"\r\n")
        self._head = b"".join(lines)

    def _body(self, body: bytes, *, more: bool) -> None:
        if not self.begun or self.complete:
            raise RuntimeError("bytes of an answer that has not begun or has ended")
        if self.scope["method"] == "HEAD":
            body, self._left = b"", 0
        elif self._chunked:
            body = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
            body = body if more else body + _END
        else:
            self._left -= len(body)
        if self._head or body:
            self._line.write(self._head + body)
            self._head = b""
        if not more:
            if self._left != 0 and not self._chunked and self.scope["http_version"] != "1.0":
                raise RuntimeError("the answer has not the length that its head promised")
            self.complete = True
            self._wake()
            self._ended(self)

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


@functools.cache
def _status_line(status: int) -> bytes:
    return b"HTTP/1.1 %d %b\r\n" % (status, http.HTTPStatus(status).phrase.encode())
