"""A planner that answers what another one answered before, in a run that was recorded.

Whoever has the record turns it into the plain values below. A question whose request id is in the record gets that
answer; any other the next one in order. Where what is asked is not what was recorded, the replay stops and says where.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from notebook_bcc.errors import PlannerAnswerInvalid, PlannerUnreachable, StreamBroken
from notebook_bcc.planners.interface import ActionData, Generated
from notebook_bcc.planners.planning_question import question_of
from notebook_bcc.protocol.messages import PlanningResponse, Request


@dataclass(frozen=True, slots=True)
class RecordedPlanning:
    """One judgement. `purpose` is a `PlanningQuestion`. One with a `failure` got no answer, and gets none again."""

    request_id: str
    purpose: str
    response: PlanningResponse
    failure: str = ""


@dataclass(frozen=True, slots=True)
class RecordedBehavior:
    """The actions of one behavior as they came. With a `failure` the stream broke after them."""

    request_id: str
    actions: Sequence[Any] = ()  # Any: an action is recorded as the planner sent it
    failure: str = ""
    beside: PlanningResponse | None = None


@dataclass(frozen=True, slots=True)
class RecordedRepair:
    """What was tried instead of a cell that failed; None where the planner had no idea."""

    cell_id: str
    attempt: int
    source: str | None


class ReplayPlanner:
    """Gives recorded answers in their order. Remembers how far it is; the same id gets the same answer again."""

    def __init__(
        self,
        *,
        plannings: Sequence[RecordedPlanning],
        behaviors: Sequence[RecordedBehavior],
        repairs: Sequence[RecordedRepair] = (),
        name: str = "replay",
    ) -> None:
        self._name = name
        self._plannings = _RecordedAnswers(name, "judgement", plannings)
        self._behaviors = _RecordedAnswers(name, "behavior", behaviors)
        self._beside: PlanningResponse | None = None
        self._repairs = {(each.cell_id, each.attempt): each.source for each in repairs}

    @property
    def name(self) -> str:
        return self._name

    async def plan(self, request: Request) -> PlanningResponse:
        """The recorded judgement. A question of another kind than the recorded one is PlannerAnswerInvalid."""
        number, recorded = self._plannings.answer(request)
        asked = question_of(request)
        if recorded.purpose != asked:
            raise PlannerAnswerInvalid(
                planner=self._name,
                reason=f"the replay departs from the record at judgement {number} ({recorded.request_id}): "
                f"{recorded.purpose!r} was asked then, {asked.value!r} is asked now, {_where(request)}",
            )
        if recorded.failure:
            raise PlannerUnreachable(planner=self._name, reason=recorded.failure)
        return recorded.response

    async def generate(self, request: Request, *, fallback: bool = False) -> AsyncIterator[Generated]:
        """The recorded actions, and the break that followed them."""
        _, recorded = self._behaviors.answer(request)
        self._beside = recorded.beside
        for action in recorded.actions:
            yield ActionData(action)
        if recorded.failure and recorded.actions:
            raise StreamBroken(planner=self._name, received=len(recorded.actions), reason=recorded.failure)
        if recorded.failure:
            raise PlannerUnreachable(planner=self._name, reason=recorded.failure)

    def judgement_beside(self, request_id: str | None) -> PlanningResponse | None:
        """What was recorded beside the actions that were asked for last."""
        beside, self._beside = self._beside, None
        return beside

    async def repair(self, request: Request) -> str | None:
        """The recorded repair of this attempt at this cell. One that was never asked for is PlannerAnswerInvalid."""
        wanted = request.options.repair
        if wanted is None:
            return None
        key = (wanted.cell_id, wanted.attempt)
        if key not in self._repairs:
            raise PlannerAnswerInvalid(
                planner=self._name,
                reason=f"the replay departs from the record: cell {wanted.cell_id!r} failed ({wanted.error_name}), "
                f"and no repair {wanted.attempt} of it was recorded",
            )
        return self._repairs[key]

    async def close(self) -> None:
        """There is nothing to release."""


_Recorded = TypeVar("_Recorded", bound=RecordedPlanning | RecordedBehavior)


class _RecordedAnswers(Generic[_Recorded]):
    """Recorded answers of one kind, and how many of them were given."""

    def __init__(self, planner: str, kind: str, recorded: Sequence[_Recorded]) -> None:
        self._planner = planner
        self._kind = kind
        self._recorded = tuple(recorded)
        self._at = {each.request_id: index for index, each in enumerate(self._recorded)}
        self._next = 0

    def answer(self, request: Request) -> tuple[int, _Recorded]:
        """The answer to this request and its number, from 1."""
        request_id = request.options.request_id
        index = self._at.get(request_id, self._next) if request_id is not None else self._next
        if index >= len(self._recorded):
            raise PlannerAnswerInvalid(
                planner=self._planner,
                reason=f"the replay departs from the record: {self._kind} {index + 1} is asked for "
                f"({_where(request)}), and only {len(self._recorded)} were recorded",
            )
        if request_id is not None:
            self._at.setdefault(request_id, index)
        self._next = max(self._next, index + 1)
        return index + 1, self._recorded[index]


def _where(request: Request) -> str:
    current = request.observation.location.current
    places = (current.stage_id, current.step_id, current.behavior_id)
    return "at " + "/".join(place or "-" for place in places)
