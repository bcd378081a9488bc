"""The replay planner: what was answered once is answered again, and departures are named."""

from __future__ import annotations

from typing import Any

import pytest

from notebook_bcc.errors import PlannerAnswerInvalid, PlannerUnreachable, StreamBroken
from notebook_bcc.planners.interface import ActionData, Planner
from notebook_bcc.planners.replay import RecordedBehavior, RecordedPlanning, RecordedRepair, ReplayPlanner
from notebook_bcc.protocol.messages import PlanningResponse, Request

pytestmark = pytest.mark.anyio

NO = PlanningResponse()
YES = PlanningResponse(target_achieved=True)


def ask(state: str, request_id: str | None = None, **options: Any) -> Request:
    return Request.parse(
        {
            "observation": {
                "location": {"current": {"stage_id": "s", "step_id": "t", "behavior_id": "b"}, "progress": {}},
                "context": {"FSM": {"state": state}},
            },
            "options": {"request_id": request_id, **options},
        }
    )


def planner() -> ReplayPlanner:
    return ReplayPlanner(
        plannings=[
            RecordedPlanning("p1", "stage", NO),
            RecordedPlanning("p2", "step", YES),
            RecordedPlanning("p3", "step_end", NO, failure="it was away"),
        ],
        behaviors=[
            RecordedBehavior("g1", [{"action": "add", "content": "a"}, 42]),
            RecordedBehavior("g2", [{"action": "add", "content": "b"}], failure="cut off"),
            RecordedBehavior("g3", failure="never came"),
        ],
        repairs=[RecordedRepair("cell-1", 1, "x = 1"), RecordedRepair("cell-1", 2, None)],
    )


async def drained(planner: Planner, request: Request) -> list[Any]:
    return [each.data async for each in planner.generate(request) if isinstance(each, ActionData)]


async def test_a_known_request_id_gets_its_answer_as_often_as_it_is_asked() -> None:
    replay = planner()
    assert await replay.plan(ask("step_running", "p2")) == YES
    assert await replay.plan(ask("stage_running", "p1")) == NO
    assert await replay.plan(ask("step_running", "p2")) == YES


async def test_unknown_request_ids_are_answered_in_order_and_again_the_same() -> None:
    replay = planner()
    assert await replay.plan(ask("stage_running", "new-1")) == NO
    assert await replay.plan(ask("step_running", "new-2")) == YES
    assert await replay.plan(ask("stage_running", "new-1")) == NO


async def test_requests_without_an_id_are_answered_in_order() -> None:
    replay = planner()
    assert [await replay.plan(ask(state)) for state in ("stage_running", "step_running")] == [NO, YES]


async def test_another_question_than_the_recorded_one_is_a_departure_that_is_named() -> None:
    with pytest.raises(PlannerAnswerInvalid, match=r"judgement 1 \(p1\): 'stage' was asked then, 'step' is asked now"):
        await planner().plan(ask("step_running"))


async def test_a_question_after_the_end_of_the_record_is_a_departure() -> None:
    replay = ReplayPlanner(plannings=[], behaviors=[])
    with pytest.raises(PlannerAnswerInvalid, match=r"judgement 1 is asked for \(at s/t/b\), and only 0"):
        await replay.plan(ask("step_running"))
    with pytest.raises(PlannerAnswerInvalid, match="behavior 1 is asked for"):
        await drained(replay, ask("behavior_running"))


async def test_an_outage_that_was_recorded_happens_again() -> None:
    with pytest.raises(PlannerUnreachable, match="it was away"):
        await planner().plan(ask("step_completed", "p3"))


async def test_actions_come_as_they_were_recorded_and_breaks_where_they_were() -> None:
    replay = planner()
    assert await drained(replay, ask("behavior_running")) == [{"action": "add", "content": "a"}, 42]
    stream = replay.generate(ask("behavior_running"))
    assert await anext(stream) == ActionData({"action": "add", "content": "b"})
    with pytest.raises(StreamBroken, match="after 1 actions: cut off"):
        await anext(stream)
    with pytest.raises(PlannerUnreachable, match="never came"):
        await drained(replay, ask("behavior_running"))


async def test_repairs_are_the_recorded_ones_and_others_are_a_departure() -> None:
    replay = planner()

    def wanted(attempt: int) -> Request:
        repair = {"cell_id": "cell-1", "source": "x", "error_name": "NameError", "error": "x", "attempt": attempt}
        return ask("action_running", repair=repair)

    assert await replay.repair(wanted(1)) == "x = 1"
    assert await replay.repair(wanted(2)) is None
    with pytest.raises(PlannerAnswerInvalid, match=r"cell 'cell-1' failed \(NameError\), and no repair 3"):
        await replay.repair(wanted(3))
    assert await replay.repair(ask("action_running")) is None
    await replay.close()
    assert replay.name == "replay"
