"""The service as an ASGI application on Starlette: which path is answered by what."""

from __future__ import annotations

import functools
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from notebook_bcc import __version__
from notebook_bcc.planners.interface import Planner
from notebook_bcc.server.endpoints import Endpoints
from notebook_bcc.server.gate import Gate
from notebook_bcc.server.memory import Memory
from notebook_bcc.server.metrics import CONTENT_TYPE, Counts, Metrics
from notebook_bcc.server.middleware import RequestMiddleware
from notebook_bcc.server.openapi import openapi
from notebook_bcc.server.page import SECURITY_POLICY, page
from notebook_bcc.server.problems import Problem
from notebook_bcc.server.settings import ServerSettings
from notebook_bcc.server.work import Work


class App(Starlette):
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
        self._planner = planner
        self._counts = counts
        self._metrics = Metrics()
        self._memory = Memory(settings, clock=clock)
        work = Work(planner, line_bytes=settings.line_bytes)
        ask = Endpoints(work=work, memory=self._memory, metrics=self._metrics, settings=settings)
        asking = [
            Route("/planning", ask.planning, methods=["POST"]),
            Route("/generating", ask.generating, methods=["POST"]),
            Route("/generate", ask.generate, methods=["POST"]),
            Route("/v1/actions", ask.actions_v1, methods=["GET", "POST"]),
            Route("/v1/reflection", ask.reflection_v1, methods=["POST"]),
        ]
        private = [Route("/metrics", self._show_metrics)]
        public = [
            Route("/health", self._health),
            Route("/openapi.json", self._show_openapi),
            Route("/docs", self._show_page),
        ]
        middleware = Middleware(
            RequestMiddleware,
            gate=Gate(settings),
            metrics=self._metrics,
            public=[route.path for route in public],
            private=[route.path for route in private],
            asking=[route.path for route in asking],
            concurrent=settings.concurrent,
        )
        super().__init__(
            routes=[*asking, *private, *public],
            middleware=[middleware],
            exception_handlers={Problem: _refuse, HTTPException: _refuse_method},
            lifespan=_stop_answers,
        )

    async def close(self) -> None:
        """Stop every answer that is being given."""
        await self._memory.close()

    async def _health(self, request: Request) -> Response:
        dialects = ["v2", "v1"]
        state = {"status": "ok", "planner": self._planner.name, "dialects": dialects, "version": __version__}
        return JSONResponse(state)

    async def _show_metrics(self, request: Request) -> Response:
        text = self._metrics.text(
            remembered=len(self._memory), remembered_bytes=self._memory.kept_bytes, counted=self._counts()
        )
        return Response(text, media_type=CONTENT_TYPE)

    async def _show_openapi(self, request: Request) -> Response:
        return JSONResponse(self._document)

    async def _show_page(self, request: Request) -> Response:
        return HTMLResponse(page(self._document), headers={"content-security-policy": SECURITY_POLICY})

    @functools.cached_property
    def _document(self) -> dict[str, object]:
        return openapi(version=__version__, token=self.settings.token is not None)


@asynccontextmanager
async def _stop_answers(app: App) -> AsyncIterator[None]:
    """Until the server that carries this application stops."""
    yield
    await app.close()


async def _refuse(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, Problem)
    return problem.response()


async def _refuse_method(request: Request, error: Exception) -> Response:
    """The one thing that the router itself refuses: the middleware has let known paths through only."""
    assert isinstance(error, HTTPException)
    allowed = ", ".join(sorted((error.headers or {}).get("Allow", "").split(", ")))
    return Problem(405, "method_not_allowed", f"Allowed here: {allowed}.", headers={"allow": allowed}).response()


def build_app(planner: Planner, settings: ServerSettings | None = None, *, counts: Counts = tuple) -> App:
    """The service in front of this planner. Settings that would leave it open to everyone are SettingsInvalid.

    `counts` is asked for what the planner counts itself, whenever someone asks for the metrics.
    """
    return App(planner, settings or ServerSettings(), counts=counts)
