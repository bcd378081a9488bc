"""The planner behind a service: runs that do not know of each other, workers that take turns, one budget for all."""

from __future__ import annotations

import functools
import logging

import pytest

from engine.play import Played, play
from llm.fake_chat import FakeChat, judged, written
from llm.test_planner import BY_BASE, GOOD, PRICES, base_planner
from notebook_bcc.errors import PlannerBudgetSpent, PlannerUnreachable
from notebook_bcc.journal.records import PlanningAnswered, Warned
from notebook_bcc.llm.client import Account, Asker
from notebook_bcc.llm.limits import Fallback
from notebook_bcc.llm.planner import LlmPlanner
from notebook_bcc.llm.prompt.files import read_prompts
from notebook_bcc.llm.service import SPENT_KEY, ModelService
from notebook_bcc.planners.remote.planner import RemotePlanner
from notebook_bcc.protocol.limits import Budget
from notebook_bcc.protocol.vocabulary import State
from notebook_bcc.wiring import model_counts
from server.living import service
from server.test_serving import Alternating

pytestmark = pytest.mark.anyio

SECRET = "sk-hush-hush-0123456789"
MISSED = written("m = 1")


def model_service(
    model: FakeChat, judge: FakeChat | None = None, *, budget: Budget | None = None, fallback: Fallback = "playbook"
) -> ModelService:
    def made() -> LlmPlanner:
        account = Account(budget=Budget(), prices=PRICES, secrets=[SECRET])
        return LlmPlanner(
            base=base_planner(),
            generating=Asker(model, account, timeout=30.0),
            planning=Asker(judge, account, timeout=30.0) if judge is not None else None,
            prompts=read_prompts(),
            fallback=fallback,
        )

    return ModelService(made, budget=budget or Budget(), fallback=fallback)


def told(played: Played) -> list[dict[str, object]]:
    """What the judgements said that models took."""
    extras = [one.response.metadata.model_extra or {} for one in played.records(PlanningAnswered)]
    return [extra[SPENT_KEY] for extra in extras if SPENT_KEY in extra]


async def test_a_run_is_planned_and_told_what_its_models_took() -> None:
    planner = model_service(FakeChat([MISSED, GOOD]), FakeChat([judged(True)]))
    played = await play(planner)
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert played.sources[-1] == "n = 40 + 2"
    assert [one["calls"] for one in told(played)] == [2, 2], "a question and a judgement for each of two attempts"
    assert told(played)[0]["input_tokens"] == 200
    assert planner.spent.calls == 4


@pytest.mark.parametrize(
    ("answers", "last", "calls"),
    [
        ([GOOD], "n = 40 + 2", 1),
        ([MISSED, GOOD], "n = 40 + 2", 2),
        ([MISSED, written("k = 1")], BY_BASE, 2),
        (["nonsense"], BY_BASE, 2),
    ],
)
async def test_two_workers_that_take_turns_over_http_do_what_one_does(
    answers: list[str], last: str, calls: int
) -> None:
    one, both = FakeChat(answers), FakeChat(answers)
    alone = await play(model_service(one))
    async with service(model_service(both)) as first, service(model_service(both)) as second:
        turns = Alternating(*(RemotePlanner(str(client.base_url)) for client in (first, second)))
        played = await play(turns)
        await turns.close()
    assert turns.asked > 4
    assert played.state.fsm is alone.state.fsm is State.WORKFLOW_COMPLETED
    assert played.sources == alone.sources
    assert played.sources[-1] == last
    assert len(both.asked) == len(one.asked) == calls


async def test_the_same_code_in_many_runs_is_no_sign_of_standing_still() -> None:
    model = FakeChat([GOOD])
    planner = model_service(model)
    overheard = await play(planner)
    (request, _) = overheard.planner.generated[0]
    for number in range(5):
        options = request.options.model_copy(update={"run_id": f"run-{number}", "request_id": f"run-{number}.1"})
        items = [item async for item in planner.generate(request.model_copy(update={"options": options}))]
        assert "n = 40 + 2" in str(items)
    assert len(model.asked) == 6


async def test_a_request_without_a_run_is_answered_too() -> None:
    planner = model_service(FakeChat([GOOD]))
    (request, _) = (await play(planner)).planner.generated[0]
    bare = request.options.model_copy(update={"run_id": None, "request_id": None})
    items = [item async for item in planner.generate(request.model_copy(update={"options": bare}))]
    assert "n = 40 + 2" in str(items)


async def test_a_budget_is_that_of_the_process_and_then_the_playbook_writes() -> None:
    model = FakeChat([GOOD])
    planner = model_service(model, budget=Budget(calls=1))
    assert (await play(planner)).sources[-1] == "n = 40 + 2"
    again = model_service(model, budget=Budget(calls=1))
    again.spent = planner.spent
    played = await play(again)
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert played.sources[-1] == BY_BASE
    assert any("the budget of 1 calls is used up" in one.message for one in played.records(Warned))
    assert any("the budget of 1 calls is used up" in source for source in played.sources), "the notebook says why"
    assert len(model.asked) == 1


async def test_where_only_the_model_may_write_a_spent_budget_is_an_error_that_says_so() -> None:
    planner = model_service(FakeChat([MISSED]), budget=Budget(calls=1), fallback="stop")
    async with service(planner) as client:
        remote = RemotePlanner(str(client.base_url))
        played = await play(remote)
        await remote.close()
    assert played.state.fsm is State.ERROR
    assert any("the budget of 1 calls is used up" in one.message for one in played.records(Warned))
    (request, _) = played.planner.generated[-1]
    with pytest.raises(PlannerBudgetSpent):
        _ = [item async for item in planner.generate(request)]


async def test_exchanges_stand_in_the_log_of_a_developer_without_keys(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="notebook_bcc.llm.service")
    await play(model_service(FakeChat([written("n = 40 + 2", text=f"I know {SECRET}.")])))
    (line,) = [record.getMessage() for record in caplog.records if "generate for run" in record.getMessage()]
    assert "Count the rows." in line
    assert "I know ***." in line
    assert SECRET not in caplog.text


async def test_the_metrics_of_the_service_tell_what_its_models_took() -> None:
    unreached = PlannerUnreachable(planner="fake:model", reason="nobody there")
    planner = model_service(FakeChat([unreached, GOOD]), FakeChat([judged(True)]))
    async with service(planner, counts=functools.partial(model_counts, planner)) as client:
        before = (await client.get("/metrics")).text
        remote = RemotePlanner(str(client.base_url))
        played = await play(remote)
        await remote.close()
        after = (await client.get("/metrics")).text
    assert played.sources[-1] == "n = 40 + 2"
    assert "nbcc_model_calls_total 0" in before
    lines = [line.split() for line in after.splitlines() if line.startswith("nbcc_model_")]
    assert dict(lines) == {
        "nbcc_model_calls_total": "3",
        "nbcc_model_failures_total": "1",
        "nbcc_model_input_tokens_total": "200",
        "nbcc_model_output_tokens_total": "40",
    }
    assert after.count("# TYPE nbcc_model_") == 4


async def test_closing_it_closes_the_models() -> None:
    model = FakeChat([GOOD])
    await model_service(model).close()
    assert model.closed
