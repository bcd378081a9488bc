"""A model in this process that says what the test wrote down, in small pieces, and remembers what it was asked."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from notebook_bcc.errors import PlannerFailed
from notebook_bcc.llm.chat import Schema
from notebook_bcc.planners.model_exchange import ChatMessage, Finish, Usage


@dataclass(frozen=True)
class Broken:
    """An answer that breaks off after its text."""

    text: str
    error: PlannerFailed


@dataclass
class FakeChat:
    """Gives its answers in turn, the last one again and again."""

    answers: Sequence[str | PlannerFailed | Broken]
    name: str = "fake:model"
    finish: Finish = "stop"
    piece: int = 7
    asked: list[list[ChatMessage]] = field(default_factory=list)
    allowed: list[int] = field(default_factory=list)
    closed: int = 0

    async def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: Schema | None = None,
        max_tokens: int,
        temperature: float | None = None,
        timeout: float,
    ) -> AsyncIterator[str | Usage]:
        answer = self.answers[min(len(self.asked), len(self.answers) - 1)]
        self.asked.append(list(messages))
        self.allowed.append(max_tokens)
        if isinstance(answer, PlannerFailed):
            raise answer
        text = answer.text if isinstance(answer, Broken) else answer
        for at in range(0, len(text), self.piece):
            yield text[at : at + self.piece]
        if isinstance(answer, Broken):
            raise answer.error
        yield Usage(100, 20, finish=self.finish, schema=True)

    async def close(self) -> None:
        self.closed += 1

    @property
    def told(self) -> str:
        """Everything the model was ever told."""
        return "\n".join(message.content for messages in self.asked for message in messages)


def written(*sources: str, text: str = "") -> str:
    """An answer with a text and these cells."""
    pieces = [{"kind": "text", "content": text}] if text else []
    return json.dumps({"actions": [*pieces, *({"kind": "code", "content": source} for source in sources)]})


def judged(achieved: bool, focus: str = "") -> str:
    return json.dumps({"achieved": achieved, "reason": "because", "focus": focus})
