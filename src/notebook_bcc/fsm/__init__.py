"""The state machine: forty-five rows of data and a few pure questions about them. It calls nobody."""

from notebook_bcc.fsm.machine import StateMachine, allowed_events, is_final, is_running, next_state
from notebook_bcc.fsm.table import ROWS, Group, Row

__all__ = ["ROWS", "Group", "Row", "StateMachine", "allowed_events", "is_final", "is_running", "next_state"]
