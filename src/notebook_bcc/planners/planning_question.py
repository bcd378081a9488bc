"""What a request to /planning wants to know."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from notebook_bcc.protocol.messages import PlanningResponse, Request
from notebook_bcc.protocol.observation import LevelProgress
from notebook_bcc.protocol.vocabulary import Level, State

PlanningHandler = Callable[[Request], PlanningResponse]


class PlanningQuestion(StrEnum):
    """The six moments at which a planner is asked to judge."""

    START = "start"
    STAGE = "stage"
    STEP = "step"
    FEEDBACK = "feedback"
    STEP_END = "step_end"
    STAGE_END = "stage_end"


_ASKED_IN = {
    State.IDLE: PlanningQuestion.START,
    State.STAGE_RUNNING: PlanningQuestion.STAGE,
    State.STEP_RUNNING: PlanningQuestion.STEP,
    State.BEHAVIOR_COMPLETED: PlanningQuestion.FEEDBACK,
    State.STEP_COMPLETED: PlanningQuestion.STEP_END,
    State.STAGE_COMPLETED: PlanningQuestion.STAGE_END,
}


def question_of(request: Request) -> PlanningQuestion:
    """From the state machine; a peer that does not send it is understood by its location and its feedback."""
    fsm, current = request.observation.context.fsm, request.observation.location.current
    if fsm is not None and fsm.state in _ASKED_IN:
        return _ASKED_IN[fsm.state]
    if current.stage_id is None:
        return PlanningQuestion.START
    if current.step_id is None:
        return PlanningQuestion.STAGE
    return PlanningQuestion.STEP if request.behavior_feedback is None else PlanningQuestion.FEEDBACK


def level_progress(request: Request, level: Level) -> LevelProgress:
    """How far the run is on one level, as the request tells."""
    progress = request.observation.location.progress
    found = {Level.STAGES: progress.stages, Level.STEPS: progress.steps, Level.BEHAVIORS: progress.behaviors}[level]
    return found or LevelProgress()


def judge(
    request: Request,
    *,
    start: PlanningHandler,
    stage: PlanningHandler,
    step: PlanningHandler,
    feedback: PlanningHandler,
) -> PlanningResponse:
    """The answer to the question that a request asks. A level has reached its goal when nothing of it remains."""
    match question_of(request):
        case PlanningQuestion.START:
            return start(request)
        case PlanningQuestion.STAGE:
            return stage(request)
        case PlanningQuestion.STEP:
            return step(request)
        case PlanningQuestion.FEEDBACK:
            return feedback(request)
        case PlanningQuestion.STEP_END:
            return PlanningResponse(target_achieved=not level_progress(request, Level.STEPS).remaining)
        case PlanningQuestion.STAGE_END:
            return PlanningResponse(target_achieved=not level_progress(request, Level.STAGES).remaining)
