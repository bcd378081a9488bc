"""The remote planner and our own service, over a real socket: together they are as good as no wire at all."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from engine.play import one_step, play, run_code, scripted, workflow
from notebook_bcc.errors import EvidenceMissing, PlannerAnswerInvalid, PlannerUnreachable, StreamBroken
from notebook_bcc.journal.records import RunResumed
from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.planners.interface import ActionData, Planner, StreamWarning
from notebook_bcc.planners.remote.planner import RemotePlanner
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.messages import PlanningResponse, Request
from notebook_bcc.protocol.vocabulary import Dialect, State
from notebook_bcc.server.app import build_app
from notebook_bcc.server.serving import serve
from notebook_bcc.server.settings import ServerSettings

pytestmark = pytest.mark.anyio

TOKEN = "a-token-of-good-length"


@contextlib.asynccontextmanager
async def service(planner: Planner, *, token: str | None = None) -> AsyncIterator[str]:
    """The address of our own service in front of this planner."""
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    app = build_app(planner, ServerSettings(port=0, token=token))
    serving = asyncio.create_task(serve(app, ready=address.set_result, grace=1.0))
    try:
        async with asyncio.timeout(30):
            yield await address
    finally:
        serving.cancel()
        await asyncio.wait({serving})


def request(number: int = 1) -> Request:
    location = {"current": {"stage_id": "s", "step_id": "t"}, "progress": {}}
    options = {"stream": True, "request_id": f"run.{number}", "run_id": "run"}
    return Request.parse({"observation": {"location": location}, "options": options})


def long_script(dialect: Dialect) -> ScriptedPlanner:
    """Chapters, an error and what follows it, promises kept, and a repair (v1 has no word for one), in three steps."""
    repaired = [
        {"action": "add", "shot_type": "action", "content": "1/0" if dialect == "v2" else "1", "store_id": "sum"},
        {"action": "exec", "codecell_id": "sum", "auto_debug": True},
    ]
    return scripted(
        workflow({"id": "load", "expected_outputs": ["x"]}, "look", {"id": "end", "expected_outputs": ["y"]}),
        {
            "load": [
                Behavior([{"action": "new_chapter", "content": "Größe 漢字 \u2028"}, *run_code("x = 1\nprint(x)")])
            ],
            "look": [
                Behavior(repaired, repairs={"sum": ["print('better')"]}),
                Behavior(run_code("x +"), on_error=run_code("print('recovered')")),
            ],
            "end": [Behavior([{"action": "update_title", "title": "Done"}, *run_code("y = x + 1")], expected=["y"])],
        },
    )


@pytest.mark.parametrize("dialect", ["v2", "v1"])
async def test_a_run_over_http_makes_the_same_notebook_as_one_in_process(dialect: Dialect) -> None:
    inside = await play(long_script(dialect))
    async with service(long_script(dialect), token=TOKEN) as address:
        planner = RemotePlanner(address, dialect=dialect, token=TOKEN)
        outside = await play(planner)
        await planner.close()
    assert outside.state.fsm is State.WORKFLOW_COMPLETED
    assert outside.state.document == inside.state.document
    assert outside.events == inside.events
    assert ("print('better')" in outside.sources) == (dialect == "v2")


async def test_a_hundred_actions_come_through_one_by_one() -> None:
    taken = asyncio.Semaphore(0)

    async def generate(_: Request) -> AsyncIterator[dict[str, Any]]:
        for number in range(100):
            yield {"action": "add", "content": str(number)}
            await taken.acquire()

    async with service(CallablePlanner(plan=lambda _: {}, generate=generate)) as address:
        planner = RemotePlanner(address)
        seen = []
        async for item in planner.generate(request()):
            assert isinstance(item, ActionData)
            seen.append(item.data["content"])
            taken.release()
        await planner.close()
    assert seen == [str(number) for number in range(100)]


async def test_a_planner_that_fails_behind_the_service_fails_here_in_the_same_way() -> None:
    async def generate(asked: Request) -> AsyncIterator[Any]:
        if asked.options.request_id == "run.2":
            raise PlannerUnreachable(planner="model", reason="busy", retry_after=7.0)
        yield {"action": "add", "content": "one"}
        yield StreamWarning("a remark")
        yield {"action": "add", "content": "two"}
        raise StreamBroken(planner="model", received=2, reason="gone")

    async with service(CallablePlanner(plan=lambda _: {}, generate=generate)) as address:
        planner = RemotePlanner(address)
        items = []
        answer = planner.generate(request(1))
        items = [await anext(answer) for _ in range(3)]
        assert "a remark" in str(items[1])
        with pytest.raises(StreamBroken, match="broke after 2 actions"):
            await anext(answer)
        with pytest.raises(PlannerUnreachable, match="busy") as failed:
            await anext(planner.generate(request(2)))
        assert failed.value.retry_after == 7.0
        await planner.close()


@pytest.mark.parametrize("asked", ["plan", "generate"])
async def test_a_planner_that_lacks_evidence_stops_the_run_which_can_be_resumed_and_says_what_is_missing(
    asked: str,
) -> None:
    script = one_step(run_code("x = 1"))
    refusal = EvidenceMissing(planner="far", needs=["rows"])
    refused: list[str] = []

    async def plan(request: Request) -> PlanningResponse:
        if asked == "plan" and request.observation.location.current.step_id and not refused:
            refused.append("plan")
            raise refusal
        return await script.plan(request)

    async def generate(request: Request) -> AsyncIterator[Any]:
        if asked == "generate" and not refused:
            refused.append("generate")
            raise refusal
        async for item in script.generate(request):
            yield item

    async with service(CallablePlanner(plan=plan, generate=generate)) as address:
        planner = RemotePlanner(address)
        first = await play(planner)
        stopped = first.state.stopped
        assert stopped is not None
        assert "rows" in stopped.detail
        assert first.state.fsm is not State.WORKFLOW_COMPLETED
        assert refused == [asked]
        resumed = await play(planner, journal=first.journal, resume=RunResumed())
        await planner.close()
    assert resumed.state.fsm is State.WORKFLOW_COMPLETED
    assert resumed.sources == ["x = 1"]


async def test_a_wrong_token_is_said_and_a_request_that_is_none_is_explained() -> None:
    async with service(one_step(run_code("x = 1")), token=TOKEN) as address:
        stranger = RemotePlanner(address, token="another")
        with pytest.raises(PlannerAnswerInvalid, match="401"):
            await stranger.plan(request())
        await stranger.close()
        lost = RemotePlanner(f"{address}/elsewhere", token=TOKEN)
        with pytest.raises(PlannerAnswerInvalid, match="404"):
            await lost.plan(request())
        await lost.close()


async def test_a_question_that_is_asked_twice_is_judged_once() -> None:
    judged: list[Request] = []

    def plan(asked: Request) -> dict[str, Any]:
        judged.append(asked)
        return {"targetAchieved": True}

    async with service(CallablePlanner(plan=plan, generate=lambda _: [])) as address:
        planner = RemotePlanner(address)
        for _ in range(3):
            assert (await planner.plan(request())).target_achieved
        await planner.close()
    assert len(judged) == 1


async def test_a_short_run_over_http_ends() -> None:
    async with service(one_step(run_code("x = 1"))) as address:
        planner = RemotePlanner(address)
        played = await play(planner)
        await planner.close()
    assert played.state.fsm is State.WORKFLOW_COMPLETED
