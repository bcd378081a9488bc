"""What runs are carried out with: the makers of kernels and planners, chosen by whoever wires the program."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from notebook_bcc.engine.actions.registry import ActionRegistry
from notebook_bcc.kernel.interface import Kernel
from notebook_bcc.planners.interface import Planner
from notebook_bcc.runs.folder import RunFolder


@dataclass(frozen=True, slots=True)
class KernelWish:
    """Which kernel, where it works, and how much output of one cell it may keep.

    `url` is the Jupyter Server it is to run behind; without one it runs in a process of ours.
    """

    name: str
    cwd: Path
    output_bytes: int
    url: str = ""


@dataclass(frozen=True, slots=True)
class Workshop:
    """The tools of a run. `make_planner` makes the planner that a run's record names, from its folder."""

    make_kernel: Callable[[KernelWish], Kernel]
    make_planner: Callable[[str, RunFolder], Awaitable[Planner]]
    make_registry: Callable[[], ActionRegistry]
    now: Callable[[], datetime]

    def timestamp(self) -> str:
        """The time as records have it: UTC, ISO 8601 with a Z."""
        return self.now().isoformat(timespec="microseconds").replace("+00:00", "Z")
