"""The words of ASGI, and a reply over it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any

from notebook_bcc.server.problems import Headers, Problem

# Any: the messages of ASGI are dicts of many shapes; this module and those that read a scope know which.
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
SendNow = Callable[[MutableMapping[str, Any]], bool]
SendWhole = Callable[[int, bytes, bytes], bool]

JSON = b"application/json"
NDJSON = b"application/x-ndjson"
_COMMON: Headers = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
# A proxy that collects a stream before it passes it on would undo the flushing.
_STREAM: Headers = ((b"content-type", NDJSON), *_COMMON, (b"x-accel-buffering", b"no"))
# The lines that the head of nearly every answer has, apart from those that the connection adds.
_JSON_LINES = b"".join(b"%b: %b\r\n" % line for line in ((b"content-type", JSON), *_COMMON))
# What our own connection puts among a scope's extensions: the body, where it is there already, a way to send without
# waiting, and one to send an answer at once whose header lines are written. Behind another server none of them is
# there, and nothing but time is lost.
WHOLE_BODY, SEND_NOW, SEND_WHOLE = "nbcc.body", "nbcc.send_now", "nbcc.send_whole"
REPLAYED: Headers = ((b"idempotent-replayed", b"true"),)


class Reply:
    """The one answer to a request. `status` is 0 until it has begun."""

    __slots__ = ("_send", "_send_now", "_send_whole", "status")

    def __init__(self, send: Send, extensions: Mapping[str, Any] | None = None) -> None:
        """`extensions` are those of the request's scope."""
        self._send = send
        self._send_now: SendNow | None = extensions.get(SEND_NOW) if extensions else None
        self._send_whole: SendWhole | None = extensions.get(SEND_WHOLE) if extensions else None
        self.status = 0

    async def whole(self, body: bytes, *, status: int = 200, content: bytes = JSON, headers: Headers = ()) -> None:
        """Everything at once."""
        self.status = status
        if self._send_whole is not None and content is JSON and not headers:  # noqa: SIM102  the call is the act
            if self._send_whole(status, _JSON_LINES, body):
                return
        fields = [(b"content-type", content), (b"content-length", b"%d" % len(body)), *_COMMON, *headers]
        await self._send({"type": "http.response.start", "status": status, "headers": fields})
        await self._send({"type": "http.response.body", "body": body})

    async def problem(self, problem: Problem) -> None:
        await self.whole(problem.to_json(), status=problem.status, headers=problem.headers)

    async def lines(self, lines: Sequence[bytes], *, headers: Headers = ()) -> None:
        """Some lines of a stream, each flushed; the first one begins it."""
        if not self.status:
            self.status = 200
            await self._send({"type": "http.response.start", "status": 200, "headers": [*_STREAM, *headers]})
        for line in lines:
            await self._send({"type": "http.response.body", "body": line, "more_body": True})

    def push(self, line: bytes) -> bool:
        """The same for one line on the spot, if the server in front of us can and the client is not behind."""
        if self._send_now is None:
            return False
        if not self.status:
            if not self._send_now({"type": "http.response.start", "status": 200, "headers": _STREAM}):
                return False
            self.status = 200
        return self._send_now({"type": "http.response.body", "body": line, "more_body": True})

    async def end(self) -> None:
        """The end of a stream, said as such: a stream that is not ended has broken."""
        await self._send({"type": "http.response.body", "body": b""})


def header(scope: Scope, name: bytes) -> bytes | None:
    """The first header of this name (lower case), or None."""
    for each, value in scope["headers"]:
        if each == name:
            found: bytes = value
            return found
    return None
