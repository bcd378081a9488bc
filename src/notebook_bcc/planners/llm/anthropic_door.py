"""Models of Anthropic, and endpoints that answer as they do. Only this knows `anthropic`."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any

import httpx2

from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.planners.llm import door_failures
from notebook_bcc.planners.llm.chat import ChatMessage, Finish, Schema, Usage, within
from notebook_bcc.planners.llm.naming import Access

_OPTIONAL = {
    "output_config": ("output_config", "output_format", "json_schema", "schema", "structured"),
    # The library has no word for the temperature any more; endpoints that know it take it all the same.
    "extra_body": ("temperature",),
}


class AnthropicModel:
    """One model by its name. An option that the endpoint refuses is left out, then and from there on."""

    def __init__(self, access: Access) -> None:
        """Raises SettingsInvalid when the library is not installed."""
        try:
            import anthropic
        except ImportError as error:
            raise SettingsInvalid(f"model {access.model} needs: pip install 'notebook-bcc[llm]'") from error
        self._library = anthropic
        self._access = access
        self._refused: set[str] = set()
        self._client = anthropic.AsyncAnthropic(
            api_key=access.key or "none",
            base_url=access.model.address,
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
        except (self._library.APIConnectionError, httpx2.HTTPError) as error:
            raise door_failures.lost(self._access, error) from error
        except self._library.APIStatusError as error:
            headers, said = error.response.headers, f"{error.message}"
            if error.response.status_code == 200:
                raise door_failures.failed_in_stream(self._access, said) from error
            raise door_failures.refused_status(self._access, error.status_code, headers, said) from error
        except self._library.APIError as error:
            said = f"{error.message} {error.body or ''}"
            raise door_failures.failed_in_stream(self._access, said) from error
        # A wrong type or a missing attribute: the library does not check what endpoints send.
        except (self._library.AnthropicError, ValueError, AttributeError, TypeError) as error:
            raise door_failures.unreadable(self._access, error) from error

    async def close(self) -> None:
        await self._client.close()

    def _body(
        self, messages: Sequence[ChatMessage], *, schema: Schema | None, max_tokens: int, temperature: float | None
    ) -> dict[str, Any]:  # Any: the library's parameters
        body: dict[str, Any] = {
            "model": self._access.model.name,
            "messages": [{"role": one.role, "content": one.content} for one in messages if one.role != "system"],
            "max_tokens": max_tokens,
            "stream": True,
        }
        system = "\n\n".join(one.content for one in messages if one.role == "system")
        if system:
            body["system"] = system
        if temperature is not None:
            body["extra_body"] = {"temperature": temperature}
        if schema is not None:
            shape = {"type": "json_schema", "schema": door_failures.plain_schema(schema)}
            body["output_config"] = {"format": shape}
        return {name: value for name, value in body.items() if name not in self._refused}

    async def _opened(self, body: dict[str, Any]) -> Any:  # Any: the library's stream
        """The stream; asked for again without the options that were refused. Each is refused once at most."""
        while True:
            try:
                return await self._client.messages.create(**body)
            except self._library.APIStatusError as error:
                sent = {option: words for option, words in _OPTIONAL.items() if option in body}
                unknown = door_failures.unwanted_options(error.status_code, str(error.message), sent)
                if not unknown:
                    raise
                self._refused |= set(unknown)
                body = {name: value for name, value in body.items() if name not in unknown}

    async def _answer(self, body: dict[str, Any]) -> AsyncGenerator[str | Usage, None]:
        stream = await self._opened(body)
        received = 0
        tokens: tuple[int | None, int | None] = (None, None)
        finish: str | None = None
        ended = False
        try:
            async for event in stream:
                match event.type:
                    case "message_start":
                        tokens = event.message.usage.input_tokens, event.message.usage.output_tokens
                    case "content_block_delta" if event.delta.type == "text_delta":
                        received += len(event.delta.text)
                        yield event.delta.text
                    case "message_delta":
                        finish = event.delta.stop_reason or finish
                        tokens = tokens[0] or event.usage.input_tokens, event.usage.output_tokens
                    case "message_stop":
                        ended = True
        finally:
            await stream.close()
        if finish == "refusal":
            raise door_failures.declined(self._access, "the model refused")
        if not ended or finish is None:
            raise door_failures.ended_early(self._access, received)
        cut: Finish = "length" if finish in ("max_tokens", "model_context_window_exceeded") else "stop"
        schema = "output_config" in body and "output_config" not in self._refused
        yield door_failures.usage_of(self._access, received=received, tokens=tokens, finish=cut, schema=schema)
