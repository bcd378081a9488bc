"""What went between a planner and its models, for whoever writes it down; and the planners that tell it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol, runtime_checkable

from notebook_bcc.planners.llm.budget import Budget, Call, Spent
from notebook_bcc.planners.llm.chat import ChatMessage, Usage
from notebook_bcc.planners.llm.naming import without_key
from notebook_bcc.planners.llm.prompt_files import Task

LONGEST_TEXT: Final = 24_000
"""In characters: of a message or an answer in the journal. Our own prompts are shorter."""

# Of a text that is cut, so much of its end stays: that is where an answer breaks.
_TAIL: Final = 2_000


@dataclass(frozen=True, slots=True)
class Exchange:
    """One question and its answer, as they went over the wire. Holds no key: neither side ever says one."""

    model: str
    task: Task
    request_id: str | None
    messages: tuple[ChatMessage, ...]
    answer: str
    usage: Usage | None
    seconds: float
    failure: str = ""
    took: Call = field(default_factory=Call)


@runtime_checkable
class AsksModels(Protocol):
    """A planner that asks language models, within a budget, and tells what was said. Whether a planner does is asked
    once, by whoever writes the journal: a planner itself has no hand in it."""

    def allow(self, budget: Budget, spent: Spent) -> None:
        """What the run may spend in all and what it had spent, as of now: counts until it is said again."""
        ...

    def taken_exchanges(self) -> Sequence[Exchange]:
        """The exchanges that ended since this was last asked, oldest first."""
        ...


def kept(exchange: Exchange, *, secrets: Sequence[str] = ()) -> Exchange:
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
