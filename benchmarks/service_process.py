"""The servers that G9 and G10 ask: `python -m benchmarks.service_process KIND`, KIND one of `KINDS`.

Prints its address, then for every line on its input the CPU seconds it has spent.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator
from typing import Any

from benchmarks.serial import TypedRequest
from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.protocol.messages import Request
from notebook_bcc.server.app import build_app
from notebook_bcc.server.serving import serve
from notebook_bcc.server.settings import ServerSettings

Json = dict[str, Any]  # Any: JSON, as a planner writes it

KINDS = ("ours", "reading", "fastapi", "typed", "validating")

LINES = 100
ANSWER: Json = {
    "targetAchieved": False,
    "transition": {"continue_behaviors": True},
    "context_update": {"variables": {f"value_{number}": "按语义分组填补缺失值" for number in range(20)}},
}


def action(number: int) -> Json:
    """About 200 bytes, as an action often is."""
    content = (
        f"# 第 {number} 步\ntable['column_{number}'] = table['column_{number}'].fillna('none')\nprint(table.shape)"
    )
    return {"action": "add", "shot_type": "action", "content": content, "metadata": {"number": number}}


def answer_cpu() -> None:
    for _ in sys.stdin:
        print(time.process_time(), flush=True)


def say(address: str) -> None:
    print(address, flush=True)
    threading.Thread(target=answer_cpu, daemon=True).start()


async def ours(*, reading: bool = False) -> None:
    async def generate(_: Request) -> AsyncIterator[Json]:
        for number in range(LINES):
            yield action(number)

    def plan(request: Request) -> Json:
        # The messages are made together: whoever reads one has paid for all of them.
        assert not reading or request.observation.location.current.step_id
        return ANSWER

    planner = CallablePlanner(plan=plan, generate=generate)
    await serve(build_app(planner, ServerSettings(port=0)), ready=say)


async def fastapi(kind: str) -> None:
    """As FastAPI's own documentation has it, on the same server with the same settings as ours.

    `fastapi` takes a dict and says nothing of what it answers, as the peer that the limit was set with; `typed` names
    the type of its answer, which spares FastAPI a walk over it; `validating` has models for the request as well.
    """
    import orjson
    import uvicorn
    from fastapi import Body, FastAPI
    from fastapi.responses import StreamingResponse

    app = FastAPI()

    async def planning(body: Json = Body()):  # type: ignore[no-untyped-def]  # noqa: B008  the first kind
        assert body["observation"]
        return ANSWER

    async def typed_planning(body: Json = Body()) -> Json:  # noqa: B008  FastAPI's way to ask for the body
        assert body["observation"]
        return ANSWER

    async def checked_planning(body: TypedRequest) -> Json:
        assert body.observation
        return ANSWER

    app.post("/planning")({"fastapi": planning, "typed": typed_planning, "validating": checked_planning}[kind])

    @app.post("/generating")
    async def generating(body: Json = Body()) -> StreamingResponse:  # noqa: B008  as above
        assert body["observation"]
        return StreamingResponse(lines(), media_type="application/x-ndjson")

    async def lines() -> AsyncIterator[bytes]:
        for number in range(LINES):
            yield orjson.dumps({"action": action(number)}) + b"\n"

    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    say(f"http://127.0.0.1:{listener.getsockname()[1]}")
    config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False, ws="none", proxy_headers=False)
    await uvicorn.Server(config).serve([listener])


if __name__ == "__main__":
    kind = sys.argv[1]
    if kind in ("ours", "reading"):
        asyncio.run(ours(reading=kind == "reading"))
    else:
        asyncio.run(fastapi(kind))
