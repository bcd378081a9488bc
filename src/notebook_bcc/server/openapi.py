"""The OpenAPI document of the service, made from the protocol's own schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from notebook_bcc.protocol.schemas import message_schemas
from notebook_bcc.server import examples

# Any: OpenAPI and JSON Schema are JSON of many shapes.
Json = dict[str, Any]

_ERRORS = {
    400: "The body is not JSON, or nested too deep; or there is more than one Host header.",
    401: "No token, or not the one of this service.",
    403: "The request comes from a web page of another site.",
    408: "The body did not arrive in time.",
    409: "The planner does not know the stage or step (`unknown_position`, with `known`), or needs variables that the "
    "observation lacks (`missing_evidence`, with `needs`).",
    413: "The body, or a text in it, is too large.",
    414: "The query is too long.",
    415: "The body is said to be something else than JSON.",
    421: "The name in the Host header is not one of this service.",
    422: "The message lacks a field or has one of another form; every path is named.",
    431: "The headers are too large.",
    500: "Something unforeseen; the message holds an id that the service's log has too.",
    502: "The planner answered, and not with anything that can be used.",
    503: "The planner cannot be reached, or too many requests are being answered. May carry Retry-After.",
    504: "The planner took too long.",
}
_OF_EVERY_PAGE = (400, 403, 421, 431)
_OF_EVERY_QUESTION = (400, 403, 408, 409, 413, 415, 421, 422, 431, 500, 502, 503, 504)
_MESSAGES = ("Request", "PlanningResponse", "GeneratingResponse", "ActionLine")
_REPEATED = {
    "description": "`true` where the answer was remembered: this request, by its ids, has been answered before.",
    "schema": {"type": "string", "enum": ["true"]},
}


def openapi(*, version: str, token: bool) -> Json:
    """The whole document. With `token` the endpoints ask for one."""
    document: Json = {
        "openapi": "3.1.0",
        "info": {
            "title": "Notebook-BCC planner service (DSLC)",
            "version": version,
            "license": {"name": "MIT", "identifier": "MIT"},
            "description": (
                "Judges where a workflow stands and writes what to do next. Every request carries the whole "
                "observation; the service keeps nothing of a run. The same request with the same "
                "`options.run_id` and `options.request_id` is answered again, not planned again."
            ),
        },
        "paths": _paths(token=token),
        "components": {"schemas": _schemas()},
    }
    if token:
        document["components"]["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
    return document


def _paths(*, token: bool) -> Json:
    asked: Json = {"security": [{"bearer": []}]} if token else {}
    unauthorized = (401,) if token else ()
    questions = (*_OF_EVERY_QUESTION, *unauthorized)
    v1_get = (400, 403, 408, 409, 413, 414, 415, 421, 422, 431, 500, 502, 503, 504, *unauthorized)
    pages = _OF_EVERY_PAGE
    return {
        "/planning": {"post": _planning(questions) | asked},
        "/generating": {"post": _generating(questions) | asked},
        "/generate": {"post": _generate(questions) | asked},
        "/v1/actions": {"get": _actions_v1_get(v1_get) | asked, "post": _actions_v1(questions) | asked},
        "/v1/reflection": {"post": _reflection_v1(questions) | asked},
        "/health": {
            "get": _page("health", "Whether the service is up.", pages, "application/json", _ref("Health")),
            "head": _page("healthHead", "Whether the service is up, without a body.", pages, "", {}),
        },
        "/metrics": {
            "get": _page(
                "metrics", "Numbers for Prometheus.", (*pages, *unauthorized), "text/plain", {"type": "string"}
            )
            | asked
        },
        "/openapi.json": {
            "get": _page("openapi", "This document.", pages, "application/json", {"type": "object"}),
        },
        "/docs": {"get": _page("docs", "This document, for people.", pages, "text/html", {"type": "string"})},
    }


def _planning(errors: tuple[int, ...]) -> Json:
    return _operation(
        "planning",
        "Judge: is the goal reached, does the behavior loop go on, what changes.",
        body=_body("Request", first=examples.FIRST_REQUEST, step=examples.REQUEST, feedback=examples.FEEDBACK_REQUEST),
        answer=_json(_ref("PlanningResponse"), judgement=examples.PLANNING_RESPONSE),
        errors=errors,
    )


def _generating(errors: tuple[int, ...]) -> Json:
    return _operation(
        "generating",
        "The actions of one behavior: line by line with `options.stream`, else together.",
        body=_body("Request", streamed=examples.STREAM_REQUEST, together=examples.REQUEST),
        answer=_json(_ref("GeneratingResponse"), together=examples.GENERATING_RESPONSE) | _lines(),
        errors=errors,
    )


def _generate(errors: tuple[int, ...]) -> Json:
    either = {"anyOf": [_ref("GeneratingResponse"), _ref("Repair")]}
    return _operation(
        "generate",
        "The fallback of /generating; with `options.repair` the source to run instead of a cell that failed.",
        body=_body("Request", together=examples.REQUEST, repair=examples.REPAIR_REQUEST),
        answer=_json(either, together=examples.GENERATING_RESPONSE, repair=examples.REPAIR) | _lines(),
        errors=errors,
    )


def _actions_v1(errors: tuple[int, ...]) -> Json:
    return _operation(
        "actionsV1",
        "First dialect: the judgement and the actions of one behavior in one answer.",
        body=_body("RequestV1", behavior=examples.REQUEST_V1),
        answer=_json(_ref("ResponseV1"), behavior=examples.RESPONSE_V1),
        errors=errors,
    )


def _actions_v1_get(errors: tuple[int, ...]) -> Json:
    text = {"type": "string"}
    fields: Mapping[str, Json] = {
        "stage_id": text,
        "step_id": text,
        "behavior_id": text,
        "behavior_iteration": {"type": "integer", "minimum": 0},
        "request_id": text,
        "run_id": text,
        "attempt": {"type": "integer"},
    }
    parameters: list[Json] = [{"name": name, "in": "query", "schema": schema} for name, schema in fields.items()]
    for name, schema in (("context", _ref("Context")), ("behavior_feedback", _ref("BehaviorFeedback"))):
        parameters.append({"name": name, "in": "query", "content": {"application/json": {"schema": schema}}})
    operation = _operation(
        "actionsV1Get",
        "First dialect: as the POST, with the position in the query and `context` as JSON text.",
        body=None,
        answer=_json(_ref("ResponseV1"), behavior=examples.RESPONSE_V1),
        errors=errors,
    )
    return operation | {"parameters": parameters}


def _reflection_v1(errors: tuple[int, ...]) -> Json:
    return _operation(
        "reflectionV1",
        "First dialect: judge what a behavior has done.",
        body=_body("RequestV1", feedback=examples.REQUEST_V1),
        answer=_json(_ref("ResponseV1"), judgement={**examples.RESPONSE_V1, "actions": []}),
        errors=errors,
    )


def _operation(name: str, summary: str, *, body: Json | None, answer: Json, errors: tuple[int, ...]) -> Json:
    good = {"description": "The answer.", "content": answer, "headers": {"Idempotent-Replayed": _REPEATED}}
    operation: Json = {"operationId": name, "summary": summary, "responses": {"200": good, **_refused(errors)}}
    if body is not None:
        operation["requestBody"] = body
    return operation


def _page(name: str, summary: str, errors: tuple[int, ...], content: str, schema: Json) -> Json:
    good: Json = {"description": "The answer."}
    if content:
        good["content"] = {content: {"schema": schema}}
    return {"operationId": name, "summary": summary, "responses": {"200": good, **_refused(errors)}}


def _refused(statuses: tuple[int, ...]) -> Json:
    content = _json(_ref("Error"), error=examples.ERROR)
    return {str(status): {"description": _ERRORS[status], "content": content} for status in sorted(statuses)}


def _body(schema: str, **shown: Json) -> Json:
    return {"required": True, "content": _json(_ref(schema), **shown)}


def _json(schema: Json, **shown: Json) -> Json:
    named = {name: {"value": value} for name, value in shown.items()}
    return {"application/json": {"schema": schema, "examples": named}}


def _lines() -> Json:
    """NDJSON has no schema of its own in OpenAPI: what one line holds stands in the text."""
    return {
        "application/x-ndjson": {
            "schema": {
                "type": "string",
                "description": 'Lines of `{"action": {...}}` (ActionLine), each flushed as soon as it is known, and of '
                '`{"warning": "..."}` where the planner left something out. A stream without a proper end has broken.',
            }
        }
    }


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _schemas() -> Json:
    made = message_schemas()
    found: Json = {}
    for name in _MESSAGES:
        schema = {key: value for key, value in made[name].items() if key != "$schema"}
        found |= schema.pop("$defs", {})
        found[name] = schema
    return {name: _moved(schema) for name, schema in sorted({**found, **_own_schemas()}.items())}


def _moved(schema: Any) -> Any:  # Any: JSON
    """References to where OpenAPI keeps schemas."""
    if isinstance(schema, dict):
        return {
            name: value.replace("#/$defs/", "#/components/schemas/")
            if name == "$ref" and isinstance(value, str)
            else _moved(value)
            for name, value in schema.items()
        }
    return [_moved(each) for each in schema] if isinstance(schema, list) else schema


def _own_schemas() -> Json:
    """What the protocol has no model for: v1, whose words are translated at the edge, and what only a service says."""
    text = {"type": "string"}
    place = {"type": ["string", "null"]}
    problem = {"type": "object", "required": ["path", "problem"], "properties": {"path": text, "problem": text}}
    error: Json = {
        "type": "object",
        "required": ["code", "message", "problems"],
        "properties": {
            "code": text,
            "message": text,
            "problems": {"type": "array", "items": problem},
            "known": {
                "type": "object",
                "description": "With `unknown_position`: the stages that there are, each with the ids of its steps.",
                "properties": {"stages": {"type": "object", "additionalProperties": {"type": "array", "items": text}}},
            },
            "needs": {
                "type": "array",
                "items": text,
                "description": "With `missing_evidence`: names of variables that the observation must hold.",
            },
        },
    }
    location = {
        "type": "object",
        "properties": {
            "current_stage_id": place,
            "current_step_id": place,
            "behavior_id": place,
            "behavior_iteration": {"type": "integer"},
        },
        "additionalProperties": False,
    }
    observation = {
        "type": "object",
        "required": ["location"],
        "properties": {"location": location, "context": _ref("Context")},
    }
    return {
        "Error": {"type": "object", "required": ["error"], "properties": {"error": error}},
        "Health": {
            "type": "object",
            "required": ["status", "planner", "dialects", "version"],
            "properties": {
                "status": {"const": "ok"},
                "planner": text,
                "dialects": {"type": "array", "items": text},
                "version": text,
            },
        },
        "Repair": {
            "type": "object",
            "required": ["source"],
            "properties": {"source": {"type": ["string", "null"], "description": "null: the planner has no idea."}},
        },
        "RequestV1": {
            "type": "object",
            "required": ["observation"],
            "properties": {
                "observation": observation,
                "behavior_feedback": _ref("BehaviorFeedback"),
                "options": _ref("Options"),
            },
        },
        "ResponseV1": {
            "type": "object",
            "required": ["behavior", "actions", "transition", "context_update", "metadata"],
            "properties": {
                "behavior": {"type": "object"},
                "actions": {"type": "array", "items": {"type": "object", "required": ["type"]}},
                "transition": {"type": "object", "required": ["target_achieved"]},
                "context_update": {"type": "object"},
                "metadata": {"type": "object", "required": ["target_achieved"]},
            },
        },
    }
