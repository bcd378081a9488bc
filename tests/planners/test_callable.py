"""A planner made of functions, plain or async."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from notebook_bcc.errors import PlannerAnswerInvalid
from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.planners.interface import ActionData, Generated, Planner, StreamWarning
from notebook_bcc.protocol.actions import Add
from notebook_bcc.protocol.messages import PlanningResponse, Request

pytestmark = pytest.mark.anyio

REQUEST = Request.parse({"observation": {"location": {"current": {}, "progress": {}}}})
ADD = {"action": "add", "content": "x"}


async def drained(planner: Planner) -> list[Generated]:
    return [each async for each in planner.generate(REQUEST)]


async def test_plain_functions_make_a_planner() -> None:
    planner = CallablePlanner(plan=lambda request: {"targetAchieved": True}, generate=lambda request: [ADD])
    assert (await planner.plan(REQUEST)).target_achieved
    assert await drained(planner) == [ActionData(ADD)]
    assert await planner.repair(REQUEST) is None
    await planner.close()
    assert planner.name == "callable"


async def test_async_functions_make_a_planner_too() -> None:
    async def plan(request: Request) -> PlanningResponse:
        return PlanningResponse(target_achieved=True)

    async def generate(request: Request) -> AsyncIterator[Any]:
        yield ADD
        yield StreamWarning("half a line")

    async def repair(request: Request) -> str:
        return "x = 1"

    planner = CallablePlanner(plan=plan, generate=generate, repair=repair)
    assert (await planner.plan(REQUEST)).target_achieved
    assert await drained(planner) == [ActionData(ADD), StreamWarning("half a line")]
    assert await planner.repair(REQUEST) == "x = 1"


async def test_a_coroutine_may_return_the_actions_and_a_generator_may_yield_values() -> None:
    async def coroutine(request: Request) -> list[Any]:
        return [ADD]

    def generator(request: Request) -> Iterator[Add]:
        yield Add(content="x")

    for generate in (coroutine, generator):
        planner = CallablePlanner(plan=lambda request: {}, generate=generate)
        assert await drained(planner) == [ActionData(ADD)]


async def test_an_answer_that_is_no_judgement_is_named() -> None:
    planner = CallablePlanner(plan=lambda request: {"targetAchieved": "perhaps"}, generate=lambda request: [])
    with pytest.raises(PlannerAnswerInvalid, match="targetAchieved"):
        await planner.plan(REQUEST)
