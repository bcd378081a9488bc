"""What the planner with a language model costs beside the model.

Overhead: a run with a model in this process that answers at once, the kernel's double, the journal in memory. The CPU
that is spent inside the planner (prompts, reading the answer, judging) is divided by the actions it gave out.

Start: a model behind HTTP in a process of its own, its vendor's library, the engine with its journal on disk, and a
real kernel. From the moment before the closing brace of a cell is sent until its first statement runs, and until the
cell is handed to the kernel; what lies between these two is the kernel's own time. For information, without a limit.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import IO

from benchmarks.harness import Bench, Row, peer_missing
from notebook_bcc.engine.runner import Runner
from notebook_bcc.engine.state import RunState
from notebook_bcc.journal.interface import Journal
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import RunStarted
from notebook_bcc.journal.sqlite.journal import SqliteJournal
from notebook_bcc.kernel.interface import Execution, Kernel
from notebook_bcc.kernel.local.kernel import LocalKernel
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.llm.chat import ChatModel, Schema
from notebook_bcc.llm.client import Account, Asker
from notebook_bcc.llm.planner import LlmPlanner
from notebook_bcc.llm.prompt.files import read_prompts
from notebook_bcc.llm.providers.names import Access, parse_model
from notebook_bcc.llm.providers.prices import read_prices
from notebook_bcc.llm.providers.registry import open_model
from notebook_bcc.planners.interface import Generated, Planner
from notebook_bcc.planners.model_exchange import ChatMessage, Usage
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.actions import LAST_ADDED_CELL
from notebook_bcc.protocol.cells import Output
from notebook_bcc.protocol.limits import Budget, Limits
from notebook_bcc.protocol.messages import PlanningResponse, Request
from notebook_bcc.protocol.workflow import Stage, Step, Workflow

BEHAVIORS = 60
LIMIT_MS = 5.0
PLAN = Workflow(name="bench", stages=(Stage(id="stage", steps=(Step(id="step", goal="all of it"),)),))
PIECE = 16
_START = "from the model's closing brace until the first statement of its cell runs"


def beside_the_model(bench: Bench) -> list[Row]:
    overhead = [asyncio.run(_overhead()) for _ in range(bench.rounds)]
    rows = [
        _row("overhead of the planner per action, model time excluded (CPU)", [one[0] for one in overhead]),
        _row("the same, of a whole behavior with its judgement (CPU)", [one[1] for one in overhead], limit=None),
    ]
    missing = peer_missing("openai")
    if missing is not None:
        return [*rows, Row(gate="LLM", what=_START, unit="ms", ours=None, missing=missing)]
    moments: list[tuple[float, float]] = []
    for number in range(bench.rounds):
        with _model_process() as lines:
            moments += asyncio.run(_starts(bench.folder / f"llm-{number}.sqlite", lines))
    handed, running = zip(*moments, strict=True)
    return [
        *rows,
        _row(_START, running, limit=None),
        _row("of this, until the cell is handed to the kernel", handed, limit=None),
    ]


def _row(what: str, values: Sequence[float], *, limit: float | None = 1.0) -> Row:
    """The median beside the limit; the slowest twentieth is in the note."""
    median = statistics.median(values)
    late = statistics.quantiles(values, n=20)[-1] if len(values) > 1 else median
    return Row(
        gate="LLM",
        what=what,
        unit="ms",
        ours=median,
        peer=LIMIT_MS if limit else None,
        peer_name="the limit" if limit else "",
        ratio=median / LIMIT_MS if limit else None,
        limit=limit,
        note=f"median of {len(values)}; best {min(values):.2f} ms, 95 of 100 within {late:.2f} ms",
    )


class _Instant:
    """A model in this process that answers at once: a text and three cells."""

    name = "instant:model"

    def __init__(self) -> None:
        self.spent = 0.0
        self._asked = 0

    async def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: Schema | None = None,
        max_tokens: int,
        temperature: float | None = None,
        timeout: float,
    ) -> AsyncIterator[str | Usage]:
        begin = time.process_time()
        if schema is not None and "achieved" in json.dumps(schema):
            answer = json.dumps({"achieved": True, "reason": "it exists", "focus": "Go on."})
        else:
            self._asked += 1
            answer = _written(self._asked)
        for at in range(0, len(answer), PIECE):
            piece = answer[at : at + PIECE]
            self.spent += time.process_time() - begin
            yield piece
            begin = time.process_time()
        self.spent += time.process_time() - begin
        yield Usage(100, 100, schema=True)

    async def close(self) -> None:
        """There is nothing to release."""


class _Timed:
    """Passes everything on and adds up the CPU that was spent behind it."""

    name = "timed"

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self.spent = 0.0
        self.actions = 0

    async def plan(self, request: Request) -> PlanningResponse:
        with self._counted():
            return await self._planner.plan(request)

    async def generate(self, request: Request, *, fallback: bool = False) -> AsyncIterator[Generated]:
        async with aclosing(self._planner.generate(request, fallback=fallback)) as items:  # type: ignore[type-var]
            while True:
                with self._counted():
                    item = await anext(items, None)
                if item is None:
                    return
                self.actions += 1
                yield item

    async def repair(self, request: Request) -> str | None:
        with self._counted():
            return await self._planner.repair(request)

    async def close(self) -> None:
        await self._planner.close()

    @contextmanager
    def _counted(self) -> Iterator[None]:
        begin = time.process_time()
        yield
        self.spent += time.process_time() - begin


class _Stamped(LocalKernel):
    """Remembers when each cell was handed over."""

    def __init__(self) -> None:
        super().__init__()
        self.moments: list[float] = []

    async def execute(
        self, source: str, *, time_limit: float | None = None, on_output: Callable[[Output], None] | None = None
    ) -> Execution:
        self.moments.append(time.time())
        return await super().execute(source, time_limit=time_limit, on_output=on_output)


async def _overhead() -> tuple[float, float]:
    """Milliseconds for an action, and for a behavior."""
    model = _Instant()
    planner = _Timed(_planner(model, judged=True))
    await _carried_out(planner, ScriptedKernel(), MemoryJournal())
    spent = (planner.spent - model.spent) * 1e3
    return spent / planner.actions, spent / BEHAVIORS


@contextmanager
def _model_process() -> Iterator[IO[str]]:
    """A fresh model, and what its process says."""
    command = [sys.executable, "-m", "benchmarks.llm_process"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout
        finally:
            process.kill()


async def _starts(path: Path, lines: IO[str]) -> list[tuple[float, float]]:
    """For each cell: milliseconds from its closing brace until it was handed over, and until it ran."""
    model = open_model(Access(parse_model(f"{lines.readline().strip()}/v1#m")))
    kernel, journal = _Stamped(), SqliteJournal.create(path)
    try:
        await kernel.start()
        state = await _carried_out(_planner(model, judged=False), kernel, journal)
    finally:
        await kernel.close()
        await journal.close()
        await model.close()
    braces = [float(lines.readline()) for _ in range(BEHAVIORS)]
    printed = ["".join(str(output.get("text", "")) for output in cell.outputs) for cell in state.document.cells]
    begun = [float(text) for text in printed if text]
    moments = zip(braces, kernel.moments, begun, strict=True)
    return [((given - brace) * 1e3, (ran - brace) * 1e3) for brace, given, ran in moments]


async def _carried_out(planner: Planner, kernel: Kernel, journal: Journal) -> RunState:
    runner = Runner(planner=planner, kernel=kernel, journal=journal)
    started = RunStarted(run_id="bench", workflow=PLAN, limits=Limits(behaviors_per_step=0), planner=planner.name)
    await runner.begin(started)
    async for _ in runner.run():
        pass
    stopped = runner.state.stopped
    if stopped is None or stopped.reason != "completed":
        raise AssertionError(f"the run was not completed: {stopped}")
    return runner.state


def _planner(model: ChatModel, *, judged: bool) -> LlmPlanner:
    account = Account(budget=Budget(), prices=read_prices())
    asker = Asker(model, account, timeout=60.0)
    guide = ScriptedPlanner(PLAN, {("stage", "step"): [_behavior(number + 1) for number in range(BEHAVIORS)]})
    return LlmPlanner(
        guide=guide, generating=asker, planning=asker if judged else None, prompts=read_prompts(), fallback="stop"
    )


def _behavior(number: int) -> Behavior:
    source = f"value_{number} = {number}"
    actions = [
        {"action": "add", "shot_type": "action", "content": source},
        {"action": "exec", "codecell_id": LAST_ADDED_CELL},
    ]
    return Behavior(actions=actions, expected=(f"value_{number}",), goal=f"Set value {number}.")


def _written(number: int) -> str:
    cells = [f"part_{number}_{part} = {part}" for part in range(2)] + [f"value_{number} = {number}"]
    text = {"kind": "text", "content": f"Now value {number} is set, in three cells."}
    return json.dumps({"actions": [text, *({"kind": "code", "content": source} for source in cells)]})
