"""What a planner's answer changes in the run: variables, tasks, focus, plan. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from notebook_bcc.engine.changes import StateChanges, evolve
from notebook_bcc.engine.fold.tracking import as_noted, unique
from notebook_bcc.engine.plan_changes import applied, changes_nothing, fills_in
from notebook_bcc.engine.state import LevelState, PlannerContext, RunState
from notebook_bcc.journal.records import PlanProposal, Purpose
from notebook_bcc.protocol.messages import ContextUpdate, PlanningResponse, TodoUpdate, TransitionAdvice
from notebook_bcc.protocol.observation import SectionProgress
from notebook_bcc.protocol.tracking import OutputsProduced
from notebook_bcc.protocol.vocabulary import Level, State, TodoOperation

Place = tuple[str | None, str | None]
_ON_THE_WAY: frozenset[Purpose] = frozenset({"stage", "step_end", "stage_end"})
_LEVELS: dict[Level, Literal["stages", "steps", "behaviors"]] = {
    Level.STAGES: "stages",
    Level.STEPS: "steps",
    Level.BEHAVIORS: "behaviors",
}
# Where the item of a level that the planner speaks of is the one that has ended last.
_BETWEEN: dict[Level, frozenset[State]] = {
    Level.STAGES: frozenset({State.STAGE_COMPLETED}),
    Level.STEPS: frozenset({State.STEP_COMPLETED, State.STAGE_COMPLETED}),
    Level.BEHAVIORS: frozenset({State.BEHAVIOR_COMPLETED, State.STEP_COMPLETED, State.STAGE_COMPLETED}),
}


def apply_context_update(state: RunState, response: PlanningResponse, purpose: Purpose) -> StateChanges:
    """The changes an answer of /planning brings."""
    at = (state.position.stage_id, state.position.step_id)
    return {
        **context_changes(state, response),
        "filter": response.context_filter,
        "target": target_after(state.target, response.transition, purpose, at=at),
    }


def context_changes(state: RunState, response: PlanningResponse) -> StateChanges:
    """What a context update changes, wherever it came."""
    update = response.context_update
    changes: StateChanges = {"planner_context": _updated_context(state.planner_context, response)}
    for one in update.progress_updates:
        name = _LEVELS[one.level]
        level: LevelState = changes.get(name) or getattr(state, name)
        if one.focus is not None:
            level = replace(level, focus=one.focus)
        if one.goal is not None:
            level = replace(level, goal=one.goal)
        if one.expected_outputs is not None and one.level is not Level.BEHAVIORS:
            # A behavior's promises count from its own start: they are taken up there.
            outputs = level.outputs
            expected = unique(outputs.expected, one.expected_outputs)
            level = replace(level, outputs=outputs.model_copy(update={"expected": expected}))
        if one.outputs_produced is not None:
            level = _with_noted(level, one.outputs_produced, between=state.fsm in _BETWEEN[one.level])
        changes[name] = level
    if update.promotions:
        changes["promotions"] = (*state.promotions, *update.promotions)
    for proposal in proposals_of(state, update):
        changes |= proposed(evolve(state, **changes), proposal)
    if update.workflow_update is not None and update.workflow_update.sections:
        context = changes["planner_context"]
        progress = planned_sections(context, update.workflow_update.sections)
        changes["planner_context"] = replace(context, section_progress=progress)
    return changes


def _with_noted(level: LevelState, noted: OutputsProduced, *, between: bool) -> LevelState:
    """What the planner says of outputs: of the item that ended last where the run is between two, else of the one under
    way, until that ends."""
    if between and level.completed:
        *before, last = level.completed
        updated = last.model_copy(update={"outputs_produced": as_noted(last.outputs_produced, noted)})
        return replace(level, completed=(*before, updated))
    return replace(level, noted=noted if level.noted is None else as_noted(level.noted, noted))


def proposals_of(state: RunState, update: ContextUpdate) -> tuple[PlanProposal, ...]:
    """The changes of the plan that an answer carries."""
    found: list[PlanProposal] = []
    if update.workflow_update is not None:
        found.append(PlanProposal(workflow=update.workflow_update, origin="planning"))
    steps = update.stage_steps_update
    if steps is not None:
        stage_id = steps.stage_id or state.position.stage_id
        found.append(PlanProposal(stage_id=stage_id, steps=steps.steps, origin="planning"))
    return tuple(found)


def proposed(state: RunState, proposal: PlanProposal) -> StateChanges:
    """Apply what only fills in; let the rest wait for its confirmation."""
    if changes_nothing(state.plan, proposal):
        return {}
    if fills_in(state.plan, proposal):
        return {"plan": applied(state.plan, proposal)}
    return {"proposals": (*state.proposals, proposal)}


def _updated_context(context: PlannerContext, response: PlanningResponse) -> PlannerContext:
    update = response.context_update
    remaining = response.metadata.estimated_remaining_behaviors
    return replace(
        context,
        variables={**context.variables, **update.variables} if update.variables else context.variables,
        todo=_todo(context.todo, update.todo_list_update) if update.todo_list_update is not None else context.todo,
        section_progress=_sections(context, update),
        workflow_progress=context.workflow_progress if update.workflow_progress is None else update.workflow_progress,
        estimated_remaining=context.estimated_remaining if remaining is None else remaining,
    )


def _todo(todo: tuple[str, ...], update: TodoUpdate) -> tuple[str, ...]:
    match update.operation:
        case TodoOperation.ADD:
            return unique(todo, update.items)
        case TodoOperation.REMOVE:
            return tuple(item for item in todo if item not in update.items)
        case TodoOperation.REPLACE:
            return update.items


def _sections(context: PlannerContext, update: ContextUpdate) -> SectionProgress | str | None:
    new, old = update.section_progress, context.section_progress
    if isinstance(new, SectionProgress) and isinstance(old, SectionProgress):
        # Only what the planner said changes; what the client counted stays.
        return old.model_copy(update={name: getattr(new, name) for name in new.model_fields_set})
    return old if new is None else new


def planned_sections(context: PlannerContext, sections: tuple[str, ...]) -> SectionProgress:
    """The section progress with all planned sections named."""
    old = context.section_progress
    return (old if isinstance(old, SectionProgress) else SectionProgress()).model_copy(update={"all": sections})


def target_after(target: Place | None, advice: TransitionAdvice, purpose: Purpose, *, at: Place) -> Place | None:
    """Where a server-controlled transition wants to go; whoever received the answer has checked that it exists.

    Each answer replaces what an earlier one has named. Only a silent one at a place that the run passes on its way
    there does not.
    """
    named = advice.destination
    if named is None:
        return target if purpose in _ON_THE_WAY else None
    # To begin the step that is about to begin is no other place.
    return None if purpose == "step" and (named[0] or at[0], named[1]) == at else named
