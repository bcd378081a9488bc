"""Play the actions of one behavior without a kernel: a well-formed one succeeds, any other is an error. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from notebook_bcc.conformance.course import Area
from notebook_bcc.errors import ActionMalformed
from notebook_bcc.protocol.actions import (
    LAST_ADDED_CELL,
    Action,
    Add,
    EndPhase,
    Exec,
    NewSection,
    UpdateStageSteps,
    UpdateWorkflow,
    parse_action,
)
from notebook_bcc.protocol.messages import ActionProblem, BehaviorFeedback
from notebook_bcc.protocol.vocabulary import ShotType


@dataclass(frozen=True, slots=True)
class Played:
    """What became of a behavior. `cells` are the code cells there are now, by id."""

    names: tuple[str, ...] = ()
    cells: frozenset[str] = frozenset()
    problems: tuple[tuple[Area, str], ...] = ()
    changes: tuple[UpdateWorkflow | UpdateStageSteps, ...] = ()
    end_phase: bool = False
    feedback: BehaviorFeedback | None = None


def play(actions: Sequence[Any], *, cells: frozenset[str], behavior_id: str | None) -> Played:  # Any: as they came
    """Play these actions on top of the cells that earlier behaviors added."""
    known = set(cells)
    good: list[Action] = []
    problems: list[tuple[Area, str]] = []
    errors: list[ActionProblem] = []
    for number, data in enumerate(actions, start=1):
        try:
            action = parse_action(data)
        except ActionMalformed as error:
            name = error.action
            problems.append(("actions", f"action {number}: {error}"))
            errors.append(ActionProblem(action_id=f"action-{number}", action=name, error=str(error)))
            continue
        if isinstance(action, Exec) and action.codecell_id not in known:
            text = f"action {number} runs cell {action.codecell_id!r}, which no action has added"
            problems.append(("cells", text))
            errors.append(ActionProblem(action_id=f"action-{number}", action="exec", error=text))
            continue
        good.append(action)
        if isinstance(action, Add) and action.shot_type is ShotType.ACTION:
            known |= {LAST_ADDED_CELL, action.store_id or f"unnamed code cell {len(known)}"}
    feedback = BehaviorFeedback(
        behavior_id=behavior_id,
        actions_executed=len(actions),
        actions_succeeded=len(good),
        sections_added=sum(isinstance(action, NewSection) for action in good),
        last_action_result="error" if errors else "success",
        errors=tuple(errors),
    )
    return Played(
        names=tuple(action.action for action in good),
        cells=frozenset(known),
        problems=tuple(problems),
        changes=tuple(action for action in good if isinstance(action, UpdateWorkflow | UpdateStageSteps)),
        end_phase=any(isinstance(action, EndPhase) for action in good),
        feedback=feedback,
    )
