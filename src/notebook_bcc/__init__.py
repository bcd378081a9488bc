"""Notebook-BCC: data-science workflows carried out step by step in a real Jupyter notebook.

The names below are the public API. Each is loaded on first use: importing the package itself does nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from notebook_bcc.compat.api_client import ApiClient
    from notebook_bcc.compat.config import Config
    from notebook_bcc.compat.observing import (
        get_transition_history,
        prepare_generating_payload,
        visualize_state_machine,
    )
    from notebook_bcc.compat.script_store import ScriptStore
    from notebook_bcc.compat.values import WorkflowContext
    from notebook_bcc.engine.actions.registry import ActionRegistry
    from notebook_bcc.engine.runner import Runner
    from notebook_bcc.errors import BccError
    from notebook_bcc.fsm.machine import StateMachine
    from notebook_bcc.journal.memory import MemoryJournal
    from notebook_bcc.journal.records import RunStarted
    from notebook_bcc.kernel.local.kernel import LocalKernel
    from notebook_bcc.planners.callable import CallablePlanner
    from notebook_bcc.protocol.actions import ActionMetadata
    from notebook_bcc.protocol.observation import SectionProgress
    from notebook_bcc.protocol.vocabulary import Event as WorkflowEvent
    from notebook_bcc.protocol.workflow import Workflow

__version__ = "0.2.0"

__all__ = [
    "ActionMetadata",
    "ActionRegistry",
    "ApiClient",
    "BccError",
    "CallablePlanner",
    "Config",
    "LocalKernel",
    "MemoryJournal",
    "RunStarted",
    "Runner",
    "ScriptStore",
    "SectionProgress",
    "StateMachine",
    "Workflow",
    "WorkflowContext",
    "WorkflowEvent",
    "get_transition_history",
    "prepare_generating_payload",
    "visualize_state_machine",
]

# Where each name lives, and what it is called there if that differs.
_HOMES = {
    "ActionMetadata": "protocol.actions",
    "ActionRegistry": "engine.actions.registry",
    "ApiClient": "compat.api_client",
    "BccError": "errors",
    "CallablePlanner": "planners.callable",
    "Config": "compat.config",
    "LocalKernel": "kernel.local.kernel",
    "MemoryJournal": "journal.memory",
    "RunStarted": "journal.records",
    "Runner": "engine.runner",
    "ScriptStore": "compat.script_store",
    "SectionProgress": "protocol.observation",
    "StateMachine": "fsm.machine",
    "Workflow": "protocol.workflow",
    "WorkflowContext": "compat.values",
    "WorkflowEvent": "protocol.vocabulary:Event",
    "get_transition_history": "compat.observing",
    "prepare_generating_payload": "compat.observing",
    "visualize_state_machine": "compat.observing",
}


def __getattr__(name: str) -> Any:  # Any: whichever of the names it is
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, called = home.partition(":")
    value = getattr(import_module(f"{__name__}.{module}"), called or name)
    # The next look finds it without coming here.
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *(name for name in __all__ if name not in globals())])
