"""What the engine asks of a kernel, and what it gets back.

A cell that raises is an `Execution` with an error: data. Only a kernel that is dead, lost or stuck is an exception
(`KernelDied`, `KernelStartFailed`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from notebook_bcc.protocol.cells import Output


@dataclass(frozen=True, slots=True)
class CellError:
    """What a cell raised. `name` is the exception's class, `CellTimeout` when our time limit ended it."""

    name: str
    message: str
    traceback: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VariableChanges:
    """What changed in the namespace since the last time it was listed.

    A value is a JSON value when it is a scalar or a small container, else a type summary such as
    `DataFrame(1460×79)`.
    """

    updated: Mapping[str, Any] = field(default_factory=dict)
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Execution:
    """One run of one cell, finished: the reply and idle have both arrived."""

    outputs: tuple[Output, ...] = ()
    error: CellError | None = None
    execution_count: int | None = None
    variables: VariableChanges = field(default_factory=VariableChanges)
    seconds: float = 0.0
    dropped_bytes: int = 0

    @property
    def succeeded(self) -> bool:
        return self.error is None


@dataclass(frozen=True, slots=True)
class KernelIdentity:
    """What the notebook's metadata says about the kernel."""

    name: str
    display_name: str
    language: str
    language_version: str = ""
    file_extension: str = ".py"
    session: str = ""
    """Under what another process can speak to this kernel again, where it outlives ours."""


@dataclass(frozen=True, slots=True)
class KernelUsage:
    """What a kernel takes, with the processes that its cells have started. `cpu_seconds` are those used so far."""

    memory_bytes: int
    cpu_seconds: float


class Kernel(Protocol):
    """A namespace that code runs in. One cell at a time; not safe for concurrent calls."""

    @property
    def identity(self) -> KernelIdentity: ...

    @property
    def is_alive(self) -> bool:
        """Whether a started kernel's process still exists. False before start and after close."""
        ...

    async def start(self) -> None:
        """Bring the kernel up with an empty namespace. Raises KernelStartFailed."""
        ...

    async def execute(
        self, source: str, *, time_limit: float | None = None, on_output: Callable[[Output], None] | None = None
    ) -> Execution:
        """Run one cell. `on_output` sees each output as it arrives (streams in pieces), before it is merged.

        Over `time_limit` seconds the cell is interrupted; one that ignores this is killed with its kernel.
        Raises KernelDied. When the awaiting task is cancelled the cell is interrupted and the cancellation goes on.
        """
        ...

    async def summarize(self, wanted: Mapping[str, str]) -> dict[str, Any]:
        """Summaries computed in the kernel: name -> strategy (`shape_only`, `describe_only`, `head_only`,
        `last_N_only`). Names that do not exist are left out; a strategy that does not fit the value falls back to
        the type summary."""
        ...

    async def interrupt(self) -> None:
        """Ask the running cell to stop."""
        ...

    async def restart(self) -> None:
        """End the kernel, whatever it is doing, and start it again with an empty namespace."""
        ...

    async def close(self) -> None:
        """End the kernel and release everything. Never fails; may be called twice."""
        ...


@runtime_checkable
class LastingKernel(Kernel, Protocol):
    """A kernel that outlives the process that started it. `identity.session` is what another one takes it up by."""

    @property
    def can_be_left(self) -> bool:
        """Whether a run that stops in order may leave it: it ends by itself when nobody takes it up. A cell whose
        `execute` is cancelled then goes on, until the kernel is used again."""
        ...

    async def attach(self, session: str, *, known: int, due: str | None) -> bool:
        """Take up a kernel that another process left after it had run `known` cells.

        One more cell may have been sent since, if it is `due`: then True is returned, and the next `execute`, which
        must be of that source, follows it to its end with all its outputs and does not run it again.
        Raises KernelGone when it has ended or has run other cells than these; KernelStartFailed when that cannot be
        told, and then the kernel is left as it is.
        """
        ...

    async def detach(self) -> None:
        """Leave the kernel as it is, a running cell too, and release everything here. `attach` takes it up again."""
        ...

    async def discard(self, session: str) -> bool:
        """End a kernel that another process left; False when there is none any more. Raises KernelFailed."""
        ...


def may_be_left(kernel: Kernel) -> bool:
    """Whether a run that stops now leaves this kernel for the process that takes it up."""
    return isinstance(kernel, LastingKernel) and kernel.is_alive and kernel.can_be_left


@runtime_checkable
class MeasuredKernel(Kernel, Protocol):
    """A kernel that can be asked what it takes, also while a cell runs."""

    async def usage(self) -> KernelUsage:
        """Raises KernelFailed."""
        ...


@dataclass(frozen=True, slots=True)
class SavedCheckpoint:
    """What came of saving a namespace. With a `problem` nothing was saved; `never`: nor will it be in this kernel.

    `unsaved` are the names that are not in it, with the reason. `versions` are those of Python and of the packages
    whose objects it holds.
    """

    problem: str = ""
    never: bool = False
    digest: str = ""
    size: int = 0
    unsaved: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class LoadedCheckpoint:
    """What came of loading a namespace. With a `problem` it is not to be used; `touched`: nor is the kernel, before it
    is started anew. `execution_count` is that of the last cell it has seen."""

    problem: str = ""
    touched: bool = False
    variables: Mapping[str, Any] = field(default_factory=dict)
    execution_count: int = 0
    seconds: float = 0.0


@runtime_checkable
class CheckpointingKernel(Kernel, Protocol):
    """A kernel whose namespace can be saved to a file and loaded into another one."""

    async def save_checkpoint(self, path: str, *, seconds: float) -> SavedCheckpoint:
        """Save everything that can be saved, giving up after so many seconds. No cell may be running.

        Raises KernelDied.
        """
        ...

    async def load_checkpoint(self, path: str, *, digest: str, versions: Mapping[str, str]) -> LoadedCheckpoint:
        """Load what was saved into a kernel that has run no cell yet, if it is what that digest says and the versions
        are the ones here. Raises KernelDied."""
        ...
