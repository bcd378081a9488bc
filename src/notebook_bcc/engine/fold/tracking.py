"""What was promised and what was produced: how it is handed from behavior to step to stage. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import replace
from typing import Any

from notebook_bcc.engine.changes import StateChanges, evolve
from notebook_bcc.engine.state import AttemptStart, BehaviorState, LevelState, RunState
from notebook_bcc.protocol.messages import PlanningResponse
from notebook_bcc.protocol.tracking import CompletedItem, OutputsProduced, OutputTracking, Promotion
from notebook_bcc.protocol.vocabulary import Level

_COMPLETED_KEPT = 200
_FINDINGS_KEPT = 10
_VERIFIED = frozenset({"variables", "artifacts"})


def unique(*groups: Iterable[str]) -> tuple[str, ...]:
    """All names once, in the order they first appear."""
    return tuple(dict.fromkeys(name for group in groups for name in group))


def begin_stage(state: RunState) -> StateChanges:
    """A stage was entered: its promises are the plan's, its steps are yet to be done."""
    stage = state.stage
    expected = stage.expected_outputs if stage is not None else ()
    return {
        "stages": _entered(state.stages, expected),
        "steps": LevelState(),
        "behaviors": LevelState(),
    }


def begin_step(state: RunState) -> StateChanges:
    """A step was entered."""
    step = state.step
    expected = step.expected_outputs if step is not None else ()
    return {
        "steps": _entered(state.steps, expected),
        "behaviors": LevelState(),
    }


def _entered(level: LevelState, expected: tuple[str, ...]) -> LevelState:
    """The level with a new item under way, of which only its promises are known."""
    return LevelState(completed=level.completed, outputs=OutputTracking(expected=expected))


def begin_behavior(state: RunState, response: PlanningResponse | None) -> StateChanges:
    """A behavior begins with nothing produced; what it promises comes with the judgement that led to it.

    Without one (a restart after an error) the promises of the behavior before stand.
    """
    promised, goal = state.behaviors.outputs.expected, state.behaviors.goal
    spec = state.filter.outputs_tracking if state.filter is not None else None
    validate = spec.validation_required if spec is not None else ()
    promotions = spec.promotions if spec is not None else ()
    if response is not None:
        updates = [one for one in response.context_update.progress_updates if one.level is Level.BEHAVIORS]
        promised = unique(
            spec.expected_variables if spec is not None else (),
            *[one.expected_outputs for one in updates if one.expected_outputs is not None],
        )
        goal = next((one.goal for one in updates if one.goal), "") or (
            (response.behavior.target or "") if response.behavior is not None else ""
        )
    level = replace(state.behaviors, outputs=OutputTracking(expected=promised), artifacts=(), goal=goal)
    behavior = BehaviorState(promotions=promotions, validate=validate, start=attempt_start(state, promotions))
    return {"behaviors": level, "behavior": behavior}


def begin_again(state: RunState) -> StateChanges:
    """The same behavior begins again after an error: what was done of it is there to be taken over, and its promises
    stand."""
    before, start = state.behavior, state.behavior.start
    begun = begin_behavior(state, None)
    if start is None:
        return begun
    behavior = evolve(
        begun["behavior"],
        start=start,
        former=(*before.done, *before.former[len(before.done) :]),
        promoted=before.promoted,
        promotions=tuple(one for one in start.promotions if one.artifact_id not in before.promoted),
        validate=before.validate,
    )
    handed_up = state.steps.artifacts
    kept = tuple(one for one in state.behaviors.artifacts if one not in handed_up)
    return {"behaviors": replace(begun["behaviors"], artifacts=kept), "behavior": behavior}


def attempt_start(state: RunState, promotions: tuple[Promotion, ...]) -> AttemptStart:
    """What a behavior that begins now begins with."""
    kernel = state.kernel
    return AttemptStart(
        document=state.document,
        steps=kernel.steps,
        reproducible=kernel.reproducible,
        assigned=kernel.assigned,
        section_progress=state.planner_context.section_progress,
        promotions=promotions,
    )


def taken_up_behavior(state: RunState) -> BehaviorState:
    """The behavior whose question nobody answered, or not to the end: what was done of it stays, and the same question
    is asked again."""
    spec = state.filter.outputs_tracking if state.filter is not None else None
    promotions = spec.promotions if spec is not None else ()
    return evolve(state.behavior, unanswered=False, failure="", ended=False, promotions=promotions)


def note_variables(state: RunState, names: Iterable[str]) -> LevelState:
    """Names that appeared in the kernel and are expected or declared are in progress."""
    declared = {one.variable for one in state.behavior.promotions}
    awaited = declared.union(
        state.behaviors.outputs.expected, state.steps.outputs.expected, state.stages.outputs.expected
    )
    outputs = state.behaviors.outputs
    fresh = [name for name in names if name in awaited and name not in outputs.in_progress]
    if not fresh:
        return state.behaviors
    return replace(
        state.behaviors, outputs=outputs.model_copy(update={"in_progress": unique(outputs.in_progress, fresh)})
    )


def forget_variables(state: RunState, gone: Set[str]) -> StateChanges:
    """Names that are no longer in the kernel: they are neither in progress nor produced, on any level."""
    changes: StateChanges = {}
    for name in ("stages", "steps", "behaviors"):
        level: LevelState = getattr(state, name)
        outputs = level.outputs
        if gone.isdisjoint(outputs.produced) and gone.isdisjoint(outputs.in_progress):
            continue
        kept = {
            "produced": tuple(one for one in outputs.produced if one not in gone),
            "in_progress": tuple(one for one in outputs.in_progress if one not in gone),
        }
        artifacts = tuple(one for one in level.artifacts if one.variable_name not in gone)
        changes[name] = replace(level, outputs=outputs.model_copy(update=kept), artifacts=artifacts)
    return changes


def end_behavior(state: RunState) -> StateChanges:
    """A behavior ended: what it promised and really exists is produced and handed up to the step."""
    outputs, existing = state.behaviors.outputs, state.kernel.variables
    behavior = state.behavior
    produced = unique(
        outputs.produced, [name for name in unique(outputs.in_progress, outputs.expected) if name in existing]
    )
    produced = tuple(name for name in produced if name in existing)
    missing = tuple(name for name in unique(outputs.expected, behavior.validate) if name not in existing)
    position = state.position
    item = CompletedItem(
        behavior_id=position.behavior_id,
        goal=state.behaviors.goal,
        actions_taken=behavior.taken,
        outputs_produced=as_noted(
            OutputsProduced(variables=produced, artifacts=state.behaviors.artifacts, key_findings=behavior.findings),
            state.behaviors.noted,
        ),
        achieved=not behavior.errors and not missing,
        missing_outputs=missing,
    )
    done = replace(
        state.behaviors,
        completed=(*state.behaviors.completed, item)[-_COMPLETED_KEPT:],
        outputs=OutputTracking(expected=outputs.expected, produced=produced),
        noted=None,
    )
    return {
        "behaviors": done,
        "steps": _handed_up(state.steps, produced, state.behaviors),
        "behavior": evolve(behavior, missing=missing, stream_open=False, ended=True, current=None),
    }


def end_step(state: RunState, *, achieved: bool) -> StateChanges:
    """A step ended: what it produced is handed up to the stage."""
    step, outputs = state.step, state.steps.outputs
    existing = state.kernel.variables
    produced = unique(outputs.produced, [name for name in outputs.expected if name in existing])
    missing = tuple(name for name in outputs.expected if name not in existing and name not in produced)
    taken = [item.goal or f"{item.key}: {len(item.actions_taken)} actions" for item in state.behaviors.completed]
    item = CompletedItem(
        step_id=state.position.step_id,
        goal=state.steps.goal or (step.purpose if step is not None else ""),
        actions_taken=tuple(taken),
        outputs_produced=_gathered(produced, state.steps, state.behaviors.completed),
        achieved=achieved,
        missing_outputs=missing,
    )
    done = replace(
        state.steps,
        completed=_with_item(state.steps.completed, item),
        outputs=outputs.model_copy(update={"produced": produced, "in_progress": ()}),
        noted=None,
    )
    return {"steps": done, "stages": _handed_up(state.stages, produced, state.steps)}


def end_stage(state: RunState) -> StateChanges:
    """A stage ended."""
    stage, outputs = state.stage, state.stages.outputs
    existing = state.kernel.variables
    produced = unique(outputs.produced, [name for name in outputs.expected if name in existing])
    item = CompletedItem(
        stage_id=state.position.stage_id,
        goal=state.stages.goal or (stage.purpose if stage is not None else ""),
        actions_taken=tuple(one.goal or one.key for one in state.steps.completed),
        outputs_produced=_gathered(produced, state.stages, state.steps.completed),
        missing_outputs=tuple(name for name in outputs.expected if name not in existing and name not in produced),
    )
    return {
        "stages": replace(
            state.stages,
            completed=_with_item(state.stages.completed, item),
            outputs=outputs.model_copy(update={"produced": produced}),
            noted=None,
        )
    }


def as_noted(outputs: OutputsProduced, noted: OutputsProduced | None) -> OutputsProduced:
    """The outputs with what the planner says of them. What exists is not the planner's to say."""
    if noted is None:
        return outputs
    said = {name: value for name, value in dict(noted).items() if name not in _VERIFIED and value is not None}
    said["key_findings"] = unique(outputs.key_findings, noted.key_findings)
    return outputs.model_copy(update=said)


def _gathered(produced: tuple[str, ...], level: LevelState, below: Iterable[CompletedItem]) -> OutputsProduced:
    """What a step or stage leaves behind: its own outputs, and what is said of those of the items in it."""
    parts = [item.outputs_produced for item in below]
    key_findings = [text for part in parts for text in part.key_findings]
    modified = unique(*[part.modified_features or () for part in parts])
    validations = [part.validation for part in parts if part.validation is not None]
    findings = [one for part in parts for one in _listed(part.findings)][-_FINDINGS_KEPT:]
    gathered = OutputsProduced(
        variables=produced,
        artifacts=level.artifacts,
        key_findings=tuple(key_findings[-_FINDINGS_KEPT:]),
        modified_features=modified or None,
        validation=validations[-1] if validations else None,
        findings=findings[0] if len(findings) == 1 else findings or None,
    )
    return as_noted(gathered, level.noted)


def _listed(findings: Any) -> list[Any]:  # Any: the planner's own form
    if findings is None:
        return []
    return list(findings) if isinstance(findings, list | tuple) else [findings]


def _handed_up(level: LevelState, produced: tuple[str, ...], below: LevelState) -> LevelState:
    outputs = level.outputs.model_copy(update={"produced": unique(level.outputs.produced, produced)})
    return replace(level, outputs=outputs, artifacts=(*level.artifacts, *below.artifacts))


def _with_item(completed: tuple[CompletedItem, ...], item: CompletedItem) -> tuple[CompletedItem, ...]:
    """A stage or step that was done again counts once, with its newest result."""
    return (*[one for one in completed if one.key != item.key], item)
