"""The Python names that the protocol's documents promise. Thin, on top of everything; nothing else imports it.

Most of them are used from `notebook_bcc` itself; the functions that only clients by hand need are here. Each is loaded
with its first use. `install_aliases` makes the documents' own import lines work.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from notebook_bcc.compat.aliases import install_aliases, remove_aliases
    from notebook_bcc.compat.observing import plain_observation
    from notebook_bcc.compat.outputs import (
        OutputTracking,
        complete_behavior,
        filter_variables,
        promote_temp_variable,
    )
    from notebook_bcc.compat.recovery import (
        APIError,
        RecoverableError,
        call_planning_api_with_retry,
        fallback_planning_response,
        handle_error,
        recover_from_error,
    )
    from notebook_bcc.compat.service_apis import GeneratingAPI, PlanningAPI
    from notebook_bcc.compat.state_machine import SampleStateMachine

__all__ = [
    "APIError",
    "GeneratingAPI",
    "OutputTracking",
    "PlanningAPI",
    "RecoverableError",
    "SampleStateMachine",
    "call_planning_api_with_retry",
    "complete_behavior",
    "fallback_planning_response",
    "filter_variables",
    "handle_error",
    "install_aliases",
    "plain_observation",
    "promote_temp_variable",
    "recover_from_error",
    "remove_aliases",
]

_HOMES = {
    "APIError": "recovery",
    "GeneratingAPI": "service_apis",
    "OutputTracking": "outputs",
    "PlanningAPI": "service_apis",
    "RecoverableError": "recovery",
    "SampleStateMachine": "state_machine",
    "call_planning_api_with_retry": "recovery",
    "complete_behavior": "outputs",
    "fallback_planning_response": "recovery",
    "filter_variables": "outputs",
    "handle_error": "recovery",
    "install_aliases": "aliases",
    "plain_observation": "observing",
    "promote_temp_variable": "outputs",
    "recover_from_error": "recovery",
    "remove_aliases": "aliases",
}


def __getattr__(name: str) -> Any:  # Any: whichever of the names it is
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    # The next look finds it without coming here.
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
