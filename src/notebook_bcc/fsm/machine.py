"""Where does an event lead? Pure answers from the table, and a machine that remembers the way it went."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final, TypedDict

from notebook_bcc.fsm.table import ROW_OF, ROWS, Row
from notebook_bcc.protocol.vocabulary import Event, State

_log = logging.getLogger(__name__)

_ALLOWED: Final[Mapping[State, tuple[Event, ...]]] = MappingProxyType(
    {state: tuple(row.event for row in ROWS if row.state is state) for state in State}
)
# A run has come to rest exactly where the table lets it be reset.
_FINAL: Final[frozenset[State]] = frozenset(row.state for row in ROWS if row.event is Event.RESET)

TransitionEntry = TypedDict("TransitionEntry", {"from": str, "event": str, "to": str, "timestamp": str})


class RefusedEntry(TypedDict):
    """An event that the table did not allow, as it was given."""

    state: str
    event: str
    timestamp: str


class FsmContext(TypedDict):
    """What `observation.context.FSM` holds. Before the first transition there is none to name."""

    state: str
    last_transition: str | None
    timestamp: str | None
    history: list[TransitionEntry]


def next_state(state: State, event: Event) -> State | None:
    """The state that `event` leads to from `state`, or None where the table has no such row."""
    row = ROW_OF.get((state, event))
    return None if row is None else row.next_state


def allowed_events(state: State) -> tuple[Event, ...]:
    """The events that lead somewhere from `state`, in the order of the table."""
    return _ALLOWED[state]


def is_final(state: State) -> bool:
    """True where a run has ended and only a person's choice moves it: workflow_completed, error, cancelled."""
    return state in _FINAL


def is_running(state: State) -> bool:
    """True everywhere but in idle and in the final states."""
    return state is not State.IDLE and state not in _FINAL


class StateMachine:
    """A position in the table, the way that led there, and what was refused on the way.

    It calls nobody and navigates nowhere: whoever drives it sets `stage_id`, `step_id`, `behavior_id` and
    `behavior_iteration`. `history_limit` bounds both lists, the oldest goes first. `clock` gives Unix nanoseconds.
    """

    def __init__(
        self,
        *,
        state: State | str = State.IDLE,
        history_limit: int = 100,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self.stage_id: str | None = None
        self.step_id: str | None = None
        self.behavior_id: str | None = None
        self.behavior_iteration = 0
        self.clock = clock
        self._state = State(state)
        # Rows and nanoseconds: formatting a timestamp costs more than the transition, and few are ever read.
        self._history: deque[tuple[Row, int]] = deque(maxlen=history_limit)
        self._refused: deque[tuple[State, str, int]] = deque(maxlen=history_limit)

    def get_state(self) -> State:
        """The current state; it is also its lower-case text."""
        return self._state

    def is_running(self) -> bool:
        """True everywhere but in idle, error, cancelled and workflow_completed."""
        return is_running(self._state)

    def transition(self, event: Event | str) -> bool:
        """Follow `event` and return True; where the table has no row for it, change nothing and return False."""
        row = ROW_OF.get((self._state, event)) or _row_in_any_case(self._state, event)
        if row is None:
            self._refuse(event)
            return False
        self._history.append((row, self.clock()))
        self._state = row.next_state
        _log.info("state transition: %s --%s--> %s", row.state, row.event, row.next_state)
        return True

    @property
    def history(self) -> list[TransitionEntry]:
        """The transitions made, newest last."""
        return [_entry(row, moment) for row, moment in self._history]

    @property
    def refused(self) -> list[RefusedEntry]:
        """The events refused, newest last."""
        return [
            {"state": state.value, "event": event, "timestamp": _utc(moment)} for state, event, moment in self._refused
        ]

    def to_context(self) -> FsmContext:
        """What `observation.context.FSM` says of this machine."""
        history = self.history
        last = history[-1] if history else None
        return {
            "state": self._state.value,
            "last_transition": f"{last['event']} -> {last['to']}" if last else None,
            "timestamp": last["timestamp"] if last else None,
            "history": history,
        }

    def _refuse(self, event: str) -> None:
        self._refused.append((self._state, str(event), self.clock()))
        allowed = ", ".join(allowed_events(self._state))
        _log.warning("invalid transition: %s --%s--> ?; allowed here: %s", self._state, event, allowed)


def _row_in_any_case(state: State, event: str) -> Row | None:
    try:
        return ROW_OF.get((state, Event(event)))
    except ValueError:
        return None


def _entry(row: Row, moment: int) -> TransitionEntry:
    return {
        "from": row.state.value,
        "event": row.event.value,
        "to": row.next_state.value,
        "timestamp": _utc(moment),
    }


def _utc(moment: int) -> str:
    seconds, rest = divmod(moment, 1_000_000_000)
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S") + f".{rest // 1000:06d}Z"
