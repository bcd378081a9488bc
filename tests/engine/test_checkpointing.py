"""The namespace of a kernel that is gone comes back from a checkpoint: only the cells after it are run again."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engine.play import AUTO, run_code, scripted, workflow
from notebook_bcc.engine.checkpointing import SHARE_OF_TIME
from notebook_bcc.engine.runner import Runner
from notebook_bcc.engine.state import elapsed
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import (
    ActionCompleted,
    CellRerun,
    CheckpointLoaded,
    CheckpointRejected,
    CheckpointSaved,
    CheckpointSkipped,
    KernelRebuilt,
    OnceBegun,
    RecordBase,
    RunResumed,
    RunStarted,
    RunStopped,
)
from notebook_bcc.kernel.checkpoint_files import CheckpointFiles
from notebook_bcc.kernel.interface import Execution, Kernel, SavedCheckpoint
from notebook_bcc.kernel.local.kernel import LocalKernel
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.planners.script.values import Behavior

pytestmark = pytest.mark.anyio


def steps(*behaviors: Sequence[dict[str, Any]]) -> ScriptedPlanner:
    """A planner whose steps have one behavior each."""
    names = [f"step-{number}" for number in range(1, len(behaviors) + 1)]
    return scripted(
        workflow(*names), {name: [Behavior(actions=one)] for name, one in zip(names, behaviors, strict=True)}
    )


class Cut(MemoryJournal):
    """Takes nothing more after the record of that kind and number: there the process was killed."""

    def __init__(self) -> None:
        super().__init__()
        self.until: tuple[type[RecordBase], int] | None = None

    async def append(self, entries: Sequence[Entry]) -> None:
        if self.until is not None and self.until[1] <= 0:
            await asyncio.Event().wait()
        await super().append(entries)
        if self.until is not None:
            kind, count = self.until
            self.until = kind, count - len(of(entries, kind))


class Turns:
    """One journal and one folder, and the processes that carry the run out in turn. Each record is `tick` s later."""

    def __init__(self, planner: ScriptedPlanner, folder: Path, *, tick: float = 10.0) -> None:
        self.planner, self.files, self.journal = planner, CheckpointFiles(folder / "checkpoints"), Cut()
        times = (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=tick * n) for n in itertools.count())
        self._now = lambda: next(times).isoformat()
        self.runner: Runner | None = None

    async def turn(
        self, kernel: Kernel, *, until: tuple[type[RecordBase], int] | None = None, **resume: Any
    ) -> list[Entry]:
        """Carry the run out, or up to that record of that kind: the process ends there without a word."""
        self.journal.until = None
        self.runner = runner = Runner(
            planner=self.planner, kernel=kernel, journal=self.journal, now=self._now, checkpoints=self.files
        )
        await runner.load()
        begun = RunResumed(**resume) if runner.state.seq else RunStarted(run_id="run", policies=AUTO)
        entries = [await runner.begin(begun)]
        self.journal.until = until
        running = runner.run()
        async for entry in running:
            entries.append(entry)
            if until is not None and len(of(entries, until[0])) >= until[1]:
                break
        await running.aclose()
        return entries

    @property
    def last(self) -> Runner:
        assert self.runner is not None
        return self.runner


def of(entries: Sequence[Entry], kind: Any) -> list[Any]:
    return [entry.record for entry in entries if isinstance(entry.record, kind)]


def effect(path: Path, word: str) -> str:
    return f"with open({str(path)!r}, 'a') as f:\n    _ = f.write({word!r})\n{word} = {word!r}"


async def test_after_the_death_of_a_kernel_only_the_cells_after_the_checkpoint_run_again(tmp_path: Path) -> None:
    effects = tmp_path / "effects"
    turns = Turns(
        steps(
            run_code(effect(effects, "a"), "def g(): return a"),
            run_code(effect(effects, "b")),
            run_code(effect(effects, "c"), "print(a + b + c, g())"),
        ),
        tmp_path,
    )
    kernel = LocalKernel(cwd=tmp_path)
    try:
        # Two actions a cell: the last one that is written is the execution of the fourth.
        await turns.turn(kernel, until=(ActionCompleted, 8))
        assert kernel.pid is not None
        os.kill(kernel.pid, signal.SIGKILL)
        await kernel.close()
        entries = await turns.turn(kernel)
    finally:
        await kernel.close()
    assert effects.read_text() == "abcc"
    (loaded,) = of(entries, CheckpointLoaded)
    assert (loaded.cells, loaded.of) == (3, 4)
    (rebuilt,) = of(entries, KernelRebuilt)
    assert (rebuilt.loaded, rebuilt.cells, rebuilt.differences) == (3, 1, ())
    cell = list(turns.last.state.document.cells)[-1]
    assert (cell.outputs[0]["text"], cell.execution_count) == ("abc a\n", 5)
    assert len(list(turns.files.folder.iterdir())) == 2
    assert turns.files.folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in turns.files.folder.iterdir()} == {0o600}


async def test_a_resume_loads_the_newest_checkpoint_and_runs_nothing_before_it_again(tmp_path: Path) -> None:
    turns = Turns(steps(run_code("x = 1"), run_code("y = x + 1"), run_code("print(x + y)")), tmp_path)
    await turns.turn(ScriptedKernel(), until=(CheckpointSaved, 2))
    kernel = ScriptedKernel()
    entries = await turns.turn(kernel)
    assert kernel.executed == ["print(x + y)"]
    assert list(turns.last.state.document.cells)[-1].outputs[0]["text"] == "3\n"
    assert not of(entries, CellRerun)


@pytest.mark.parametrize("spoilt", ["gone", "changed"])
async def test_where_the_newest_does_not_load_the_one_before_is_taken(tmp_path: Path, spoilt: str) -> None:
    turns = Turns(steps(run_code("x = 1"), run_code("y = x + 1"), run_code("print(x + y)")), tmp_path)
    entries = await turns.turn(ScriptedKernel(), until=(CheckpointSaved, 2))
    newest = turns.files.folder / of(entries, CheckpointSaved)[-1].file
    if spoilt == "gone":
        newest.unlink()
    else:
        newest.write_bytes(newest.read_bytes() + b"!")
    kernel = ScriptedKernel()
    entries = await turns.turn(kernel)
    assert len(of(entries, CheckpointRejected)) == 1
    assert kernel.executed == ["y = x + 1", "print(x + y)"]


async def test_a_checkpoint_that_lacks_a_name_which_a_later_cell_uses_counts_as_none(tmp_path: Path) -> None:
    lock = "import threading\nlock = threading.Lock()"
    turns = Turns(steps(run_code(lock), run_code("x = 1"), run_code("y = 2"), run_code("print(lock)")), tmp_path)
    await turns.turn(ScriptedKernel(), until=(CheckpointSaved, 2))
    kernel = ScriptedKernel()
    entries = await turns.turn(kernel)
    # It is loaded for the cell that does not use the name, and not for the one that does.
    assert [record.cells for record in of(entries, CheckpointLoaded)] == [2]
    assert kernel.executed == ["y = 2", lock, "x = 1", "y = 2", "print(lock)"]
    assert {record.reason for record in of(entries, CheckpointRejected)} == {"it lacks 'lock', which a later cell uses"}
    assert turns.last.state.kernel.missing == ()


async def test_where_a_cell_fails_after_a_checkpoint_all_cells_are_run_again(tmp_path: Path) -> None:
    turns = Turns(steps(run_code("f = {'n': (i for i in 'ab')}", "h = [f]"), [*run_code("x = 1", "y = x")]), tmp_path)
    await turns.turn(ScriptedKernel(), until=(CheckpointSaved, 1))
    assert turns.last.state.checkpoints.saved[0].unsaved.keys() == {"f", "h"}
    kernel = ScriptedKernel(dies_at={2})
    entries = await turns.turn(kernel)
    assert of(entries, KernelRebuilt)[-1].loaded == 2


class Slow(ScriptedKernel):
    """Saving takes so many seconds, as it says."""

    seconds = 2.0

    async def save_checkpoint(self, path: str, *, seconds: float) -> SavedCheckpoint:
        if self.seconds > seconds:
            return SavedCheckpoint(problem="it takes longer than it may", seconds=seconds)
        return SavedCheckpoint(digest="0", seconds=self.seconds)


async def test_checkpoints_cost_at_most_a_twentieth_of_the_time(tmp_path: Path) -> None:
    turns = Turns(steps(*(run_code(f"x = {number}") for number in range(12))), tmp_path, tick=1.0)
    entries = await turns.turn(Slow())
    state = turns.last.state
    assert state.checkpoints.spent <= SHARE_OF_TIME * elapsed(state) + 1e-9
    assert 1 <= len(of(entries, CheckpointSaved)) + len(of(entries, CheckpointSkipped)) < 12


async def test_without_time_for_it_nothing_is_saved(tmp_path: Path) -> None:
    turns = Turns(steps(run_code("x = 1"), run_code("y = 1")), tmp_path, tick=0.0)
    entries = await turns.turn(ScriptedKernel())
    assert not of(entries, CheckpointSaved)
    assert not of(entries, CheckpointSkipped)


async def test_other_versions_of_packages_are_no_reason_to_load(tmp_path: Path) -> None:
    kernel, path = ScriptedKernel(), str(tmp_path / "one.checkpoint")
    await kernel.start()
    await kernel.execute("from decimal import Decimal\nx = Decimal(1)")
    saved = await kernel.save_checkpoint(path, seconds=10)
    await kernel.restart()
    other = {**saved.versions, "python": "2.7.18"}
    loaded = await kernel.load_checkpoint(path, digest=saved.digest, versions=other)
    assert loaded.problem.startswith("it was made with python 2.7.18")


def marked(source: str, cell_id: str = "send") -> list[dict[str, Any]]:
    add = {"action": "add", "shot_type": "action", "content": source, "store_id": cell_id, "metadata": {"once": True}}
    return [add, {"action": "exec", "codecell_id": cell_id, "auto_debug": True}]


async def test_a_cell_marked_once_is_loaded_and_not_executed_again(tmp_path: Path) -> None:
    turns = Turns(steps(marked("sent = 1"), run_code("print(sent)")), tmp_path)
    await turns.turn(ScriptedKernel(), until=(CheckpointSaved, 1))
    kernel = ScriptedKernel()
    await turns.turn(kernel)
    assert kernel.executed == ["print(sent)"]


async def test_a_cell_marked_once_that_no_checkpoint_has_stops_the_run(tmp_path: Path) -> None:
    turns = Turns(steps(marked("sent = 1"), run_code("print(sent)")), tmp_path)
    await turns.turn(ScriptedKernel(), until=(CheckpointSaved, 1))
    turns.files.remove()
    kernel = ScriptedKernel()
    entries = await turns.turn(kernel)
    assert kernel.executed == []
    assert "--run-once send" in of(entries, RunStopped)[-1].detail
    entries = await turns.turn(kernel, run_once=("send",))
    assert kernel.executed == ["sent = 1", "print(sent)"]
    assert of(entries, RunStopped)[-1].reason == "completed"


class Stuck(ScriptedKernel):
    """A cell of it never ends."""

    async def execute(self, source: str, **_: Any) -> Execution:
        await asyncio.Event().wait()
        raise AssertionError


async def test_a_cell_marked_once_that_was_under_way_is_not_begun_again(tmp_path: Path) -> None:
    turns = Turns(steps(marked("sent = 1")), tmp_path)
    await turns.turn(Stuck(), until=(OnceBegun, 1))
    kernel = ScriptedKernel()
    entries = await turns.turn(kernel)
    assert kernel.executed == []
    assert "was under way" in of(entries, RunStopped)[-1].detail
    await turns.turn(kernel, run_once=("send",))
    assert kernel.executed == ["sent = 1"]
