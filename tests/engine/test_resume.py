"""Resume: from the last completed action, with the kernel rebuilt, and nothing done twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

import pytest

from engine.play import Played, one_step, play, run_code, scripted, workflow
from notebook_bcc.engine.state import elapsed
from notebook_bcc.errors import RunRefused
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import (
    ActionCompleted,
    ActionReceived,
    CellRerun,
    Command,
    Faulted,
    GeneratingAsked,
    GeneratingFailed,
    KernelRebuilt,
    PlanningAsked,
    RunResumed,
    Transitioned,
)
from notebook_bcc.kernel.interface import CellError, Execution
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.planners.interface import ActionData, Generated, Planner
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.limits import Limits, Policies
from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.tracking import Promotion
from notebook_bcc.protocol.vocabulary import State

pytestmark = pytest.mark.anyio


def planner() -> ScriptedPlanner:
    return one_step(run_code("x = 1", "y = x + 1", "print(y)"), run_code("z = y + 1"))


usual = planner


class Batches(MemoryJournal):
    """Remembers what was appended together: a journal on disk has all of a batch or nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[Entry]] = []

    async def append(self, entries: Sequence[Entry]) -> None:
        await super().append(entries)
        self.batches.append(list(entries))


async def killed_after(kind: Any, count: int = 1, *, planner: Planner | None = None) -> MemoryJournal:
    """A journal as it is on disk when the process dies right after the batch with the record of that number."""
    whole = Batches()
    await play(planner if planner is not None else usual(), journal=whole)
    journal, seen = MemoryJournal(), 0
    for batch in whole.batches:
        await journal.append(batch)
        seen += sum(isinstance(entry.record, kind) for entry in batch)
        if seen >= count:
            break
    return journal


async def test_after_a_kill_at_any_moment_the_run_finishes_as_if_nothing_had_happened() -> None:
    recorded = Batches()
    whole = await play(planner(), journal=recorded)
    for cut in range(1, len(recorded.batches)):
        journal = MemoryJournal()
        for batch in recorded.batches[:cut]:
            await journal.append(batch)
        played = await play(planner(), journal=journal, resume=RunResumed())
        assert played.state.fsm is State.WORKFLOW_COMPLETED, f"cut after {cut}"
        assert played.state.kernel.variables == whole.state.kernel.variables
        assert played.state.document == whole.state.document
        done = [one.action_id for one in played.records(ActionCompleted)]
        assert done == [one.action_id for one in whole.records(ActionCompleted)]


async def test_a_question_that_was_not_answered_is_asked_again_under_its_id() -> None:
    journal = await killed_after(PlanningAsked, 3)
    played = await play(planner(), journal=journal, resume=RunResumed())
    asked = [one for one in played.records(PlanningAsked) if one.purpose == "step"]
    assert [(one.request_id, one.attempt) for one in asked] == [(asked[0].request_id, 1), (asked[0].request_id, 2)]


async def test_a_stream_is_asked_for_again_under_its_id_and_what_had_arrived_is_skipped() -> None:
    journal = await killed_after(ActionReceived, 3)
    played = await play(planner(), journal=journal, resume=RunResumed())
    asked = played.records(GeneratingAsked)
    assert asked[0].request_id == asked[1].request_id
    received = [one.action_id for one in played.records(ActionReceived)]
    assert received == [f"action-{number}" for number in range(1, 9)]


async def test_the_kernel_is_rebuilt_by_running_again_the_cells_that_had_succeeded() -> None:
    journal = await killed_after(ActionCompleted, 4)
    kernel = ScriptedKernel()
    played = await play(planner(), journal=journal, resume=RunResumed(), kernel=kernel)
    assert kernel.executed[:2] == ["x = 1", "y = x + 1"]
    again = played.records(CellRerun)
    assert [(one.index, one.of, one.success, one.same_outputs) for one in again] == [
        (1, 2, True, True),
        (2, 2, True, True),
    ]
    assert played.records(KernelRebuilt)[0].differences == ()


async def test_outputs_that_differ_when_cells_run_again_are_reported() -> None:
    count = {"n": 0}

    def run(source: str) -> Execution:
        count["n"] += 1
        text = {"output_type": "stream", "name": "stdout", "text": f"{count['n']}\n"}
        return Execution(outputs=(text,) if source == "random" else (), execution_count=count["n"])

    def planner() -> ScriptedPlanner:
        return one_step(run_code("random"), run_code("after"))

    played = await play(planner(), kernel=ScriptedKernel(run), limits=Limits(actions=2))
    done = await play(planner(), journal=played.journal, kernel=ScriptedKernel(run), resume=RunResumed(limits=Limits()))
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    assert "was recorded, now" in done.records(KernelRebuilt)[0].differences[0]
    assert any("differences" in str(text) for text in done.planner.planned[-1].observation.context.effects.history)


async def test_a_cell_that_fails_when_it_runs_again_stops_the_resume_until_it_is_put_right_or_accepted() -> None:
    first = await play(planner(), limits=Limits(actions=2))
    missing = ScriptedKernel({})
    stopped = await play(planner(), journal=first.journal, kernel=missing, resume=RunResumed(limits=Limits()))
    assert stopped.state.stopped is not None
    assert stopped.state.stopped.reason == "interrupted"
    assert "--accept-differences" in stopped.state.stopped.detail
    done = await play(planner(), journal=stopped.journal, resume=RunResumed())
    assert done.state.fsm is State.WORKFLOW_COMPLETED


async def test_a_cell_that_failed_when_it_was_run_again_is_rebuilt_as_it_succeeded() -> None:
    again = {"action": "exec", "codecell_id": "drop"}
    drop = {"action": "add", "shot_type": "action", "content": "print(d.pop('a'))", "store_id": "drop"}
    planner = one_step([*run_code("d = {'a': 1}"), drop, again, again, *run_code("z = 1")])
    policies = Policies(on_error="continue", on_unachieved="skip")
    first = await play(planner, policies=policies, limits=Limits(actions=5))
    assert first.state.document.cell("drop").has_failed
    done = await play(planner, journal=first.journal, resume=RunResumed(limits=Limits()))
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    assert [(one.cell_id, one.difference) for one in done.records(CellRerun)] == [("cell-1", ""), ("drop", "")]
    assert done.records(KernelRebuilt)[0].differences == ()


async def test_promotions_are_rebuilt_too() -> None:
    promotion = Promotion(variable="df", artifact_id="df@v1")

    def planner() -> ScriptedPlanner:
        return scripted(
            workflow("a", "b"),
            {
                "a": [Behavior(run_code("df = [1]"), promotions=[promotion])],
                "b": [Behavior(run_code("y = df_v1 + [2]"))],
            },
        )

    first = await play(planner(), limits=Limits(actions=2))
    middle = await play(planner(), journal=first.journal, resume=RunResumed(limits=Limits(actions=3)))
    done = await play(planner(), journal=middle.journal, resume=RunResumed(limits=Limits()))
    assert done.state.kernel.variables == {"df_v1": [1], "y": [1, 2]}


async def test_a_repair_after_a_kill_is_asked_with_the_same_observation_and_id() -> None:
    def debugging() -> ScriptedPlanner:
        made = {"action": "add", "shot_type": "action", "content": "y = x + 1", "store_id": "c"}
        return one_step(
            Behavior([made, {"action": "exec", "codecell_id": "c", "auto_debug": True}], repairs={"c": ["y = 2"]})
        )

    whole = await play(debugging())
    journal = await killed_after(ActionReceived, 2, planner=debugging())
    again = await play(debugging(), journal=journal, resume=RunResumed())
    assert again.state.fsm is State.WORKFLOW_COMPLETED
    [asked], [repeated] = whole.planner.repaired, again.planner.repaired
    assert repeated.options == asked.options
    assert repeated.observation.location == asked.observation.location
    assert repeated.observation.location.current.behavior_id is not None
    assert repeated.observation.context.notebook == asked.observation.context.notebook


class Fickle:
    """A planner whose repeated answer differs, as a language model's does."""

    name = "fickle"

    def __init__(self) -> None:
        self._judge = planner()
        self.calls = 0

    async def plan(self, request: Request) -> Any:
        return await self._judge.plan(request)

    async def generate(self, request: Request, *, fallback: bool = False) -> AsyncIterator[Generated]:
        self.calls += 1
        for action in run_code(f"v{self.calls} = {self.calls}", "w = 1"):
            yield ActionData(action)

    async def repair(self, request: Request) -> str | None:
        return None

    async def close(self) -> None:
        """There is nothing to release."""


async def test_a_repeated_answer_that_differs_is_never_mixed_with_the_first_one() -> None:
    fickle = Fickle()
    journal = await killed_after(ActionReceived, planner=fickle)
    again = await play(fickle, journal=journal, resume=RunResumed())
    assert again.records(GeneratingFailed)[0].lost_with_process
    after = again.events[again.events.index("FAIL") :]
    assert after[1] == "START_BEHAVIOR", "nobody is to blame: the behavior is restarted without asking"
    assert again.state.fsm is State.WORKFLOW_COMPLETED
    repeated = f"v{fickle.calls - 2}"
    assert repeated not in again.state.kernel.variables, "the repeated answer was not carried out"


async def test_resume_after_an_error_restarts_the_behavior_under_its_own_id() -> None:
    calls = {"n": 0}

    def flaky(source: str) -> Execution:
        calls["n"] += 1
        if calls["n"] == 1:
            return Execution(error=CellError("OSError", "disk"))
        return Execution()

    policies = Policies(on_error="fail")
    first = await play(one_step(run_code("x = 1")), kernel=ScriptedKernel(flaky), policies=policies)
    assert first.state.fsm is State.ERROR
    done = await play(
        one_step(run_code("x = 1")), kernel=ScriptedKernel(flaky), journal=first.journal, resume=RunResumed()
    )
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    assert done.state.behaviors.completed[0].behavior_id == first.state.position.behavior_id


@pytest.mark.parametrize(("restart", "event"), [("workflow", "START_WORKFLOW"), ("reset", "RESET")])
async def test_restarting_the_workflow_or_resetting_begins_a_fresh_notebook(restart: Any, event: str) -> None:
    def planner(source: str) -> ScriptedPlanner:
        return one_step(run_code("a = 1", source))

    first = await play(planner("1/0"))
    assert first.state.fsm is State.ERROR
    done = await play(planner("b = 2"), journal=first.journal, resume=RunResumed(restart=restart))
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    assert event in done.events
    assert done.sources == ["a = 1", "b = 2"]
    assert len(done.records(ActionCompleted)) == 8, "the journal keeps the attempt before"


async def stopped_run(*, waiting: bool = False) -> Played:
    """A run that stopped without an error: at a limit, or (`waiting`) before a change of its plan."""
    steps = {"action": "update_stage_steps", "stage_id": "stage", "updated_steps": [{"id": "step"}, {"id": "more"}]}
    first = one_step([*run_code("x = 1"), steps] if waiting else run_code("x = 1", "y = 2"))
    policies = Policies(confirm="ask", on_error="fail")
    played = await play(first, policies=policies, limits=Limits(actions=0 if waiting else 3))
    assert played.state.stopped is not None
    assert played.state.stopped.reason == ("waiting" if waiting else "limit")
    return played


@pytest.mark.parametrize("waiting", [False, True])
async def test_a_reset_starts_a_run_anew_that_stopped_without_an_error(waiting: bool) -> None:
    first = await stopped_run(waiting=waiting)
    anew = one_step(run_code("z = 3"))
    done = await play(anew, journal=first.journal, resume=RunResumed(restart="reset"))
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    assert done.events[len(first.events) :][:3] == ["CANCEL", "RESET", "START_WORKFLOW"]
    assert done.sources == ["z = 3"]
    assert done.state.kernel.variables == {"z": 3}


@pytest.mark.parametrize("waiting", [False, True])
async def test_the_workflow_is_not_restarted_where_there_was_no_error(waiting: bool) -> None:
    first = await stopped_run(waiting=waiting)
    with pytest.raises(RunRefused, match="has not failed"):
        await play(planner(), journal=first.journal, resume=RunResumed(restart="workflow"))
    assert [entry async for entry in first.journal.read()] == first.entries, "nothing is written"


async def test_an_error_after_a_plain_resume_ends_the_run_and_nothing_is_done_twice() -> None:
    def failing() -> ScriptedPlanner:
        return one_step(run_code("x = 1", "y = 2", "1/0"))

    policies = Policies(on_error="fail")
    first = await play(failing(), policies=policies, limits=Limits(actions=2))
    failed = await play(failing(), journal=first.journal, resume=RunResumed(limits=Limits()))
    assert failed.state.fsm is State.ERROR
    assert failed.state.stopped is not None
    assert failed.state.stopped.reason == "failed"
    assert failed.sources == ["x = 1", "y = 2", "1/0"]
    assert failed.events.count("START_BEHAVIOR") == 1
    again = await play(failing(), journal=failed.journal, resume=RunResumed())
    assert again.events.count("START_BEHAVIOR") == 2, "an error is what a resume restarts the behavior after"


async def test_after_a_kill_between_a_fault_and_its_failure_the_behavior_begins_anew() -> None:
    def failing(source: str) -> ScriptedPlanner:
        return one_step(run_code("x = 1", source, "z = 3"))

    policies, whole = Policies(on_error="fail"), Batches()
    await play(failing("1/0"), journal=whole, policies=policies)
    cut = MemoryJournal()
    for batch in whole.batches:
        await cut.append(batch)
        if any(isinstance(entry.record, Faulted) for entry in batch):
            break
    assert "FAIL" not in [entry.record.event for entry in batch if isinstance(entry.record, Transitioned)]
    done = await play(failing("y = 2"), journal=cut, resume=RunResumed())
    expected = await play(failing("y = 2"), journal=whole, resume=RunResumed())
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    assert done.events == expected.events
    assert done.sources == expected.sources
    assert done.events.count("FAIL") == 1
    assert done.events.count("START_BEHAVIOR") == 2


@pytest.mark.parametrize("restart", ["workflow", "reset"])
async def test_limits_count_anew_after_a_restart(restart: Any) -> None:
    def planner(source: str) -> ScriptedPlanner:
        return one_step(run_code("a = 1", source))

    first = await play(planner("1/0"))
    used = first.state.actions_completed
    limits = Limits(actions=used + 1, run_seconds=60)
    done = await play(planner("b = 2"), journal=first.journal, resume=RunResumed(restart=restart, limits=limits))
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    assert done.state.actions_completed == 4
    ids = [one.action_id for one in done.records(ActionReceived)]
    assert len(set(ids)) == len(ids), "what names an action is not used again"
    session = datetime.fromisoformat(done.state.at) - datetime.fromisoformat(done.state.session_at)
    assert elapsed(done.state) == session.total_seconds()


async def test_a_completed_run_is_not_resumed() -> None:
    done = await play(planner())
    with pytest.raises(RunRefused, match="completed"):
        await play(planner(), journal=done.journal, resume=RunResumed())


async def test_a_cancelled_run_is_resumed_by_a_reset_only() -> None:
    cancelled = await cancelled_run()
    with pytest.raises(RunRefused, match="cancelled"):
        await play(planner(), journal=cancelled.journal, resume=RunResumed())
    done = await play(planner(), journal=cancelled.journal, resume=RunResumed(restart="reset"))
    assert done.state.fsm is State.WORKFLOW_COMPLETED


async def cancelled_run() -> Played:
    """A run that is cancelled by another process while its planner is silent."""
    journal = MemoryJournal()

    async def generate(request: Request) -> AsyncIterator[Any]:
        yield {"action": "add", "content": "before"}
        await journal.post(Command(kind="cancel", comment="enough"), at="2026-01-01T00:00:00Z")
        await asyncio.Event().wait()

    silent = CallablePlanner(
        plan=lambda request: {"context_update": {"workflow_update": workflow("step").to_dict()}}, generate=generate
    )
    return await play(silent, journal=journal)


async def test_cancel_from_another_process_ends_what_is_under_way_and_keeps_what_is_done() -> None:
    cancelled = await cancelled_run()
    assert cancelled.state.fsm is State.CANCELLED
    assert cancelled.records(Transitioned)[-1].reason == "enough"
    assert cancelled.sources == ["before"]
    assert cancelled.state.stopped is not None
    assert cancelled.state.stopped.reason == "cancelled"


async def test_pause_from_another_process_stops_after_an_action_and_resume_goes_on() -> None:
    journal = MemoryJournal()
    await journal.post(Command(kind="pause"), at="2026-01-01T00:00:00Z")
    paused = await play(planner(), journal=journal)
    assert paused.state.stopped is not None
    assert paused.state.stopped.reason == "paused"
    done = await play(planner(), journal=journal, resume=RunResumed())
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    assert done.state.kernel.variables == {"x": 1, "y": 2, "z": 3}
