"""The closed sets of the protocol: states, events, levels, kinds."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, Self

Language = Literal["en", "zh"]
"""What a run speaks to its reader."""

Dialect = Literal["v2", "v1"]
"""What a planner behind an address speaks: this protocol, or its first version."""


class CaseFree(StrEnum):
    """Members are found whatever the case of the text: the older documents write states in upper case."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if isinstance(value, str):
            wanted = value.casefold()
            return next((member for member in cls if member.value.casefold() == wanted), None)
        return None


class State(CaseFree):
    """The fourteen states of a run."""

    IDLE = "idle"
    STAGE_RUNNING = "stage_running"
    STEP_RUNNING = "step_running"
    BEHAVIOR_RUNNING = "behavior_running"
    ACTION_RUNNING = "action_running"
    ACTION_COMPLETED = "action_completed"
    BEHAVIOR_COMPLETED = "behavior_completed"
    STEP_COMPLETED = "step_completed"
    STAGE_COMPLETED = "stage_completed"
    WORKFLOW_COMPLETED = "workflow_completed"
    ERROR = "error"
    CANCELLED = "cancelled"
    WORKFLOW_UPDATE_PENDING = "workflow_update_pending"
    STEP_UPDATE_PENDING = "step_update_pending"


class Event(CaseFree):
    """What moves the state machine. An event is not a POMDP action."""

    START_WORKFLOW = "START_WORKFLOW"
    START_STEP = "START_STEP"
    START_BEHAVIOR = "START_BEHAVIOR"
    START_ACTION = "START_ACTION"
    COMPLETE_ACTION = "COMPLETE_ACTION"
    COMPLETE_BEHAVIOR = "COMPLETE_BEHAVIOR"
    COMPLETE_STEP = "COMPLETE_STEP"
    COMPLETE_STAGE = "COMPLETE_STAGE"
    COMPLETE_WORKFLOW = "COMPLETE_WORKFLOW"
    NEXT_ACTION = "NEXT_ACTION"
    NEXT_BEHAVIOR = "NEXT_BEHAVIOR"
    NEXT_STEP = "NEXT_STEP"
    NEXT_STAGE = "NEXT_STAGE"
    UPDATE_WORKFLOW = "UPDATE_WORKFLOW"
    UPDATE_WORKFLOW_CONFIRMED = "UPDATE_WORKFLOW_CONFIRMED"
    UPDATE_WORKFLOW_REJECTED = "UPDATE_WORKFLOW_REJECTED"
    UPDATE_STEP = "UPDATE_STEP"
    UPDATE_STEP_CONFIRMED = "UPDATE_STEP_CONFIRMED"
    UPDATE_STEP_REJECTED = "UPDATE_STEP_REJECTED"
    FAIL = "FAIL"
    CANCEL = "CANCEL"
    RESET = "RESET"


class Owner(StrEnum):
    """Who is responsible for a transition."""

    PLANNING = "Planning"
    GENERATING = "Generating"
    CLIENT = "Client"


class Level(CaseFree):
    """The levels that progress is tracked on."""

    STAGES = "stages"
    STEPS = "steps"
    BEHAVIORS = "behaviors"


class ShotType(CaseFree):
    """How an action's content is shown: text, what was observed, or code."""

    DIALOGUE = "dialogue"
    OBSERVATION = "observation"
    ACTION = "action"


class CellType(StrEnum):
    """Kinds of cells. Thinking cells are markdown with metadata in the file."""

    MARKDOWN = "markdown"
    CODE = "code"
    THINKING = "thinking"


class TodoOperation(CaseFree):
    """What a todo_list_update does with its items."""

    ADD = "add"
    REMOVE = "remove"
    REPLACE = "replace"


class Strategy(CaseFree):
    """Who navigates between stages and steps."""

    CLIENT_CONTROLLED = "client_controlled"
    SERVER_CONTROLLED = "server_controlled"
