"""A behavior is tried again after an error: what had succeeded is taken over, the rest withdrawn, nothing twice."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engine.lasting import House, Lasting, LastingWithCheckpoints
from engine.play import Played, one_step, play, run_code, scripted, workflow
from notebook_bcc.engine.reduce import fold
from notebook_bcc.engine.runner import Runner
from notebook_bcc.engine.state import RunState
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import (
    ActionCompleted,
    ActionReceived,
    ActionTakenOver,
    AttemptWithdrawn,
    CellChange,
    CellRerun,
    CheckpointLoaded,
    Record,
    RunResumed,
    RunStarted,
    RunStopped,
    Transitioned,
)
from notebook_bcc.kernel.checkpoint_files import CheckpointFiles
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.planners.interface import Planner
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.limits import Policies
from notebook_bcc.protocol.observation import SectionProgress
from notebook_bcc.protocol.tracking import Promotion
from notebook_bcc.protocol.vocabulary import CellType, Event, State

pytestmark = pytest.mark.anyio

FAIL = Policies(confirm="auto", on_error="fail")


class Outside:
    """A file that cells append a word to: what they do outside, in the order they did it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def cell(self, word: str, more: str = "") -> str:
        write = f"with open({str(self._path)!r}, 'a') as f:\n    _ = f.write('{word} ')\ndel f"
        return f"{write}\n{word} = '{word}'\n{more}".strip()

    @property
    def words(self) -> list[str]:
        return self._path.read_text().split() if self._path.exists() else []


@pytest.fixture
def outside(tmp_path: Path) -> Outside:
    return Outside(tmp_path / "outside")


@pytest.fixture
def house() -> House:
    """Kernels go on when a run stops."""
    house = House()
    house.leaves = True
    return house


async def failed(planner: Planner, house: House, *, policies: Policies = FAIL) -> MemoryJournal:
    """The journal of a run that has ended in an error and has left its kernel."""
    first = await play(planner, kernel=Lasting(house), policies=policies)
    assert first.state.fsm is State.ERROR
    return first.journal


async def again(planner: Planner, journal: MemoryJournal, house: House, **resume: Any) -> Played:
    return await play(planner, journal=journal, kernel=Lasting(house), resume=RunResumed(**resume))


async def test_a_cell_that_is_put_right_is_all_that_runs_and_nothing_stands_twice(
    outside: Outside, house: House
) -> None:
    def planner(cell: str) -> ScriptedPlanner:
        return one_step(run_code(outside.cell("a"), outside.cell("b"), cell, "c = a + b"))

    journal = await failed(planner(outside.cell("x", "1/0")), house)
    done = await again(planner(outside.cell("y")), journal, house)
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    assert outside.words == ["a", "b", "x", "y"]
    assert done.sources == [outside.cell("a"), outside.cell("b"), outside.cell("y"), "c = a + b"]
    assert [cell.id for cell in done.state.document.cells] == ["cell-1", "cell-2", "cell-3", "cell-4"]
    assert [one.cell_id for one in done.records(ActionTakenOver)] == ["", "cell-1", "", "cell-2"]
    assert [one.former for one in done.records(ActionTakenOver)] == [f"action-{n}" for n in (1, 2, 3, 4)]
    [withdrawn] = done.records(AttemptWithdrawn)
    assert (withdrawn.cells, withdrawn.ran, withdrawn.left) == (("cell-3",), ("cell-3",), ("x",))
    assert done.state.kernel.variables["c"] == "ab"
    assert [step.cell_id for step in done.state.kernel.steps] == ["cell-1", "cell-2", "cell-3", "cell-4"]
    assert done.records(CellRerun) == []
    feedback = done.feedback[-1]
    assert (feedback.actions_executed, feedback.actions_succeeded) == (8, 8)


async def test_the_same_cell_is_tried_again_in_its_place_once_what_it_lacked_is_there(
    outside: Outside, house: House, tmp_path: Path
) -> None:
    data = f"from pathlib import Path\nd = Path({str(tmp_path / 'data')!r}).read_text()"
    planner = one_step(run_code(outside.cell("a"), data, "print(a + d)"))
    journal = await failed(planner, house)
    (tmp_path / "data").write_text("!")
    done = await again(planner, journal, house)
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    assert outside.words == ["a"]
    assert [cell.id for cell in done.state.document.cells] == ["cell-1", "cell-2", "cell-3"]
    assert not any(cell.has_failed for cell in done.state.document.cells)
    assert done.state.document.cell("cell-3").outputs[0]["text"] == "a!\n"
    [withdrawn] = done.records(AttemptWithdrawn)
    assert (withdrawn.cells, withdrawn.ran) == ((), ("cell-2",))


async def test_from_the_first_difference_on_all_is_withdrawn_and_what_it_left_is_said(
    outside: Outside, house: House
) -> None:
    journal = await failed(one_step(run_code("a = [1]", "a.append(2)\nb = 5", outside.cell("x"), "1/0")), house)
    done = await again(one_step(run_code("a = [1]", "c = len(a)", outside.cell("x"))), journal, house)
    assert done.sources == ["a = [1]", "c = len(a)", outside.cell("x")]
    assert outside.words == ["x", "x"], "it stands behind what differs"
    [withdrawn] = done.records(AttemptWithdrawn)
    assert withdrawn.cells == withdrawn.ran == ("cell-2", "cell-3", "cell-4")
    assert {"a", "b"} <= set(withdrawn.left), "the kernel still has the longer list"
    shown = done.planner.planned[-1].observation.context.effects
    assert any("withdrawn" in str(text) for text in (*shown.current, *shown.history))
    assert [cell.execution_count for cell in done.state.document.cells] == [1, 5, 6]


async def test_an_attempt_that_ends_earlier_withdraws_what_the_one_before_has_done_after(house: House) -> None:
    journal = await failed(one_step(run_code("a = 1", "b = 2", "1/0")), house)
    done = await again(one_step(run_code("a = 1")), journal, house)
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    assert done.sources == ["a = 1"]
    assert done.records(AttemptWithdrawn)[0].actions == 4


async def test_more_actions_after_all_of_the_attempt_before_are_simply_carried_out(
    outside: Outside, house: House
) -> None:
    def planner(*more: str) -> ScriptedPlanner:
        return one_step(Behavior(run_code(outside.cell("a"), *more), expected=["z"]))

    journal = await failed(planner(), house, policies=Policies(confirm="auto"))
    done = await again(planner("z = a"), journal, house)
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    assert outside.words == ["a"]
    assert done.sources == [outside.cell("a"), "z = a"]
    assert done.records(AttemptWithdrawn) == []
    assert done.state.behaviors.completed[-1].outputs_produced.variables == ("z",)


async def test_several_errors_take_over_what_each_attempt_has_added(outside: Outside, house: House) -> None:
    def planner(*cells: str) -> ScriptedPlanner:
        return one_step(run_code(*cells))

    a, b, c = outside.cell("a"), outside.cell("b"), outside.cell("c")
    journal = await failed(planner(a, "1/0"), house)
    second = await again(planner(a, b, "2/0"), journal, house)
    assert second.state.fsm is State.ERROR
    done = await again(planner(a, b, c), journal, house)
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    assert outside.words == ["a", "b", "c"]
    assert done.sources == [a, b, c]


async def test_after_a_kernel_died_of_memory_only_what_is_not_saved_runs_again(outside: Outside) -> None:
    def planner(cell: str) -> ScriptedPlanner:
        return one_step(run_code(outside.cell("a"), outside.cell("b"), cell, "c = a + b"))

    first = await play(planner("big = 'x' * 10**12"), kernel=ScriptedKernel(dies_at=[3]), policies=FAIL)
    assert first.state.fsm is State.ERROR
    done = await play(planner("small = 1"), journal=first.journal, kernel=ScriptedKernel(), resume=RunResumed())
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    assert done.sources == [outside.cell("a"), outside.cell("b"), "small = 1", "c = a + b"]
    assert [one.cell_id for one in done.records(CellRerun)] == ["cell-1", "cell-2"], "the kernel is gone with them"
    assert done.records(AttemptWithdrawn)[0].left == ()
    assert outside.words == ["a", "b", "a", "b"]


async def test_the_namespace_comes_back_from_a_checkpoint_of_exactly_that_point(
    outside: Outside, house: House, tmp_path: Path
) -> None:
    def planner(cell: str) -> ScriptedPlanner:
        steps = {"load": [Behavior(run_code(outside.cell("a", "data = [1]")))], "use": [Behavior(run_code(cell))]}
        return scripted(workflow("load", "use"), steps)

    turns = _Turns(house, tmp_path)
    state = await turns.turn(planner("data.append(2)\n1/0"), RunStarted(run_id="run", policies=FAIL))
    assert state.fsm is State.ERROR
    state = await turns.turn(planner("n = len(data)"), RunResumed())
    assert state.fsm is State.WORKFLOW_COMPLETED
    assert state.kernel.variables["n"] == 1, "what the failed cell had done to the data is undone"
    assert outside.words == ["a"], "no cell was run again for that"
    records = [entry.record for entry in turns.journal.entries]
    [withdrawn] = [one for one in records if isinstance(one, AttemptWithdrawn)]
    [loaded] = [one for one in records if isinstance(one, CheckpointLoaded)]
    assert (withdrawn.checkpoint, withdrawn.left, loaded.file) == ("1.checkpoint", (), "1.checkpoint")
    assert len(house.kernels) == 1, "the kernel with the failed cell is ended"


class _Turns:
    """Processes that carry a run out in turn, with kernels that go on and checkpoints. Each record is 10 s later."""

    def __init__(self, house: House, folder: Path) -> None:
        self.journal = _Listed()
        self._house, self._files = house, CheckpointFiles(folder / "checkpoints")
        times = (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=10 * n) for n in itertools.count())
        self._now = lambda: next(times).isoformat()

    async def turn(self, planner: Planner, begins: RunStarted | RunResumed) -> RunState:
        runner = Runner(
            planner=planner,
            kernel=LastingWithCheckpoints(self._house),
            journal=self.journal,
            now=self._now,
            checkpoints=self._files,
        )
        await runner.load()
        await runner.begin(begins)
        async for _ in runner.run():
            pass
        return runner.state


class _Listed(MemoryJournal):
    def __init__(self) -> None:
        super().__init__()
        self.entries: list[Entry] = []

    async def append(self, entries: Sequence[Entry]) -> None:
        await super().append(entries)
        self.entries += entries


@pytest.mark.parametrize("cell", ["a", "fails"])
async def test_a_cell_marked_once_that_was_withdrawn_waits_for_a_persons_word(
    outside: Outside, house: House, cell: str
) -> None:
    def planner(first: str) -> ScriptedPlanner:
        once = run_code(outside.cell("mail", "1/0" if cell == "fails" else ""), metadata={"once": True})
        return one_step([*run_code(first), *once, *run_code("2/0" if first == "x = 1" else "y = 1")])

    journal = await failed(planner("x = 1"), house)
    stopped = await again(planner("x = 2"), journal, house)
    assert isinstance(stopped.entries[-1].record, RunStopped)
    assert "had been executed before the error" in stopped.entries[-1].record.detail
    assert outside.words == ["mail"]
    await again(planner("x = 2"), journal, house, run_once=("cell-2",))
    assert outside.words == ["mail", "mail"]


async def test_a_cell_marked_once_is_taken_over_where_nothing_before_it_differs(outside: Outside, house: House) -> None:
    def planner(last: str) -> ScriptedPlanner:
        return one_step([*run_code(outside.cell("mail"), metadata={"once": True}), *run_code(last)])

    journal = await failed(planner("1/0"), house)
    done = await again(planner("y = 1"), journal, house)
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    assert outside.words == ["mail"]


@pytest.mark.parametrize("value", [1, 2])
async def test_artifacts_stay_with_what_is_taken_over_and_are_made_anew_after_a_difference(
    house: House, value: int
) -> None:
    def planner(*cells: str) -> ScriptedPlanner:
        promotion = Promotion(variable="t", artifact_id="t@v1")
        return one_step(Behavior(run_code(*cells), promotions=[promotion], validate=["w"]))

    journal = await failed(planner("t = 1"), house, policies=Policies(confirm="auto"))
    done = await again(planner(f"t = {value}", "w = 5"), journal, house)
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    assert sorted(cell.metadata.get("artifact_id", "") for cell in done.state.document.cells) == ["", "", "t@v1"]
    assert done.state.kernel.variables == {"t_v1": value, "w": 5}


async def test_headings_keep_their_numbers_and_stand_once(house: House) -> None:
    def planner(last: str) -> ScriptedPlanner:
        heads = [{"action": "new_chapter", "content": "One"}, {"action": "new_section", "content": "Two"}]
        return one_step([*heads, *run_code("a = 1", last), {"action": "new_section", "content": "Three"}])

    journal = await failed(planner("1/0"), house)
    done = await again(planner("b = 2"), journal, house)
    assert done.sources == ["## One", "### Two", "a = 1", "b = 2", "### Three"]
    progress = done.state.planner_context.section_progress
    assert isinstance(progress, SectionProgress)
    assert (progress.current_section_id, progress.completed_sections) == ("section-2", ("section-1",))


async def test_a_change_of_the_plan_that_was_rejected_is_put_forward_again(house: House) -> None:
    change = {"action": "update_stage_steps", "stage_id": "stage", "updated_steps": [{"id": "step"}, {"id": "more"}]}
    planner = one_step([*run_code("a = 1"), change])
    journal = await failed(planner, house, policies=Policies(confirm="reject"))
    done = await again(planner, journal, house, policies=Policies(confirm="auto"))
    assert [stage.id for stage in (done.state.plan.stages[0].steps if done.state.plan else ())] == ["step", "more"]
    assert len(done.records(ActionTakenOver)) == 2
    assert house.ran == ["a = 1"]


async def test_after_a_kill_at_any_moment_of_the_second_attempt_it_finishes_alike(outside: Outside) -> None:
    def planner(last: str) -> ScriptedPlanner:
        return one_step(run_code("a = 1", outside.cell("b"), last))

    for cut in itertools.count(1):
        house = House()
        house.leaves = True
        journal = await failed(planner("1/0"), house)
        before = len([entry async for entry in journal.read()])
        cutting = _Cutting(cut)
        await cutting.append([entry async for entry in journal.read()])
        cutting.armed = True
        try:
            await again(planner("c = 3"), cutting, house)
        except _KilledHere:
            pass
        else:
            break
        cutting.armed = False
        known = len([entry async for entry in cutting.read()])
        done = await again(planner("c = 3"), cutting, house)
        assert done.state.fsm is State.WORKFLOW_COMPLETED, f"cut after {known - before}"
        assert done.sources == ["a = 1", outside.cell("b"), "c = 3"]
        assert house.ran == ["a = 1", outside.cell("b"), "1/0", "c = 3"], f"cut after {known - before}"
    assert cut > 10


class _KilledHere(BaseException):
    """Stands for kill -9: nothing of ours may catch it."""


class _Cutting(MemoryJournal):
    def __init__(self, appends: int) -> None:
        super().__init__()
        self.armed = False
        self._left = appends

    async def append(self, entries: Sequence[Entry]) -> None:
        if self.armed:
            self._left -= 1
            if self._left < 0:
                raise _KilledHere
        await super().append(entries)


async def test_a_journal_of_a_version_that_did_everything_again_is_read_as_it_was_meant(house: House) -> None:
    journal = await failed(one_step(run_code("a = 1", "1/0")), house)
    entries = [entry async for entry in journal.read()]
    add = {"action": "add", "shot_type": "action", "content": "a = 1"}
    moves: Mapping[Event, tuple[State, State]] = {
        Event.START_BEHAVIOR: (State.ERROR, State.BEHAVIOR_RUNNING),
        Event.START_ACTION: (State.BEHAVIOR_RUNNING, State.ACTION_RUNNING),
        Event.FAIL: (State.ACTION_RUNNING, State.ERROR),
    }

    def move(event: Event) -> Transitioned:
        return Transitioned(source=moves[event][0], event=event, to=moves[event][1])

    written: list[Record] = [
        RunResumed(),
        move(Event.START_BEHAVIOR),
        ActionReceived(action_id="action-5", index=0, action=add),
        move(Event.START_ACTION),
        ActionCompleted(
            action_id="action-5",
            action="add",
            success=True,
            cells=(CellChange(cell_id="cell-3", added=CellType.CODE, source="a = 1"),),
        ),
    ]
    more = [Entry(len(entries) + n, "2026-01-01T00:00:00Z", one) for n, one in enumerate(written, 1)]
    state = fold([*entries, *more])
    assert [cell.id for cell in state.document.cells] == ["cell-1", "cell-2", "cell-3"]
    assert not state.behavior.former_left
    assert state.behavior.start is not None
    assert [cell.id for cell in state.behavior.start.document.cells] == ["cell-1", "cell-2"]
