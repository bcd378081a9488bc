"""Questions to the planner and what came of them. Pure."""

from __future__ import annotations

from dataclasses import replace

from notebook_bcc.engine.changes import BehaviorChanges, StateChanges, evolve
from notebook_bcc.engine.fold.context_update import apply_context_update
from notebook_bcc.engine.fold.effects import with_effects
from notebook_bcc.engine.state import RunState
from notebook_bcc.journal.records import (
    ActionReceived,
    ActionsQueued,
    BehaviorJudged,
    GeneratingAsked,
    GeneratingEnded,
    GeneratingFailed,
    ModelAsked,
    PlanningAnswered,
    PlanningAsked,
)
from notebook_bcc.protocol.limits import Call


def planning_asked(state: RunState, record: PlanningAsked, at: str) -> StateChanges:
    """A judgement was asked for, for the first time or again."""
    fresh = state.asked is None or state.asked.request_id != record.request_id
    changes: StateChanges = {"asked": record}
    if fresh:
        changes |= {"asked_from": _without_questions(state), "requests": state.requests + 1}
    return changes


def _without_questions(state: RunState) -> RunState:
    """The state as a question keeps it: what it holds of older questions is not kept on and on."""
    if state.asked_from is None and state.behavior.asked_from is None:
        return state
    return evolve(state, asked_from=None, behavior=evolve(state.behavior, asked_from=None))


def planning_answered(state: RunState, record: PlanningAnswered, at: str) -> StateChanges:
    """The judgement counts, and what it brings is applied."""
    return {
        "asked": None,
        "asked_from": None,
        "verdict": record,
        "judged": state.seq + 1,
        # Without an answer the planner has not said that it wants something else.
        "planner_filter": state.planner_filter if record.degraded else record.response.context_filter,
        **apply_context_update(state, record.response, record.purpose),
    }


def generating_asked(state: RunState, record: GeneratingAsked, at: str) -> StateChanges:
    """A behavior was asked for, for the first time or again."""
    known = state.behavior.asked
    fresh = known is None or known.request_id != record.request_id
    behavior = evolve(state.behavior, asked=record, stream_open=True)
    changes: StateChanges = {"behavior": behavior}
    if fresh:
        kept = evolve(behavior, asked_from=_without_questions(state), summaries=record.summaries)
        changes = {"behavior": kept, "requests": state.requests + 1}
    if record.warnings:
        changes |= with_effects(state, *[f"WARN: {text}" for text in record.warnings])
    return changes


def behavior_judged(state: RunState, record: BehaviorJudged, at: str) -> StateChanges:
    """A judgement came beside the actions: it counts when they are done."""
    changes: StateChanges = {"behavior": evolve(state.behavior, beside=record.response)}
    named = record.response.behavior
    if named is not None and named.target:
        changes["behaviors"] = replace(state.behaviors, goal=named.target)
    return changes


def action_received(state: RunState, record: ActionReceived, at: str) -> StateChanges:
    """The next action: of the stream, or of those that wait."""
    behavior = state.behavior
    facts: BehaviorChanges = {"current": record, "received": record.index + 1, "partial": ()}
    if behavior.queue:
        # The digest counts what waits already.
        facts["queue"] = behavior.queue[1:]
    else:
        facts["digest"] = record.digest
    return {"actions_received": state.actions_received + 1, "behavior": evolve(behavior, **facts)}


def actions_queued(state: RunState, record: ActionsQueued, at: str) -> StateChanges:
    """The run stops; these actions wait."""
    behavior = state.behavior
    queue = (*behavior.queue, *record.actions)
    return {"behavior": evolve(behavior, queue=queue, digest=record.digest, stream_open=False)}


def generating_ended(state: RunState, record: GeneratingEnded, at: str) -> StateChanges:
    """The answer is there to its end."""
    behavior = evolve(state.behavior, ended=True, stream_open=False, asked_from=None)
    return {"behavior": behavior, "filter": None}


def generating_failed(state: RunState, record: GeneratingFailed, at: str) -> StateChanges:
    """There is no answer, or none to the end."""
    if record.out_of_budget:
        behavior = evolve(state.behavior, out_of_budget=record.error, stream_open=False)
    else:
        # Versions that wrote no digest asked anew after this.
        asked = state.behavior.asked
        again = asked is not None and bool(asked.digest) and not record.lost_with_process
        behavior = evolve(state.behavior, failure=record.error, stream_open=False, unanswered=again)
        if record.refused:
            behavior = evolve(behavior, asked=None, asked_from=None)
    changes: StateChanges = {"behavior": behavior}
    if record.lost_with_process:
        # Nobody is to blame but our own death: the behavior is started again without asking a person.
        changes["recover"] = "behavior"
    return changes


def model_asked(state: RunState, record: ModelAsked, at: str) -> StateChanges:
    """A language model was asked: what it took counts."""
    call = Call(
        input_tokens=record.input_tokens,
        output_tokens=record.output_tokens,
        dollars=record.dollars,
        counted=record.counted,
        seconds=record.seconds,
    )
    known = record.model in state.models
    return {
        "spent": state.spent.with_call(call),
        "models": state.models if known else (*state.models, record.model),
    }
