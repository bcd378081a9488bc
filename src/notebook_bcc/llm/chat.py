"""What we ask of a language model, whoever makes it: messages in, text as it is written, what it took."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from notebook_bcc.planners.model_exchange import ChatMessage, Usage

Schema = Mapping[str, Any]  # Any: a JSON schema

_T = TypeVar("_T")


class ChatModel(Protocol):
    """A language model behind an endpoint. It tries once: whether to ask again is decided above."""

    @property
    def name(self) -> str:
        """What the journal and messages call it; holds no key."""
        ...

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: Schema | None = None,
        max_tokens: int,
        temperature: float | None = None,
        timeout: float,
    ) -> AsyncIterator[str | Usage]:
        """Pieces of text that end anywhere, then one Usage. `timeout` is the seconds that are waited for the model in
        all; the time the caller takes with what came is not counted. Closing the iterator ends the answer.

        Raises PlannerUnreachable (also when the connection breaks in the middle), PlannerRefused for a refusal or a
        content filter, PlannerAnswerInvalid for an empty answer or one that trying again will not mend.
        """
        ...

    async def close(self) -> None:
        """Release everything. May be called twice."""
        ...


async def within(source: AsyncIterator[_T], *, seconds: float) -> AsyncIterator[_T]:
    """The items of a source. Raises TimeoutError when they were waited for longer than that in all."""
    loop = asyncio.get_running_loop()
    left = seconds
    while True:
        begin = loop.time()
        async with asyncio.timeout(max(0.0, left)):
            try:
                item = await anext(source)
            except StopAsyncIteration:
                return
        left -= loop.time() - begin
        yield item


async def whole(answer: AsyncIterator[str | Usage]) -> tuple[str, Usage]:
    """A whole answer at once. Raises what the stream raises."""
    pieces: list[str] = []
    usage = Usage(None, None)
    async for piece in answer:
        if isinstance(piece, Usage):
            usage = piece
        else:
            pieces.append(piece)
    return "".join(pieces), usage
