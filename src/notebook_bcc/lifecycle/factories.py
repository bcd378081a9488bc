"""What runs are carried out with: factories of kernels, planners and journals, chosen by whoever wires the program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from notebook_bcc.engine.actions.registry import ActionRegistry
from notebook_bcc.journal.interface import JournalFactory
from notebook_bcc.kernel.contents import Contents
from notebook_bcc.kernel.interface import Kernel
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.lifecycle.sandboxing import UNBOUND, Confinement, TryRung
from notebook_bcc.planners.interface import Planner
from notebook_bcc.protocol.specs import KernelSpec, PlannerSpec


class KernelFactory(Protocol):
    """Makes kernels that are not started."""

    def __call__(
        self,
        spec: KernelSpec,
        *,
        cwd: Path,
        output_bytes: int,
        confinement: Confinement = UNBOUND,
        run: RunFolder | None = None,
    ) -> Kernel:
        """The kernel of a spec. It works in `cwd` and keeps at most `output_bytes` of a cell's output; 0: as usual.
        That of a `run` may outlive this process; any other ends with it."""
        ...


class PlannerFactory(Protocol):
    """Makes the planners of runs."""

    async def __call__(self, spec: PlannerSpec | None, folder: RunFolder) -> Planner:
        """The planner that a run's record names, with what it needs from the run's folder. Raises RunRefused for a
        record that names none."""
        ...


@dataclass(frozen=True, slots=True)
class RunFactories:
    """Everything a run is carried out with. `make_contents` gives the notebooks of the Jupyter Server at an address,
    `make_registry` the handlers of a run with this file of custom actions, if it has one; `try_rung` says whether a
    kind of sandbox works here."""

    make_kernel: KernelFactory
    make_planner: PlannerFactory
    journals: JournalFactory
    make_contents: Callable[[str], Contents]
    make_registry: Callable[[Path | None], ActionRegistry]
    try_rung: TryRung
    now: Callable[[], datetime]

    def timestamp(self) -> str:
        """The time as records have it: UTC, ISO 8601 with a Z."""
        return self.now().isoformat(timespec="microseconds").replace("+00:00", "Z")
