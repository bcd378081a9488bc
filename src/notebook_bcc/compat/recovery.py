"""What the fourth document does when something fails: ask again, fall back, restart a behavior or reset."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, Final

from notebook_bcc.compat.api_client import State
from notebook_bcc.compat.outputs import OutputTracking
from notebook_bcc.compat.service_apis import PlanningAPI
from notebook_bcc.errors import ActionRefused, BccError, KernelFailed, PlannerFailed
from notebook_bcc.fsm.machine import StateMachine
from notebook_bcc.protocol.vocabulary import Event

_log = logging.getLogger(__name__)

# The documents' name for: the planning service gave no usable answer.
APIError = PlannerFailed


class RecoverableError(BccError):
    """To be raised by whoever drives the state machine: the behavior may be restarted."""


# After these a new attempt at the behavior can succeed.
RECOVERABLE: Final = (RecoverableError, PlannerFailed, KernelFailed, ActionRefused)


def fallback_planning_response() -> dict[str, Any]:
    """The answer that stands for a planner which gave none: not reached, and no further behavior."""
    return {"targetAchieved": False, "transition": {"continue_behaviors": False, "target_achieved": False}}


def call_planning_api_with_retry(
    observation: State,
    max_retries: int = 3,
    *,
    planning_api: PlanningAPI | None = None,
    wait: Callable[[float], None] = time.sleep,
) -> dict[str, Any]:
    """The judgement, asked for at most `max_retries` times with 1, 2, 4, ... seconds between; then the fallback.

    Without `planning_api` the service is asked where `Config` says. Raises ValueError and MessageInvalid at once: the
    same observation would be refused again.
    """
    api = planning_api if planning_api is not None else PlanningAPI()
    for attempt in range(max_retries):
        try:
            return api.call(observation)
        except APIError as error:
            _log.warning("planning failed, attempt %d of %d: %s", attempt + 1, max_retries, error)
            if attempt < max_retries - 1:
                wait(2.0**attempt)
    return fallback_planning_response()


def recover_from_error(state_machine: StateMachine, error: Exception) -> bool:
    """Leave the error state: restart the behavior after an error that may pass, reset after any other.

    Returns whether the table allowed it.
    """
    return state_machine.transition(Event.START_BEHAVIOR if isinstance(error, RECOVERABLE) else Event.RESET)


def handle_error(state_machine: StateMachine, error: Exception, *, tracking: OutputTracking | None = None) -> bool:
    """Go to the error state: what was in progress is cleared, what was produced stays, and the error is logged.

    Returns whether the table allowed it.
    """
    if tracking is not None:
        tracking.cleanup_temporary_variables()
    failed = state_machine.transition(Event.FAIL)
    _log.error("the behavior failed: %s: %s", type(error).__name__, error)
    return failed
