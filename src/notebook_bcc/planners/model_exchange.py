"""What went between a planner and a language model, and the planners that tell it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from notebook_bcc.protocol.limits import Budget, Call, Spent

Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length"]
Task = Literal["generate", "judge", "repair"]


@dataclass(frozen=True, slots=True)
class ChatImage:
    """A picture that goes with a message: its bytes in base64, as notebooks keep them. `caption` says what it is."""

    media_type: Literal["image/png", "image/jpeg"]
    base64: str
    caption: str = ""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation. Its images stand before its text."""

    role: Role
    content: str
    images: tuple[ChatImage, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer took. Tokens are None where the endpoint does not count them.

    `finish` is `length` when the answer was cut at `max_tokens`. `schema` says whether the endpoint was told the
    schema: one that does not know schemas is asked without, and its text is read with more care.
    """

    input_tokens: int | None
    output_tokens: int | None
    finish: Finish = "stop"
    schema: bool = False


@dataclass(frozen=True, slots=True)
class ModelExchange:
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

    def taken_exchanges(self) -> Sequence[ModelExchange]:
        """The exchanges that ended since this was last asked, oldest first."""
        ...
