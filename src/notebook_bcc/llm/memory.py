"""What a planner with a model keeps between the requests of a run: answers that may be asked for again, and its tries.

It helps and is not needed: a run that is resumed goes on without it. What a run cannot do without travels in its own
variables.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, Final, Generic, TypeVar

from notebook_bcc.llm.progress import Round, code_shape
from notebook_bcc.llm.prompt.evidence import expected_of
from notebook_bcc.llm.verdicts import behavior_of
from notebook_bcc.planners.interface import Generated
from notebook_bcc.protocol.messages import PlanningResponse, Request

_T = TypeVar("_T")

_REMEMBERED: Final = 64


class Newest(Generic[_T]):
    """Values by their keys; of many only those that were put in last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _T] = OrderedDict()

    def get(self, key: str | None) -> _T | None:
        return None if key is None else self._kept.get(key)

    def put(self, key: str, value: _T) -> None:
        self._kept[key] = value
        self._kept.move_to_end(key)
        while len(self._kept) > _REMEMBERED:
            self._kept.popitem(last=False)

    def pop(self, key: str) -> _T | None:
        return self._kept.pop(key, None)

    def others(self, key: str) -> Iterator[_T]:
        """All but the one of this key."""
        return (value for other, value in self._kept.items() if other != key)


class PlannerMemory:
    """`answered`, `generated` and `given_up` are by request; `found`, the variables that the model may not change as
    they were before it wrote, by behavior. `unreached` is how often in a row the model could not be reached."""

    def __init__(self) -> None:
        self.answered: Newest[PlanningResponse] = Newest()
        self.generated: Newest[tuple[Generated, ...]] = Newest()
        self.given_up: Newest[str] = Newest()
        self.found: Newest[dict[str, Any]] = Newest()  # Any: variables, as the kernel shows them
        self.unreached = 0
        self._rounds: Newest[tuple[Round, ...]] = Newest()

    def rounds(self, key: str) -> tuple[Round, ...]:
        """The tries at a behavior, or at the repair of a cell, oldest first."""
        return self._rounds.get(key) or ()

    def note(self, key: str, tried: Round) -> tuple[Round, ...]:
        """One more try, and all of them."""
        rounds = (*self.rounds(key), tried)
        self._rounds.put(key, rounds)
        return rounds

    def repeats(self, request: Request) -> bool:
        """Whether a behavior that promised nothing ran the code of another one. Where something was promised, what
        exists is evidence enough."""
        rounds = self.rounds(behavior_of(request))
        if expected_of(request) or not rounds or not rounds[-1].code:
            return False
        newest = code_shape(rounds[-1].code)
        others = (one for kept in self._rounds.others(behavior_of(request)) for one in kept)
        return any(code_shape(one.code) == newest for one in others)
