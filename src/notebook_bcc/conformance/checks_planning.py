"""What /planning must do: judge at every state, bring a sound plan, and let a workflow come to its end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from notebook_bcc.conformance.check import Finding, fails, holds, skipped
from notebook_bcc.conformance.check_context import NOWHERE, CheckContext
from notebook_bcc.conformance.exchange import CONFLICT
from notebook_bcc.conformance.judgement import verdict_faults
from notebook_bcc.conformance.transcript import Area
from notebook_bcc.conformance.walk import PLAYED
from notebook_bcc.errors import ActionMalformed
from notebook_bcc.planners.remote.client import JSON_TYPES
from notebook_bcc.protocol.actions import parse_action
from notebook_bcc.protocol.message import Message


async def start(kit: CheckContext) -> Finding:
    """A judgement when everything is empty, with a plan or without."""
    transcript = await kit.transcript()
    asked = transcript.judged[0]
    if asked.answer is None:
        notes = [note.text for note in transcript.notes if note.exchange is asked.exchange]
        return fails(asked.exchange.problem or notes[0], asked.exchange)
    if asked.answer.context_update.workflow_update is None:
        return holds("a judgement without a plan: the kit goes on with one of its own")
    return holds("a judgement with a plan")


async def plan_valid(kit: CheckContext) -> Finding:
    """Every plan and every list of steps that was brought."""
    transcript = await kit.transcript()
    for note in transcript.notes_of("plan"):
        return fails(note.text, note.exchange)
    if transcript.plan is None or transcript.plan_of != "server":
        return skipped("the server brought no plan")
    steps = sum(len(stage.steps) for stage in transcript.plan.stages)
    return holds(f"{len(transcript.plan.stages)} stages, {steps} steps")


async def workflow_ends(kit: CheckContext) -> Finding:
    """The whole workflow, driven to workflow_completed."""
    transcript = await kit.transcript()
    if transcript.stopped:
        return fails(transcript.stopped, transcript.last)
    asked = f"{len(transcript.judged)} judgements, {len(transcript.generated)} behaviors"
    return holds(f"workflow_completed after {asked}")


async def judgement_form(kit: CheckContext) -> Finding:
    """Every answer is one JSON object of the right types."""
    transcript = await kit.transcript()
    for note in transcript.notes_of("judgement"):
        return fails(note.text, note.exchange)
    for asked in transcript.judged:
        if asked.exchange.kind not in JSON_TYPES and not asked.exchange.kind.endswith("+json"):
            kind = asked.exchange.kind
            # Clients read an answer that does not say what it is; one that says something else they refuse.
            reason = f"its content type is {kind!r}" if kind else "it has no content type"
            return fails(reason, asked.exchange, severity=None if kind else "recommended")
    return holds(f"{len(transcript.judged)} answers")


async def verdict_boolean(kit: CheckContext) -> Finding:
    """targetAchieved and its relatives are true or false, not words."""
    transcript = await kit.transcript()
    if not any(asked.answer for asked in transcript.judged):
        return NOWHERE
    for asked in transcript.judged:
        for fault in verdict_faults(asked.exchange.object or {}):
            return fails(fault, asked.exchange)
    return holds()


async def canonical_spelling(kit: CheckContext) -> Finding:
    """One spelling is written: targetAchieved, shot_type, action, updated_steps, id."""
    transcript = await kit.transcript()
    if not any(asked.answer for asked in transcript.judged):
        return NOWHERE
    for asked in transcript.judged:
        if asked.answer is not None:
            for fault in _old_spellings(asked.answer, asked.exchange.object, ""):
                return fails(fault, asked.exchange)
    for behavior in transcript.generated:
        for fault in _old_actions(behavior.stream.actions):
            return fails(fault, behavior.stream.exchange)
    return holds()


async def context_filter(kit: CheckContext) -> Finding:
    """What the next request shall show, in the words that clients know."""
    transcript = await kit.transcript()
    for note in transcript.notes_of("filter"):
        return fails(note.text, note.exchange)
    filters = [
        asked for asked in transcript.judged if asked.answer is not None and asked.answer.context_filter is not None
    ]
    return holds(f"{len(filters)} filters") if filters else skipped("the server sent no context_filter")


async def navigation(kit: CheckContext) -> Finding:
    """next_stage_id and next_step_id name places of the plan."""
    return await _noted(kit, "navigation", "the server left navigation to the client")


async def stateless(kit: CheckContext) -> Finding:
    """The observation carries everything: an early question asked late is answered as it was early."""
    before = (await kit.transcript()).first("step")
    if before is None or before.answer is None:
        return NOWHERE
    if await kit.verdict_at("step") == before.answer.target_achieved:
        return holds()
    return fails("the first question at a step, asked again after the workflow, is judged otherwise", before.exchange)


async def feedback_accepted(kit: CheckContext) -> Finding:
    """The feedback that follows a behavior, also the short one of older clients, which says nothing of success."""
    transcript = await kit.transcript()
    request = await kit.request_at("feedback")
    if request is None:
        broken = [asked for asked in transcript.judged if asked.question == "feedback"]
        return fails(broken[0].exchange.problem or "no judgement", broken[0].exchange) if broken else NOWHERE
    request["behavior_feedback"] = {"actions_executed": 1}
    exchange, answer = await kit.judge(request)
    if answer is None:
        return fails(f"without actions_succeeded: {exchange.problem or 'no judgement'}", exchange)
    return holds()


async def feedback_errors(kit: CheckContext) -> Finding:
    """A behavior that failed does not reach its goal by having ended."""
    request = await kit.request_at("feedback")
    if request is None:
        return NOWHERE
    missing = _unplay(request)
    problem = {"action_id": "action-2", "action": "exec", "error": "NameError: name 'table' is not defined"}
    request["behavior_feedback"] = {
        "behavior_id": request["observation"]["location"]["current"].get("behavior_id"),
        "actions_executed": 2,
        "actions_succeeded": 1,
        "last_action_result": "error",
        "errors": [problem],
        "missing_outputs": missing or ["table"],
    }
    exchange, answer = await kit.judge(request)
    if exchange.status == CONFLICT:
        return holds("409: it does not judge without them")
    if answer is None:
        return fails(exchange.problem or "no judgement", exchange)
    if answer.target_achieved:
        return fails("targetAchieved is true although errors and missing outputs were reported", exchange)
    return holds()


def _unplay(request: dict[str, Any]) -> list[str]:
    """Take back what was promised and produced, or played so; the names of it. Any: JSON of the kit's own making."""
    context = request["observation"].get("context", {})
    variables = context.get("variables", {})
    level = request["observation"]["location"]["progress"].get("behaviors", {})
    promised = level.get("current_outputs", {}).get("expected", [])
    missing = [name for name, value in variables.items() if value == PLAYED or name in promised]
    context["variables"] = {name: value for name, value in variables.items() if name not in missing}
    level.get("current_outputs", {}).pop("produced", None)
    for item in level.get("completed", [])[-1:]:
        item.pop("outputs_produced", None)
        item |= {"achieved": False, "missing_outputs": missing}
    return missing


async def _noted(kit: CheckContext, area: Area, silent: str) -> Finding:
    transcript = await kit.transcript()
    for note in transcript.notes_of(area):
        return fails(note.text, note.exchange)
    advised = [asked.answer.transition for asked in transcript.judged if asked.answer is not None]
    moved = any(advice.destination is not None for advice in advised)
    return holds() if moved else skipped(silent)


def _old_spellings(message: Message, data: Any, path: str) -> Iterator[str]:  # Any: what the message was made of
    if not isinstance(data, dict):
        return
    for name, spellings in message.spellings.items():
        used = next((each for each in spellings if each in data), None)
        if used is None:
            continue
        if used != spellings[0]:
            yield f"{path}{used} is an old spelling of {spellings[0]}"
        value, given = getattr(message, name), data[used]
        pairs = zip(value, given, strict=False) if isinstance(value, tuple) and isinstance(given, list) else ()
        for one, its in [(value, given), *pairs]:
            if isinstance(one, Message):
                yield from _old_spellings(one, its, f"{path}{used}.")


def _old_actions(actions: tuple[Any, ...]) -> Iterator[str]:  # Any: as they came
    for number, data in enumerate(actions, start=1):
        if not isinstance(data, dict):
            continue
        if "action" not in data and "type" in data:
            yield f"action {number}: type is an old spelling of action"
        try:
            yield from _old_spellings(parse_action(data), data, f"action {number}: ")
        except ActionMalformed:
            continue
