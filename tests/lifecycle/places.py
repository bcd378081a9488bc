"""Factories of doubles, and small scripts to carry out with them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from notebook_bcc.engine.state import RunState
from notebook_bcc.journal.interface import Entry
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.lifecycle.factories import RunFactories
from notebook_bcc.lifecycle.folder import RunFolder, run_folders
from notebook_bcc.lifecycle.operations import resumed, started
from notebook_bcc.lifecycle.order import ResumeOrder, RunOrder
from notebook_bcc.lifecycle.sandboxing import UNBOUND, Confinement
from notebook_bcc.lifecycle.session import Interaction, Session
from notebook_bcc.planners.interface import Planner
from notebook_bcc.planners.script.file import parse_script
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.protocol.specs import KernelSpec, PlannerSpec, ScriptPlannerSpec
from notebook_bcc.wiring import journals, make_contents, make_registry, try_rung

TWO_STEPS = """
goal: Count
stages:
  - id: only
    steps:
      - id: first
        behaviors: [{actions: [{code: a = 1}, {code: "print('a is', a)"}]}]
      - id: second
        behaviors: [{actions: [{code: b = a + 1}, {code: b}]}]
"""


@dataclass
class Place:
    """A folder for runs and everything needed to carry them out without processes."""

    root: Path
    script: str = TWO_STEPS
    warnings: list[str] = field(default_factory=list)
    kernels: list[ScriptedKernel] = field(default_factory=list)
    kernel: Callable[[], ScriptedKernel] = ScriptedKernel
    # In place of the one that follows the script.
    planner: Callable[[], Planner] | None = None

    @property
    def factories(self) -> RunFactories:
        async def planner(spec: PlannerSpec | None, folder: RunFolder) -> Planner:
            if self.planner is not None:
                return self.planner()
            return ScriptedPlanner.from_script(parse_script(self.script))

        def kernel(
            spec: KernelSpec,
            *,
            cwd: Path,
            output_bytes: int,
            confinement: Confinement = UNBOUND,
            run: RunFolder | None = None,
        ) -> ScriptedKernel:
            self.kernels.append(self.kernel())
            return self.kernels[-1]

        return RunFactories(
            make_kernel=kernel,
            make_planner=planner,
            journals=journals(),
            make_contents=make_contents,
            make_registry=make_registry,
            try_rung=try_rung,
            now=lambda: datetime.now(UTC),
        )

    @property
    def interaction(self) -> Interaction:
        return Interaction(person=None, warn=self.warnings.append)

    @property
    def last(self) -> RunFolder:
        return run_folders(self.root)[0]

    @asynccontextmanager
    async def starting(self, **order: Any) -> AsyncIterator[Session]:
        made = RunOrder(**{"name": "test", "planner_spec": ScriptPlannerSpec(), "goal": "Count", **order})
        async with started(made, root=self.root, factories=self.factories, interaction=self.interaction) as session:
            yield session

    async def start(self, *, deliver: bool = False, **order: Any) -> RunState:
        """A run from its beginning to where it stops."""
        async with self.starting(**order) as session:
            await drain(session)
            if deliver:
                await session.deliver(verify=True)
            return session.state

    async def resume(self, order: ResumeOrder | None = None, *, deliver: bool = False) -> RunState:
        """The newest run, taken up again until it stops."""
        opened = resumed(self.last, order or ResumeOrder(), factories=self.factories, interaction=self.interaction)
        async with opened as session:
            await drain(session)
            if deliver:
                await session.deliver(verify=False)
            return session.state


async def drain(session: Session) -> list[Entry]:
    return [entry async for entry in session.entries()]
