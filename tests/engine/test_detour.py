"""A proposed change of the plan is never lost: where no action follows, the table's own rows lead to one and back."""

from __future__ import annotations

import asyncio
import contextlib
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.play import AUTO, IMPATIENT, Played, play, run_code, workflow
from notebook_bcc.engine.reduce import fold, reduce
from notebook_bcc.engine.runner import Runner
from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import PlannerUnreachable, RunRefused
from notebook_bcc.fsm.machine import next_state
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import (
    Command,
    PlanUpdateDecided,
    ProposalDropped,
    RunResumed,
    RunStarted,
    RunStopped,
    Transitioned,
    Warned,
)
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.protocol.limits import Limits, Policies
from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.vocabulary import State
from notebook_bcc.protocol.workflow import Workflow

pytestmark = pytest.mark.anyio

BEHAVIOR, STEP, STAGE = State.BEHAVIOR_COMPLETED, State.STEP_COMPLETED, State.STAGE_COMPLETED
STEPS = {"stage_steps_update": {"updated_steps": [{"id": "step"}, {"id": "added"}]}}
PLAN = {
    "workflow_update": {"stages": [{"id": "stage", "steps": [{"id": "step"}]}, {"id": "more", "steps": [{"id": "x"}]}]}
}
ASK, REJECT = Policies(confirm="ask"), Policies(confirm="reject")


def proposing(at: State, update: dict[str, Any], **answer: Any) -> CallablePlanner:
    """A planner that achieves everything at once, and proposes a change at one place of its first step and stage."""

    def judge(request: Request) -> dict[str, Any]:
        fsm, current = request.observation.context.fsm, request.observation.location.current
        assert fsm is not None
        here = fsm.state is at and current.stage_id == "stage" and current.step_id in ("step", None)
        steps = request.observation.location.progress.steps
        known = [item.key for item in steps.completed] if steps is not None else []
        first = here and "added" not in known and current.step_id == ("step" if at is not STAGE else None)
        achieved = {"targetAchieved": fsm.state is BEHAVIOR}
        return {**achieved, **answer, "context_update": update} if first else achieved

    return CallablePlanner(plan=judge, generate=lambda request: run_code("x = 1"))


async def played(planner: CallablePlanner, policies: Policies = AUTO, **more: Any) -> Played:
    return await play(planner, policies=policies, start={"workflow": workflow("step")}, **more)


def path(events: list[str]) -> list[str]:
    """The moves after the first behavior, up to the end."""
    return events[events.index("COMPLETE_BEHAVIOR") + 1 :]


UPDATED = {"steps": ["UPDATE_STEP", "UPDATE_STEP_CONFIRMED"], "plan": ["UPDATE_WORKFLOW", "UPDATE_WORKFLOW_CONFIRMED"]}
A_STEP = ["START_BEHAVIOR", "START_ACTION", "COMPLETE_ACTION", "NEXT_ACTION", "COMPLETE_ACTION", "COMPLETE_BEHAVIOR"]
THERE = {
    BEHAVIOR: ["NEXT_BEHAVIOR", "START_ACTION"],
    STEP: ["COMPLETE_STEP", "NEXT_STEP", "START_BEHAVIOR", "START_ACTION"],
    STAGE: ["COMPLETE_STEP", "COMPLETE_STAGE", "NEXT_STAGE", "START_STEP", "START_BEHAVIOR", "START_ACTION"],
}
BACK = {
    BEHAVIOR: ["COMPLETE_BEHAVIOR"],
    STEP: ["COMPLETE_BEHAVIOR", "COMPLETE_STEP"],
    STAGE: ["COMPLETE_BEHAVIOR", "COMPLETE_STEP", "COMPLETE_STAGE"],
}
NEW_STEP = ["NEXT_STEP", *A_STEP, "COMPLETE_STEP", "COMPLETE_STAGE", "COMPLETE_WORKFLOW"]
NEW_STAGE = ["NEXT_STAGE", "START_STEP", *A_STEP, "COMPLETE_STEP", "COMPLETE_STAGE", "COMPLETE_WORKFLOW"]
REST = {
    (BEHAVIOR, "steps"): ["COMPLETE_STEP", *NEW_STEP],
    (BEHAVIOR, "plan"): ["COMPLETE_STEP", "COMPLETE_STAGE", *NEW_STAGE],
    (STEP, "steps"): NEW_STEP,
    (STEP, "plan"): ["COMPLETE_STAGE", *NEW_STAGE],
    (STAGE, "steps"): NEW_STEP,
    (STAGE, "plan"): NEW_STAGE,
}


@pytest.mark.parametrize("achieved", [False, True])
@pytest.mark.parametrize("what", ["steps", "plan"])
@pytest.mark.parametrize("at", [BEHAVIOR, STEP, STAGE])
async def test_a_proposal_where_no_action_follows_is_decided_by_the_tables_rows(
    at: State, what: str, achieved: bool
) -> None:
    answer = {"targetAchieved": True} if achieved or at is BEHAVIOR else {}
    planner = proposing(at, STEPS if what == "steps" else PLAN, **answer)
    run = await played(planner)
    # Into the completed stage and its new step there is no way back first: the stage is under way again.
    back = BACK[at][:-1] if (at, what) == (STAGE, "steps") else BACK[at]
    assert path(run.events) == [*THERE[at], *UPDATED[what], *back, *REST[at, what]]
    assert [one.confirmed for one in run.records(PlanUpdateDecided)] == [True]
    assert run.state.fsm is State.WORKFLOW_COMPLETED
    assert run.state.proposals == ()
    assert run.state.detour is None
    if what == "steps":
        assert [item.key for item in run.state.steps.completed] == ["step", "added"]
        assert [item.key for item in run.state.stages.completed] == ["stage"]
    else:
        assert [item.key for item in run.state.stages.completed] == ["stage", "more"]
    assert len(run.planner.generated) == 2, "nobody is asked to write the behavior of the change"
    asked = [one.observation.context.fsm.state for one in run.planner.planned if one.observation.context.fsm]
    assert asked.count(State.STEP_RUNNING) == 2


@pytest.mark.parametrize("at", [BEHAVIOR, STEP, STAGE])
async def test_a_rejected_plan_leads_back_to_the_judgement_that_was_waiting(at: State) -> None:
    answer = {"targetAchieved": True} if at is BEHAVIOR else {}
    run = await played(proposing(at, PLAN, **answer), REJECT)
    rest = {BEHAVIOR: ["COMPLETE_STEP", "COMPLETE_STAGE"], STEP: ["COMPLETE_STAGE"], STAGE: []}[at]
    updated = ["UPDATE_WORKFLOW", "UPDATE_WORKFLOW_REJECTED"]
    assert path(run.events) == [*THERE[at], *updated, *BACK[at], *rest, "COMPLETE_WORKFLOW"]
    assert [item.key for item in run.state.stages.completed] == ["stage"]


@pytest.mark.parametrize("at", [BEHAVIOR, STEP, STAGE])
async def test_after_rejected_steps_a_resume_does_nothing_again(at: State) -> None:
    answer = {"targetAchieved": True} if at is BEHAVIOR else {}
    failed = await played(proposing(at, STEPS, **answer), REJECT)
    assert failed.state.fsm is State.ERROR
    assert failed.events[-1] == "UPDATE_STEP_REJECTED"
    run = await play(proposing(at, STEPS, **answer), journal=failed.journal, resume=RunResumed())
    assert run.state.fsm is State.WORKFLOW_COMPLETED
    again = run.events[len(failed.events) :]
    rest = {BEHAVIOR: ["COMPLETE_STEP", "COMPLETE_STAGE"], STEP: ["COMPLETE_STAGE"], STAGE: []}[at]
    assert again == ["START_BEHAVIOR", *BACK[at], *rest, "COMPLETE_WORKFLOW"]
    assert run.planner.generated == []
    assert [item.key for item in run.state.steps.completed] == ["step"]
    assert run.state.steps.completed[0].achieved is True


async def test_an_unachieved_step_fails_after_its_proposal_was_decided() -> None:
    run = await played(proposing(BEHAVIOR, STEPS, targetAchieved=False))
    assert path(run.events) == ["NEXT_BEHAVIOR", "START_ACTION", *UPDATED["steps"], "COMPLETE_BEHAVIOR", "FAIL"]
    assert run.state.plan is not None
    assert [step.id for step in run.state.plan.stages[0].steps] == ["step", "added"]


@pytest.mark.parametrize(
    ("update", "waits"),
    [
        pytest.param([{"id": "step"}, {"id": "next"}, {"id": "added"}], True, id="one that fits there"),
        pytest.param([{"id": "step"}, {"id": "added"}], False, id="one that removes the next step"),
    ],
)
async def test_at_the_end_of_a_step_a_proposal_waits_for_the_next_step_where_it_still_fits(
    update: list[dict[str, str]], waits: bool
) -> None:
    planner = proposing(STEP, {"stage_steps_update": {"updated_steps": update}})
    run = await play(planner, policies=AUTO, start={"workflow": workflow("step", "next")})
    assert run.state.fsm is State.WORKFLOW_COMPLETED
    moves = [one for one in run.records(Transitioned) if one.step_id is not None]
    assert [one.step_id for one in moves] == ["step", "next", "added"] if waits else ["step", "step", "added"]
    assert any(one.detour for one in moves) is not waits
    assert run.records(ProposalDropped) == []


async def test_at_the_end_of_a_stage_a_proposal_waits_for_the_next_stage() -> None:
    start = {"workflow": Workflow.parse(PLAN["workflow_update"])}
    third = {
        "workflow_update": {"stages": [*PLAN["workflow_update"]["stages"], {"id": "last", "steps": [{"id": "y"}]}]}
    }
    run = await play(proposing(STAGE, third), policies=AUTO, start=start)
    assert [item.key for item in run.state.stages.completed] == ["stage", "more", "last"]
    assert not any(one.detour for one in run.records(Transitioned))


async def test_two_proposals_of_one_answer_are_decided_one_after_the_other() -> None:
    both = {**PLAN, "stage_steps_update": {"stage_id": "more", "steps": [{"id": "other"}]}}
    run = await played(proposing(STAGE, both))
    assert [one.confirmed for one in run.records(PlanUpdateDecided)] == [True, True]
    assert [one.step_id for one in run.records(Transitioned) if one.step_id][-1] == "other"
    assert [item.key for item in run.state.stages.completed] == ["stage", "more"]


async def test_a_planner_that_repeats_its_proposal_while_it_waits_is_asked_about_once() -> None:
    def judge(request: Request) -> dict[str, Any]:
        return {"targetAchieved": request.behavior_feedback is not None, "context_update": PLAN}

    planner = CallablePlanner(plan=judge, generate=lambda request: run_code("x = 1"))
    run = await play(planner, policies=AUTO, start={"workflow": workflow("step")})
    assert run.state.fsm is State.WORKFLOW_COMPLETED
    assert len(run.records(PlanUpdateDecided)) == 1


async def test_a_step_that_was_added_is_done_though_the_stage_was_judged_achieved() -> None:
    planner = proposing(
        STEP,
        {"stage_steps_update": {"updated_steps": [{"id": "step"}, {"id": "no"}, {"id": "added"}]}},
        targetAchieved=True,
    )
    run = await play(planner, policies=AUTO, start={"workflow": workflow("step", "no")})
    assert [one.step_id for one in run.records(Transitioned) if one.step_id] == ["step", "step", "added", "no"]


async def test_the_way_there_and_back_earns_nothing_and_counts_nothing() -> None:
    plain = await played(proposing(STEP, {}))
    run = await played(proposing(STEP, PLAN), REJECT)
    assert run.state.reward == pytest.approx(plain.state.reward, abs=0.01)
    assert run.state.steps == plain.state.steps
    assert run.state.stages == plain.state.stages
    assert run.state.behaviors == plain.state.behaviors


@pytest.mark.parametrize("at", [BEHAVIOR, STEP, STAGE])
async def test_a_person_may_take_their_time(at: State) -> None:
    planner = proposing(at, STEPS, targetAchieved=True)
    waiting = await played(planner, ASK)
    assert waiting.state.fsm is State.STEP_UPDATE_PENDING
    assert waiting.state.stopped is not None
    assert waiting.state.stopped.reason == "waiting"
    await waiting.journal.post(Command(kind="confirm"), at="2026-01-01T00:00:00Z")
    run = await play(planner, journal=waiting.journal, resume=RunResumed())
    assert run.state.fsm is State.WORKFLOW_COMPLETED
    assert [item.key for item in run.state.steps.completed] == ["step", "added"]


@pytest.mark.parametrize("what", [STEPS, PLAN])
@pytest.mark.parametrize("at", [BEHAVIOR, STEP, STAGE])
async def test_a_run_that_dies_anywhere_on_the_way_goes_on_as_if_it_had_not(at: State, what: dict[str, Any]) -> None:
    whole = await played(proposing(at, what, targetAchieved=True))
    tried = 0
    for count, entry in enumerate(whole.entries[:-1], start=1):
        if entry.at == whole.entries[count].at or entry.seq < 20:
            # What is written at once is there whole or not at all.
            continue
        journal = MemoryJournal()
        await journal.append(whole.entries[:count])
        run = await play(proposing(at, what, targetAchieved=True), journal=journal, resume=RunResumed())
        assert run.events == whole.events
        assert run.state.fsm is State.WORKFLOW_COMPLETED
        tried += 1
    assert tried > 20


async def test_a_cancel_says_what_becomes_of_proposals_that_wait() -> None:
    waiting = await played(proposing(STEP, STEPS), ASK)
    runner = Runner(planner=waiting.planner, kernel=ScriptedKernel(), journal=waiting.journal, asking=IMPATIENT)
    await runner.load()
    await runner.begin(RunResumed())
    runner.cancel("enough")
    async with contextlib.aclosing(runner.run()) as coming:
        seen = [entry.record async for entry in coming]
    dropped = [one.reason for one in seen if isinstance(one, ProposalDropped)]
    assert dropped == ["the run was cancelled before it was decided"]


async def test_a_proposal_outlives_a_behavior_that_fails() -> None:
    def judge(request: Request) -> dict[str, Any]:
        fsm = request.observation.context.fsm
        assert fsm is not None
        update = STEPS if fsm.state is State.STEP_RUNNING else {}
        return {"targetAchieved": request.behavior_feedback is not None, "context_update": update}

    def broken(request: Request) -> list[dict[str, Any]]:
        raise PlannerUnreachable(planner="broken", reason="no idea", retry_after=0.0)

    failed = await played(CallablePlanner(plan=judge, generate=broken))
    assert failed.state.fsm is State.ERROR
    assert len(failed.state.proposals) == 1
    working = CallablePlanner(plan=judge, generate=lambda request: run_code("x = 1"))
    failed_journal = failed.journal.snapshot()
    run = await play(working, journal=failed.journal, resume=RunResumed())
    assert [item.key for item in run.state.steps.completed] == ["step", "added"]
    for restart in ("reset", "workflow"):
        again = await play(working, journal=failed_journal.snapshot(), resume=RunResumed(restart=restart))
        dropped = [one.reason for one in again.records(ProposalDropped)]
        assert dropped == ["the run starts anew before it was decided"]


async def _session(
    journal: MemoryJournal, planner: CallablePlanner, begin: RunStarted | RunResumed, most: int
) -> RunState:
    """Carry the run on, and let the process die after so many entries."""
    runner = Runner(planner=planner, kernel=ScriptedKernel(), journal=journal, asking=IMPATIENT)
    await runner.load()
    entry = await runner.begin(begin)
    async with contextlib.aclosing(runner.run()) as coming:
        while entry.seq < most:
            if (following := await anext(coming, None)) is None:
                break
            entry = following
    return runner.state


class Restless:
    """Proposes something at every second question, the same for the same request."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.proposed = 0

    def planner(self) -> CallablePlanner:
        return CallablePlanner(plan=self._judge, generate=self._write)

    def _dice(self, request: Request) -> random.Random:
        return random.Random(f"{self._seed}/{request.options.request_id}")

    def _judge(self, request: Request) -> dict[str, Any]:
        dice = self._dice(request)
        update: dict[str, Any] = {}
        if dice.random() < 0.4:
            update["stage_steps_update"] = {
                "stage_id": dice.choice([None, "one", "two", "nowhere"]),
                "updated_steps": [{"id": one} for one in dice.sample("abcd", dice.randint(1, 4))],
            }
        if dice.random() < 0.3:
            stages = [
                {"id": one, "steps": [{"id": step} for step in dice.sample("abcd", dice.randint(1, 3))]}
                for one in dice.sample(["one", "two", "three"], dice.randint(1, 3))
            ]
            update["workflow_update"] = {"stages": stages}
        advice: dict[str, Any] = {"continue_behaviors": dice.random() < 0.2}
        if dice.random() < 0.1:
            advice |= {"strategy": "server_controlled", "next_stage_id": dice.choice(["one", "two"])}
        return {"targetAchieved": dice.random() < 0.6, "transition": advice, "context_update": update}

    def _write(self, request: Request) -> list[dict[str, Any]]:
        return run_code("x = 1")[: self._dice(request).randint(0, 2)]


FIRST = Workflow.parse(
    {"stages": [{"id": "one", "steps": [{"id": "a"}, {"id": "b"}]}, {"id": "two", "steps": [{"id": "c"}]}]}
)


@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 2**32),
    confirm=st.sampled_from(["auto", "reject", "ask"]),
    unachieved=st.sampled_from(["fail", "skip"]),
    kills=st.lists(st.integers(1, 40), max_size=3),
)
def test_every_proposal_is_confirmed_or_rejected_and_none_in_silence(
    seed: int, confirm: Any, unachieved: Any, kills: list[int]
) -> None:
    policies = Policies(confirm=confirm, on_unachieved=unachieved)
    limits = Limits(actions=40, behaviors_per_step=4)

    async def carry_on() -> MemoryJournal:
        journal = MemoryJournal()
        planner = Restless(seed)
        begin: RunStarted | RunResumed = RunStarted(run_id="r", policies=policies, limits=limits, workflow=FIRST)
        for more in [*kills, *[10_000] * 6]:
            seen = fold([entry async for entry in journal.read()]).seq
            try:
                async with asyncio.timeout(60):
                    await _session(journal, planner.planner(), begin, seen + more)
            except RunRefused:
                break
            journal, begin = journal.snapshot(), RunResumed()
            await journal.post(
                Command(kind=random.Random(seed).choice(["confirm", "reject"])), at="2026-01-01T00:00:00Z"
            )
        return journal

    async def entries() -> list[Entry]:
        return [entry async for entry in (await carry_on()).read()]

    state, machine = RunState(), State.IDLE
    for entry in asyncio.run(entries()):
        record, before = entry.record, state
        state = reduce(state, entry)
        if isinstance(record, Transitioned):
            assert next_state(machine, record.event) is record.to
            machine = record.to
        if not isinstance(record, (PlanUpdateDecided, ProposalDropped)):
            assert state.proposals[: len(before.proposals)] == before.proposals, f"{record.kind} loses a proposal"
        else:
            assert state.proposals == before.proposals[1:]
        for level in (state.stages, state.steps):
            keys = [item.key for item in level.completed]
            assert len(keys) == len(set(keys)), "completed lists something twice"
        if isinstance(record, RunStopped) and record.reason in ("completed", "cancelled"):
            assert state.proposals == ()


async def test_a_plan_that_cannot_be_applied_is_refused_aloud_where_no_action_follows() -> None:
    gone = {"workflow_update": {"stages": [{"id": "other", "steps": [{"id": "x"}]}]}}
    run = await played(proposing(STAGE, gone))
    assert [one.message for one in run.records(Warned)] == [
        "the planner's plan is refused: stage 'stage' is completed or under way and cannot be removed"
    ]
