"""A state at the start of a step, as the documents' clients hold it."""

from __future__ import annotations

from typing import Any


def step_state(**context: Any) -> dict[str, Any]:
    """Stage `data_analysis`, step `load_data`, before its first behavior; the context beside it."""
    return {
        "progress_info": {
            "current": {
                "stage_id": "data_analysis",
                "step_id": "load_data",
                "behavior_id": "behavior_001",
                "behavior_iteration": 1,
            },
            "progress": {
                "stages": {"completed": [], "current": "data_analysis", "remaining": []},
                "steps": {"completed": [], "current": "load_data", "remaining": []},
                "behaviors": {"completed": [], "current": "behavior_001", "iteration": 1},
            },
            "goals": {"stage": "Know the table", "step": "Load it", "behavior": None},
        },
        "variables": {},
        "toDoList": [],
        "effects": {"current": [], "history": []},
        **context,
    }


def step_observation(**context: Any) -> dict[str, Any]:
    """The same as an observation."""
    state = step_state(**context)
    return {"location": state.pop("progress_info"), "context": state}
