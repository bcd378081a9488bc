"""Judgements on a behavior: what the evidence says, and the answers that follow from it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from notebook_bcc.llm.answers import Judgement
from notebook_bcc.llm.prompt.evidence import Attempt, expected_of
from notebook_bcc.protocol.messages import (
    BehaviorInfo,
    ContextUpdate,
    PlanningResponse,
    ProgressUpdate,
    Request,
    ResponseMetadata,
    TransitionAdvice,
)
from notebook_bcc.protocol.variables import summary_of
from notebook_bcc.protocol.vocabulary import Level


def behavior_of(request: Request) -> str:
    """The behavior that a request is about: the one that ended, or the one that runs."""
    feedback = request.behavior_feedback
    ended = feedback.behavior_id if feedback is not None else None
    return ended or request.observation.location.current.behavior_id or ""


def problems_of(request: Request, answer: PlanningResponse) -> tuple[str, ...]:
    """What the evidence says against a behavior. A base planner that goes on has looked at it and found nothing."""
    following = (answer.behavior.id if answer.behavior is not None else None) or ""
    goes_on = answer.transition.continue_behaviors and not following.endswith(".recovery")
    if answer.target_achieved or (goes_on and following != behavior_of(request)):
        return ()
    feedback = request.behavior_feedback
    found = [f"{one.action}: {one.error}" for one in feedback.errors] if feedback is not None else []
    if feedback is not None and feedback.missing_outputs:
        found.append(f"missing outputs: {', '.join(feedback.missing_outputs)}")
    return tuple(found) or (answer.metadata.reason or "the goal was not reached",)


def damaged(before: Mapping[str, Any], request: Request) -> str:  # Any: JSON, as the kernel's variables are shown
    """A variable that is not what it was, as far as the request shows it; empty: none."""
    context = request.observation.context
    now, summarized = context.variables, context.variables_summarized or ()

    def is_same(name: str, value: Any) -> bool:  # Any: JSON
        return name in now and now[name] == (summary_of(value) if name in summarized else value)

    return next((name for name, value in before.items() if not is_same(name, value)), "")


def given_up(name: str) -> PlanningResponse:
    """The answer that ends a run whose variables cannot be trusted any more: better no result than a wrong one."""
    reason = (
        f"a cell of the model has changed {name}, which later cells need; nothing that follows could be trusted. Begin "
        "anew, or with --planner playbook"
    )
    return PlanningResponse(metadata=ResponseMetadata(reason=reason))


def shows_figure(request: Request) -> bool:
    """Whether a cell of the behavior that ended has shown a picture."""
    return any(isinstance(one, str) and "[image/" in one for one in request.observation.context.effects.current)


def once_more(request: Request, attempt: Attempt, opinion: Judgement | None) -> PlanningResponse:
    """The same behavior again, under its name, with what it promised and what went wrong."""
    goals = request.observation.location.goals
    behavior = behavior_of(request)
    focus = opinion.focus if opinion is not None else ""
    progress = ProgressUpdate(
        level=Level.BEHAVIORS,
        focus=focus or None,
        goal=goals.behavior or None,
        expected_outputs=expected_of(request) or None,
    )
    return PlanningResponse(
        transition=TransitionAdvice(continue_behaviors=True),
        context_update=ContextUpdate(variables=attempt.as_variable(behavior), progress_update=progress),
        behavior=BehaviorInfo(id=behavior or None, target=goals.behavior),
        metadata=ResponseMetadata(reason="; ".join(attempt.problems)),
    )


def with_focus(answer: PlanningResponse, opinion: Judgement | None, *, disagrees: bool) -> PlanningResponse:
    """The base planner's answer with the model's focus where it has none; a doubt of the model is kept as a remark."""
    if opinion is None:
        return answer
    if disagrees and opinion.reason and answer.metadata.reason is None:
        remark = f"verified; the model doubts it: {opinion.reason}"
        answer = answer.model_copy(update={"metadata": answer.metadata.model_copy(update={"reason": remark})})
    goes_on = answer.transition.continue_behaviors
    updates = answer.context_update.progress_updates
    if not goes_on or not opinion.focus or any(one.level is Level.BEHAVIORS and one.focus for one in updates):
        return answer
    kept = [one for one in updates if one.level is not Level.BEHAVIORS]
    behavior = next((one for one in updates if one.level is Level.BEHAVIORS), ProgressUpdate(level=Level.BEHAVIORS))
    changed = (*kept, behavior.model_copy(update={"focus": opinion.focus}))
    update = answer.context_update.model_copy(update={"progress_update": changed})
    return answer.model_copy(update={"context_update": update})
