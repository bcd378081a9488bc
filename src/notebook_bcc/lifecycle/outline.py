"""What a list shows of a run that has stopped, kept beside its journal: a list of many runs need not read them whole.

The journal stays the truth: an outline counts only while the journal's file is the very one that it was made of.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from notebook_bcc import __version__
from notebook_bcc.engine.state import LevelState, Machine, PlannerContext, Position, RunState
from notebook_bcc.errors import MessageInvalid
from notebook_bcc.journal.records import INPUTS, RunStopped
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.lifecycle.verified import verified_stamp
from notebook_bcc.protocol.limits import Spent
from notebook_bcc.protocol.tracking import CompletedItem
from notebook_bcc.protocol.vocabulary import State
from notebook_bcc.protocol.workflow import Workflow

_NAME: Final = ".outline.json"
_VERIFIED: Final = ".verified.json"
_PLAIN: Final = ("run_id", "goal", "seq", "at", "started_at", "session_at", "elapsed_before")
_PLAIN_TOO: Final = ("actions_completed", "reward", "failure_reason")


def keep_outline(folder: RunFolder, state: RunState) -> None:
    """Keep what a list shows of this run, if it has stopped. Where that cannot be written the next list reads on."""
    stamp = _stamp(folder.journal)
    if stamp is None or state.stopped is None or state.question is not None:
        return
    plan = state.plan
    known: dict[str, Any] = {  # Any: JSON
        "stamp": stamp,
        "state": {name: getattr(state, name) for name in (*_PLAIN, *_PLAIN_TOO)},
        "fsm": state.fsm.value,
        "position": asdict(state.position),
        "plan": plan.model_dump(mode="json", include={"name": True, "stages": {"__all__": {"id", "name", "steps"}}})
        if plan is not None
        else None,
        "stages": [item.key for item in state.stages.completed],
        "steps": [item.key for item in state.steps.completed],
        "inputs": state.planner_context.variables.get(INPUTS),
        "spent": asdict(state.spent),
        "models": list(state.models),
        "stopped": state.stopped.model_dump(mode="json"),
    }
    path = folder.path / _NAME
    made = path.with_name(f"{_NAME}.{os.getpid()}")
    with contextlib.suppress(OSError, ValueError, TypeError):
        made.write_text(json.dumps(known), encoding="utf-8")
        made.replace(path)


def read_outline(folder: RunFolder) -> RunState | None:
    """The state as far as a list shows it; None where the journal has to be read."""
    try:
        known = json.loads((folder.path / _NAME).read_bytes())
        if known["stamp"] != _stamp(folder.journal):
            return None
        return RunState(
            **known["state"],
            machine=Machine(state=State(known["fsm"])),
            position=Position(**known["position"]),
            plan=Workflow.parse(known["plan"]) if known["plan"] is not None else None,
            stages=LevelState(completed=tuple(CompletedItem(stage_id=key) for key in known["stages"])),
            steps=LevelState(completed=tuple(CompletedItem(step_id=key) for key in known["steps"])),
            planner_context=PlannerContext(variables={INPUTS: known["inputs"]} if known["inputs"] is not None else {}),
            spent=Spent(**known["spent"]),
            models=tuple(known["models"]),
            stopped=RunStopped.model_validate(known["stopped"]),
        )
    except (OSError, ValueError, KeyError, TypeError, MessageInvalid):
        return None


def was_verified(folder: RunFolder) -> bool | None:
    """Whether the run's notebook has given the same results again; None where that was not tried.

    Kept beside the notebook: one with figures has megabytes, and a list asks about many.
    """
    stamp = _stamp(folder.notebook)
    path = folder.path / _VERIFIED
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        known = json.loads(path.read_bytes())
        if known["stamp"] == stamp:
            return bool(known["ok"]) if known["ok"] is not None else None
    verified = verified_stamp(folder)
    with contextlib.suppress(OSError):
        path.write_text(json.dumps({"stamp": stamp, "ok": verified}), encoding="utf-8")
    return verified


def _stamp(journal: Path) -> list[Any] | None:  # Any: JSON
    """Tells this version of a file from every other; None while entries of a journal lie outside of it."""
    try:
        found = journal.stat()
        wal = Path(f"{journal}-wal")
        if wal.exists() and wal.stat().st_size:
            return None
    except OSError:
        return None
    return [__version__, found.st_size, found.st_mtime_ns]
