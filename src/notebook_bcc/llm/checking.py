"""What works at a model's endpoint: reached, streamed, held to a schema, how fast, at what price."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

from notebook_bcc.errors import PlannerFailed
from notebook_bcc.llm.chat import ChatModel, Schema
from notebook_bcc.llm.prompt.parts import estimate_tokens
from notebook_bcc.llm.providers.prices import Prices
from notebook_bcc.llm.stream.scanner import BadObject, Scanner
from notebook_bcc.planners.model_exchange import ChatMessage, Usage
from notebook_bcc.protocol.limits import UNKNOWN

_QUESTION = (
    ChatMessage("system", "Answer with JSON only."),
    ChatMessage("user", 'Name three colours of the rainbow: {"actions": [{"colour": "..."}, ...]}'),
)
_SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "actions": {
            "type": "array",
            "maxItems": 3,
            "items": {
                "type": "object",
                "properties": {"colour": {"type": "string", "maxLength": 20}},
                "required": ["colour"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["actions"],
    "additionalProperties": False,
}
_MOST_TOKENS = 200


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One thing that was looked at. `works` is None where it only informs."""

    what: str
    works: bool | None
    said: str


@dataclass(frozen=True, slots=True)
class _Heard:
    text: str
    pieces: int
    usage: Usage
    first: float
    seconds: float


async def check_model(model: ChatModel, *, prices: Prices, timeout: float) -> AsyncIterator[CheckResult]:
    """Ask the model twice, without a schema and with one. Ends early when it cannot be reached."""
    try:
        free = await _asked(model, None, timeout=timeout)
    except PlannerFailed as error:
        yield CheckResult("reachable", False, str(error))
        return
    yield CheckResult("reachable", True, f"an answer of {len(free.text)} characters")
    streams = free.pieces > 1
    yield CheckResult("streaming", streams, f"{free.pieces} pieces" if streams else "the answer came in one piece")
    try:
        bound = await _asked(model, _SCHEMA, timeout=timeout)
    except PlannerFailed as error:
        yield CheckResult("schema", False, str(error))
    else:
        yield _schema(bound)
    yield _speed(free)
    price = prices.of(model.name)
    cost = UNKNOWN if price is None else f"${price.input:g} in, ${price.output:g} out a million tokens ({prices.as_of})"
    yield CheckResult("price", None, cost)


async def _asked(model: ChatModel, schema: Schema | None, *, timeout: float) -> _Heard:
    begin = time.perf_counter()
    first = 0.0
    pieces: list[str] = []
    usage = Usage(None, None)
    answer = model.stream(_QUESTION, schema=schema, max_tokens=_MOST_TOKENS, temperature=0.0, timeout=timeout)
    async for piece in answer:
        if isinstance(piece, Usage):
            usage = piece
        else:
            first = first or time.perf_counter() - begin
            pieces.append(piece)
    return _Heard("".join(pieces), len(pieces), usage, first, time.perf_counter() - begin)


def _schema(heard: _Heard) -> CheckResult:
    if not heard.usage.schema:
        return CheckResult("schema", False, "the endpoint refuses schemas; answers are read without one")
    scanner = Scanner()
    found = [*scanner.feed(heard.text), *scanner.finish()]
    kept = bool(found) and all(not isinstance(one, BadObject) and set(one) == {"colour"} for one in found)
    if kept and heard.text.lstrip().startswith("{"):
        return CheckResult("schema", True, f"{len(found)} objects as asked")
    return CheckResult("schema", False, "the schema was taken and not kept; answers are read with care")


def _speed(heard: _Heard) -> CheckResult:
    counted = heard.usage.output_tokens
    tokens = estimate_tokens(heard.text) if counted is None else counted
    writing = max(heard.seconds - heard.first, 1e-3)
    about = "about " if counted is None else ""
    return CheckResult(
        "speed", None, f"first piece after {heard.first:.2f} s, {about}{tokens / writing:.0f} tokens a second"
    )
