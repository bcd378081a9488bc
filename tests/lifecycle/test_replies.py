"""A person's answer to a question of the planner is bound to that question."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.places import Place
from notebook_bcc.errors import RunRefused
from notebook_bcc.journal.records import INPUTS, PlanningAnswered, RunResumed
from notebook_bcc.lifecycle.history import read_entries
from notebook_bcc.lifecycle.operations import resumed
from notebook_bcc.lifecycle.order import ResumeOrder
from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.protocol.messages import PlanningResponse, Request
from notebook_bcc.wiring import journals

pytestmark = pytest.mark.anyio

PLAN = {"stages": [{"id": "stage", "steps": [{"id": "step"}]}]}
QUESTION = {"text": "Which column?", "input": "target"}


def answer(request: Request) -> dict[str, Any]:
    """Asks for the target after the first behavior, unless it is known."""
    inputs = request.observation.context.variables.get(INPUTS)
    if request.behavior_feedback is None:
        return {"context_update": {"workflow_update": PLAN}}
    return {"targetAchieved": True} if isinstance(inputs, dict) else {"metadata": {"question": QUESTION}}


def asking(place: Place) -> Place:
    place.planner = lambda: CallablePlanner(
        plan=lambda request: PlanningResponse.parse(answer(request)),
        generate=lambda request: [{"action": "add", "shot_type": "dialogue", "content": "hello"}],
    )
    return place


async def test_an_answer_to_a_question_names_the_entry_that_brought_it(place: Place) -> None:
    waiting = await asking(place).start()
    entries = [entry async for entry in read_entries(place.last, journals())]
    (asked,) = (
        e.seq for e in entries if isinstance(e.record, PlanningAnswered) and e.record.response.metadata.question
    )
    assert waiting.judged == asked
    await place.resume(ResumeOrder(inputs={"target": "b"}, by="anna"))
    (record,) = [e.record async for e in read_entries(place.last, journals()) if isinstance(e.record, RunResumed)]
    assert (record.answers, record.who) == (asked, "anna")


async def test_a_second_answer_to_a_question_is_refused_with_who_was_first(place: Place) -> None:
    number = (await asking(place).start()).judged
    await place.resume(ResumeOrder(inputs={"target": "b"}, by="anna"))
    for late in (ResumeOrder(inputs={"target": "c"}), ResumeOrder(inputs={"target": "c"}, answers=number)):
        with pytest.raises(RunRefused, match=f"question {number} .* answered already, with 'b' by anna at 20"):
            await place.resume(late)


async def test_an_answer_to_another_question_than_the_one_that_waits_is_refused(place: Place) -> None:
    number = (await asking(place).start()).judged
    with pytest.raises(RunRefused, match=f"question 1 .* does not wait, but {number}"):
        await place.resume(ResumeOrder(inputs={"target": "b"}, answers=1))
    with pytest.raises(RunRefused, match=f"question {number} .* asks for 'target', and no answer to it is given"):
        await place.resume(ResumeOrder(inputs={"colour": "b"}, answers=number))


async def test_whoever_answers_while_the_run_goes_on_is_told_who_was_first(place: Place) -> None:
    await asking(place).start()
    order = ResumeOrder(inputs={"target": "b"}, by="anna")
    async with resumed(place.last, order, factories=place.factories, interaction=place.interaction):
        with pytest.raises(RunRefused, match="answered already, with 'b' by anna"):
            await place.resume(ResumeOrder(inputs={"target": "c"}, by="bob"))


async def test_a_restart_may_bring_another_answer(place: Place) -> None:
    await asking(place).start()
    await place.resume(ResumeOrder(inputs={"target": "b"}), deliver=True)
    state = await place.resume(ResumeOrder(inputs={"target": "c"}, restart="reset"))
    assert state.planner_context.variables[INPUTS] == {"target": "c"}
