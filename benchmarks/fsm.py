"""G8: an event through the state machine with its history kept, beside the `transitions` library and the same table."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from benchmarks.harness import Bench, Contender, Figures, Row, compare, interleave, peer_missing, room_missing

LIMIT = 0.25
LAPS = 60
HISTORY = 100


def walk(*, stages: int = 2, steps: int = 3, behaviors: int = 2, actions: int = 5) -> list[str]:
    """The events of a whole run from idle back to idle, then a plan update, a failure, a recovery and a cancel."""
    events = ["START_WORKFLOW"]
    for stage in range(stages):
        events += ["NEXT_STAGE"] if stage else []
        for step in range(steps):
            events.append("NEXT_STEP" if step else "START_STEP")
            for behavior in range(behaviors):
                events.append("NEXT_BEHAVIOR" if behavior else "START_BEHAVIOR")
                for action in range(actions):
                    events += ["NEXT_ACTION" if action else "START_ACTION", "COMPLETE_ACTION"]
                events.append("COMPLETE_BEHAVIOR")
            events.append("COMPLETE_STEP")
        events.append("COMPLETE_STAGE")
    events += ["COMPLETE_WORKFLOW", "RESET"]
    events += ["START_WORKFLOW", "START_STEP", "START_BEHAVIOR", "START_ACTION", "UPDATE_WORKFLOW"]
    return [*events, "UPDATE_WORKFLOW_CONFIRMED", "FAIL", "START_BEHAVIOR", "CANCEL", "RESET"]


def transitions_with_history(bench: Bench) -> list[Row]:
    missing = room_missing("notebook_bcc.fsm.machine")
    absent = peer_missing("transitions") or missing
    samples = interleave(
        [
            Contender("ours", lambda: _ours(read=False), missing),
            Contender("ours, read", lambda: _ours(read=True), missing),
            Contender("transitions", lambda: _peer(read=False), absent),
            Contender("transitions, read", lambda: _peer(read=True), absent),
        ],
        rounds=max(bench.rounds, 5),
    )
    return [
        compare(
            samples,
            gate="G8",
            what="FSM event, history kept (CPU)",
            ours=("ours", "us"),
            peer=("transitions", "us"),
            unit="us",
            limit=LIMIT,
            note=f"same table; both keep the newest {HISTORY} moves with the moment as an integer",
        ),
        compare(
            samples,
            gate="G8",
            what=f"the same, all {HISTORY} moves rendered with ISO 8601 times once in {HISTORY} events",
            ours=("ours, read", "us"),
            peer=("transitions, read", "us"),
            unit="us",
        ),
    ]


def _drive(fire: Callable[[str], bool], events: Sequence[str], read: Callable[[], object] | None) -> Figures:
    fired = 0
    begin = time.process_time()
    for _ in range(LAPS):
        for event in events:
            if not fire(event):
                raise AssertionError(f"{event} was refused")
            fired += 1
            if read is not None and fired % HISTORY == 0:
                read()
    return {"us": (time.process_time() - begin) * 1e6 / fired}


def _ours(*, read: bool) -> Figures:
    from notebook_bcc.fsm.machine import StateMachine
    from notebook_bcc.protocol.vocabulary import Event

    machine = StateMachine(history_limit=HISTORY)
    figures = _drive(machine.transition, [Event(event) for event in walk()], machine.to_context if read else None)
    if machine.get_state() != "idle" or len(machine.history) != HISTORY:
        raise AssertionError("the walk did not end where it began")
    return figures


def _peer(*, read: bool) -> Figures:
    from transitions import Machine

    from notebook_bcc.fsm.table import ROWS
    from notebook_bcc.protocol.vocabulary import State

    class Model:
        state: str
        trigger: Callable[[str], bool]

        def __init__(self) -> None:
            self.history: deque[tuple[str, str, str, int]] = deque(maxlen=HISTORY)

        def note(self, data: Any) -> None:  # Any: the library's EventData
            self.history.append((data.transition.source, data.event.name, data.transition.dest, time.time_ns()))

        def rendered(self) -> list[dict[str, str]]:
            return [
                {
                    "from": source,
                    "event": event,
                    "to": to,
                    "timestamp": datetime.fromtimestamp(at / 1e9, UTC).isoformat(),
                }
                for source, event, to, at in self.history
            ]

    model = Model()
    Machine(
        model,
        states=[state.value for state in State],
        initial="idle",
        auto_transitions=False,
        send_event=True,
        transitions=[[row.event.value, row.state.value, row.next_state.value] for row in ROWS],
        after_state_change="note",
    )
    figures = _drive(model.trigger, walk(), model.rendered if read else None)
    if model.state != "idle" or len(model.rendered()) != HISTORY:
        raise AssertionError("the walk did not end where it began")
    return figures
