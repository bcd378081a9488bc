"""Carry out small runs with the shipped doubles, and keep what planner and journal saw."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from notebook_bcc.engine.actions.registry import ActionRegistry
from notebook_bcc.engine.confirmation import Person
from notebook_bcc.engine.planner_session import Asking
from notebook_bcc.engine.reward import Reward
from notebook_bcc.engine.runner import Runner
from notebook_bcc.engine.state import RunState
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import Record, RecordBase, RunResumed, RunStarted, Transitioned
from notebook_bcc.kernel.interface import Kernel
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.planners.interface import Generated, JudgesBeside, Planner
from notebook_bcc.planners.model_exchange import AsksModels, ModelExchange
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.planners.script.values import Behavior, StepScript
from notebook_bcc.protocol.limits import Budget, Limits, Policies, Spent
from notebook_bcc.protocol.messages import PlanningResponse, Request
from notebook_bcc.protocol.workflow import Workflow

AUTO = Policies(confirm="auto")
SKIP = Policies(confirm="auto", on_unachieved="skip")
IMPATIENT = Asking(retries=2, first_delay=0.0)
R = TypeVar("R", bound=RecordBase)


def workflow(*steps: str | dict[str, Any], stage: str = "stage") -> Workflow:
    """A plan of one stage."""
    listed = [step if isinstance(step, dict) else {"id": step} for step in steps]
    return Workflow.parse({"name": "test", "stages": [{"id": stage, "steps": listed}]})


def run_code(*sources: str, **more: Any) -> list[dict[str, Any]]:
    """Code cells, each added and executed."""
    return [
        action
        for source in sources
        for action in (
            {"action": "add", "shot_type": "action", "content": source},
            {"action": "exec", "codecell_id": "lastAddedCellId", **more},
        )
    ]


class Overheard:
    """A planner that passes everything on and remembers what it was asked."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self.planned: list[Request] = []
        self.generated: list[tuple[Request, bool]] = []
        self.repaired: list[Request] = []

    @property
    def name(self) -> str:
        return self._planner.name

    async def plan(self, request: Request) -> PlanningResponse:
        self.planned.append(request)
        return await self._planner.plan(request)

    async def generate(self, request: Request, *, fallback: bool = False) -> AsyncIterator[Generated]:
        self.generated.append((request, fallback))
        async for item in self._planner.generate(request, fallback=fallback):
            yield item

    async def repair(self, request: Request) -> str | None:
        self.repaired.append(request)
        return await self._planner.repair(request)

    def judgement_beside(self, request_id: str | None) -> PlanningResponse | None:
        return self._planner.judgement_beside(request_id) if isinstance(self._planner, JudgesBeside) else None

    async def close(self) -> None:
        await self._planner.close()


class OverheardModels(Overheard):
    """The same for a planner that asks models."""

    def __init__(self, planner: Planner, models: AsksModels) -> None:
        super().__init__(planner)
        self._models = models

    def allow(self, budget: Budget, spent: Spent) -> None:
        self._models.allow(budget, spent)

    def taken_exchanges(self) -> Sequence[ModelExchange]:
        return self._models.taken_exchanges()


@dataclass
class Played:
    """A run that has stopped, and all that was seen of it."""

    state: RunState
    entries: list[Entry]
    planner: Overheard
    kernel: Kernel
    journal: MemoryJournal = field(repr=False)

    def records(self, kind: type[R]) -> list[R]:
        return [entry.record for entry in self.entries if isinstance(entry.record, kind)]

    @property
    def events(self) -> list[str]:
        return [record.event.value for record in self.records(Transitioned)]

    @property
    def sources(self) -> list[str]:
        return [cell.source for cell in self.state.document.cells]

    @property
    def feedback(self) -> list[Any]:
        return [one.behavior_feedback for one in self.planner.planned if one.behavior_feedback is not None]


def scripted(plan: Workflow, steps: Mapping[str, Sequence[Behavior] | StepScript]) -> ScriptedPlanner:
    """A planner for a plan of one stage."""
    return ScriptedPlanner(plan, {(plan.stages[0].id, step): behaviors for step, behaviors in steps.items()})


def one_step(*behaviors: Behavior | Sequence[Any], **step: Any) -> ScriptedPlanner:
    """A planner with a single step; behaviors may be given as their actions."""
    made = [one if isinstance(one, Behavior) else Behavior(actions=one) for one in behaviors]
    return scripted(workflow({"id": "step", **step}), {"step": made})


async def play(
    planner: Planner,
    *,
    policies: Policies = AUTO,
    limits: Limits | None = None,
    kernel: Kernel | None = None,
    journal: MemoryJournal | None = None,
    registry: ActionRegistry | None = None,
    person: Person | None = None,
    reward: Reward | None = None,
    resume: RunResumed | None = None,
    start: Mapping[str, Any] | None = None,
    until: type[Record] | None = None,
) -> Played:
    """Carry the run out until it stops, or (`until`) is killed right after the first record of that type."""
    heard = OverheardModels(planner, planner) if isinstance(planner, AsksModels) else Overheard(planner)
    kept = journal if journal is not None else MemoryJournal()
    used = kernel if kernel is not None else ScriptedKernel()
    runner = Runner(
        planner=heard, kernel=used, journal=kept, registry=registry, person=person, reward=reward, asking=IMPATIENT
    )
    await runner.load()
    usual = {"run_id": "run", "policies": policies, "limits": limits or Limits()}
    started = RunStarted(**{**usual, **(start or {})})
    await runner.begin(resume if resume is not None else started)
    async with asyncio.timeout(60), contextlib.aclosing(runner.run()) as coming:
        async for entry in coming:
            if until is not None and isinstance(entry.record, until):
                break
    entries = [entry async for entry in kept.read()]
    return Played(runner.state, entries, heard, used, kept)
