"""A person's decision about a change of the plan reaches the planner."""

from __future__ import annotations

from typing import Any

import pytest

from engine.play import AUTO, Played, play, run_code, workflow
from notebook_bcc.engine.plan_changes import changed_lines
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import Command, PlanProposal, PlanUpdateDecided, RunResumed, Warned
from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.protocol.limits import Policies
from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.observation import Decision
from notebook_bcc.protocol.vocabulary import State
from notebook_bcc.protocol.workflow import Workflow

pytestmark = pytest.mark.anyio

AT = "2026-01-01T00:00:00Z"
ASK = Policies(confirm="ask")
PLAN = workflow("first", "second")


def longer(*ids: str) -> dict[str, Any]:
    stages = [*PLAN.to_dict()["stages"], *({"id": one, "steps": [{"id": f"{one}_step"}]} for one in ids)]
    return {"name": "test", "stages": stages}


def seen(request: Request) -> tuple[Decision, ...]:
    return request.observation.context.decisions or ()


def insisting(*wanted: str, narrow: bool = False) -> CallablePlanner:
    """Wants stages, one after the other, until it has heard about each of them. `narrow`: it asks for one variable."""

    def plan(request: Request) -> dict[str, Any]:
        if request.observation.location.current.stage_id is None:
            return {"context_update": {"workflow_update": PLAN.to_dict()}}
        answer: dict[str, Any] = {"targetAchieved": request.behavior_feedback is not None}
        if narrow:
            answer["context_filter"] = {"variables_to_include": ["x"], "focus_to_include": ["steps"]}
        return answer

    def generate(request: Request) -> list[Any]:
        heard = len(seen(request))
        proposal = [{"action": "update_workflow", "updated_workflow": longer(*wanted[heard : heard + 1])}]
        return [*run_code("x = 1"), *(proposal if heard < len(wanted) else [])]

    return CallablePlanner(plan=plan, generate=generate)


async def answered(played: Played, kind: Any, **more: Any) -> Played:
    """The run, resumed after an answer to what it waits with."""
    assert played.state.fsm is State.WORKFLOW_UPDATE_PENDING
    command = Command(kind=kind, answers=played.state.machine.entered, **more)
    await played.journal.post(command, at=AT)
    return await play(played.planner, journal=played.journal, resume=RunResumed())


@pytest.mark.parametrize("narrow", [False, True])
async def test_a_rejection_and_its_reason_stand_in_every_later_request(narrow: bool) -> None:
    waiting = await play(insisting("extra", narrow=narrow), policies=ASK)
    assert seen(waiting.planner.planned[-1]) == ()
    before = len(waiting.planner.generated)
    done = await answered(waiting, "reject", comment="every row counts", by="anna")
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    (decided,) = [entry for entry in done.entries if isinstance(entry.record, PlanUpdateDecided)]
    expected = Decision(
        proposed=("+ extra", "+   extra_step"),
        decision="rejected",
        reason="every row counts",
        timestamp=decided.at,
    )
    assert all(seen(one) == (expected,) for one in done.planner.planned)
    assert all(seen(one) == (expected,) for one, _ in done.planner.generated)
    assert len(done.planner.generated) == 1 == before, "the planner has heard it, and does not ask again"
    assert "every row counts" not in str(done.state.effects), "effects are what code printed"


async def test_a_confirmation_is_told_with_its_reason() -> None:
    done = await answered(await play(insisting("extra"), policies=ASK), "confirm", comment="good")
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    (told,) = seen(done.planner.planned[-1])
    assert (told.decision, told.reason, told.by) == ("confirmed", "good", "person")


async def test_an_edited_change_is_what_the_person_made_of_it() -> None:
    edited = PlanProposal(workflow=Workflow.parse(longer("other")))
    done = await answered(await play(insisting("extra"), policies=ASK), "confirm", edited=edited)
    assert done.state.plan is not None
    assert [stage.id for stage in done.state.plan.stages] == ["stage", "other"]
    (told,) = seen(done.planner.planned[-1])
    assert told.decision == "edited"
    assert (told.proposed, told.decided) == (("+ extra", "+   extra_step"), ("+ other", "+   other_step"))


async def test_only_the_newest_few_are_told() -> None:
    names = [f"stage_{number}" for number in range(9)]

    def generate(request: Request) -> list[Any]:
        return [{"action": "update_workflow", "updated_workflow": longer(name)} for name in names]

    planner = insisting()
    played = await play(
        CallablePlanner(plan=planner.plan, generate=generate), policies=AUTO.model_copy(update={"confirm": "reject"})
    )
    told = seen(played.planner.planned[-1])
    assert [one.proposed[0] for one in told] == [f"+ {name}" for name in names[-5:]]
    assert {(one.decision, one.by) for one in told} == {("rejected", "policy")}


async def test_what_a_policy_accepts_is_not_told_again() -> None:
    played = await play(insisting("extra"), start={"workflow": workflow("first")})
    assert all(seen(one) == () for one in played.planner.planned)


async def test_an_answer_that_comes_too_late_is_said_to_people_and_is_no_effect() -> None:
    waiting = await play(insisting("extra"), policies=ASK)
    asked = waiting.state.machine.entered
    done = await answered(waiting, "confirm")
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    second = await play(insisting("extra"), policies=ASK, journal=(journal := MemoryJournal()))
    await journal.post(Command(kind="reject", answers=asked - 1, by="bob"), at=AT)
    late = await play(second.planner, journal=journal, resume=RunResumed())
    (warned,) = late.records(Warned)
    assert "reject by bob" in warned.message
    assert not warned.effect


def test_a_large_change_is_told_in_short() -> None:
    stages = [{"id": f"s{number}", "purpose": "x" * 1000, "steps": []} for number in range(50)]
    told = changed_lines(None, PlanProposal(workflow=Workflow.parse({"stages": stages})))
    assert len(told) == 13
    assert told[-1] == "[... 38 more ...]"
    assert max(map(len, told)) < 170
