"""The requests and answers that the OpenAPI document and its page show; a test sends and checks them all."""

from __future__ import annotations

from typing import Any

# Any: these are JSON, written down as a client would.
REQUEST: dict[str, Any] = {
    "observation": {
        "location": {
            "current": {
                "stage_id": "clean",
                "step_id": "fill_gaps",
                "behavior_id": "behavior_002",
                "behavior_iteration": 2,
            },
            "progress": {
                "stages": {"completed": [], "current": "clean", "remaining": ["report"]},
                "steps": {"completed": [{"step_id": "find_gaps"}], "current": "fill_gaps", "remaining": []},
                "behaviors": {"completed": [], "current": "behavior_002", "iteration": 2},
            },
            "goals": {"stage": "a table without gaps", "step": "every gap has a value"},
        },
        "context": {
            "variables": {"rows": 1460},
            "toDoList": ["fill the gaps"],
            "effects": {"current": ["gaps: 7"], "history": []},
        },
    },
    "options": {"stream": False, "request_id": "houses.41", "run_id": "houses", "attempt": 1},
}

FIRST_REQUEST: dict[str, Any] = {
    "observation": {"location": {"current": {}, "progress": {}, "goals": {"workflow": "Predict the prices."}}},
    "options": {"request_id": "houses.1", "run_id": "houses", "attempt": 1},
}

FEEDBACK: dict[str, Any] = {
    "behavior_id": "behavior_002",
    "actions_executed": 3,
    "actions_succeeded": 2,
    "sections_added": 1,
    "last_action_result": "error",
    "errors": [{"action_id": "action-17", "action": "exec", "error": "NameError: name 'df' is not defined"}],
    "missing_outputs": ["table"],
}

FEEDBACK_REQUEST: dict[str, Any] = {**REQUEST, "behavior_feedback": FEEDBACK}

STREAM_REQUEST: dict[str, Any] = {**REQUEST, "options": {**REQUEST["options"], "stream": True}}

REPAIR_REQUEST: dict[str, Any] = {
    "observation": REQUEST["observation"],
    "options": {
        "run_id": "houses",
        "repair": {
            "cell_id": "load",
            "source": "df = pd.read_csv('data.csv')",
            "error_name": "NameError",
            "error": "name 'pd' is not defined",
            "attempt": 1,
        },
    },
}

PLANNING_RESPONSE: dict[str, Any] = {
    "targetAchieved": False,
    "transition": {"continue_behaviors": True, "target_achieved": False},
    "context_update": {
        "variables": {"checkpoint": "gaps found"},
        "progress_update": {"level": "behaviors", "focus": "Fill the numeric columns first."},
    },
    "context_filter": {"variables_to_include": ["table"]},
    "metadata": {"estimated_remaining_behaviors": 1},
}

ACTIONS: list[dict[str, Any]] = [
    {"action": "add", "shot_type": "action", "content": "table = table.fillna(0)"},
    {"action": "exec", "codecell_id": "lastAddedCellId"},
]

GENERATING_RESPONSE: dict[str, Any] = {"actions": ACTIONS}

REPAIR: dict[str, Any] = {"source": "import pandas as pd\ndf = pd.read_csv('data.csv')"}

REQUEST_V1: dict[str, Any] = {
    "observation": {
        "location": {
            "current_stage_id": "clean",
            "current_step_id": "fill_gaps",
            "behavior_id": "behavior_002",
            "behavior_iteration": 2,
        },
        "context": {"variables": {"rows": 1460}, "toDoList": ["fill the gaps"]},
    },
    "behavior_feedback": {"actions_executed": 5, "sections_added": 1, "last_action_result": "success"},
    "options": {"request_id": "houses.42", "run_id": "houses", "attempt": 1},
}

RESPONSE_V1: dict[str, Any] = {
    "behavior": {"id": "behavior_002", "iteration": 2},
    "actions": [{"type": "execute_code", "content": "table = table.fillna(0)"}],
    "transition": {
        "strategy": None,
        "next_stage_id": None,
        "next_step_id": None,
        "continue_behaviors": True,
        "target_achieved": False,
        "workflow_update": None,
    },
    "context_update": {"variables": {}},
    "metadata": {"target_achieved": False},
    "targetAchieved": False,
}

ERROR: dict[str, Any] = {
    "error": {
        "code": "invalid_message",
        "message": "Request is not valid.",
        "problems": [{"path": "observation.location.progress", "problem": "is required"}],
    }
}
