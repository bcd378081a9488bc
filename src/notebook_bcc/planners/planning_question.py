"""What a request to /planning wants to know."""

from __future__ import annotations

from enum import StrEnum

from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.vocabulary import State


class Question(StrEnum):
    """The six moments at which a planner is asked to judge."""

    START = "start"
    STAGE = "stage"
    STEP = "step"
    FEEDBACK = "feedback"
    STEP_END = "step_end"
    STAGE_END = "stage_end"


_ASKED_IN = {
    State.IDLE: Question.START,
    State.STAGE_RUNNING: Question.STAGE,
    State.STEP_RUNNING: Question.STEP,
    State.BEHAVIOR_COMPLETED: Question.FEEDBACK,
    State.STEP_COMPLETED: Question.STEP_END,
    State.STAGE_COMPLETED: Question.STAGE_END,
}


def question_of(request: Request) -> Question:
    """From the state machine; a peer that does not send it is understood by its location and its feedback."""
    fsm, current = request.observation.context.fsm, request.observation.location.current
    if fsm is not None and fsm.state in _ASKED_IN:
        return _ASKED_IN[fsm.state]
    if current.stage_id is None:
        return Question.START
    if current.step_id is None:
        return Question.STAGE
    return Question.STEP if request.behavior_feedback is None else Question.FEEDBACK
