"""What a server must read, and what it must refuse: fields, spellings, sizes, and how many at a time."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

from notebook_bcc.conformance.check import Finding, fails, holds
from notebook_bcc.conformance.check_context import NOWHERE, CheckContext
from notebook_bcc.conformance.exchange import Exchange, Json

_BIG = 1024 * 1024
_AT_ONCE = 8
_BAD_BODIES = {
    "JSON that breaks off": b'{"observation": {"location": ',
    "a list": b"[]",
    "nothing": b"",
    "bytes that are no UTF-8": b'{"observation": "\xff\xfe"}',
}
_PATHS = ("/planning", "/generating")


async def required_fields(kit: CheckContext) -> Finding:
    """`location.current` and `location.progress`: without one of them 422, and the answer names its path."""
    for path in _PATHS:
        for missing in (
            ("observation",),
            ("observation", "location", "current"),
            ("observation", "location", "progress"),
        ):
            request = kit.start_request()
            _remove(request, missing)
            exchange = await kit.caller.post(path, request)
            said = ".".join(missing)
            if exchange.status != 422:
                return fails(f"without {said}: {_answered(exchange)}, not HTTP 422", exchange)
            if not _names(exchange, missing):
                return fails(f"HTTP 422 does not name the missing {said}", exchange)
    return holds("422 with the path, at /planning and /generating")


async def refusals_json(kit: CheckContext) -> Finding:
    """A refusal is JSON as well, for the client's message to its user."""
    request = kit.start_request()
    del request["observation"]
    exchange = await kit.caller.post("/planning", request)
    if exchange.status < 400:
        return fails(f"there is no refusal: {_answered(exchange)}", exchange)
    return holds() if exchange.object is not None else fails("the refusal is not a JSON object", exchange)


async def invalid_json(kit: CheckContext) -> Finding:
    """What is no JSON object is the client's fault, and said so."""
    for path in _PATHS:
        for what, body in _BAD_BODIES.items():
            headers = {"content-type": "application/json"}
            exchange = await kit.caller.send("POST", path, body, headers=headers)
            if not 400 <= exchange.status <= 499:
                return fails(f"{what}: {_answered(exchange)}, not HTTP 4xx", exchange)
    return holds("4xx for each of " + ", ".join(_BAD_BODIES))


async def unknown_fields(kit: CheckContext) -> Finding:
    """A newer client may say more, at every level."""
    request = await kit.request_at("step")
    behavior = await kit.generating_request(stream=True)
    if request is None:
        return NOWHERE
    problem, _ = await kit.as_before(_with_unknown(request), question="step", what="with unknown fields")
    if problem is not None or behavior is None:
        return problem or holds()
    stream = await kit.generate(_with_unknown(behavior))
    if not 200 <= stream.exchange.status <= 299:
        return fails(f"/generating with unknown fields: {_answered(stream.exchange)}", stream.exchange)
    return holds()


async def old_spellings(kit: CheckContext) -> Finding:
    """todo_list, effect, step_index, and FSM.transition are read like their canonical names."""
    request = await kit.request_at("step")
    if request is None:
        return NOWHERE
    context, current = request["observation"]["context"], request["observation"]["location"]["current"]
    for place, name, old in ((context, "toDoList", "todo_list"), (context, "effects", "effect")):
        place[old] = place.pop(name, [] if old == "todo_list" else {"current": [], "history": []})
    current["step_index"] = current.pop("step_id")
    machine = context.get("FSM", {})
    machine["transition"] = machine.pop("history", [])
    problem, _ = await kit.as_before(request, question="step", what="with todo_list, effect, step_index")
    return problem or holds()


async def old_forms(kit: CheckContext) -> Finding:
    """A completed item may be a bare id, as older clients send it."""
    request = await kit.request_at("step_end")
    if request is None:
        return NOWHERE
    for level in request["observation"]["location"]["progress"].values():
        level["completed"] = [_bare(item) for item in level.get("completed", [])]
    problem, _ = await kit.as_before(request, question="step_end", what="with completed as bare ids")
    return problem or holds()


async def progress_texts(kit: CheckContext) -> Finding:
    """section_progress and workflow_progress may be texts, as the documents print them."""
    request = await kit.request_at("step")
    if request is None:
        return NOWHERE
    texts = {"section_progress": "1 of 3: a table", "workflow_progress": "the first stage"}
    request["observation"]["context"] |= texts
    problem, _ = await kit.as_before(request, question="step", what=f"with texts as {' and '.join(texts)}")
    return problem or holds()


async def nulls(kit: CheckContext) -> Finding:
    """A null at an optional field is read as absent."""
    request = await kit.request_at("step")
    if request is None:
        return NOWHERE
    request["behavior_feedback"] = None
    request["observation"]["location"]["goals"] = None
    request["observation"]["context"] |= {"notebook": None, "section_progress": None, "workflow_progress": None}
    problem, _ = await kit.as_before(request, question="step", what="with nulls at optional fields")
    return problem or holds()


async def upper_case(kit: CheckContext) -> Finding:
    """Older clients write states in upper case."""
    request = await kit.request_at("step")
    if request is None:
        return NOWHERE
    machine = request["observation"]["context"].setdefault("FSM", {})
    machine["state"] = str(machine.get("state", "step_running")).upper()
    problem, _ = await kit.as_before(request, question="step", what=f"with FSM.state {machine['state']}")
    return problem or holds()


async def big_request(kit: CheckContext) -> Finding:
    """An observation of one MiB."""
    request = await kit.request_at("step")
    if request is None:
        return NOWHERE
    request["observation"]["context"].setdefault("variables", {})["conform_big"] = "\u00e4b" * (_BIG // 3)
    problem, _ = await kit.as_before(request, question="step", what="with a variable of 1 MiB")
    return problem or holds()


async def concurrent(kit: CheckContext) -> Finding:
    """Several clients at the same time get what each would get alone."""
    request = await kit.request_at("step")
    if request is None:
        return NOWHERE
    several = [copy.deepcopy(request) for _ in range(_AT_ONCE)]
    for each in several:
        each["options"] = kit.ids().to_dict()
    what = f"{_AT_ONCE} questions at once"
    found = await asyncio.gather(*(kit.as_before(each, question="step", what=what) for each in several))
    problems = [problem for problem, _ in found if problem is not None]
    return problems[0] if problems else holds(f"{_AT_ONCE} at once")


def _with_unknown(request: Json) -> Json:
    unknown = {"conform_unknown": {"nested": [1, None, "\u7269"]}}
    request |= unknown
    observation = request["observation"]
    for place in (observation, observation["location"], observation["location"]["current"]):
        place |= unknown
    observation["location"]["progress"] |= unknown
    observation.setdefault("context", {}).update(unknown)
    request["options"] |= unknown
    return request


def _remove(request: Json, path: tuple[str, ...]) -> None:
    *parents, last = path
    place = request
    for name in parents:
        place = place[name]
    del place[last]


def _names(exchange: Exchange, path: tuple[str, ...]) -> bool:
    """Whether the refusal names the path: as a text with dots or slashes, or as a list of its parts."""
    short = path[-2:]
    wanted = {sign.join(short) for sign in (".", "/")}

    def named(value: Any) -> bool:  # Any: decoded JSON
        if isinstance(value, str):
            return any(each in value for each in wanted)
        if isinstance(value, list):
            return value[-len(short) :] == list(short) or any(named(each) for each in value)
        return isinstance(value, dict) and any(named(each) for pair in value.items() for each in pair)

    try:
        return named(exchange.decoded)
    except ValueError:
        return named(exchange.body.decode(errors="replace"))


def _bare(item: Any) -> Any:  # Any: JSON of the kit's own making
    ids = [item[name] for name in ("behavior_id", "step_id", "stage_id") if name in item]
    return ids[0] if ids else item


def _answered(exchange: Exchange) -> str:
    return f"HTTP {exchange.status}" if exchange.status else exchange.failure
