"""The observation: what a planner sees of a run. Pure, and bounded whatever the length of the run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from notebook_bcc.engine.fold.effects import effects_of, shortened
from notebook_bcc.engine.observation.figures import figures_of
from notebook_bcc.engine.state import LevelState, RunState
from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.messages import BehaviorFeedback
from notebook_bcc.protocol.observation import (
    Context,
    Current,
    Effects,
    FsmView,
    Goals,
    LevelProgress,
    Location,
    NotebookView,
    Observation,
    Progress,
)
from notebook_bcc.protocol.tracking import CompletedItem, condensed
from notebook_bcc.protocol.vocabulary import CellType

_LAST_OUTPUT_CHARS = 500
_CELLS_SENT = 200
# Of what is completed the newest are told in full. A step has at most 30 behaviors unless somebody allows more: those
# of the current step are all told.
_STAGES_LISTED, _STEPS_LISTED, _BEHAVIORS_LISTED = 3, 5, 30
_COMPLETED_LISTED = 200
_TAKEN_LISTED = 20
_CELLS_LOOKED_AT, _FIGURES_SHOWN = 12, 2
_VARIABLES_SHOWN = 1000


def observe(state: RunState, *, asked: Iterable[str] = ()) -> Observation:
    """The whole observation; the context filter takes from it.

    Whatever is cut from it is counted in it. Variables that are `asked` for are shown however many there are.
    """
    return Observation(location=_location(state), context=_context(state, asked))


def feedback(state: RunState) -> BehaviorFeedback:
    """What really happened in the behavior that just ended."""
    behavior = state.behavior
    return BehaviorFeedback(
        behavior_id=state.position.behavior_id,
        actions_executed=behavior.executed,
        actions_succeeded=behavior.succeeded,
        actions_skipped=behavior.skipped,
        sections_added=behavior.sections,
        last_action_result=behavior.last_result,
        errors=behavior.errors,
        missing_outputs=behavior.missing,
    )


def _location(state: RunState) -> Location:
    position, plan = state.position, state.plan
    stage, step = state.stage, state.step
    return Location(
        current=Current(
            stage_id=position.stage_id,
            step_id=position.step_id,
            behavior_id=position.behavior_id,
            behavior_iteration=position.iteration,
        ),
        progress=Progress(
            stages=_level(state.stages, position.stage_id, state.remaining_stages, limit=_STAGES_LISTED),
            steps=_level(state.steps, position.step_id, state.remaining_steps, limit=_STEPS_LISTED),
            behaviors=_level(
                state.behaviors, position.behavior_id, (), limit=_BEHAVIORS_LISTED, iteration=position.iteration
            ),
        ),
        goals=Goals(
            workflow=state.goal or (plan.goal if plan is not None else "") or None,
            stage=state.stages.goal or (stage.purpose if stage is not None else "") or None,
            step=state.steps.goal or (step.purpose if step is not None else "") or None,
            behavior=state.behaviors.goal or None,
        ),
    )


def _level(
    level: LevelState, current: str | None, remaining: tuple[str, ...], *, limit: int, iteration: int | None = None
) -> LevelProgress:
    listed = level.completed[-_COMPLETED_LISTED:]
    older, newest = listed[:-limit], listed[-limit:]
    return LevelProgress(
        completed=(*map(condensed, older), *map(_shortened, newest)),
        completed_left_out=len(level.completed) - len(listed) or None,
        current=current,
        remaining=remaining,
        iteration=iteration,
        focus=level.focus,
        current_outputs=level.outputs,
    )


def _shortened(item: CompletedItem) -> CompletedItem:
    """A step of many behaviors has as many lines about what was done: the newest are told, the others counted."""
    more = len(item.actions_taken) - _TAKEN_LISTED
    if more <= 0:
        return item
    taken = (f"[... {more} earlier ones ...]", *item.actions_taken[-_TAKEN_LISTED:])
    return item.model_copy(update={"actions_taken": taken})


def _variables(state: RunState, asked: Iterable[str]) -> dict[str, Any]:
    """All of them if they are not too many; else the newest, and those that somebody set, wants or has promised."""
    every = state.variables
    if len(every) <= _VARIABLES_SHOWN:
        return every
    kept = {*asked, *state.planner_context.variables}
    for level in (state.stages, state.steps, state.behaviors):
        kept.update(level.outputs.expected, level.outputs.produced, level.outputs.in_progress)
    kept.update(list(every)[-_VARIABLES_SHOWN:])
    return {name: value for name, value in every.items() if name in kept}


def _context(state: RunState, asked: Iterable[str]) -> Context:
    variables = _variables(state, asked)
    return Context(
        variables=variables,
        variables_left_out=len(state.variables) - len(variables) or None,
        todo_list=state.planner_context.todo,
        effects=Effects(current=state.effects, history=state.effects_history),
        notebook=_notebook(state),
        fsm=_fsm(state),
        section_progress=state.planner_context.section_progress,
        workflow_progress=state.planner_context.workflow_progress or _workflow_progress(state),
        decisions=state.decisions or None,
    )


def _workflow_progress(state: RunState) -> str | None:
    if state.plan is None:
        return None
    return f"{len(state.stages.completed)} of {len(state.plan.stages)} stages completed"


def _notebook(state: RunState) -> NotebookView:
    document = state.document
    last = document.cells.last
    shown = document.cells.get(document.last_code_id) if document.last_code_id is not None else None
    texts = effects_of(shown.outputs, limit=_LAST_OUTPUT_CHARS) if shown is not None else ()
    figures = figures_of(
        document.cells.newest(_CELLS_LOOKED_AT),
        most=_FIGURES_SHOWN,
        with_bytes=state.policies.notebook_detail == "figures",
    )
    return NotebookView(
        title=document.title or None,
        cell_count=len(document.cells),
        last_cell_type=_wire_type(last) if last is not None else None,
        last_output=shortened(texts[-1], _LAST_OUTPUT_CHARS) if texts else None,
        cells=_cells(state) if state.policies.notebook_detail == "cells" else None,
        figures=figures or None,
    )


def _cells(state: RunState) -> tuple[dict[str, Any], ...]:
    """The newest cells with their outputs as text; how many were left out stands in the cell count."""
    newest = state.document.cells.newest(_CELLS_SENT)
    return tuple(
        {
            "id": cell.id,
            "cell_type": _wire_type(cell),
            "source": cell.source,
            "outputs": list(effects_of(cell.outputs)),
            "execution_count": cell.execution_count,
            "metadata": dict(cell.metadata),
        }
        for cell in newest
    )


def _wire_type(cell: Cell) -> str:
    return "markdown" if cell.type is CellType.THINKING else cell.type.value


def _fsm(state: RunState) -> FsmView:
    moves = state.machine.history
    last = moves[-1] if moves else None
    return FsmView(
        state=state.fsm,
        last_transition=f"{last.event.value} -> {last.to.value}" if last is not None else None,
        timestamp=last.at if last is not None else None,
        history=tuple(
            {"from": move.source.value, "event": move.event.value, "to": move.to.value, "timestamp": move.at}
            for move in moves
        ),
    )
