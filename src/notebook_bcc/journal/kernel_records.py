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
    """The namespace is as the journal says, apart from the differences listed.

    `cells` were run again; what `loaded` cells before them had made came from a checkpoint, without the names that are
    `missing` in it.
    """

    kind: Literal["kernel_rebuilt"] = "kernel_rebuilt"
    cells: int
    loaded: int = 0
    missing: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    variables: dict[str, Any] = Field(default_factory=dict)
    execution_count: int = 0


class KernelLost(RecordBase):
    """The kernel is gone; the next use starts and rebuilds one."""

    kind: Literal["kernel_lost"] = "kernel_lost"
    cause: str


class CheckpointSaved(RecordBase):
    """The namespace that the first `cells` cells have made was saved to a file of the run's folder.

    `unsaved` are the names that are not in it, with the reason. `versions` are those of Python and of the packages
    whose objects it holds: with others it is not loaded.
    """

    kind: Literal["checkpoint_saved"] = "checkpoint_saved"
    file: str
    cells: int
    digest: str
    size: int
    unsaved: dict[str, str] = Field(default_factory=dict)
    versions: dict[str, str] = Field(default_factory=dict)
    seconds: float = 0.0


class CheckpointSkipped(RecordBase):
    """A checkpoint was tried after so many cells, and given up. `never`: this kernel cannot have one."""

    kind: Literal["checkpoint_skipped"] = "checkpoint_skipped"
    cells: int
    reason: str
    never: bool = False
    seconds: float = 0.0


class CheckpointLoaded(RecordBase):
    """A new kernel has the namespace of a checkpoint: the first `cells` cells are not run again, the others are."""

    kind: Literal["checkpoint_loaded"] = "checkpoint_loaded"
    file: str
    cells: int
    of: int
    seconds: float = 0.0


class CheckpointRejected(RecordBase):
    """A checkpoint counts as none, and why."""

    kind: Literal["checkpoint_rejected"] = "checkpoint_rejected"
    file: str
    reason: str


class OnceBegun(RecordBase):
    """A cell marked `once` goes to the kernel: from here on it is executed again by a person's word alone."""

    kind: Literal["once_begun"] = "once_begun"
    action_id: str
    cell_id: str
