"""What every test of the promised names needs: untouched settings, and the state of a run to tell a planner."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from notebook_bcc.compat.config import Config

VARIABLES = ("DSLC_BASE_URL", "BACKEND_BASE_URL", "NOTEBOOK_ID", "USE_REMOTE_EXECUTION", "LOG_LEVEL")


@pytest.fixture(autouse=True)
def untouched_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """An empty folder to stand in, no variables of ours, and nothing set before or left after."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    Config.reset()
    yield tmp_path
    Config.reset()


@pytest.fixture
def state() -> dict[str, Any]:
    """A state as the documents' client holds it: progress information, and the context beside it."""
    return {
        "progress_info": {
            "current": {
                "stage_id": "prices",
                "step_id": "load",
                "behavior_id": "behavior_001",
                "behavior_iteration": 1,
            },
            "progress": {
                "stages": {"completed": [], "current": "prices", "remaining": ["report"]},
                "steps": {"completed": ["fetch"], "current": "load", "remaining": ["clean"]},
                "behaviors": {"completed": [], "current": "behavior_001", "iteration": 1},
            },
            "goals": {"stage": "Know the prices", "step": "Load the table", "behavior": None},
        },
        "variables": {"rows": 3},
        "toDoList": ["count the gaps"],
        "effects": {"current": ["3 rows"], "history": []},
        "FSM": {"state": "STEP_RUNNING", "transition": []},
    }
