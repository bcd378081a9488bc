"""The servers that the service's rows and G10 ask: `python -m benchmarks.service_process KIND`, KIND one of `KINDS`.

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

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from benchmarks.serial import TypedRequest
from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.protocol.messages import Request
from notebook_bcc.server.app import build_app
from notebook_bcc.server.serving import serve
from notebook_bcc.server.settings import ServerSettings

Json = dict[str, Any]  # Any: JSON, as a planner writes it

KINDS = ("ours", "starlette", "validating")

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


async def ours() -> None:
    async def generate(_: Request) -> AsyncIterator[Json]:
        for number in range(LINES):
            yield action(number)

    planner = CallablePlanner(plan=lambda _: ANSWER, generate=generate)
    await serve(build_app(planner, ServerSettings(port=0)), ready=say)


async def starlette(*, validating: bool) -> None:
    """As Starlette's own documentation has it, on the same server with the same settings as ours."""

    async def planning(request: HttpRequest) -> Response:
        if validating:
            assert TypedRequest.model_validate_json(await request.body()).observation
        else:
            assert (await request.json())["observation"]
        return JSONResponse(ANSWER)

    async def generating(request: HttpRequest) -> Response:
        assert (await request.json())["observation"]
        return StreamingResponse(lines(), media_type="application/x-ndjson")

    async def lines() -> AsyncIterator[bytes]:
        for number in range(LINES):
            yield orjson.dumps({"action": action(number)}) + b"\n"

    routes = [Route("/planning", planning, methods=["POST"]), Route("/generating", generating, methods=["POST"])]
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    say(f"http://127.0.0.1:{listener.getsockname()[1]}")
    config = uvicorn.Config(
        Starlette(routes=routes), http="h11", log_config=None, access_log=False, server_header=False, ws="none"
    )
    await uvicorn.Server(config).serve([listener])


if __name__ == "__main__":
    kind = sys.argv[1]
    asyncio.run(ours() if kind == "ours" else starlette(validating=kind == "validating"))
