"""Models of OpenAI, and all that answer as they do: Ollama, vLLM, llama.cpp, gateways. Only this knows `openai`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, ClassVar

from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.llm.chat import Schema
from notebook_bcc.llm.providers import failures
from notebook_bcc.llm.providers.base import Body, Ending, Provider, message_content
from notebook_bcc.llm.providers.names import Access
from notebook_bcc.planners.model_exchange import ChatImage, ChatMessage, Finish


class OpenAiModel(Provider):
    """One model by its name."""

    schema_option = "response_format"
    optional: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "response_format": ("response_format", "json_schema", "schema", "grammar", "structured"),
        "temperature": ("temperature",),
        "stream_options": ("stream_options", "include_usage"),
    }

    def __init__(self, access: Access) -> None:
        """Raises SettingsInvalid when the library is not installed."""
        try:
            import openai
        except ImportError as error:
            raise SettingsInvalid(f"model {access.model} needs: pip install 'notebook-bcc[llm]'") from error
        # Any: the library's own mark for "not this one" is not in its type. An account's name is for its vendor only.
        without: Any = {"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}
        client = openai.AsyncOpenAI(
            # Given in any case: the library would look for the keys of others in the environment.
            api_key=access.key or "none",
            base_url=access.model.address,
            default_headers=without,
            max_retries=0,
            http_client=failures.http_client(access),
        )
        super().__init__(access, openai, client, fault=openai.OpenAIError)

    def _body(
        self, messages: Sequence[ChatMessage], *, schema: Schema | None, max_tokens: int, temperature: float | None
    ) -> Body:
        hosted = self._access.model.vendor == "openai"
        body: Body = {
            "model": self._access.model.name,
            "messages": [{"role": one.role, "content": _content(one)} for one in messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_completion_tokens" if hosted else "max_tokens": max_tokens,
        }
        if temperature is not None:
            body["temperature"] = temperature
        if schema is not None:
            shape = failures.plain_schema(schema) if hosted else dict(schema)
            answer = {"name": "answer", "schema": shape, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": answer}
        return body

    async def _create(self, body: Body) -> Any:  # Any: the library's stream
        # As plain JSON: the library would make three objects of its own from every few letters, which takes longer than
        # all of our reading. Addresses, accounts, events and failures are the library's as ever.
        return await self._client.post(
            "/chat/completions", body=body, cast_to=object, stream=True, stream_cls=self._library.AsyncStream[object]
        )

    async def _read(self, stream: Any) -> AsyncGenerator[str | Ending, None]:
        refusal = ""
        tokens: tuple[int | None, int | None] = (None, None)
        finish: str | None = None
        async for chunk in stream:
            if usage := chunk.get("usage"):
                tokens = usage.get("prompt_tokens"), usage.get("completion_tokens")
            for choice in (chunk.get("choices") or ())[:1]:
                finish = choice.get("finish_reason") or finish
                delta = choice.get("delta") or {}
                refusal += delta.get("refusal") or ""
                yield _text(delta.get("content"))
        if finish == "content_filter":
            refusal = "a content filter stopped the answer"
        ended: Finish | None = None if finish is None else "length" if finish == "length" else "stop"
        yield Ending(tokens=tokens, finish=ended, declined=refusal)


def _text(content: Any) -> Any:  # Any: whatever an endpoint sends, which is looked at where all texts arrive
    """The text of a piece; some endpoints send a list of parts, of which thoughts are not meant for us."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    return "" if content is None else content


def _content(message: ChatMessage) -> object:
    return message_content(message, lambda image: {"type": "image_url", "image_url": {"url": _data_url(image)}})


def _data_url(image: ChatImage) -> str:
    return f"data:{image.media_type};base64,{image.base64}"
