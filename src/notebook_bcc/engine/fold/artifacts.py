"""A temporary variable that became a product: every level that names it is corrected. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from notebook_bcc.engine.changes import StateChanges, evolve
from notebook_bcc.engine.fold.tracking import unique
from notebook_bcc.engine.state import LevelState, RunState
from notebook_bcc.journal.records import ArtifactPromoted
from notebook_bcc.protocol.tracking import Artifact, CompletedItem
from notebook_bcc.protocol.vocabulary import State

_Name = Literal["stages", "steps", "behaviors"]
_NAMES: Final[tuple[_Name, ...]] = ("stages", "steps", "behaviors")
# Whose product it is: of the levels whose item has ended (first), and of the one that still goes on. Elsewhere it is
# the running behavior's.
_ENDED: Final[dict[State, tuple[tuple[_Name, ...], _Name | None]]] = {
    State.STAGE_RUNNING: ((), "stages"),
    State.STEP_RUNNING: ((), "steps"),
    State.BEHAVIOR_COMPLETED: (("behaviors",), "steps"),
    State.STEP_COMPLETED: (("behaviors", "steps"), "stages"),
    State.STAGE_COMPLETED: (_NAMES, None),
}


def note_artifact(state: RunState, record: ArtifactPromoted) -> StateChanges:
    """A temporary became a product: out of in_progress, into produced, and known by its new name on every level.

    A promotion on the planner's word comes after the behavior has ended and handed up: what was handed up is corrected
    too.
    """
    artifact = record.artifact
    ended, owner = _ENDED.get(state.fsm, ((), "behaviors"))
    changes: StateChanges = {
        "promotions": tuple(one for one in state.promotions if one.artifact_id != artifact.artifact_id),
        "behavior": evolve(
            state.behavior,
            promotions=tuple(one for one in state.behavior.promotions if one.artifact_id != artifact.artifact_id),
            promoted=(*state.behavior.promoted, artifact.artifact_id),
        ),
    }
    for name in _NAMES:
        before: LevelState = getattr(state, name)
        level = _renamed(before, artifact)
        if name == owner:
            level = _with_product(replace(level, artifacts=(*level.artifacts, artifact)), artifact)
        elif name in ended:
            level = _of_ended_item(level, artifact)
        if level is not before:
            changes[name] = level
    return changes


def _of_ended_item(level: LevelState, artifact: Artifact) -> LevelState:
    """The product belongs to the item that has ended last, unless an earlier one had made the temporary."""
    level = _with_product(level, artifact)
    if not level.completed or any(artifact in item.outputs_produced.artifacts for item in level.completed):
        return level
    *before, last = level.completed
    return replace(level, completed=(*before, _with_artifact(last, artifact)))


def _with_product(level: LevelState, artifact: Artifact) -> LevelState:
    produced = unique(level.outputs.produced, [artifact.variable_name])
    return replace(level, outputs=level.outputs.model_copy(update={"produced": produced}))


def _renamed(level: LevelState, artifact: Artifact) -> LevelState:
    """The level with the product's name where it had the temporary's; the same object if it had it nowhere."""
    outputs, old = level.outputs, artifact.parent
    if old in outputs.expected or old in outputs.produced or old in outputs.in_progress:
        tracked = outputs.model_copy(
            update={
                "expected": _swapped(outputs.expected, artifact),
                "produced": _swapped(outputs.produced, artifact),
                "in_progress": tuple(name for name in outputs.in_progress if name != old),
            }
        )
        level = replace(level, outputs=tracked)
    if any(old in item.outputs_produced.variables for item in level.completed):
        level = replace(level, completed=tuple(_corrected(item, artifact) for item in level.completed))
    return level


def _corrected(item: CompletedItem, artifact: Artifact) -> CompletedItem:
    return _with_artifact(item, artifact) if artifact.parent in item.outputs_produced.variables else item


def _with_artifact(item: CompletedItem, artifact: Artifact) -> CompletedItem:
    outputs = item.outputs_produced
    corrected = {
        "variables": unique(_swapped(outputs.variables, artifact), [artifact.variable_name]),
        "artifacts": (*outputs.artifacts, artifact),
    }
    return item.model_copy(update={"outputs_produced": outputs.model_copy(update=corrected)})


def _swapped(names: tuple[str, ...], artifact: Artifact) -> tuple[str, ...]:
    return unique(artifact.variable_name if name == artifact.parent else name for name in names)
