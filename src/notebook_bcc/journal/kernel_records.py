"""What can happen to the kernel of a run; a part of the union in `records`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from notebook_bcc.journal.record import RecordBase


class KernelStarted(RecordBase):
    """A kernel with an empty namespace is up."""

    kind: Literal["kernel_started"] = "kernel_started"
    name: str
    display_name: str = ""
    language: str = "python"
    language_version: str = ""
    session: str = ""


class KernelAttached(RecordBase):
    """A kernel that outlived the process before was taken up as the journal knows it; nothing is run again.

    `follows`: a cell was under way, or had ended unheard; what came of it is its action's result.
    """

    kind: Literal["kernel_attached"] = "kernel_attached"
    name: str
    session: str
    follows: bool = False


class KernelAbandoned(RecordBase):
    """A kernel that outlived the process before is not used, and why. `ended`: it was found, and ended."""

    kind: Literal["kernel_abandoned"] = "kernel_abandoned"
    session: str
    reason: str
    ended: bool = False


class CellRerun(RecordBase):
    """A cell that had succeeded was run again to rebuild the namespace."""

    kind: Literal["cell_rerun"] = "cell_rerun"
    cell_id: str
    index: int
    of: int
    success: bool
    same_outputs: bool
    difference: str = ""
    seconds: float = 0.0


class KernelRebuilt(RecordBase):
    """The namespace is as the journal says, apart from the differences listed."""

    kind: Literal["kernel_rebuilt"] = "kernel_rebuilt"
    cells: int
    differences: tuple[str, ...] = ()
    variables: dict[str, Any] = Field(default_factory=dict)
    execution_count: int = 0


class KernelLost(RecordBase):
    """The kernel is gone; the next use starts and rebuilds one."""

    kind: Literal["kernel_lost"] = "kernel_lost"
    cause: str
