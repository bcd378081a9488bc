"""A service on a real socket of this machine, in the test's own event loop, and what tests say to it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2

from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.planners.interface import Planner
from notebook_bcc.protocol.messages import Request
from notebook_bcc.server.app import build_app
from notebook_bcc.server.metrics import Counts
from notebook_bcc.server.serving import serve
from notebook_bcc.server.settings import ServerSettings

PATIENCE = 60.0
TOKEN = "a-token-of-good-length"
QUESTIONS = ["/planning", "/generating", "/generate", "/v1/actions", "/v1/reflection"]

# Any: JSON, as a client would write it.
Json = dict[str, Any]


@contextlib.asynccontextmanager
async def service(planner: Planner, *, counts: Counts = tuple, **settings: Any) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of a running service in front of this planner. Any: the fields of ServerSettings."""
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    app = build_app(planner, ServerSettings(**{"port": 0, **settings}), counts=counts)
    serving = asyncio.create_task(serve(app, ready=address.set_result, grace=1.0))
    try:
        async with asyncio.timeout(PATIENCE), httpx2.AsyncClient(base_url=await address, timeout=PATIENCE) as client:
            yield client
    finally:
        serving.cancel()
        await asyncio.wait({serving})


def port_of(client: httpx2.AsyncClient) -> int:
    port = client.base_url.port
    assert port is not None
    return port


def body(*, stream: bool | None = None, ids: tuple[str, str] | None = None, attempt: int = 1, **more: Any) -> Json:
    """A request at some step. `ids` are run and request; `more` are further options. Any: JSON."""
    options: Json = {} if stream is None else {"stream": stream}
    if ids is not None:
        options |= {"run_id": ids[0], "request_id": ids[1], "attempt": attempt}
    location = {"current": {"stage_id": "s", "step_id": "t", "behavior_iteration": 1}, "progress": {}}
    return {"observation": {"location": location}, "options": {**options, **more}}


def action(content: object) -> Json:
    return {"action": "add", "shot_type": "dialogue", "content": str(content)}


class Counting:
    """A planner that says how often it was asked: the answer to the n-th question holds n."""

    def __init__(self) -> None:
        self.asked: list[Request] = []
        self.planner = CallablePlanner(plan=self._plan, generate=self._generate, repair=self._repair, name="counting")

    def _plan(self, request: Request) -> Json:
        self.asked.append(request)
        return {"targetAchieved": False, "context_update": {"variables": {"asked": len(self.asked)}}}

    def _generate(self, request: Request) -> list[Json]:
        self.asked.append(request)
        return [action(f"{len(self.asked)}.{number}") for number in range(3)]

    def _repair(self, request: Request) -> str:
        self.asked.append(request)
        return f"x = {len(self.asked)}"


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that nobody announces."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110  # there is no event to wait for: that is what is looked for
            await asyncio.sleep(0.01)
