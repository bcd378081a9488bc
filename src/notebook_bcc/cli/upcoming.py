"""What a run will ask its planner next: the journal's fold, carried on by the moves that need nobody. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from notebook_bcc.engine.decide import decide
from notebook_bcc.engine.detour import transition_of
from notebook_bcc.engine.intents import (
    AskPerson,
    AskPlanning,
    DropProposal,
    ExecuteAction,
    Fire,
    Intent,
    OpenStream,
    Promote,
    Refuse,
    SaveCheckpoint,
    StartKernel,
    Stop,
    TakeAction,
    TakeOver,
    Withdraw,
)
from notebook_bcc.engine.reduce import reduce
from notebook_bcc.engine.requests import generating_request, pending_stream, planning_request
from notebook_bcc.engine.state import RunState
from notebook_bcc.fsm.machine import next_state
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import Purpose, Record, RunResumed, Transitioned
from notebook_bcc.protocol.dialects import request_bytes
from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.observation import Observation
from notebook_bcc.protocol.vocabulary import Dialect, State

# Longer than any way from one question to the next; a state that moves for ever must not hang a command.
_MOST_MOVES = 50
_ENDPOINTS = {
    ("v2", False): "/planning",
    ("v2", True): "/generating",
    ("v1", False): "/v1/reflection",
    ("v1", True): "/v1/actions",
}


@dataclass(frozen=True, slots=True)
class Ahead:
    """Where a run is when it needs somebody: the moves that lead there, and what it does there."""

    state: RunState
    intent: Intent
    moves: tuple[Transitioned, ...] = ()


@dataclass(frozen=True, slots=True)
class Upcoming:
    """A request that would go out. `whole` is its observation before the context filter.

    `unmade` are the summaries it would hold and that only the kernel can make; `arrived` counts the actions of its
    answer that are there already; `note` says why it does not come next.
    """

    request: Request
    generating: bool
    whole: Observation
    filtered: bool
    warnings: tuple[str, ...] = ()
    unmade: tuple[str, ...] = ()
    arrived: int = 0
    note: str = ""

    def body(self, dialect: Dialect) -> bytes:
        """The very bytes that would go out."""
        return request_bytes(self.request, dialect)


def endpoint(dialect: Dialect, *, generating: bool) -> str:
    """The path that such a request goes to."""
    return _ENDPOINTS[dialect, generating]


def taken_up(state: RunState, *, at: str) -> RunState:
    """A stopped run as `nbcc resume` would find it, its limits left aside."""
    return _after(state, RunResumed(limits=state.limits.without_stops()), at)


def ahead(state: RunState, *, at: str) -> Ahead:
    """Carry a state on by the moves that the state machine makes without planner, kernel or person."""
    moves: list[Transitioned] = []
    while True:
        intent = decide(state)
        if not isinstance(intent, Fire) or len(moves) == _MOST_MOVES:
            return Ahead(state, intent, tuple(moves))
        if next_state(state.fsm, intent.event) is None:
            return Ahead(state, intent, tuple(moves))
        move = transition_of(state, intent)
        moves.append(move)
        state = _after(state, move, at)


def upcoming(place: Ahead, *, generating: bool | None = None) -> Upcoming:
    """The request that goes out at this place; `generating` chooses one that may not be the next."""
    state, intent = place.state, place.intent
    if _opens_stream(place):
        made = generating is not False
        return _generating(state) if made else _planning(state, None, note=_not_next("it asks for a behavior"))
    if isinstance(intent, AskPlanning):
        if not generating:
            return _planning(state, intent.purpose)
        return _generating(state, note=_not_next("it asks for a judgement, which may change this"))
    note = _not_next(describe(intent, state))
    return _generating(state, note=note) if generating else _planning(state, None, note=note)


def describe(intent: Intent, state: RunState) -> str:
    """What a run does next, in words."""
    match intent:
        case Fire():
            to = next_state(state.fsm, intent.event)
            target = intent.step_id or intent.stage_id
            where = f" ({target})" if target else ""
            why = f": {intent.reason}" if intent.reason else ""
            return f"{intent.event.value} -> {to.value if to is not None else '?'}{where}{why}"
        case AskPlanning():
            return f"it asks for a judgement ({intent.purpose}): POST /planning"
        case OpenStream():
            skipped = f"; {intent.skip} actions of it have arrived already" if intent.skip else ""
            return f"it asks for a behavior: POST /generating{skipped}"
        case TakeAction():
            if state.behavior.queue:
                return "it carries out the actions that were read before it stopped"
            return "it waits for the next action of the open stream"
        case ExecuteAction():
            return "it carries out the action that has arrived"
        case TakeOver():
            return "it takes over what the same action of the attempt before the error came to"
        case Withdraw():
            return "it withdraws what the attempt before the error did from here on"
        case StartKernel():
            return "it starts a kernel and brings it to where the journal says it was"
        case SaveCheckpoint():
            return "it saves the kernel's variables"
        case Promote():
            return f"it promotes {intent.promotion.variable} to {intent.promotion.artifact_id} in the kernel"
        case AskPerson():
            return "it asks a person about a change of the plan"
        case DropProposal():
            return f"it drops a change of the plan: {intent.reason}"
        case Refuse():
            return f"it refuses {intent.event}: {intent.reason}"
        case Stop():
            return f"it stops ({intent.reason})" + (f": {intent.detail}" if intent.detail else "")
        case _:
            assert_never(intent)


def _opens_stream(place: Ahead) -> bool:
    """A kernel may have to be started first, for the summaries of the filter; the request is the same."""
    asked = isinstance(place.intent, StartKernel) and place.state.fsm is State.BEHAVIOR_RUNNING
    return isinstance(place.intent, OpenStream) or asked


def _planning(state: RunState, purpose: Purpose | None, *, note: str = "") -> Upcoming:
    outgoing = planning_request(state, purpose)
    request = outgoing.sent(outgoing.attempt)
    return Upcoming(request, generating=False, whole=outgoing.whole, filtered=False, note=note)


def _generating(state: RunState, *, note: str = "") -> Upcoming:
    asked = state.behavior.asked
    known = asked.summaries if asked is not None else {}
    outgoing = pending_stream(state) or generating_request(state, known)
    wanted = state.filter
    unmade: tuple[str, ...] = ()
    if wanted is not None:
        ways = wanted.variables_to_summarize.items()
        unmade = tuple(f"{name} ({how})" for name, how in ways if name not in outgoing.summaries)
    return Upcoming(
        outgoing.sent(outgoing.attempt),
        generating=True,
        whole=outgoing.whole,
        filtered=wanted is not None,
        warnings=outgoing.warnings,
        unmade=unmade,
        arrived=state.behavior.received,
        note=note,
    )


def _not_next(instead: str) -> str:
    return f"this is not what goes out next: {instead}"


def _after(state: RunState, record: Record, at: str) -> RunState:
    return reduce(state, Entry(state.seq + 1, at, record))
