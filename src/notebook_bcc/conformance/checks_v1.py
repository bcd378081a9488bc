"""The first dialect, for servers that speak it: where there is nothing at its addresses, nothing is wrong."""

from __future__ import annotations

import json
from urllib.parse import urlencode

from notebook_bcc.conformance.check import Finding, fails, holds, skipped
from notebook_bcc.conformance.check_context import NOWHERE, CheckContext
from notebook_bcc.conformance.exchange import Exchange, Json
from notebook_bcc.errors import ActionMalformed, MessageInvalid
from notebook_bcc.protocol.actions import parse_action
from notebook_bcc.protocol.dialects import request_to_v1, response_from_v1
from notebook_bcc.protocol.messages import Request

_ABSENT = (404, 501)
_NOT_ALLOWED = 405
_PARTS = {"behavior": dict, "actions": list, "transition": dict, "context_update": dict, "metadata": dict}


async def actions_post(kit: CheckContext) -> Finding:
    request = await kit.generating_request(stream=False)
    if request is None:
        return NOWHERE
    exchange = await kit.caller.post("/v1/actions", request_to_v1(Request.parse(request)))
    if exchange.status == _NOT_ALLOWED:
        return skipped("POST is not spoken at /v1/actions: clients ask with GET")
    return _answer(exchange)


async def actions_get(kit: CheckContext) -> Finding:
    """A GET with a JSON body, as the first document prints it; or with the position in the query."""
    request = await kit.generating_request(stream=False)
    if request is None:
        return NOWHERE
    body = json.dumps(request_to_v1(Request.parse(request)), ensure_ascii=False).encode(errors="replace")
    # A server that leaves the body of a GET unread would take it for the next request of the connection.
    with_body = await kit.caller.send("GET", "/v1/actions", body, headers={"connection": "close"})
    if with_body.status == _NOT_ALLOWED:
        return skipped("GET is not spoken at /v1/actions")
    found = _answer(with_body)
    if found.result != "fails":
        return found
    by_query = _answer(await _by_query(kit, request))
    return by_query if by_query.result == "holds" else found


async def whole(kit: CheckContext) -> Finding:
    """behavior, actions, transition with both verdicts, context_update, metadata: what a client of 001 reads."""
    request = await kit.request_at("feedback") or await kit.request_at("step")
    if request is None:
        return NOWHERE
    exchange = await kit.caller.post("/v1/reflection", request_to_v1(Request.parse(request)))
    found = _answer(exchange)
    if found.result != "holds":
        return found
    data = exchange.object or {}
    for name, kind in _PARTS.items():
        if not isinstance(data.get(name), kind):
            return fails(f"the answer has no {name}", exchange)
    for name in ("continue_behaviors", "target_achieved"):
        if not isinstance(data["transition"].get(name), bool):
            return fails(f"transition.{name} is missing or no boolean", exchange)
    return holds()


async def _by_query(kit: CheckContext, request: Json) -> Exchange:
    current = request["observation"]["location"]["current"]
    fields = {
        "current_stage_id": current.get("stage_id"),
        "current_step_id": current.get("step_id"),
        "behavior_iteration": 1,
    }
    query = urlencode({name: value for name, value in fields.items() if value is not None})
    return await kit.caller.send("GET", f"/v1/actions?{query}")


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
