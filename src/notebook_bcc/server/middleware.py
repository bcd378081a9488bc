"""What is around every request: who is let in, what is counted, and what becomes of the unforeseen."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from notebook_bcc.server.gate import Gate
from notebook_bcc.server.metrics import Metrics
from notebook_bcc.server.problems import Problem, retry_after

LOG = logging.getLogger(__name__)


class RequestMiddleware:
    """Lets a request through to the application, or answers it with a problem.

    This is a request's border post: whatever nobody foresaw becomes a 500 with an id that is in the log too.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        gate: Gate,
        metrics: Metrics,
        public: Collection[str],
        private: Collection[str],
        asking: Collection[str],
        concurrent: int,
    ) -> None:
        """Paths are `public`, or `private` behind the token; `asking` ones are private and ask the planner.

        There is nothing under any other path: a request reaches the router only by a path whose rules are known here.
        """
        self._app = app
        self._gate = gate
        self._metrics = metrics
        self._public = frozenset(public)
        self._asking = frozenset(asking)
        self._paths = (*asking, *private, *public)
        self._concurrent = concurrent
        self._busy = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, started = 0, time.perf_counter()
        endpoint = scope["path"] if scope["path"] in self._paths else "other"

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message).update({"cache-control": "no-store", "x-content-type-options": "nosniff"})
            await send(message)

        self._metrics.in_progress += 1
        try:
            await self._answer(scope, receive, send_on)
        except Problem as problem:
            await problem.response()(scope, receive, send_on)
        except ClientDisconnect:
            # Nobody is there to be answered.
            pass
        except Exception:
            error_id = secrets.token_hex(6)
            LOG.exception("internal error %s at %s", error_id, endpoint)
            if not status:
                message = f"Something went wrong here that should not. The service's log says more under {error_id}."
                await Problem(500, "internal_error", message).response()(scope, receive, send_on)
        finally:
            self._metrics.in_progress -= 1
            self._metrics.request(endpoint, status, time.perf_counter() - started)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._check(scope["path"], Headers(scope=scope))
        asks = scope["path"] in self._asking
        self._busy += asks
        try:
            await self._app(scope, receive, send)
        finally:
            self._busy -= asks

    def _check(self, path: str, headers: Headers) -> None:
        """Raises Problem for a request that is not let in."""
        self._gate.check_size(headers)
        self._gate.check_origin(headers)
        if path not in self._paths:
            raise Problem(404, "not_found", f"There is nothing here. There are: {', '.join(self._paths)}.")
        if path not in self._public:
            # Anybody may link to the pages about the service.
            self._gate.check_page(headers)
            self._gate.check_token(headers)
        if path in self._asking and self._busy >= self._concurrent:
            message = f"{self._busy} requests are being answered; try again in a moment."
            raise Problem(503, "busy", message, headers=retry_after(1))
