"""The one kind of response that Starlette does not have: lines that may fail before the first, or break after it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from notebook_bcc.server.answers import Parts
from notebook_bcc.server.metrics import Metrics
from notebook_bcc.server.problems import Problem

NDJSON = "application/x-ndjson"


class LineStream(Response):
    """NDJSON, each line sent as soon as it is there.

    A Problem before the first line is raised, so that it becomes a status. After it the response is left without its
    end, for which the server closes the connection: no client takes the part for the whole. Starlette's own
    StreamingResponse sends the head before it knows a line, and from a task, which a planner that never waits outruns.
    """

    media_type = NDJSON

    def __init__(self, lines: Parts, *, headers: Mapping[str, str], metrics: Metrics) -> None:
        # A proxy that collects a stream before it passes it on would undo the flushing.
        super().__init__(headers={**headers, "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._lines = lines
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent = 0
        head = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        async with aclosing(self._lines) as lines:
            try:
                async for line in lines:
                    if not sent:
                        await send(head)
                    sent += 1
                    await send({"type": "http.response.body", "body": line, "more_body": True})
            except Problem:
                if not sent:
                    raise
                self._metrics.broken()
                return
        if not sent:
            await send(head)
        await send({"type": "http.response.body", "body": b""})
        self._metrics.actions(sent)
