"""A client that names behaviors itself, as the documents do, is served like one that gives our names back."""

from __future__ import annotations

from typing import Any

import pytest

from engine.play import Played, one_step, play, run_code
from notebook_bcc.journal.records import RunResumed
from notebook_bcc.planners.interface import ActionData, Planner
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.limits import Policies
from notebook_bcc.protocol.messages import PlanningResponse, Request

pytestmark = pytest.mark.anyio

STEPS = {
    "plain": [Behavior(run_code("one")), Behavior(run_code("two")), Behavior(run_code("three"))],
    "recovering": [Behavior(run_code("one"), on_error=run_code("mend")), Behavior(run_code("two"))],
}


class CountingClient:
    """Goes through one step: counts `behavior_001`, ..., applies variables, and never gives `behavior.id` back."""

    def __init__(self, planner: Planner, *, lists: str, counts: bool = True) -> None:
        self.planner = planner
        self.lists = lists
        self.counts = counts
        self.number = 0
        self.done: list[Any] = []
        self.variables: dict[str, Any] = {}
        self.served: list[str] = []

    def observation(self, state: str) -> dict[str, Any]:
        name = f"behavior_{self.number:03d}" if self.number else None
        current: dict[str, Any] = {"stage_id": "stage", "step_id": "step", "behavior_id": name}
        if self.counts:
            current["behavior_iteration"] = self.number
        level = {"completed": self.done if self.lists == "ids" else [], "current": name, "iteration": self.number}
        progress = {} if self.lists == "nothing" else {"behaviors": level}
        context = {"FSM": {"state": state}, "variables": self.variables}
        return {"location": {"current": current, "progress": progress}, "context": context}

    async def plan(self, state: str, **more: Any) -> PlanningResponse:
        answer = await self.planner.plan(Request.parse({"observation": self.observation(state), **more}))
        self.variables |= answer.context_update.variables
        return answer

    async def walk(self, *, fails: int) -> str:
        await self.plan("step_running")
        for self.number in range(1, 8):
            request = Request.parse({"observation": self.observation("behavior_running")})
            items = [item async for item in self.planner.generate(request)]
            self.served.append(next(item.data["content"] for item in items if isinstance(item, ActionData)))
            feedback = {
                "behavior_id": f"behavior_{self.number:03d}",
                "actions_executed": 2,
                "actions_succeeded": 1 if self.number == fails else 2,
                "last_action_result": "error" if self.number == fails else "success",
            }
            answer = await self.plan("behavior_completed", behavior_feedback=feedback)
            self.done.append(feedback["behavior_id"])
            if not answer.transition.continue_behaviors:
                return "achieved" if answer.target_achieved else "neither"
        return "for ever"


@pytest.mark.parametrize("counts", [True, False], ids=["iteration", "no iteration"])
@pytest.mark.parametrize("lists", ["nothing", "a count", "ids"])
@pytest.mark.parametrize(
    ("script", "fails", "served"),
    [
        ("plain", 0, ["one", "two", "three"]),
        ("recovering", 0, ["one", "two"]),
        ("recovering", 1, ["one", "mend", "two"]),
    ],
)
async def test_a_client_that_counts_behaviors_itself_gets_the_same_ones(
    script: str, fails: int, served: list[str], lists: str, counts: bool
) -> None:
    client = CountingClient(one_step(*STEPS[script]), lists=lists, counts=counts)
    assert await client.walk(fails=fails) == "achieved"
    assert client.served == served


@pytest.mark.parametrize("lists", ["nothing", "a count"])
async def test_a_client_that_keeps_no_variables_is_served_by_its_iteration(lists: str) -> None:
    class Forgetful(CountingClient):
        async def plan(self, state: str, **more: Any) -> PlanningResponse:
            answer = await super().plan(state, **more)
            self.variables = {}
            return answer

    client = Forgetful(one_step(*STEPS["plain"]), lists=lists)
    assert await client.walk(fails=0) == "achieved"
    assert client.served == ["one", "two", "three"]


async def test_a_client_that_gives_our_names_back_sees_no_variable_of_ours() -> None:
    played = await play(one_step(*STEPS["plain"]), policies=Policies(on_error="continue"))
    assert all("behavior_place" not in one.observation.context.variables for one in played.planner.planned)


async def test_the_id_of_a_behavior_that_the_engine_names_goes_with_its_iteration() -> None:
    broken = {"action": "exec", "codecell_id": "nowhere"}

    def ids(played: Played) -> list[tuple[str | None, int]]:
        at = [one.observation.location.current for one, _ in played.planner.generated]
        return [(one.behavior_id, one.behavior_iteration) for one in at]

    class Nameless:
        """The scripted planner without its names."""

        def __init__(self) -> None:
            self._planner = one_step([broken], run_code("x = 1"))
            self.name = "nameless"
            self.generate, self.repair, self.close = self._planner.generate, self._planner.repair, self._planner.close

        async def plan(self, request: Request) -> PlanningResponse:
            return (await self._planner.plan(request)).model_copy(update={"behavior": None})

    failed = await play(Nameless())
    again = await play(Nameless(), journal=failed.journal, resume=RunResumed())
    assert ids(failed) == [("behavior_001", 1)]
    assert ids(again)[0] == ("behavior_002", 2)
