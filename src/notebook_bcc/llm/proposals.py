"""What a model proposes beside its judgement: which variables the next behavior shall see, and which steps the stage
shall have. Pure: what cannot be is refused with a reason, which the model is told the next time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from notebook_bcc.llm.answers import Judgement
from notebook_bcc.llm.guard.guardrails import DividesWork
from notebook_bcc.llm.prompt.evidence import REFUSED
from notebook_bcc.llm.prompt.sharing import list_of_columns
from notebook_bcc.protocol.messages import ContextUpdate, PlanningResponse, Request, StageStepsUpdate
from notebook_bcc.protocol.observation import Context

# What the kernel shows of something large: its kind and its shape.
_SUMMARY: Final = re.compile(r"[A-Za-z_]\w*\([\d×, ]*(?: bits)?\)|[A-Z]\w*")


def with_columns(request: Request, answer: PlanningResponse) -> PlanningResponse:
    """The base planner's answer, so that the next part sees the names of the columns, whatever else it sees."""
    wanted = answer.context_filter
    name = list_of_columns(request.observation.context)
    if wanted is None or wanted.variables_to_include is None or not name or name in wanted.variables_to_include:
        return answer
    shown = (*wanted.variables_to_include, name)
    return answer.model_copy(update={"context_filter": wanted.model_copy(update={"variables_to_include": shown})})


def refused_before(request: Request) -> tuple[str, ...]:
    """What was refused of the last judgement."""
    value = request.observation.context.variables.get(REFUSED)
    return tuple(str(one) for one in value) if isinstance(value, list) else ()


def with_proposals(
    request: Request, answer: PlanningResponse, opinion: Judgement, base: DividesWork, *, next_is_open: bool
) -> PlanningResponse:
    """The base planner's answer with what of the proposals can be. A change of the plan waits for its confirmation,
    like that planner's own; one by the base planner itself goes before."""
    refused: list[str] = []
    if opinion.look_at and next_is_open:
        answer = _seeing(answer, opinion.look_at, request.observation.context, refused)
    if opinion.skip or opinion.add:
        answer = _with_steps(request, answer, opinion, base, refused)
    refused_earlier = refused_before(request)
    if not refused and not refused_earlier:
        return answer
    update = answer.context_update
    variables = {**update.variables, REFUSED: refused}
    reason = "; ".join([*([answer.metadata.reason] if answer.metadata.reason else []), *refused])
    return answer.model_copy(
        update={
            "context_update": update.model_copy(update={"variables": variables}),
            "metadata": answer.metadata.model_copy(update={"reason": reason or None}),
        }
    )


def _seeing(answer: PlanningResponse, names: Sequence[str], context: Context, refused: list[str]) -> PlanningResponse:
    """The filter with these variables as well. A table that the base planner does not show is not shown: it may hold
    rows that nobody is to look at yet."""
    wanted = answer.context_filter
    if wanted is None or wanted.variables_to_include is None:
        return answer
    shown = list(wanted.variables_to_include)
    for name in dict.fromkeys(names):
        if name in shown:
            continue
        if name not in context.variables:
            refused.append(f"the variable {name} does not exist")
        elif name in (context.variables_summarized or ()):
            # It is no table: its value was too large for this question.
            shown.append(name)
        elif isinstance(value := context.variables[name], str) and _SUMMARY.fullmatch(value):
            refused.append(f"{name} is not for the next part")
        else:
            shown.append(name)
    return answer.model_copy(
        update={"context_filter": wanted.model_copy(update={"variables_to_include": tuple(shown)})}
    )


def _with_steps(
    request: Request, answer: PlanningResponse, opinion: Judgement, base: DividesWork, refused: list[str]
) -> PlanningResponse:
    update: ContextUpdate = answer.context_update
    if update.stage_steps_update is not None or update.workflow_update is not None:
        refused.append("the plan is being changed already")
        return answer
    change = base.other_steps(request, skip=opinion.skip, add=opinion.add)
    if not isinstance(change, StageStepsUpdate):
        refused.append(change)
        return answer
    return answer.model_copy(update={"context_update": update.model_copy(update={"stage_steps_update": change})})
