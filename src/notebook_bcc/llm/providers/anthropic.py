"""Models of Anthropic, and endpoints that answer as they do. Only this knows `anthropic`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, ClassVar

from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.llm.chat import Schema
from notebook_bcc.llm.providers import failures
from notebook_bcc.llm.providers.base import Body, Ending, Provider, message_content
from notebook_bcc.llm.providers.names import Access
from notebook_bcc.planners.model_exchange import ChatImage, ChatMessage, Finish

_CUT = ("max_tokens", "model_context_window_exceeded")


class AnthropicModel(Provider):
    """One model by its name."""

    schema_option = "output_config"
    optional: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "output_config": ("output_config", "output_format", "json_schema", "schema", "structured"),
        # The library has no word for the temperature any more; endpoints that know it take it all the same.
        "extra_body": ("temperature",),
    }

    def __init__(self, access: Access) -> None:
        """Raises SettingsInvalid when the library is not installed."""
        try:
            import anthropic
        except ImportError as error:
            raise SettingsInvalid(f"model {access.model} needs: pip install 'notebook-bcc[llm]'") from error
        client = anthropic.AsyncAnthropic(
            api_key=access.key or "none",
            base_url=access.model.address,
            max_retries=0,
            http_client=failures.http_client(access),
        )
        super().__init__(access, anthropic, client, fault=anthropic.AnthropicError)

    def _body(
        self, messages: Sequence[ChatMessage], *, schema: Schema | None, max_tokens: int, temperature: float | None
    ) -> Body:
        body: Body = {
            "model": self._access.model.name,
            "messages": [{"role": one.role, "content": _content(one)} for one in messages if one.role != "system"],
            "max_tokens": max_tokens,
            "stream": True,
        }
        system = "\n\n".join(one.content for one in messages if one.role == "system")
        if system:
            body["system"] = system
        if temperature is not None:
            body["extra_body"] = {"temperature": temperature}
        if schema is not None:
            shape = {"type": "json_schema", "schema": failures.plain_schema(schema)}
            body["output_config"] = {"format": shape}
        return body

    async def _create(self, body: Body) -> Any:  # Any: the library's stream
        return await self._client.messages.create(**body)

    async def _read(self, stream: Any) -> AsyncGenerator[str | Ending, None]:
        tokens: tuple[int | None, int | None] = (None, None)
        finish: str | None = None
        whole = False
        async for event in stream:
            match event.type:
                case "message_start":
                    tokens = event.message.usage.input_tokens, event.message.usage.output_tokens
                case "content_block_delta" if event.delta.type == "text_delta":
                    yield event.delta.text
                case "message_delta":
                    finish = event.delta.stop_reason or finish
                    tokens = tokens[0] or event.usage.input_tokens, event.usage.output_tokens
                case "message_stop":
                    whole = True
        ended: Finish | None = None if finish is None or not whole else "length" if finish in _CUT else "stop"
        yield Ending(tokens=tokens, finish=ended, declined="the model refused" if finish == "refusal" else "")


def _content(message: ChatMessage) -> object:
    return message_content(message, lambda image: {"type": "image", "source": _source(image)})


def _source(image: ChatImage) -> dict[str, str]:
    return {"type": "base64", "media_type": image.media_type, "data": image.base64}
