"""The body of a request: read within its limits, decoded, and not believed yet."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any
from urllib.parse import parse_qsl

from pydantic_core import from_json
from starlette.requests import Request

from notebook_bcc.server.problems import Problem
from notebook_bcc.server.settings import DEEPEST_JSON, ServerSettings

# The HTTP parser in front of us refuses an address of twice this length, and not in our words.
_LONGEST_QUERY = 32 * 1024
_MOST_FIELDS = 50


async def read_body(request: Request, settings: ServerSettings) -> bytes:
    """The whole body. Raises Problem where it is said to be no JSON, is too large or too slow.

    Raises ClientDisconnect when the client has gone before it was whole.
    """
    content = request.headers.get("content-type")
    if content is not None and not _is_json(content):
        raise Problem(
            415,
            "not_json",
            "The body must be JSON: send `Content-Type: application/json` (curl: -H 'Content-Type: application/json').",
        )
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > settings.body_bytes:
        raise _too_large(settings)
    try:
        async with asyncio.timeout(settings.body_seconds):
            return await _read(request, settings)
    except TimeoutError as error:
        message = f"The body did not arrive within {settings.body_seconds:g} seconds."
        raise Problem(408, "body_too_slow", message, headers={"connection": "close"}) from error


def decode(body: bytes, settings: ServerSettings) -> Any:  # Any: whatever a peer sent
    """JSON of bytes. Raises Problem where it is none, or deeper or with longer texts than is allowed."""
    try:
        data = from_json(body)
    except ValueError as error:
        if "recursion limit" in str(error):
            raise _too_deep(settings) from error
        raise Problem(400, "bad_json", f"The body is not JSON: {error}.") from error
    # Looking at everything costs as much as decoding it: only where a limit could be broken at all.
    if settings.json_depth < DEEPEST_JSON and _deeper(data, settings.json_depth):
        raise _too_deep(settings)
    if len(body) > settings.string_bytes and _longest_text(data) > settings.string_bytes:
        raise Problem(413, "text_too_long", f"A text in the body is longer than {settings.string_bytes} bytes.")
    return data


def query_fields(request: Request) -> dict[str, str]:
    """The fields of the query string; of a repeated one the last. Raises Problem where there are too many."""
    query: bytes = request.scope["query_string"]
    if len(query) > _LONGEST_QUERY:
        raise Problem(414, "query_too_long", f"The query is longer than {_LONGEST_QUERY} bytes: use POST.")
    try:
        return dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError as error:
        raise Problem(422, "invalid_message", f"The query has more than {_MOST_FIELDS} fields.") from error


async def _read(request: Request, settings: ServerSettings) -> bytes:
    body = bytearray()
    async with aclosing(request.stream()) as chunks:
        async for chunk in chunks:
            body += chunk
            if len(body) > settings.body_bytes:
                raise _too_large(settings)
    return bytes(body)


def _is_json(content: str) -> bool:
    kind = content.partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def _too_large(settings: ServerSettings) -> Problem:
    # The connection stays open: closing it on a client that still sends would lose this very answer.
    return Problem(413, "too_large", f"The body is larger than {settings.body_bytes} bytes.")


def _too_deep(settings: ServerSettings) -> Problem:
    return Problem(400, "too_deep", f"The body is nested deeper than {settings.json_depth} levels.")


def _deeper(data: Any, limit: int) -> bool:  # Any: decoded JSON
    """Whether there are more levels of objects and lists than that. Level by level, so that depth costs no stack."""
    level = [data] if isinstance(data, dict | list) else []
    for _ in range(limit):
        level = [child for each in level for child in _children(each) if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def _longest_text(data: Any) -> int:  # Any: decoded JSON
    """The length in bytes of the longest text or name, as far as it matters."""
    longest, level = 0, [data]
    while level:
        texts = [each for each in level if isinstance(each, str)]
        texts += [name for each in level if isinstance(each, dict) for name in each]
        longest = max([longest, *(len(text.encode(errors="replace")) for text in texts)])
        level = [child for each in level for child in _children(each)]
    return longest


def _children(data: Any) -> Any:  # Any: decoded JSON
    if isinstance(data, dict):
        return data.values()
    return data if isinstance(data, list) else ()
