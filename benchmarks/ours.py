"""Our side of every comparison: the product's own rooms, put together as the product does."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

from benchmarks.harness import Figures, all_cpu_seconds, stopwatch
from benchmarks.jupyter_peers import SOURCE
from benchmarks.langgraph_peer import entry as kilobyte
from benchmarks.langgraph_peer import size_of
from notebook_bcc.engine.runner import Runner
from notebook_bcc.engine.state import RunState
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import ActionCompleted, KernelStarted, RunStarted
from notebook_bcc.journal.sqlite.journal import SqliteJournal
from notebook_bcc.kernel.local.kernel import LocalKernel
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.lifecycle.factories import RunFactories
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.lifecycle.session import Interaction, session_of
from notebook_bcc.planners.interface import Planner
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.actions import LAST_ADDED_CELL
from notebook_bcc.protocol.limits import Limits
from notebook_bcc.protocol.specs import PlannerSpec
from notebook_bcc.protocol.workflow import Stage, Step, Workflow
from notebook_bcc.wiring import journals, make_contents, make_registry

ACTIONS_PER_BEHAVIOR = 20
PLAN = Workflow(name="bench", stages=(Stage(id="stage", steps=(Step(id="step", goal="all of it"),)),))
# The only limit that a long benchmark would meet.
LIMITS = Limits(behaviors_per_step=0)

ActionJson = dict[str, Any]  # Any: an action as a planner sends it


def kernel_cells(count: int, *, lean: bool = True) -> Figures:
    """The kernel alone. In ms: `ready`, `start` until the first cell is answered, one `cell` of `count`, `cpu`."""
    begin = all_cpu_seconds()
    figures = asyncio.run(_kernel_cells(count, lean=lean))
    figures["cpu"] = (all_cpu_seconds() - begin) * 1e3
    return figures


async def _kernel_cells(count: int, *, lean: bool) -> dict[str, float]:
    kernel = LocalKernel(lean=lean)
    figures: dict[str, float] = {}
    begin = time.perf_counter()
    try:
        await kernel.start()
        figures["ready"] = (time.perf_counter() - begin) * 1e3
        last = await kernel.execute(SOURCE)
        figures["start"] = (time.perf_counter() - begin) * 1e3
        if "x" not in last.variables.updated:
            raise AssertionError("the kernel did not list its variables")
        if count:
            with stopwatch(figures, "cell", per=count):
                for _ in range(count):
                    last = await kernel.execute(SOURCE)
    finally:
        await kernel.close()
    if last.execution_count != count + 1:
        raise AssertionError("our kernel did not run every cell")
    return figures


def runtime_cells(count: int, folder: Path, *, lean: bool = True) -> Figures:
    """Add and run `count` cells through the whole runtime, with the journal and the notebook on disk.

    In ms: a `cell`, from the first question to the planner until the journal is synced and the notebook written,
    without the kernel's start; `whole` with it; `cpu` of everything with the kernel.
    """
    begin = all_cpu_seconds()
    with tempfile.TemporaryDirectory(dir=folder) as place:
        run = RunFolder(Path(place))
        done = asyncio.run(_in_session(_cells(count), SqliteJournal.create(run.journal), run, lean=lean))
        if not run.notebook.stat().st_size:
            raise AssertionError("the notebook was not written")
    cells = list(done.state.document.cells)
    if len(cells) != count or cells[-1].execution_count != count or done.state.kernel.variables != {"x": 1}:
        raise AssertionError("our runtime did not run every cell")
    return {
        "cell": (done.wall - done.kernel_start) * 1e3 / count,
        "cell_cpu": done.cpu * 1e3 / count,
        "whole": done.whole * 1e3,
        "cpu": (all_cpu_seconds() - begin) * 1e3,
    }


def runtime_adds(steps: int, folder: Path, *, sync_every_append: bool = False) -> Figures:
    """Add `steps` cells of one kilobyte, the journal on disk, the notebook in memory. `step` in ms, `bytes` on disk."""
    path = folder / "journal.sqlite"
    journal = (StrictJournal if sync_every_append else SqliteJournal).create(path)
    done = asyncio.run(_bare(_adds(steps), journal))
    if len(done.state.document.cells) != steps:
        raise AssertionError("our runtime did not add every cell")
    return {"step": done.wall * 1e3 / steps, "step_cpu": done.cpu * 1e3 / steps, "bytes": float(size_of(path))}


def long_run(kind: str, count: int, folder: Path) -> Figures:
    """One long run. In ms, wall and CPU: an action in the `first` and in the `last` tenth; the depths of the stack."""
    run = RunFolder(folder)
    journal = WatchedJournal.create(run.journal)
    planner = _adds(count) if kind == "add" else _cells(count)
    done = asyncio.run(_in_session(planner, journal, run, lean=True))
    if len(done.state.document.cells) != count:
        raise AssertionError("our runtime did not carry out every action")
    moments, spent, depths = journal.moments, journal.spent, journal.depths
    tenth = len(moments) // 10
    return {
        # From the third action on: after the first one the kernel may start.
        "first": (moments[tenth + 2] - moments[2]) * 1e3 / tenth,
        "last": (moments[-1] - moments[-tenth - 1]) * 1e3 / tenth,
        "first_cpu": (spent[tenth + 2] - spent[2]) * 1e3 / tenth,
        "last_cpu": (spent[-1] - spent[-tenth - 1]) * 1e3 / tenth,
        "depth_first": float(max(depths[:tenth])),
        "depth_last": float(max(depths[-tenth:])),
        "seconds": done.wall,
    }


class StrictJournal(SqliteJournal):
    """As strict as the peer: nothing goes on before the disk has it. Not how the product runs."""

    async def append(self, entries: Sequence[Entry]) -> None:
        await super().append(entries)
        await self.sync()


class WatchedJournal(SqliteJournal):
    """Remembers when each action was completed and how deep the stack was then."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.moments: list[float] = []
        self.spent: list[float] = []
        self.depths: list[int] = []

    async def append(self, entries: Sequence[Entry]) -> None:
        await super().append(entries)
        # Actions are written in groups: those of one group count as completed at the same moment.
        now, spent, depth = time.perf_counter(), time.process_time(), _stack_depth()
        for _ in [entry for entry in entries if isinstance(entry.record, ActionCompleted)]:
            self.moments.append(now)
            self.spent.append(spent)
            self.depths.append(depth)


def _stack_depth() -> int:
    frame: FrameType | None = sys._getframe(1)
    depth = 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


@dataclass(frozen=True, slots=True)
class Done:
    """A run that is over. Seconds; `cpu` is this process's; `whole` has the kernel's and the journal's end in it."""

    state: RunState
    wall: float
    cpu: float
    kernel_start: float = 0.0
    whole: float = 0.0


async def _in_session(planner: ScriptedPlanner, journal: SqliteJournal, run: RunFolder, *, lean: bool) -> Done:
    """One run as `nbcc run` carries it out: kernel, journal, notebook saved while it goes on and at its end."""

    async def given(spec: PlannerSpec | None, folder: RunFolder) -> Planner:
        return planner

    factories = RunFactories(
        make_kernel=lambda spec, *, cwd, output_bytes: LocalKernel(name=spec.name, cwd=cwd, lean=lean),
        make_planner=given,
        journals=journals(),
        make_contents=make_contents,
        make_registry=make_registry,
        now=lambda: datetime.now(UTC),
    )
    run.work.mkdir()
    interaction = Interaction(person=None, warn=_refuse)
    first, kernel_start = _first_record(planner), 0.0
    begin = before = time.perf_counter()
    cpu = time.process_time()
    async with session_of(run, journal, first, factories=factories, interaction=interaction) as session:
        await session.begin(first)
        async for entry in session.entries():
            if isinstance(entry.record, KernelStarted):
                kernel_start += time.perf_counter() - before
            before = time.perf_counter()
        wall, cpu = time.perf_counter() - begin, time.process_time() - cpu
    whole = time.perf_counter() - begin
    _check_completed(session.state)
    return Done(state=session.state, wall=wall, cpu=cpu, kernel_start=kernel_start, whole=whole)


async def _bare(planner: ScriptedPlanner, journal: SqliteJournal) -> Done:
    """One run without a kernel and without a notebook file: engine and journal, which is synced at the end."""
    begin, cpu = time.perf_counter(), time.process_time()
    runner = Runner(planner=planner, kernel=ScriptedKernel(), journal=journal)
    await runner.begin(_first_record(planner))
    async for _ in runner.run():
        pass
    await journal.sync()
    wall, cpu = time.perf_counter() - begin, time.process_time() - cpu
    await journal.close()
    _check_completed(runner.state)
    return Done(state=runner.state, wall=wall, cpu=cpu)


def _first_record(planner: ScriptedPlanner) -> RunStarted:
    return RunStarted(run_id="bench", workflow=PLAN, limits=LIMITS, planner=planner.name)


def _check_completed(state: RunState) -> None:
    if state.stopped is None or state.stopped.reason != "completed" or state.behavior.errors:
        raise AssertionError(f"the run was not completed: {state.stopped}")


def _refuse(message: str) -> None:
    raise AssertionError(message)


def _adds(count: int) -> ScriptedPlanner:
    return _planner([_add(kilobyte(number), shot_type="dialogue") for number in range(count)])


def _cells(count: int) -> ScriptedPlanner:
    run: ActionJson = {"action": "exec", "codecell_id": LAST_ADDED_CELL}
    return _planner([action for _ in range(count) for action in (_add(SOURCE, shot_type="action"), run)])


def _add(content: str, *, shot_type: str) -> ActionJson:
    return {"action": "add", "shot_type": shot_type, "content": content}


def _planner(actions: Sequence[ActionJson]) -> ScriptedPlanner:
    """The actions in behaviors of the usual length: at the end of each the planner is asked and the notebook saved."""
    size = ACTIONS_PER_BEHAVIOR
    parts = [actions[start : start + size] for start in range(0, len(actions), size)]
    return ScriptedPlanner(PLAN, {("stage", "step"): [Behavior(actions=part) for part in parts]})
