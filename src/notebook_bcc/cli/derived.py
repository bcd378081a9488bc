"""A run's state as far as an observation tells it, and what it does not tell. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from notebook_bcc.engine.state import BehaviorState, LevelState, Machine, PlannerContext, Position, RunState
from notebook_bcc.planners.planning_question import PlanningQuestion, question_of
from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.observation import LevelProgress, Observation
from notebook_bcc.protocol.vocabulary import State
from notebook_bcc.protocol.workflow import Stage, Step, Workflow

_ASKED_IN = {
    PlanningQuestion.START: State.IDLE,
    PlanningQuestion.STAGE: State.STAGE_RUNNING,
    PlanningQuestion.STEP: State.STEP_RUNNING,
    PlanningQuestion.FEEDBACK: State.BEHAVIOR_COMPLETED,
    PlanningQuestion.STEP_END: State.STEP_COMPLETED,
    PlanningQuestion.STAGE_END: State.STAGE_COMPLETED,
}
_NEVER_KNOWN = (
    "policies and limits: the defaults are taken (a change of the plan asks a person; a missed goal fails)",
    "the plan beyond ids and current goals: names, other goals, and the steps of the other stages",
    "which variables are the kernel's: for those the kernel's value would count, not the answer's",
    "changes of the plan that wait, the cells of the notebook, and whether an end_phase action was carried out",
)


def derived_state(request: Request) -> tuple[RunState, tuple[str, ...]]:
    """The state behind a request, and what could not be derived of it."""
    observation = request.observation
    location, context = observation.location, observation.context
    current, progress = location.current, location.progress
    unknown = list(_NEVER_KNOWN)
    left_out = [name for name in ("stages", "steps", "behaviors") if getattr(progress, name) is None]
    if left_out:
        unknown.append(f"progress of {', '.join(left_out)}: the observation leaves it out (a context filter does that)")
    if context.fsm is None:
        unknown.append("the state of the state machine: it is guessed from the location and the feedback")
    feedback = request.behavior_feedback
    state = RunState(
        run_id=request.options.run_id or "observation",
        goal=location.goals.workflow or "",
        plan=_plan(observation),
        machine=Machine(context.fsm.state if context.fsm is not None else _ASKED_IN[question_of(request)]),
        position=Position(current.stage_id, current.step_id, current.behavior_id, current.behavior_iteration),
        stages=_level(progress.stages, location.goals.stage),
        steps=_level(progress.steps, location.goals.step),
        behaviors=_level(progress.behaviors, location.goals.behavior),
        behavior=BehaviorState(errors=feedback.errors, missing=feedback.missing_outputs)
        if feedback is not None
        else BehaviorState(),
        planner_context=PlannerContext(
            variables=dict(context.variables),
            todo=context.todo_list,
            section_progress=context.section_progress,
            workflow_progress=context.workflow_progress,
        ),
    )
    return state, tuple(unknown)


def _level(level: LevelProgress | None, goal: str | None) -> LevelState:
    known = level if level is not None else LevelProgress()
    return LevelState(completed=known.completed, focus=known.focus, goal=goal or "", outputs=known.current_outputs)


def _plan(observation: Observation) -> Workflow | None:
    """The ids that progress names, in its order: what is completed, what is current, what remains."""
    location = observation.location
    current, progress = location.current, location.progress
    stage_ids = _ids(progress.stages, current.stage_id)
    if not stage_ids:
        return None
    steps = tuple(Step(id=one) for one in _ids(progress.steps, current.step_id))
    stages = tuple(Stage(id=one, steps=steps if one == current.stage_id else ()) for one in stage_ids)
    return Workflow(goal=location.goals.workflow or "", stages=stages)


def _ids(level: LevelProgress | None, current: str | None) -> list[str]:
    known = level if level is not None else LevelProgress()
    found: Iterable[str | None] = (*(item.key for item in known.completed), current, *known.remaining)
    return [one for one in dict.fromkeys(found) if one]
