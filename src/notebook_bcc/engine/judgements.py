"""What a run makes of a judgement, and of its absence. Pure."""

from __future__ import annotations

from typing import Any

from notebook_bcc.engine.changes import evolve
from notebook_bcc.engine.fold.context_update import proposals_of, proposed
from notebook_bcc.engine.plan_changes import applied, changes_nothing, proposal_problem
from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import (
    JudgementMalformed,
    PlannerAnswerInvalid,
    PlannerBudgetSpent,
    PlannerFailed,
    RequestRefused,
)
from notebook_bcc.journal.records import (
    BehaviorJudged,
    Faulted,
    PlanningAnswered,
    Purpose,
    Record,
    RunStopped,
    Warned,
)
from notebook_bcc.protocol.messages import PlanningResponse

Batch = tuple[Record, ...]

PLAN_REFUSED = "the planner's plan is refused: "


def answered(request_id: str, purpose: Purpose, state: RunState, response: PlanningResponse, seconds: float) -> Batch:
    """The answer as far as it can be used; a plan that cannot be applied, or a place that does not exist, is said."""
    if purpose == "feedback" and state.behavior.beside is not None:
        response = _completed_by(state.behavior.beside, response)
    problems: list[Record] = _remarks(purpose, state, response)
    update = response.context_update
    # `now` has what only fills in; `then` has also what waits for its confirmation, which later parts may build on.
    now = then = state
    for proposal in proposals_of(state, update):
        problem = "" if changes_nothing(then.plan, proposal) else proposal_problem(then, proposal)
        repeated = proposal in state.proposals
        if not problem and not repeated:
            now = evolve(now, **proposed(now, proposal))
            then = evolve(then, plan=applied(then.plan, proposal))
            continue
        dropped = "workflow_update" if proposal.workflow is not None else "stage_steps_update"
        update = update.model_copy(update={dropped: None})
        if repeated:
            # It waits already: a planner that goes by the observation alone proposes it until it is decided.
            continue
        fatal = state.plan is None and proposal.workflow is not None
        problems.append(Faulted(reason=problem) if fatal else Warned(message=f"{PLAN_REFUSED}{problem}"))
    unknown = _unknown_target(now, response)
    if unknown:
        problems.append(Faulted(reason=unknown))
        advice = response.transition.model_copy(update={"next_stage_id": None, "next_step_id": None})
        response = response.model_copy(update={"transition": advice})
    if update is not response.context_update:
        response = response.model_copy(update={"context_update": update})
    answer = PlanningAnswered(request_id=request_id, purpose=purpose, response=response, seconds=seconds)
    return (answer, *problems)


def judged_beside(request_id: str, state: RunState, response: PlanningResponse) -> Batch:
    """What came beside the actions of a behavior, checked like any other answer."""
    answer, *problems = answered(request_id, "step", state, response, 0.0)
    used = answer.response if isinstance(answer, PlanningAnswered) else response
    return (BehaviorJudged(request_id=request_id, response=used), *problems)


def _completed_by(beside: PlanningResponse, judged: PlanningResponse) -> PlanningResponse:
    """The judgement after a behavior; where it says nothing, what came beside the behavior's actions counts."""
    said, before = judged.transition, beside.transition
    changes: dict[str, Any] = {}
    if not ({"target_achieved"} & judged.model_fields_set or {"continue_behaviors"} & said.model_fields_set):
        changes["target_achieved"] = beside.target_achieved
        said = said.model_copy(update={"continue_behaviors": before.continue_behaviors})
    if said.destination is None and before.destination is not None:
        navigation = {name: getattr(before, name) for name in ("strategy", "next_stage_id", "next_step_id")}
        said = said.model_copy(update=navigation)
    return judged.model_copy(update={**changes, "transition": said})


def _remarks(purpose: Purpose, state: RunState, response: PlanningResponse) -> list[Record]:
    """What of an answer does not count, where the rest of it does."""
    said: list[str] = []
    if purpose == "feedback" and response.target_achieved and response.transition.continue_behaviors:
        said.append("the planner says that the target is achieved and that behaviors continue: they continue")
    for name, value in response.context_update.variables.items():
        if name in state.kernel.variables and state.kernel.variables[name] != value:
            said.append(f"context_update.variables: {name!r} is a variable of the kernel, whose value stays")
    return [Warned(message=text, effect=False) for text in said]


def _unknown_target(state: RunState, response: PlanningResponse) -> str:
    target = response.transition.destination
    if target is None:
        return ""
    # Before the start the first stage is the one that is entered.
    first = state.plan.stages[0].id if state.plan is not None else None
    stage_id, step_id = target[0] or state.position.stage_id or first, target[1]
    stage = state.plan.stage(stage_id or "") if state.plan is not None else None
    if stage is None:
        return f"the planner wants to go to stage {stage_id!r}, which is not in the plan"
    if step_id is not None and stage.step(step_id) is None:
        return f"the planner wants to go to step {step_id!r}, which is not in stage {stage.id!r}"
    return ""


def worth_a_retry(failure: PlannerFailed) -> bool:
    """An answer that is none will be none again; silence, a broken line and a torn judgement may pass."""
    return isinstance(failure, JudgementMalformed) or not isinstance(failure, PlannerAnswerInvalid | RequestRefused)


def _is_outage(failure: PlannerFailed) -> bool:
    """Whether nobody has answered. Whatever else went wrong, the planner said something."""
    return worth_a_retry(failure) and not isinstance(failure, JudgementMalformed | PlannerBudgetSpent)


def unanswered(request_id: str, purpose: Purpose, state: RunState, failure: PlannerFailed) -> Batch:
    """What is done without a judgement. A run that stops is where it was; a resume asks the same question again."""
    if isinstance(failure, RequestRefused):
        return (Faulted(reason=str(failure)),)
    if isinstance(failure, PlannerBudgetSpent):
        return (RunStopped(reason="limit", detail=failure.reason),)
    if not _is_outage(failure) or (purpose == "start" and state.plan is None):
        return (RunStopped(reason="interrupted", detail=str(failure)),)
    if purpose != "step" and state.policies.on_outage == "stop":
        more = "resume asks the same question again, or goes on without its answer (--on-outage fallback)"
        return (RunStopped(reason="interrupted", detail=f"{failure}; {more}"),)
    return (
        PlanningAnswered(request_id=request_id, purpose=purpose, response=PlanningResponse(), degraded=True),
        Warned(message=f"planning failed and was degraded: {failure}", effect=False),
    )
