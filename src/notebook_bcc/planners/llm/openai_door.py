"""Models of OpenAI, and all that answer as they do: Ollama, vLLM, llama.cpp, gateways. Only this knows `openai`."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any

from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.planners.llm import door_failures
from notebook_bcc.planners.llm.chat import ChatMessage, Finish, Schema, Usage, within
from notebook_bcc.planners.llm.naming import Access

# Options that some endpoints do not know, and the words by which their complaint is recognised.
_OPTIONAL = {
    "response_format": ("response_format", "json_schema", "schema", "grammar", "structured"),
    "temperature": ("temperature",),
    "stream_options": ("stream_options", "include_usage"),
}


class OpenAiModel:
    """One model by its name. An option that the endpoint refuses is left out, then and from there on."""

    def __init__(self, access: Access) -> None:
        """Raises SettingsInvalid when the library is not installed."""
        try:
            import openai
        except ImportError as error:
            raise SettingsInvalid(f"model {access.model} needs: pip install 'notebook-bcc[llm]'") from error
        self._library = openai
        self._access = access
        self._refused: set[str] = set()
        # Any: the library's own mark for "not this one" is not in its type. An account's name is for its vendor only.
        without: Any = {"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}
        self._client = openai.AsyncOpenAI(
            # Given in any case: the library would look for the keys of others in the environment.
            api_key=access.key or "none",
            base_url=access.model.address,
            default_headers=without,
            max_retries=0,
            http_client=door_failures.http_client(access),
        )

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
        try:
            async with contextlib.aclosing(self._answer(body)) as answer:
                async for piece in within(answer, seconds=timeout):
                    yield piece
        except TimeoutError as error:
            raise door_failures.too_slow(self._access, timeout) from error
        except self._library.APIConnectionError as error:
            raise door_failures.lost(self._access, error) from error
        except self._library.APIStatusError as error:
            headers, said = error.response.headers, str(error.message)
            raise door_failures.refused_status(self._access, error.status_code, headers, said) from error
        except self._library.APIError as error:
            said = f"{error.message} {error.body or ''}"
            raise door_failures.failed_in_stream(self._access, said) from error
        # A wrong type or a missing attribute: the library does not check what endpoints send.
        except (self._library.OpenAIError, ValueError, AttributeError, TypeError) as error:
            raise door_failures.unreadable(self._access, error) from error

    async def close(self) -> None:
        await self._client.close()

    def _body(
        self, messages: Sequence[ChatMessage], *, schema: Schema | None, max_tokens: int, temperature: float | None
    ) -> dict[str, Any]:  # Any: the library's parameters
        hosted = self._access.model.vendor == "openai"
        body: dict[str, Any] = {
            "model": self._access.model.name,
            "messages": [{"role": one.role, "content": one.content} for one in messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_completion_tokens" if hosted else "max_tokens": max_tokens,
        }
        if temperature is not None:
            body["temperature"] = temperature
        if schema is not None:
            shape = door_failures.plain_schema(schema) if hosted else dict(schema)
            answer = {"name": "answer", "schema": shape, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": answer}
        return {name: value for name, value in body.items() if name not in self._refused}

    async def _opened(self, body: dict[str, Any]) -> Any:  # Any: the library's stream
        """The stream; asked for again without the options that were refused. Each is refused once at most."""
        while True:
            try:
                return await self._client.chat.completions.create(**body)
            except self._library.APIStatusError as error:
                sent = {option: words for option, words in _OPTIONAL.items() if option in body}
                said = f"{error.message} {error.body or ''}"
                unknown = door_failures.unwanted_options(error.status_code, said, sent)
                if not unknown:
                    raise
                self._refused |= set(unknown)
                body = {name: value for name, value in body.items() if name not in unknown}

    async def _answer(self, body: dict[str, Any]) -> AsyncGenerator[str | Usage, None]:
        stream = await self._opened(body)
        received, refusal = 0, ""
        tokens: tuple[int | None, int | None] = (None, None)
        finish: str | None = None
        try:
            async for chunk in stream:
                if chunk.usage is not None:
                    tokens = chunk.usage.prompt_tokens, chunk.usage.completion_tokens
                for choice in chunk.choices[:1]:
                    finish = choice.finish_reason or finish
                    refusal += getattr(choice.delta, "refusal", None) or ""
                    if choice.delta.content:
                        received += len(choice.delta.content)
                        yield choice.delta.content
        finally:
            await stream.close()
        if finish == "content_filter":
            raise door_failures.declined(self._access, "a content filter stopped the answer")
        if refusal:
            raise door_failures.declined(self._access, refusal)
        if finish is None:
            raise door_failures.ended_early(self._access, received)
        ended: Finish = "length" if finish == "length" else "stop"
        schema = "response_format" in body and "response_format" not in self._refused
        yield door_failures.usage_of(self._access, received=received, tokens=tokens, finish=ended, schema=schema)
