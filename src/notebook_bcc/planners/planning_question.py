"""What a request to /planning wants to know."""

from __future__ import annotations

from enum import StrEnum

from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.vocabulary import State


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
