"""A model exchange as it may be kept: without secrets, long texts cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from notebook_bcc.llm.providers.names import without_key
from notebook_bcc.planners.model_exchange import ChatMessage, ModelExchange

LONGEST_TEXT: Final = 24_000
"""In characters: of a message or an answer in the journal. Our own prompts are shorter."""

# Of a text that is cut, so much of its end stays: that is where an answer breaks.
_TAIL: Final = 2_000


def kept(exchange: ModelExchange, *, secrets: Sequence[str] = ()) -> ModelExchange:
    """The exchange as it may be kept: without these secrets, long texts cut with a mark."""
    return replace(
        exchange,
        messages=tuple(ChatMessage(one.role, _kept(_whole(one), secrets)) for one in exchange.messages),
        answer=_kept(exchange.answer, secrets),
        failure=_kept(exchange.failure, secrets),
    )


def _whole(message: ChatMessage) -> str:
    """The text of a message; pictures are in the notebook and are only counted here."""
    count = len(message.images)
    return f"{message.content}\n[{count} {'picture' if count == 1 else 'pictures'} sent]" if count else message.content


def cut(text: str, *, longest: int = LONGEST_TEXT, tail: int = _TAIL) -> str:
    """The beginning and the end of a text that is too long, with a mark in between."""
    missing = len(text) - longest
    return text if missing <= 0 else f"{text[: longest - tail]}[... {missing} characters cut ...]{text[-tail:]}"


def _kept(text: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        text = without_key(text, secret)
    # A lone surrogate, which JSON allows a model to write, cannot be written into a journal.
    return cut(text).encode("utf-8", "replace").decode()
