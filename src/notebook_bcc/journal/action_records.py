"""What can happen to an action, its cell and what comes of it; a part of the union in `records`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from notebook_bcc.journal.record import RecordBase
from notebook_bcc.protocol.actions import ActionMetadata
from notebook_bcc.protocol.tracking import Artifact
from notebook_bcc.protocol.vocabulary import CellType, Event
from notebook_bcc.protocol.workflow import Step, Workflow


class CellChange(RecordBase):
    """A cell that was added, or one that changed; only what is set applies."""

    cell_id: str
    added: CellType | None = None
    source: str | None = None
    outputs: tuple[dict[str, Any], ...] | None = None
    execution_count: int | None = None
    metadata: dict[str, Any] | None = None
    first: bool = False


class PlanProposal(RecordBase):
    """A change of the plan, not yet confirmed."""

    workflow: Workflow | None = None
    stage_id: str | None = None
    steps: tuple[Step, ...] = ()
    origin: Literal["action", "planning"] = "action"


class ActionCompleted(RecordBase):
    """An action was carried out: everything it changed. An action is completed at most once.

    `executed` is the cell that it ran last. `ran` lists the cells that succeeded, in order, where these are others than
    `executed` alone of an action that succeeded.
    """

    kind: Literal["action_completed"] = "action_completed"
    action_id: str
    action: str
    success: bool
    error: str | None = None
    error_name: str | None = None
    cells: tuple[CellChange, ...] = ()
    title: str | None = None
    chapter: int | None = None
    section: int | None = None
    effects: tuple[str, ...] = ()
    executed: str | None = None
    ran: tuple[str, ...] | None = None
    variables: dict[str, Any] = Field(default_factory=dict)
    removed: tuple[str, ...] = ()
    proposal: PlanProposal | None = None
    end_phase: bool = False
    fire: Event | None = None
    metadata: ActionMetadata | None = None
    summary: str = ""
    finding: str = ""
    kernel_died: bool = False
    skipped: bool = False
    result: Any = None
    seconds: float = 0.0

    @property
    def succeeded_cells(self) -> tuple[str, ...]:
        """The cells that ran without an error, in order: what a rebuilt kernel needs."""
        if self.ran is not None:
            return self.ran
        return (self.executed,) if self.executed is not None and self.success else ()


class ActionTakenOver(RecordBase):
    """After an error: the action equals the one at its place in the attempt before, `former`, which had succeeded, and
    nothing before it differs. It has that one's result and cell; nothing was executed."""

    kind: Literal["action_taken_over"] = "action_taken_over"
    action_id: str
    former: str
    cell_id: str = ""


class AttemptWithdrawn(RecordBase):
    """The attempt before an error differs from here on, or had failed here: what it did from here is withdrawn.

    `cells` are gone from the notebook, and their ids free; those of `ran` had been executed, and what stays of them is
    as it was before. The namespace comes back from `checkpoint`; without one `left` are the variables as the withdrawn
    cells have left them in the kernel that goes on.
    """

    kind: Literal["attempt_withdrawn"] = "attempt_withdrawn"
    actions: int
    cells: tuple[str, ...] = ()
    ran: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    checkpoint: str = ""


class OutputReceived(RecordBase):
    """A running cell has printed: kept while the cell runs, so that a crash does not lose it."""

    kind: Literal["output_received"] = "output_received"
    action_id: str
    cell_id: str
    outputs: tuple[dict[str, Any], ...]


class RepairTried(RecordBase):
    """An attempt of auto_debug: the source that failed and why. Attempts stay here, not in the notebook."""

    kind: Literal["repair_tried"] = "repair_tried"
    action_id: str
    cell_id: str
    attempt: int
    source: str
    error: str
    repaired: str | None = None


class ArtifactPromoted(RecordBase):
    """A variable became a named product: a temporary by a cell of its own, so that the notebook runs without us; one
    that keeps its name without any."""

    kind: Literal["artifact_promoted"] = "artifact_promoted"
    artifact: Artifact
    cell: CellChange | None = None
    variables: dict[str, Any] = Field(default_factory=dict)
    removed: tuple[str, ...] = ()


class PromotionFailed(RecordBase):
    """A promotion that changed nothing, and why."""

    kind: Literal["promotion_failed"] = "promotion_failed"
    variable: str
    artifact_id: str
    error: str
