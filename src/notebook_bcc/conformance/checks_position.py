"""What a server says where it cannot judge, and that an id, a stop and a rejection do not confuse it."""

from __future__ import annotations

from notebook_bcc.conformance.check import Finding, Severity, fails, holds
from notebook_bcc.conformance.check_context import NOWHERE, CheckContext
from notebook_bcc.conformance.exchange import CONFLICT, Exchange, Json
from notebook_bcc.conformance.stream import read_stream
from notebook_bcc.conformance.transcript import Question

UNKNOWN = "conform_no_such_place"
COUNTED = "conform_behavior_"
_EARLY: tuple[Question, ...] = ("start", "step", "feedback")
# What our own service, and others that follow HTTP's draft on idempotency, say with an answer they remembered.
REPLAYED = "idempotent-replayed"


async def transition_whole(kit: CheckContext) -> Finding:
    """Both verdicts of `transition` stand in every answer: a client of the documents reads them without looking."""
    judged = [each for each in (await kit.transcript()).judged if each.answer is not None]
    if not judged:
        return NOWHERE
    for each in judged:
        advice = (each.exchange.object or {}).get("transition")
        for name in ("continue_behaviors", "target_achieved"):
            if not isinstance(advice, dict) or not isinstance(advice.get(name), bool):
                return fails(f"transition.{name} is missing or no boolean, asked at: {each.question}", each.exchange)
    return holds(f"{len(judged)} answers")


async def unknown_position(kit: CheckContext) -> Finding:
    """A stage or step that the server does not know: a judgement all the same, or 409 in JSON. Never a fault."""
    found: list[str] = []
    for field in ("stage_id", "step_id"):
        request = await kit.request_at("step")
        if request is None:
            return NOWHERE
        request["observation"]["location"]["current"][field] = UNKNOWN
        exchange, answer = await kit.judge(request)
        if exchange.status == CONFLICT:
            if exchange.object is None:
                return fails("HTTP 409 without a JSON object that says what is known", exchange)
            found.append("409")
        elif answer is None:
            return fails(f"an unknown {field}: {exchange.problem or 'no judgement'}, not 409", exchange)
        else:
            found.append("a judgement")
    return holds(f"stage: {found[0]}, step: {found[1]}")


async def missing_evidence(kit: CheckContext) -> Finding:
    """Without a single variable: a judgement all the same, or 409 that names what is needed. Never a fault."""
    for question in _EARLY:
        request = await kit.request_at(question)
        if request is None:
            continue
        request["observation"].setdefault("context", {})["variables"] = {}
        exchange, answer = await kit.judge(request)
        if exchange.status == CONFLICT:
            if not exchange.needs:
                return fails("HTTP 409 does not name the variables that are needed (error.needs)", exchange)
            return holds(f"409 needs: {', '.join(exchange.needs)}")
        if answer is None:
            return fails(f"without variables, at {question}: {exchange.problem or 'no judgement'}", exchange)
    return holds("a judgement all the same")


async def location_only(kit: CheckContext) -> Finding:
    """Only where the run is, nothing of what is known: a judgement all the same, or 409. Never a fault."""
    for question in _EARLY:
        request = await kit.request_at(question)
        if request is None:
            continue
        request["observation"] = {"location": request["observation"]["location"]}
        exchange, answer = await kit.judge(request)
        if exchange.status != CONFLICT and answer is None:
            return fails(f"without context, at {question}: {exchange.problem or 'no judgement'}, not 409", exchange)
    return holds()


async def behavior_names(kit: CheckContext) -> Finding:
    """A client that names behaviors by its own count is served like one that gives the server's names back."""
    request = await kit.request_at("feedback")
    if request is None:
        return NOWHERE
    location = request["observation"]["location"]
    named = f"{COUNTED}{location['current'].get('behavior_iteration', 1):03}"
    location["current"]["behavior_id"] = named
    request["behavior_feedback"] = {**(request.get("behavior_feedback") or {}), "behavior_id": named}
    level = location["progress"].get("behaviors") or {}
    for number, item in enumerate(level.get("completed", []), start=1):
        item["behavior_id"] = f"{COUNTED}{number:03}"
    problem, _ = await kit.as_before(request, question="feedback", what=f"with {named} as the behavior's id")
    return problem or holds()


async def same_after_stop(kit: CheckContext) -> Finding:
    """A question of the workflow, sent again with the same bytes after all the others: a client that was stopped."""
    transcript = await kit.transcript()
    judged = transcript.first("feedback") or transcript.first("step")
    richest = transcript.richest
    if judged is None or richest is None:
        return NOWHERE
    first = judged.exchange
    again = await kit.caller.send(first.method, first.path, first.sent)
    if again.problem:
        return fails(again.problem, again)
    if first.object != again.object:
        return fails(_differs(again), again, severity=_severity(again))
    streamed = richest.stream.exchange
    again = await kit.caller.send(streamed.method, streamed.path, streamed.sent)
    if not 200 <= again.status <= 299 or again.failure:
        return fails(again.failure or f"HTTP {again.status}", again)
    if read_stream(again).actions != richest.stream.actions:
        return fails(_differs(again), again, severity=_severity(again))
    return holds("and says that it remembered" if REPLAYED in again.headers else "")


async def rejection(kit: CheckContext) -> Finding:
    """A person has rejected a change of the plan: the next question tells it, under an id of its own."""
    request = await kit.request_at("feedback") or await kit.request_at("step")
    if request is None:
        return NOWHERE
    request["observation"].setdefault("context", {})["decisions"] = [_rejected()]
    exchange, answer = await kit.judge(request)
    if answer is None:
        return fails(f"after a rejection: {exchange.problem or 'no judgement'}", exchange)
    if REPLAYED in exchange.headers:
        return fails("a new question after a rejection is answered with a remembered answer", exchange)
    return holds()


def _rejected() -> Json:
    return {
        "proposed": ["+ stage 'conform_more'"],
        "decision": "rejected",
        "reason": "Not this one: keep the plan as it is.",
        "by": "person",
        "timestamp": "2026-01-01T00:00:00+00:00",
    }


def _differs(again: Exchange) -> str:
    remembered = ", and is said to be remembered" if REPLAYED in again.headers else ""
    return f"the same bytes under the same id are answered otherwise than before{remembered}"


def _severity(again: Exchange) -> Severity | None:
    """A server that says it remembers must do so."""
    return "required" if REPLAYED in again.headers else None
