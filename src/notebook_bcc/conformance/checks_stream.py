"""What /generating and its fallback must send: actions that can be carried out, line by line or all at once."""

from __future__ import annotations

import contextlib
from typing import TypeVar

from notebook_bcc.conformance.check import Finding, fails, holds, skipped
from notebook_bcc.conformance.check_context import NOWHERE, CheckContext
from notebook_bcc.conformance.checks_position import REPLAYED
from notebook_bcc.conformance.exchange import Exchange
from notebook_bcc.conformance.stream import Fault, Stream, unflushed
from notebook_bcc.conformance.transcript import Area, Generated
from notebook_bcc.errors import ActionMalformed
from notebook_bcc.planners.remote.client import STREAM_TYPES
from notebook_bcc.protocol.actions import EndPhase, NextEvent, parse_action

_Sent = TypeVar("_Sent", EndPhase, NextEvent)

_NO_STREAM = skipped("no behavior was streamed")


async def stream_lines(kit: CheckContext) -> Finding:
    """One JSON object a line, separated by newlines."""
    for stream in await _streams(kit):
        if stream.whole:
            reason = "the answer is not streamed: clients read it, and wait for all of it"
            return fails(reason, stream.exchange, severity="recommended")
    return await _without_fault(kit, "lines")


async def stream_wrapped(kit: CheckContext) -> Finding:
    """Each line is {"action": {...}}."""
    return await _without_fault(kit, "wrapped")


async def stream_utf8(kit: CheckContext) -> Finding:
    return await _without_fault(kit, "utf8")


async def stream_newline(kit: CheckContext) -> Finding:
    """The last line ends with a newline too: a reader can tell a whole line from a torn one."""
    return await _without_fault(kit, "newline")


async def stream_type(kit: CheckContext) -> Finding:
    """A content type that clients read as lines."""
    streams = await _streams(kit)
    for stream in streams:
        kind = stream.exchange.kind
        if not kind:
            return fails("the stream has no content type", stream.exchange, severity="recommended")
        if kind not in STREAM_TYPES:
            return fails(f"its content type is {kind!r}, which clients refuse", stream.exchange)
    return holds(streams[0].exchange.kind) if streams else _NO_STREAM


async def stream_flushed(kit: CheckContext) -> Finding:
    """Each line is sent when it is known: the client executes the first while the last is being written."""
    streams = await _streams(kit)
    if not any(stream.lines > 1 for stream in streams):
        return skipped("no behavior had more than one line")
    found = unflushed(streams)
    if found is not None:
        return fails(found[0], found[1].exchange)
    reads = max(len(stream.exchange.arrivals) for stream in streams)
    return holds(f"sent without a length, up to {reads} reads an answer")


async def stream_false(kit: CheckContext) -> Finding:
    """options.stream false: {"actions": [...]}."""
    request = await kit.generating_request(stream=False)
    if request is None:
        return NOWHERE
    return _whole(await kit.caller.post("/generating", request))


async def actions_formed(kit: CheckContext) -> Finding:
    """Every action has its type and the fields its type requires."""
    return await _noted(kit, "actions")


async def exec_cells(kit: CheckContext) -> Finding:
    """Every exec runs a cell that was added before: lastAddedCellId, or a store_id."""
    return await _noted(kit, "cells")


async def end_phase(kit: CheckContext) -> Finding:
    """end_phase completes the current step: it names that one or none."""
    found = await _sent(kit, EndPhase)
    for behavior, action in found:
        current = behavior.request["observation"]["location"]["current"].get("step_id")
        if action.step_id not in (None, current):
            return fails(f"end_phase names step {action.step_id!r} in step {current!r}", behavior.stream.exchange)
    return holds() if found else skipped("no behavior sent an end_phase")


async def next_event(kit: CheckContext) -> Finding:
    """next_event fires an event of the state machine: clients skip any other with a warning."""
    found = await _sent(kit, NextEvent)
    for behavior, action in found:
        if action.event is None:
            reason = f"next_event: {action.event_type!r} is not an event of the state machine"
            return fails(reason, behavior.stream.exchange)
    return holds() if found else skipped("no behavior sent a next_event")


async def actions_there(kit: CheckContext) -> Finding:
    """Where a step has work left, /generating brings some."""
    streams = await _streams(kit)
    if not streams:
        return _NO_STREAM
    count = sum(len(stream.actions) for stream in streams)
    return holds(f"{count} actions") if count else fails("no behavior brought an action", streams[0].exchange)


async def generate_fallback(kit: CheckContext) -> Finding:
    """POST /generate, asked when /generating does not work."""
    request = await kit.generating_request(stream=False)
    if request is None:
        return NOWHERE
    exchange = await kit.caller.post("/generate", request)
    return fails("there is no /generate", exchange) if exchange.status in (404, 405) else _whole(exchange)


async def repeated_planning(kit: CheckContext) -> Finding:
    """A question that is asked again under its id gets the same answer."""
    request = await kit.request_at("step")
    if request is None:
        return NOWHERE
    first, _ = await kit.judge(request)
    request["options"]["attempt"] = 2
    again, _ = await kit.judge(request)
    if first.problem or again.problem:
        return fails(first.problem or again.problem, first if first.problem else again)
    return _same(first.object == again.object, again)


async def repeated_generating(kit: CheckContext) -> Finding:
    request = await kit.generating_request(stream=True)
    if request is None:
        return NOWHERE
    first = await kit.generate(request)
    request["options"]["attempt"] = 2
    again = await kit.generate(request)
    for stream in (first, again):
        if not 200 <= stream.exchange.status <= 299 or stream.exchange.failure:
            return fails(stream.exchange.failure or f"HTTP {stream.exchange.status}", stream.exchange)
    return _same(first.actions == again.actions, again.exchange)


def _same(same: bool, again: Exchange) -> Finding:
    """A server that says it remembers must do so; one that does not say may plan again."""
    remembers = REPLAYED in again.headers
    if same:
        return holds("and says that it remembered" if remembers else "")
    return fails(
        "the second answer differs from the first" + (", and is said to be remembered" if remembers else ""),
        again,
        severity="required" if remembers else None,
    )


def _whole(exchange: Exchange) -> Finding:
    """An answer that is not streamed."""
    if exchange.problem:
        return fails(exchange.problem, exchange)
    actions = (exchange.object or {}).get("actions")
    if not isinstance(actions, list):
        return fails('the answer is not {"actions": [...]}', exchange)
    for number, data in enumerate(actions, start=1):
        try:
            parse_action(data)
        except ActionMalformed as error:
            return fails(f"action {number}: {error}", exchange)
    return holds(f"{len(actions)} actions")


async def _streams(kit: CheckContext) -> list[Stream]:
    return [behavior.stream for behavior in (await kit.transcript()).generated]


async def _sent(kit: CheckContext, kind: type[_Sent]) -> list[tuple[Generated, _Sent]]:
    """The well-formed actions of this kind, with the behavior that each came in."""
    found = []
    for behavior in (await kit.transcript()).generated:
        for data in behavior.stream.actions:
            with contextlib.suppress(ActionMalformed):
                action = parse_action(data)
                if isinstance(action, kind):
                    found.append((behavior, action))
    return found


async def _without_fault(kit: CheckContext, kind: Fault) -> Finding:
    streams = [stream for stream in await _streams(kit) if not stream.whole]
    for stream in streams:
        for text in stream.faults_of(kind):
            return fails(text, stream.exchange)
    return holds(f"{sum(stream.lines for stream in streams)} lines") if streams else _NO_STREAM


async def _noted(kit: CheckContext, area: Area) -> Finding:
    transcript = await kit.transcript()
    for note in transcript.notes_of(area):
        return fails(note.text, note.exchange)
    return holds() if any(behavior.stream.actions for behavior in transcript.generated) else _NO_STREAM
