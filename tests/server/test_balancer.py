"""Two services behind a balancer that keeps a run on one of them by its `X-Run-Id`."""

from __future__ import annotations

import asyncio
import zlib
from collections import Counter
from collections.abc import AsyncIterator
from urllib.parse import quote

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request as HttpRequest
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from conformance.hosting import hosted
from engine.play import Overheard, play
from notebook_bcc.planners.remote.planner import RemotePlanner
from notebook_bcc.planners.script.file import parse_script
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.protocol.vocabulary import State
from server.living import Counting, body, service
from server.test_serving import SCRIPT

pytestmark = pytest.mark.anyio

RUNS = ["nightly-1", "nightly-2", "nightly-3", "房价 一", "房价 二", "nightly-6"]


class Balancer:
    """Passes every request on to the service that the hash of its run's name chooses.

    `loses`: what the service answers to the first attempt at a question is thrown away, as by a network that breaks.
    """

    def __init__(self, *services: httpx2.AsyncClient, loses: bool = False) -> None:
        self._services = services
        self._loses = loses
        self.passed: list[tuple[str, int]] = []
        self.app = Starlette(routes=[Route("/{path:path}", self._pass_on, methods=["GET", "POST"])])

    def chosen(self, run: str) -> int:
        return zlib.crc32(quote(run, safe=" ").encode()) % len(self._services)

    async def _pass_on(self, request: HttpRequest) -> Response:
        run = request.headers.get("x-run-id", "")
        number = zlib.crc32(run.encode()) % len(self._services)
        self.passed.append((run, number))
        client = self._services[number]
        kept = {name: value for name, value in request.headers.items() if name not in ("host", "content-length")}
        sent = client.build_request(request.method, request.url.path, headers=kept, content=await request.body())
        answer = await client.send(sent, stream=True)
        if self._loses and request.headers.get("x-attempt") == "1":
            await answer.aread()
            return Response(status_code=502)
        headers = {name: value for name, value in answer.headers.items() if name != "content-length"}
        return StreamingResponse(_pieces(answer), answer.status_code, headers, background=BackgroundTask(answer.aclose))


async def _pieces(answer: httpx2.Response) -> AsyncIterator[bytes]:
    async for piece in answer.aiter_raw():
        yield piece


async def test_every_run_stays_on_one_service_and_no_question_is_planned_twice() -> None:
    inside = await play(ScriptedPlanner.from_script(parse_script(SCRIPT)))
    planners = [Overheard(ScriptedPlanner.from_script(parse_script(SCRIPT))) for _ in range(2)]
    async with service(planners[0]) as first, service(planners[1]) as second:
        balancer = Balancer(first, second, loses=True)
        async with hosted(balancer.app) as url:
            remotes = [RemotePlanner(url) for _ in RUNS]
            outside = await asyncio.gather(
                *(play(remote, start={"run_id": run}) for remote, run in zip(remotes, RUNS, strict=True))
            )
            for remote in remotes:
                await remote.close()
    assert [one.state.fsm for one in outside] == [State.WORKFLOW_COMPLETED] * len(RUNS)
    assert all(one.state.document == inside.state.document for one in outside)
    assert {number for _, number in balancer.passed} == {0, 1}
    for run in RUNS:
        assert {number for name, number in balancer.passed if name == quote(run, safe=" ")} == {balancer.chosen(run)}
    asked = Counter(
        (one.options.run_id, one.options.request_id)
        for planner in planners
        for one in (*planner.planned, *(request for request, _ in planner.generated))
    )
    assert set(asked.values()) == {1}
    # Every question went out twice, for its first answer was lost.
    assert len(balancer.passed) == 2 * len(asked)


async def test_a_repeated_question_gets_the_answer_of_the_service_that_has_it() -> None:
    planners = Counting(), Counting()
    async with service(planners[0].planner) as first, service(planners[1].planner) as second:
        balancer = Balancer(first, second)
        async with hosted(balancer.app) as url, httpx2.AsyncClient(base_url=url) as client:
            for run in RUNS:
                headers = {"x-run-id": quote(run, safe=" ")}
                sent = body(stream=True, ids=(run, "1"))
                answers = [await client.post("/generating", json=sent, headers=headers) for _ in range(2)]
                assert answers[0].text == answers[1].text
                assert ["idempotent-replayed" in answer.headers for answer in answers] == [False, True]
    assert [len(planner.asked) for planner in planners] == [
        sum(balancer.chosen(run) == number for run in RUNS) for number in (0, 1)
    ]
