"""The one thing to do next: what decide returns and perform carries out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from notebook_bcc.journal.records import PlanProposal, Purpose
from notebook_bcc.protocol.tracking import Promotion
from notebook_bcc.protocol.vocabulary import Event


@dataclass(frozen=True, slots=True)
class Fire:
    """Move the state machine; the event is in the table. `detour`: only to have a change of the plan decided."""

    event: Event
    reason: str = ""
    stage_id: str | None = None
    step_id: str | None = None
    detour: bool = False


@dataclass(frozen=True, slots=True)
class Refuse:
    """An event was asked for that the table does not allow: say so, change nothing."""

    event: str
    reason: str


@dataclass(frozen=True, slots=True)
class AskPlanning:
    """Ask the planner to judge."""

    purpose: Purpose


@dataclass(frozen=True, slots=True)
class OpenStream:
    """Ask for a behavior's actions; `skip` of them had arrived before this process took over."""

    skip: int = 0


@dataclass(frozen=True, slots=True)
class TakeAction:
    """Wait for the next action of the open stream."""


@dataclass(frozen=True, slots=True)
class ExecuteAction:
    """Carry out the action that was received."""


@dataclass(frozen=True, slots=True)
class TakeOver:
    """Let the action that was received have the result of the same one of the attempt before."""


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Withdraw what the attempt before has done and this one does not."""


@dataclass(frozen=True, slots=True)
class StartKernel:
    """Bring a kernel up and its namespace to where the journal says it is."""


@dataclass(frozen=True, slots=True)
class Promote:
    """Rename a temporary variable to the artifact it has become."""

    promotion: Promotion


@dataclass(frozen=True, slots=True)
class DropProposal:
    """A proposed change of the plan no longer fits: let it go, and say why."""

    reason: str


@dataclass(frozen=True, slots=True)
class AskPerson:
    """Have a change of the plan confirmed or rejected."""

    proposal: PlanProposal


@dataclass(frozen=True, slots=True)
class Stop:
    """Let the run go, in a known state."""

    reason: Literal["completed", "failed", "cancelled", "limit", "paused", "waiting", "interrupted"]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class SaveCheckpoint:
    """Save the kernel's namespace, so that its cells need not run again."""


Intent = (
    Fire
    | Refuse
    | AskPlanning
    | OpenStream
    | TakeAction
    | ExecuteAction
    | TakeOver
    | Withdraw
    | StartKernel
    | SaveCheckpoint
    | Promote
    | DropProposal
    | AskPerson
    | Stop
)
