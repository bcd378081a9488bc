"""The first dialect (v1) to and from the canonical one (v2). Used at the edge only: inside there is one model.

v1 keeps the position flat in `location`, answers with `{behavior, actions, transition, context_update, metadata}` and
has three actions: `add_content`, `add_section`, `execute_code`. What v1 has no word for travels under its v2 name: a v1
peer does not look at it, and nothing is lost on the way back.

Removed for good, and dropped when they come in: `stageStatus`, `checklist`, `thinking` and `updated_steps` as fields of
a context or a location. No peer ever filled them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.protocol.actions import LAST_ADDED_CELL
from notebook_bcc.protocol.messages import PlanningResponse, Request
from notebook_bcc.protocol.vocabulary import Dialect

# JSON objects of a dialect that has no models of its own: this module alone reads and writes them.
Json = dict[str, Any]

_REMOVED = ("stageStatus", "checklist", "thinking", "updated_steps")
_POSITION = {
    "current_stage_id": "stage_id",
    "stage_id": "stage_id",
    "current_step_id": "step_id",
    "step_id": "step_id",
    "step_index": "step_id",
    "behavior_id": "behavior_id",
    "behavior_iteration": "behavior_iteration",
}
_SHOT_OF_CONTENT = {"text": "dialogue", "code": "action"}
_RUN_FIELDS = ("need_output", "auto_debug", "keep_debug_button_visible")


def request_from_v1(data: Any) -> Request:  # Any: whatever a peer sent
    """Our request of decoded v1 JSON. Progress, which v1 does not know, becomes an empty one. Raises MessageInvalid."""
    request = _object(data, "")
    observation = _object(request.get("observation"), "observation")
    location = _object(observation.get("location"), "observation.location")
    context = observation.pop("context", None)
    if (old := observation.pop("state", None)) and context is None:
        context = old
    observation["location"] = _location_from_v1(location)
    if context is not None:
        observation["context"] = _without_removed(_object(context, "observation.context"))
    request["observation"] = observation
    return Request.parse(request)


def request_to_v1(request: Request) -> Json:
    """Decoded v1 JSON of our request."""
    data = request.to_dict()
    observation = data["observation"]
    location = observation["location"]
    position = location.pop("current")
    flat = {"current_stage_id": position.pop("stage_id", None), "current_step_id": position.pop("step_id", None)}
    for part in ("progress", "goals"):
        if not location[part]:
            del location[part]
    observation["location"] = {**flat, **position, **location}
    return data


def position_query(request: Request) -> dict[str, str]:
    """The position as the query of a GET, for servers that read no body of one."""
    current = request.observation.location.current
    named = {
        "current_stage_id": current.stage_id,
        "current_step_id": current.step_id,
        "behavior_id": current.behavior_id,
        "behavior_iteration": str(current.behavior_iteration),
    }
    return {name: value for name, value in named.items() if value is not None}


def request_bytes(request: Request, dialect: Dialect) -> bytes:
    """The body of a request. It is the same however often the request is sent: the attempts are counted in a header."""
    if request.options.attempt not in (None, 1):
        request = request.model_copy(update={"options": request.options.model_copy(update={"attempt": 1})})
    if dialect == "v2":
        return request.to_json()
    return json.dumps(request_to_v1(request), ensure_ascii=False, separators=(",", ":")).encode()


def response_from_v1(data: Any) -> tuple[PlanningResponse, list[Any]]:  # Any: whatever a peer sent
    """The judgement and the v2 actions of a v1 answer. Raises MessageInvalid.

    A malformed action is passed on as it is: `parse_action` refuses it alone, and the others go on.
    """
    answer = _object(data, "")
    actions = answer.pop("actions", None)
    if not isinstance(actions, list | None):
        raise MessageInvalid(what="v1 response", problems=[("actions", "a list is wanted")])
    if answer.get("transition") is not None:
        answer["transition"] = transition = _object(answer["transition"], "transition")
        if (plan := transition.pop("workflow_update", None)) is not None:
            update = answer.get("context_update")
            answer["context_update"] = {"workflow_update": plan, **_object(update or {}, "context_update")}
    return PlanningResponse.parse(answer), actions_from_v1(actions or [])


def response_to_v1(response: PlanningResponse, actions: Sequence[Mapping[str, Any]] = ()) -> Json:
    """The v1 answer. The verdict stands in every place that v1 clients look for it."""
    data = response.to_dict()
    transition, update, metadata = data["transition"], data["context_update"], data["metadata"]
    return {
        **data,
        "behavior": data.get("behavior", {}),
        "actions": actions_to_v1(actions),
        "transition": {
            "strategy": None,
            "next_stage_id": None,
            "next_step_id": None,
            "target_achieved": response.target_achieved,
            **transition,
            "workflow_update": update.pop("workflow_update", None),
        },
        "context_update": update,
        "metadata": {"target_achieved": response.target_achieved, **metadata},
    }


def actions_from_v1(actions: Sequence[Any]) -> list[Any]:  # Any: not validated yet
    """The v2 actions of v1 ones; a v2 action among them stays what it is."""
    return [made for action in actions for made in _action_from_v1(action)]


def actions_to_v1(actions: Sequence[Mapping[str, Any]]) -> list[Json]:
    """The v1 actions of canonical v2 ones. Code that is added and then run becomes one `execute_code`."""
    made: list[Json] = []
    for action in actions:
        if made and (joined := _joined(made[-1], action)):
            made[-1] = joined
        else:
            made.append(_action_to_v1(action))
    return made


def _location_from_v1(location: Json) -> Json:
    if "current" in location:
        return location
    fields = _without_removed(location)
    current: Json = {}
    for old, name in _POSITION.items():
        if old in fields:
            current.setdefault(name, fields.pop(old))
    return {"current": current, "progress": {}, **fields}


def _action_from_v1(action: Any) -> list[Any]:  # Any: not validated yet
    if not isinstance(action, Mapping) or "action" in action:
        return [action]
    fields = dict(action)
    match fields.pop("type", None):
        case "add_content":
            return [_add_from_v1(fields)]
        case "add_section":
            return [_section_from_v1(fields)]
        case "execute_code":
            return _run_from_v1(fields)
        case _:
            return [action]


def _add_from_v1(fields: Json) -> Json:
    content_type = fields.pop("content_type", "text")
    shot = _SHOT_OF_CONTENT.get(content_type, content_type) if isinstance(content_type, str) else content_type
    return {"action": "add", "shot_type": shot, **fields}


def _section_from_v1(fields: Json) -> Json:
    content = fields.pop("content", None) or fields.pop("title", None)
    # `new_section` writes the marks of its heading itself.
    heading = content.lstrip("#").strip() if isinstance(content, str) else content
    section: Json = {"action": "new_section", "content": heading}
    metadata = fields.get("metadata") or {}
    if isinstance(metadata, Mapping):
        numbers = {name: fields.pop(name) for name in ("section_id", "section_number") if name in fields}
        fields["metadata"] = {"is_section": True, **metadata, **numbers}
    return section | fields


def _run_from_v1(fields: Json) -> list[Json]:
    """Code that comes along is added and run; a cell that is named is run."""
    if fields.get("codecell_id") or not ("content" in fields or "code" in fields):
        return [{"action": "exec", **fields}]
    source = fields.pop("content") if "content" in fields else fields.pop("code")
    fields.pop("content_type", None)
    flags = {name: fields.pop(name) for name in _RUN_FIELDS if name in fields}
    return [
        {"action": "add", "shot_type": "action", "content": source, **fields},
        {"action": "exec", "codecell_id": LAST_ADDED_CELL, **flags},
    ]


def _action_to_v1(action: Mapping[str, Any]) -> Json:
    fields = dict(action)
    if "type" in fields:
        return fields  # a field of a custom action has v1's name for the kind: only the v2 form can hold both
    match fields.pop("action"):
        case "add":
            shot = fields.pop("shot_type", "dialogue")
            # v1 has no third kind of content: an observation is a text that keeps its own name beside.
            kept = {"shot_type": shot} if shot == "observation" else {}
            return {"type": "add_content", "content_type": "code" if shot == "action" else "text", **kept, **fields}
        case "new_section":
            return {"type": "add_section", **fields}
        case "exec":
            return {"type": "execute_code", **fields}
        case name:
            return {"type": name, **fields}


def _joined(previous: Json, action: Mapping[str, Any]) -> Json | None:
    """`execute_code` for code that was just added, if this action runs it and says nothing that would be lost."""
    added = (previous.get("type"), previous.get("content_type")) == ("add_content", "code")
    if not added or (action["action"], action.get("codecell_id")) != ("exec", LAST_ADDED_CELL):
        return None
    if action.keys() - {"action", "codecell_id", *_RUN_FIELDS} or previous.keys() & {"codecell_id", *_RUN_FIELDS}:
        return None
    flags = {name: action[name] for name in _RUN_FIELDS if name in action}
    kept = {name: value for name, value in previous.items() if name not in ("type", "content_type")}
    return {"type": "execute_code", **kept, **flags}


def _without_removed(fields: Json) -> Json:
    return {name: value for name, value in fields.items() if name not in _REMOVED}


def _object(value: Any, path: str) -> Json:  # Any: not validated yet
    """A copy of a JSON object. Raises MessageInvalid with the path where there is none."""
    if not isinstance(value, Mapping):
        problem = "is required" if value is None else f"must be an object, not {type(value).__name__}"
        raise MessageInvalid(what="v1 message", problems=[(path, problem)])
    return dict(value)
