"""Both libraries at a real model, served at NBCC_LOCAL_LLM. What is asserted are properties, not texts."""

from __future__ import annotations

import os

import pytest

from notebook_bcc.llm.chat import whole
from notebook_bcc.llm.checking import check_model
from notebook_bcc.llm.providers.names import Access, ModelName
from notebook_bcc.llm.providers.prices import read_prices
from notebook_bcc.llm.providers.registry import open_model
from notebook_bcc.llm.stream.scanner import BadObject, Scanner
from notebook_bcc.planners.model_exchange import ChatMessage, Usage
from notebook_bcc.protocol.secret_variables import Vendor

ADDRESS = os.environ.get("NBCC_LOCAL_LLM", "").rstrip("/")
SECONDS = 600.0
SCHEMA = {
    "type": "object",
    "properties": {
        "actions": {
            "type": "array",
            "minItems": 1,
            "maxItems": 2,
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"enum": ["text", "code"]},
                    "content": {"type": "string", "maxLength": 200},
                },
                "required": ["kind", "content"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["actions"],
    "additionalProperties": False,
}
QUESTION = [
    ChatMessage("system", 'Answer with JSON only: {"actions": [{"kind": "code", "content": "..."}]}'),
    ChatMessage("user", "Write Python code that prints the number of rows of the DataFrame `table`."),
]

pytest.importorskip("openai", reason="the extra `llm` is not installed")
pytestmark = [
    pytest.mark.local_llm,
    pytest.mark.anyio,
    pytest.mark.skipif(not ADDRESS, reason="NBCC_LOCAL_LLM names no served model"),
    pytest.mark.parametrize("vendor", ["url", "anthropic"]),
]


def opened(vendor: Vendor) -> Access:
    address = ADDRESS if vendor == "anthropic" else f"{ADDRESS}/v1"
    return Access(ModelName(vendor=vendor, name="local", address=address))


async def test_an_answer_is_streamed_and_counted(vendor: Vendor) -> None:
    model = open_model(opened(vendor))
    pieces: list[str] = []
    usage: Usage | None = None
    try:
        async for piece in model.stream(QUESTION, max_tokens=60, temperature=0.0, timeout=SECONDS):
            if isinstance(piece, Usage):
                usage = piece
            else:
                pieces.append(piece)
    finally:
        await model.close()
    assert len(pieces) > 3
    assert usage is not None
    assert usage.input_tokens
    assert 0 < (usage.output_tokens or 0) <= 60


async def test_a_schema_gives_closed_actions(vendor: Vendor) -> None:
    model = open_model(opened(vendor))
    scanner = Scanner()
    try:
        text, usage = await whole(
            model.stream(QUESTION, schema=SCHEMA, max_tokens=300, temperature=0.0, timeout=SECONDS)
        )
    finally:
        await model.close()
    found = [*scanner.feed(text), *scanner.finish()]
    assert usage.finish == "stop"
    if vendor == "url":
        assert found
        assert all(not isinstance(one, BadObject) and set(one) == {"kind", "content"} for one in found)


async def test_an_answer_can_be_given_up_in_the_middle(vendor: Vendor) -> None:
    model = open_model(opened(vendor))
    try:
        answer = model.stream(QUESTION, max_tokens=400, temperature=0.0, timeout=SECONDS)
        assert await anext(answer)
        await answer.aclose()  # type: ignore[attr-defined]  # a generator in practice
        text, _ = await whole(model.stream(QUESTION, max_tokens=10, temperature=0.0, timeout=SECONDS))
    finally:
        await model.close()
    assert text


async def test_the_check_finds_it_usable(vendor: Vendor) -> None:
    model = open_model(opened(vendor))
    try:
        found = {one.what: one.works async for one in check_model(model, prices=read_prices(), timeout=SECONDS)}
    finally:
        await model.close()
    assert found["reachable"]
    assert found["streaming"]
