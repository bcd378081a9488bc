"""Notebook-BCC: data-science workflows carried out step by step in a real Jupyter notebook.

    import notebook_bcc as nb

    run = nb.run("houses.csv", target="SalePrice")
    print(run.score, run.report)

Each name is loaded when it is first used: importing the package itself costs nothing and does nothing. The names that
the protocol's documents promise are importable from here as well.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from notebook_bcc.api.events import RunEvent
    from notebook_bcc.api.front import arun, open, run, runs, start
    from notebook_bcc.api.run import Run, Score
    from notebook_bcc.cli.magic import load_ipython_extension as load_ipython_extension
    from notebook_bcc.compat.api_client import ApiClient as ApiClient
    from notebook_bcc.compat.config import Config as Config
    from notebook_bcc.compat.observing import get_transition_history as get_transition_history
    from notebook_bcc.compat.observing import prepare_generating_payload as prepare_generating_payload
    from notebook_bcc.compat.observing import visualize_state_machine as visualize_state_machine
    from notebook_bcc.compat.script_store import ScriptStore as ScriptStore
    from notebook_bcc.compat.values import ActionMetadata as ActionMetadata
    from notebook_bcc.compat.values import SectionProgress as SectionProgress
    from notebook_bcc.compat.values import WorkflowContext as WorkflowContext
    from notebook_bcc.engine.actions.registry import ActionRegistry as ActionRegistry
    from notebook_bcc.engine.runner import Runner as Runner
    from notebook_bcc.errors import BccError, RunLocked, RunNotFound, RunRefused
    from notebook_bcc.fsm.machine import StateMachine as StateMachine
    from notebook_bcc.journal.memory import MemoryJournal as MemoryJournal
    from notebook_bcc.journal.records import RunStarted as RunStarted
    from notebook_bcc.kernel.local.kernel import LocalKernel as LocalKernel
    from notebook_bcc.planners.callable import CallablePlanner as CallablePlanner
    from notebook_bcc.protocol.vocabulary import Event
    from notebook_bcc.protocol.workflow import Workflow as Workflow

    WorkflowEvent = Event

__version__ = "0.2.0"

__all__ = [
    "BccError",
    "Run",
    "RunEvent",
    "RunLocked",
    "RunNotFound",
    "RunRefused",
    "Score",
    "arun",
    "open",
    "run",
    "runs",
    "start",
]

# Where each name lives, and what it is called there if that differs. What is not in `__all__` is for those who drive
# the protocol themselves, and for IPython.
_HOMES = {
    "ActionMetadata": "compat.values",
    "ActionRegistry": "engine.actions.registry",
    "ApiClient": "compat.api_client",
    "BccError": "errors",
    "CallablePlanner": "planners.callable",
    "Config": "compat.config",
    "LocalKernel": "kernel.local.kernel",
    "MemoryJournal": "journal.memory",
    "Run": "api.run",
    "RunEvent": "api.events",
    "RunLocked": "errors",
    "RunNotFound": "errors",
    "RunRefused": "errors",
    "RunStarted": "journal.records",
    "Runner": "engine.runner",
    "Score": "api.run",
    "ScriptStore": "compat.script_store",
    "SectionProgress": "compat.values",
    "StateMachine": "fsm.machine",
    "Workflow": "protocol.workflow",
    "WorkflowContext": "compat.values",
    "WorkflowEvent": "protocol.vocabulary:Event",
    "arun": "api.front",
    "get_transition_history": "compat.observing",
    "load_ipython_extension": "cli.magic",
    "open": "api.front",
    "prepare_generating_payload": "compat.observing",
    "run": "api.front",
    "runs": "api.front",
    "start": "api.front",
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
    return sorted({*globals(), *_HOMES})
