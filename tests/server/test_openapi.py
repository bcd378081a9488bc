"""The OpenAPI document: sound, its examples true, and the service as it says, whatever is sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    content_type_conformance,
    positive_data_acceptance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.protocol.schemas import DIALECT
from notebook_bcc.server import examples
from notebook_bcc.server.app import App, build_app
from notebook_bcc.server.openapi import openapi
from notebook_bcc.server.settings import ServerSettings
from server.living import QUESTIONS, TOKEN, service

PLANNER = CallablePlanner(
    plan=lambda _: examples.PLANNING_RESPONSE,
    generate=lambda _: examples.ACTIONS,
    repair=lambda _: examples.REPAIR["source"],
)
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    unsupported_method,
    allow_header_conformance,
]
# What is valid is answered. The reverse is not asked for: more is read than the schemas describe (old nulls, numbers in
# texts), as the protocol wants.
VALID = [*CHECKS, positive_data_acceptance]


def app(**more: Any) -> App:
    """The service as schemathesis calls it: in process, under this name. Any: the fields of ServerSettings."""
    return build_app(PLANNER, ServerSettings(names=("testserver", "localhost"), **more))


DOCUMENT = openapi(version="1", token=False)
OPERATIONS = sorted(
    (method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods if path != "/docs"
)


def resolved(schema: Any) -> dict[str, Any]:
    """A schema that a validator of plain JSON Schema can follow. Any: JSON."""
    return {"$schema": DIALECT, **schema, "components": DOCUMENT["components"]}


def shown() -> Iterator[tuple[str, str, str, Any, Any]]:
    """Every example with its schema: (path, method, place, schema, value)."""
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            places = {"request": operation.get("requestBody", {}), **operation["responses"]}
            for place, part in places.items():
                for form in part.get("content", {}).values():
                    for example in form.get("examples", {}).values():
                        yield path, method, place, form["schema"], example["value"]


def test_every_reference_leads_somewhere_and_every_schema_is_one() -> None:
    def references(part: Any) -> Iterator[str]:
        if isinstance(part, dict):
            if isinstance(part.get("$ref"), str):
                yield part["$ref"]
            for each in part.values():
                yield from references(each)
        elif isinstance(part, list):
            for each in part:
                yield from references(each)

    schemas = DOCUMENT["components"]["schemas"]
    assert {each.removeprefix("#/components/schemas/") for each in references(DOCUMENT)} <= set(schemas)
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_every_example_is_what_its_schema_says() -> None:
    checked = 0
    for *_, schema, value in shown():
        jsonschema.validate(value, resolved(schema), cls=jsonschema.Draft202012Validator)
        checked += 1
    assert checked > 50


@pytest.mark.anyio
async def test_every_example_of_a_request_is_answered_as_the_document_says() -> None:
    async with service(PLANNER) as client:
        for path, method, place, _, value in shown():
            if place == "request":
                answer = await client.request(method, path, json=value)
                assert answer.status_code == 200, (path, answer.text)
                if answer.headers["content-type"] == "application/json":
                    said = DOCUMENT["paths"][path][method]["responses"]["200"]["content"]["application/json"]["schema"]
                    jsonschema.validate(answer.json(), resolved(said), cls=jsonschema.Draft202012Validator)


def test_a_service_with_a_token_says_so() -> None:
    document = openapi(version="1", token=True)
    assert document["paths"]["/planning"]["post"]["security"] == [{"bearer": []}]
    assert "401" in document["paths"]["/metrics"]["get"]["responses"]
    assert "security" not in document["paths"]["/health"]["get"]


def try_out(operation: tuple[str, str], mode: GenerationMode, count: int, *, token: str | None = None) -> int:
    """Send that many generated requests and check every answer; how many were sent."""
    method, path = operation
    schema = schemathesis.openapi.from_asgi("/openapi.json", app(token=token))
    headers = {"authorization": f"Bearer {token}"} if token is not None else {}
    # How long a query may be, a schema cannot say.
    accepted = mode is GenerationMode.POSITIVE and operation != ("GET", "/v1/actions")
    sent = 0

    @settings(
        max_examples=count,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        database=None,
    )
    @given(schema[path][method].as_strategy(mode))
    def send(case: Any) -> None:  # Any: a Case of whatever the schema describes
        nonlocal sent
        sent += 1
        case.call_and_validate(headers=headers, checks=VALID if accepted else CHECKS)

    send()
    return sent


CAMPAIGN = [
    (operation, mode)
    for operation in OPERATIONS
    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    # A page without parameters has nothing that could be wrong.
    if mode is GenerationMode.POSITIVE or operation[1] in QUESTIONS
]


@pytest.mark.parametrize(("operation", "mode"), CAMPAIGN)
def test_some_hundred_generated_requests_get_documented_answers(
    operation: tuple[str, str], mode: GenerationMode
) -> None:
    assert try_out(operation, mode, 25) > 0


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("token", [None, TOKEN])
def test_more_than_two_thousand_generated_requests_get_documented_answers(token: str | None) -> None:
    sent = sum(
        try_out(operation, mode, 200 if operation[1] in QUESTIONS else 5, token=token) for operation, mode in CAMPAIGN
    )
    assert sent >= 2000
