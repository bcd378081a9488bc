"""The first dialect, for servers that speak it: where there is nothing at its addresses, nothing is wrong."""

from __future__ import annotations

from urllib.parse import urlencode

from notebook_bcc.conformance.check import Finding, fails, holds, skipped
from notebook_bcc.conformance.check_context import NOWHERE, CheckContext
from notebook_bcc.conformance.exchange import Exchange
from notebook_bcc.errors import ActionMalformed, MessageInvalid
from notebook_bcc.protocol.actions import parse_action
from notebook_bcc.protocol.dialects import request_to_v1, response_from_v1
from notebook_bcc.protocol.messages import Request

_ABSENT = (404, 501)


async def actions_post(kit: CheckContext) -> Finding:
    request = await kit.generating_request(stream=False)
    if request is None:
        return NOWHERE
    return _answer(await kit.caller.post("/v1/actions", request_to_v1(Request.parse(request))))


async def actions_get(kit: CheckContext) -> Finding:
    """The position stands in the query."""
    request = await kit.generating_request(stream=False)
    if request is None:
        return NOWHERE
    current = request["observation"]["location"]["current"]
    fields = {
        "current_stage_id": current.get("stage_id"),
        "current_step_id": current.get("step_id"),
        "behavior_iteration": 1,
    }
    query = urlencode({name: value for name, value in fields.items() if value is not None})
    exchange = await kit.caller.send("GET", f"/v1/actions?{query}")
    if exchange.status == 405:
        return skipped("GET is not spoken at /v1/actions")
    return _answer(exchange)


async def reflection(kit: CheckContext) -> Finding:
    request = await kit.request_at("feedback")
    if request is None:
        return NOWHERE
    exchange = await kit.caller.post("/v1/reflection", request_to_v1(Request.parse(request)))
    found = _answer(exchange)
    if found.result == "holds" and (exchange.object or {}).get("transition") is None:
        return fails("the answer has no transition", exchange)
    return found


def _answer(exchange: Exchange) -> Finding:
    """Whether this is an answer of the first dialect."""
    if exchange.status in _ABSENT:
        return skipped("the server does not speak v1 here")
    if exchange.problem:
        return fails(exchange.problem, exchange)
    data = exchange.object or {}
    if not {"actions", "transition", "behavior"} & data.keys():
        return fails("the answer has neither behavior, actions nor transition", exchange)
    try:
        _, actions = response_from_v1(data)
        for action in actions:
            parse_action(action)
    except (MessageInvalid, ActionMalformed) as error:
        return fails(str(error), exchange)
    return holds(f"{len(actions)} actions")
