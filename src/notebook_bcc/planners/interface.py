"""What the engine asks of a planner."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from notebook_bcc.protocol.messages import PlanningResponse, Request


@dataclass(frozen=True, slots=True)
class StreamWarning:
    """Something in the stream was skipped, such as a malformed line; the rest goes on."""

    message: str


@dataclass(frozen=True, slots=True)
class ActionData:
    """One action as it came, decoded but not yet looked at."""

    data: Any


Generated = ActionData | StreamWarning


@runtime_checkable
class JudgesBeside(Protocol):
    """A planner whose behaviors may come with a judgement beside their actions, as in the first dialect."""

    def judgement_beside(self, request_id: str | None) -> PlanningResponse | None:
        """What came beside the actions of that request, once its first action was given out. It is given once."""
        ...


class Planner(Protocol):
    """Judges and writes. Retries, degradation and confirmation are the engine's business, not a planner's.

    A request id that was answered before is answered the same way again: the engine asks again after a crash.
    """

    @property
    def name(self) -> str:
        """What the journal and messages call it."""
        ...

    async def plan(self, request: Request) -> PlanningResponse:
        """Judge. Raises PlannerUnreachable (worth a retry), PlannerAnswerInvalid, or RequestRefused: PositionUnknown
        for a stage or step that it does not know, EvidenceMissing where it needs variables that are not there."""
        ...

    def generate(self, request: Request, *, fallback: bool = False) -> AsyncIterator[Generated]:
        """The actions of one behavior, each as soon as it is known. `fallback` asks the fallback endpoint.

        Raises PlannerUnreachable or RequestRefused before the first action, StreamBroken after it. Closing the
        iterator ends the answer.
        """
        ...

    async def repair(self, request: Request) -> str | None:
        """The source to run instead of the failed cell in `request.options.repair`, or None for: no idea."""
        ...

    async def close(self) -> None:
        """Release everything. May be called twice."""
        ...
