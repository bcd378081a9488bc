"""The small values of the first document that have no twin in the protocol."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class WorkflowContext:
    """Where a client is in its plan, and in the actions of the behavior under way.

    Not frozen, unlike our own values: whoever drives a behavior by hand moves `current_action_index` along.
    """

    current_stage_id: str | None = None
    current_step_id: str | None = None
    current_behavior_id: str | None = None
    current_behavior_actions: list[Any] = field(default_factory=list)  # Any: actions as they came, or parsed
    current_action_index: int = 0
