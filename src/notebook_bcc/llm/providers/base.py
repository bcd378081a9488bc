"""What all providers have in common: ask once, leave out what an endpoint does not know, turn every fault into ours.

The libraries are made by the same generator: their errors have the same names and carry the same facts.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar

import httpx2

from notebook_bcc.llm.chat import Schema, within
from notebook_bcc.llm.providers import failures
from notebook_bcc.llm.providers.names import Access
from notebook_bcc.planners.model_exchange import ChatImage, ChatMessage, Finish, Usage

Body = dict[str, Any]  # Any: the library's parameters


@dataclass(frozen=True, slots=True)
class Ending:
    """What an endpoint says last: nothing about its end when the stream was cut, or why it declined."""

    tokens: tuple[int | None, int | None] = (None, None)
    finish: Finish | None = None
    declined: str = ""


class Provider(ABC):
    """One model by its name. An option that the endpoint refuses is left out, then and from there on."""

    schema_option: ClassVar[str]
    optional: ClassVar[Mapping[str, tuple[str, ...]]]
    """Options that some endpoints do not know, and the words by which their complaint is recognised."""

    def __init__(
        self,
        access: Access,
        library: ModuleType,
        client: Any,  # Any: the library's client
        *,
        fault: type[Exception],
    ) -> None:
        """`fault` is the root of what the library raises."""
        self._access = access
        self._fault = fault
        self._library = library
        self._client = client
        self._refused: set[str] = set()

    @property
    def name(self) -> str:
        return str(self._access.model)

    async def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: Schema | None = None,
        max_tokens: int,
        temperature: float | None = None,
        timeout: float,
    ) -> AsyncIterator[str | Usage]:
        body = self._body(messages, schema=schema, max_tokens=max_tokens, temperature=temperature)
        known = {name: value for name, value in body.items() if name not in self._refused}
        try:
            async with contextlib.aclosing(self._answer(known)) as answer:
                async for piece in within(answer, seconds=timeout):
                    yield piece
        except TimeoutError as error:
            raise failures.too_slow(self._access, timeout) from error
        except (self._library.APIConnectionError, httpx2.HTTPError) as error:
            raise failures.lost(self._access, error) from error
        except self._library.APIStatusError as error:
            if error.status_code == httpx2.codes.OK:
                raise failures.failed_in_stream(self._access, str(error.message)) from error
            headers, said = error.response.headers, str(error.message)
            raise failures.refused_status(self._access, error.status_code, headers, said) from error
        except self._library.APIError as error:
            raise failures.failed_in_stream(self._access, _all_said(error)) from error
        # A wrong type or a missing attribute: the libraries do not check what endpoints send.
        except (self._fault, ValueError, AttributeError, TypeError) as error:
            raise failures.unreadable(self._access, error) from error

    async def close(self) -> None:
        await self._client.close()

    @abstractmethod
    def _body(
        self, messages: Sequence[ChatMessage], *, schema: Schema | None, max_tokens: int, temperature: float | None
    ) -> Body:
        """What the library is asked with, all options in it."""

    @abstractmethod
    async def _create(self, body: Body) -> Any:  # Any: the library's stream
        """The library's stream of an answer."""

    @abstractmethod
    def _read(self, stream: Any) -> AsyncGenerator[str | Ending, None]:
        """The texts of a stream, then its ending."""

    async def _opened(self, body: Body) -> Any:  # Any: the library's stream
        """The stream; asked for again without the options that were refused. Each is refused once at most."""
        while True:
            try:
                return await self._create(body)
            except self._library.APIStatusError as error:
                sent = {option: words for option, words in self.optional.items() if option in body}
                unknown = failures.unwanted_options(error.status_code, _all_said(error), sent)
                if not unknown:
                    raise
                self._refused |= set(unknown)
                body = {name: value for name, value in body.items() if name not in unknown}

    async def _answer(self, body: Body) -> AsyncGenerator[str | Usage, None]:
        stream = await self._opened(body)
        received, ending = 0, Ending()
        try:
            async with contextlib.aclosing(self._read(stream)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Ending):
                        ending = piece
                    elif not isinstance(piece, str):
                        raise TypeError(f"a piece of its text is of type {type(piece).__name__}")
                    elif piece:
                        received += len(piece)
                        yield piece
        finally:
            await stream.close()
        if ending.declined:
            raise failures.declined(self._access, ending.declined)
        if ending.finish is None:
            raise failures.ended_early(self._access, received)
        schema = self.schema_option in body and self.schema_option not in self._refused
        yield failures.usage_of(
            self._access, received=received, tokens=ending.tokens, finish=ending.finish, schema=schema
        )


def message_content(message: ChatMessage, image: Callable[[ChatImage], Body]) -> str | list[Body]:
    """The content of a message: its text, or its pictures with their captions and then the text."""
    if not message.images:
        return message.content
    parts: list[Body] = []
    for one in message.images:
        parts += [{"type": "text", "text": one.caption}] if one.caption else []
        parts.append(image(one))
    return [*parts, {"type": "text", "text": message.content}]


def _all_said(error: Any) -> str:  # Any: the library's error
    return f"{error.message} {error.body or ''}"
