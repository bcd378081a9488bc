"""The service as an ASGI application: which request goes where, and what becomes of the unforeseen.

ASGI by hand and not a framework: a route is a path, and a framework's own work for one costs as much as ours.
"""

from __future__ import annotations

import functools
import json
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from notebook_bcc import __version__
from notebook_bcc.planners.interface import Planner
from notebook_bcc.server.endpoints import Endpoints
from notebook_bcc.server.gate import Gate
from notebook_bcc.server.memory import Memory
from notebook_bcc.server.metrics import CONTENT_TYPE, Counts, Metrics
from notebook_bcc.server.openapi import openapi
from notebook_bcc.server.page import SECURITY_POLICY, page
from notebook_bcc.server.problems import Problem, retry_after
from notebook_bcc.server.rounds import Rounds
from notebook_bcc.server.settings import ServerSettings
from notebook_bcc.server.wire import Receive, Reply, Scope, Send
from notebook_bcc.server.work import Work

LOG = logging.getLogger(__name__)

Handler = Callable[[Scope, Receive, Reply], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Route:
    """What a path does for each method. `public` needs no token; `asks` the planner, and so counts as work."""

    methods: Mapping[str, Handler]
    public: bool = False
    asks: bool = False


class App:
    """One planner behind the protocol's endpoints. The planner stays its maker's to close."""

    def __init__(
        self,
        planner: Planner,
        settings: ServerSettings,
        *,
        counts: Counts = tuple,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`counts` gives what the planner counts itself, for the metrics."""
        self.settings = settings
        self._counts = counts
        self._planner = planner
        self._gate = Gate(settings)
        self._metrics = Metrics()
        rounds = Rounds()
        self._memory = Memory(settings, rounds=rounds, clock=clock)
        self._busy = 0
        work = Work(planner, line_bytes=settings.line_bytes)
        asked = Endpoints(work=work, memory=self._memory, metrics=self._metrics, settings=settings, rounds=rounds)
        self._routes = {
            "/planning": _Route({"POST": asked.planning}, asks=True),
            "/generating": _Route({"POST": asked.generating}, asks=True),
            "/generate": _Route({"POST": asked.generate}, asks=True),
            "/v1/actions": _Route({"GET": asked.actions_v1, "POST": asked.actions_v1}, asks=True),
            "/v1/reflection": _Route({"POST": asked.reflection_v1}, asks=True),
            "/health": _Route({"GET": self._health, "HEAD": self._health}, public=True),
            "/metrics": _Route({"GET": self._show_metrics}),
            "/openapi.json": _Route({"GET": self._show_openapi}, public=True),
            "/docs": _Route({"GET": self._show_page}, public=True),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A request is answered here. This is its border post: whatever nobody foresaw becomes a 500 with an id that is
        in the log too."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._live(receive, send)
            return
        reply = Reply(send, scope.get("extensions"))
        started = time.perf_counter()
        path = scope["path"]
        route = self._routes.get(path)
        metrics = self._metrics
        metrics.in_progress += 1
        try:
            handler = self._handler(route, scope)
            if isinstance(handler, Problem):
                await reply.problem(handler)
            elif route is None or not route.asks:
                await handler(scope, receive, reply)
            else:
                self._busy += 1
                try:
                    await handler(scope, receive, reply)
                finally:
                    self._busy -= 1
        except Exception:
            mishap = secrets.token_hex(6)
            LOG.exception("mishap %s at %s", mishap, path if route is not None else "an unknown path")
            if not reply.status:
                message = f"Something went wrong here that should not. The service's log says more under {mishap}."
                await reply.problem(Problem(500, "mishap", message))
        finally:
            metrics.in_progress -= 1
            metrics.request(path if route is not None else "other", reply.status, time.perf_counter() - started)

    async def close(self) -> None:
        """Stop every answer that is being given."""
        await self._memory.close()

    async def _live(self, receive: Receive, send: Send) -> None:
        """Until the server that carries this application stops."""
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await self.close()
        await send({"type": "lifespan.shutdown.complete"})

    def _handler(self, route: _Route | None, scope: Scope) -> Handler | Problem:
        """Who answers this request, or why nobody does."""
        refusal = self._gate.refusal(scope, public=route is None or route.public)
        if refusal is not None:
            return refusal
        if route is None:
            paths = ", ".join(self._routes)
            return Problem(404, "not_found", f"There is nothing here. There are: {paths}.")
        handler = route.methods.get(scope["method"])
        if handler is None:
            allowed = ", ".join(route.methods)
            headers = ((b"allow", allowed.encode()),)
            return Problem(405, "method_not_allowed", f"Allowed here: {allowed}.", headers=headers)
        if route.asks and self._busy >= self.settings.concurrent:
            message = f"{self._busy} requests are being answered; try again in a moment."
            return Problem(503, "busy", message, headers=retry_after(1))
        return handler

    async def _health(self, scope: Scope, receive: Receive, reply: Reply) -> None:
        state = {"status": "ok", "planner": self._planner.name, "dialects": ["v2", "v1"], "version": __version__}
        await reply.whole(json.dumps(state).encode())

    async def _show_metrics(self, scope: Scope, receive: Receive, reply: Reply) -> None:
        text = self._metrics.text(
            remembered=len(self._memory), remembered_bytes=self._memory.kept_bytes, counted=self._counts()
        )
        await reply.whole(text, content=CONTENT_TYPE)

    async def _show_openapi(self, scope: Scope, receive: Receive, reply: Reply) -> None:
        await reply.whole(self._document)

    async def _show_page(self, scope: Scope, receive: Receive, reply: Reply) -> None:
        headers = ((b"content-security-policy", SECURITY_POLICY),)
        await reply.whole(self._page, content=b"text/html; charset=utf-8", headers=headers)

    @functools.cached_property
    def _document(self) -> bytes:
        document = openapi(version=__version__, token=self.settings.token is not None)
        return json.dumps(document, ensure_ascii=False).encode()

    @functools.cached_property
    def _page(self) -> bytes:
        return page(json.loads(self._document)).encode()


def build_app(planner: Planner, settings: ServerSettings | None = None, *, counts: Counts = tuple) -> App:
    """The service in front of this planner. Settings that would leave it open to everyone are SettingsInvalid.

    `counts` is asked for what the planner counts itself, whenever someone asks for the metrics.
    """
    return App(planner, settings or ServerSettings(), counts=counts)
