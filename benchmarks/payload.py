"""How many bytes a Generating request has, by the length of the notebook. Nothing is timed.

The plan is the same for every length, and the request weighed is the last one that leads to cells: a longer notebook
means that the run is further on. In the hardest shape everything happens in a single step, far beyond the 30 behaviors
that a step may have by default.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from benchmarks.harness import Bench, Row
from notebook_bcc.engine.runner import Runner
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import RunStarted
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.planners.interface import Generated
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.planners.script.values import Behavior, ScriptedAction
from notebook_bcc.protocol.actions import LAST_ADDED_CELL
from notebook_bcc.protocol.limits import Limits, Policies
from notebook_bcc.protocol.messages import ContextFilter, EffectsConfig, Request
from notebook_bcc.protocol.vocabulary import Level
from notebook_bcc.protocol.workflow import Stage, Step, Workflow

Detail = Literal["summary", "cells"]

LENGTHS = (10, 100, 1_000)
LIMIT = 1.1
VARIABLES = 20
# What a planner that writes code may ask for: two variables, the newest effects, its own level.
FILTER = ContextFilter(
    variables_to_include=("value_00", "value_01"),
    effects_config=EffectsConfig(current_limit=5, history_limit=0),
    focus_to_include=(Level.BEHAVIORS,),
)


@dataclass(frozen=True, slots=True)
class Shape:
    """A plan of equal parts. Behaviors that the notebook's length leaves no cells for are empty."""

    name: str
    stages: int
    steps: int
    behaviors: int
    cells: int


USUAL = Shape("", stages=10, steps=4, behaviors=5, cells=5)
ONE_STEP = Shape("all in one step, ", stages=1, steps=1, behaviors=100, cells=10)


def sizes(bench: Bench) -> list[Row]:
    """One row for each length, detail and filter; the limit is on the longest of the usual shape, told in summary."""
    return [
        *_rows(USUAL, "summary", LIMIT),
        *_rows(USUAL, "cells", None),
        *_rows(ONE_STEP, "summary", None),
    ]


def _rows(shape: Shape, detail: Detail, limit: float | None) -> Iterator[Row]:
    for wanted, said in ((None, "no filter"), (FILTER, "with a filter")):
        measured = {cells: float(weigh(cells, shape, detail=detail, wanted=wanted)) for cells in LENGTHS}
        for cells, size in measured.items():
            what = f"Generating request, {shape.name}notebook_detail={detail}, {said}, {cells:,} cells"
            row = Row(gate="payload", what=what, unit="bytes", ours=size)
            if cells == LENGTHS[-1]:
                shorter = LENGTHS[-2]
                peer = measured[shorter]
                name = f"{shorter} cells"
                row = replace(row, peer=peer, peer_name=name, ratio=size / peer, limit=limit)
            yield row


def weigh(cells: int, shape: Shape, *, detail: Detail, wanted: ContextFilter | None) -> int:
    """Bytes of the last Generating request before the notebook has that many cells."""
    return asyncio.run(_weigh(cells, shape, detail, wanted))


async def _weigh(cells: int, shape: Shape, detail: Detail, wanted: ContextFilter | None) -> int:
    plan = _plan(shape)
    planner = Weighing(plan, _script(plan, shape, cells, wanted))
    runner = Runner(planner=planner, kernel=ScriptedKernel(), journal=MemoryJournal())
    policies = Policies(confirm="auto", notebook_detail=detail)
    limits = Limits(behaviors_per_step=0)
    await runner.begin(RunStarted(run_id="payload", workflow=plan, policies=policies, limits=limits))
    async for _ in runner.run():
        if len(runner.state.document.cells) == cells:
            break
    else:
        raise AssertionError(f"the run ended before it had {cells} cells: {runner.state.stopped}")
    return planner.weight


class Weighing(ScriptedPlanner):
    """Remembers how many bytes the newest Generating request has on the wire."""

    weight = 0

    async def generate(self, request: Request, *, fallback: bool = False) -> AsyncIterator[Generated]:
        self.weight = len(request.to_json())
        async for item in super().generate(request, fallback=fallback):
            yield item


def _plan(shape: Shape) -> Workflow:
    stages = [
        Stage(
            id=f"stage-{stage}",
            goal="a part of the work",
            steps=tuple(Step(id=f"step-{stage}-{step}", goal="look at it") for step in range(shape.steps)),
        )
        for stage in range(shape.stages)
    ]
    return Workflow(name="payload", stages=tuple(stages))


def _script(
    plan: Workflow, shape: Shape, cells: int, wanted: ContextFilter | None
) -> dict[tuple[str, str], Sequence[Behavior]]:
    numbers = iter(range(cells))
    script: dict[tuple[str, str], Sequence[Behavior]] = {}
    for stage in plan.stages:
        for step in stage.steps:
            parts = [list(itertools.islice(numbers, shape.cells)) for _ in range(shape.behaviors)]
            script[stage.id, step.id] = [
                Behavior(actions=_actions(part), goal="write cells", focus="the columns", context_filter=wanted)
                for part in parts
            ]
    return script


def _actions(numbers: Sequence[int]) -> list[ScriptedAction]:
    """Cells that set one of a few variables and print a line of about 130 characters."""
    actions: list[ScriptedAction] = []
    for number in numbers:
        source = f"value_{number % VARIABLES:02d} = {number}\nprint('row', {number}, '{'-' * 120}')"
        actions.append({"action": "add", "shot_type": "action", "content": source})
        actions.append({"action": "exec", "codecell_id": LAST_ADDED_CELL})
    return actions
