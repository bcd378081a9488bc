"""A state machine for the documents' sample loops as they are printed."""

from __future__ import annotations

from notebook_bcc.fsm.machine import StateMachine, next_state
from notebook_bcc.protocol.vocabulary import Event, State


class SampleStateMachine(StateMachine):
    """Fires COMPLETE_BEHAVIOR where a sample loop leaves it out.

    The loops of 002 and 004 go from a behavior's actions straight to COMPLETE_STEP or NEXT_BEHAVIOR; the table has no
    such row, and COMPLETE_BEHAVIOR lies between. Everything else is the strict `StateMachine`.
    """

    def transition(self, event: Event | str) -> bool:
        """Follow `event`, over COMPLETE_BEHAVIOR where only that leads to it. False: nothing was changed."""
        if self._skips_a_row(event):
            super().transition(Event.COMPLETE_BEHAVIOR)
        return super().transition(event)

    def _skips_a_row(self, event: Event | str) -> bool:
        try:
            wanted = Event(event)
        except ValueError:
            return False
        here = self.get_state()
        return (
            next_state(here, wanted) is None
            and next_state(here, Event.COMPLETE_BEHAVIOR) is State.BEHAVIOR_COMPLETED
            and next_state(State.BEHAVIOR_COMPLETED, wanted) is not None
        )
