"""The body of a request: read within its limits, decoded, and not believed yet."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from pydantic_core import from_json

from notebook_bcc.server.problems import Problem
from notebook_bcc.server.rounds import Rounds
from notebook_bcc.server.settings import DEEPEST_JSON, ServerSettings
from notebook_bcc.server.wire import JSON, WHOLE_BODY, Receive, Scope, header

_CLOSE = ((b"connection", b"close"),)
# The HTTP parser in front of us refuses an address of twice this length, and not in our words.
_LONGEST_QUERY = 32 * 1024
_MOST_FIELDS = 50


@dataclass(frozen=True, slots=True)
class Decoded:
    """JSON from outside."""

    data: Any  # Any: whatever a peer sent


def body_here(scope: Scope, settings: ServerSettings) -> bytes | Problem | None:
    """The body, said to be JSON, or what is wrong with the request; None: it has to be waited for."""
    content = header(scope, b"content-type")
    if content is not None and content != JSON and not _is_json(content):
        return Problem(
            415,
            "not_json",
            "The body must be JSON: send `Content-Type: application/json` (curl: -H 'Content-Type: application/json').",
        )
    extensions = scope.get("extensions")
    body: bytes | None = extensions.get(WHOLE_BODY) if extensions else None
    if body is not None:
        return body if len(body) <= settings.body_bytes else _too_large(settings)
    length = header(scope, b"content-length")
    if length is not None and length.isdigit() and int(length) > settings.body_bytes:
        return _too_large(settings)
    return None


async def read_body(receive: Receive, settings: ServerSettings, *, rounds: Rounds) -> bytes | Problem | None:
    """The body as it arrives; what is wrong with it; or None: the client has gone before it was whole."""
    try:
        with _Deadline(settings.body_seconds, rounds):
            body = await _read(receive, settings.body_bytes)
    except TimeoutError:
        seconds = settings.body_seconds
        return Problem(408, "body_too_slow", f"The body did not arrive within {seconds:g} seconds.", headers=_CLOSE)
    return body if body is None or len(body) <= settings.body_bytes else _too_large(settings)


def decode(body: bytes, settings: ServerSettings) -> Decoded | Problem:
    """JSON of bytes, no deeper and with no longer texts than is allowed."""
    try:
        data = from_json(body)
    except ValueError as error:
        if "recursion limit" in str(error):
            return _too_deep(settings)
        return Problem(400, "bad_json", f"The body is not JSON: {error}.")
    # Looking at everything costs as much as decoding it: only where a limit could be broken at all.
    if settings.json_depth < DEEPEST_JSON and _deeper(data, settings.json_depth):
        return _too_deep(settings)
    if len(body) > settings.string_bytes and _longest_text(data) > settings.string_bytes:
        return Problem(413, "text_too_long", f"A text in the body is longer than {settings.string_bytes} bytes.")
    return Decoded(data)


def query_fields(scope: Scope) -> dict[str, str] | Problem:
    """The fields of the query string; of a repeated one the last."""
    query: bytes = scope.get("query_string", b"")
    if len(query) > _LONGEST_QUERY:
        return Problem(414, "query_too_long", f"The query is longer than {_LONGEST_QUERY} bytes: use POST.")
    try:
        return dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        return Problem(422, "invalid_message", f"The query has more than {_MOST_FIELDS} fields.")


class _Deadline:
    """What `asyncio.timeout` does, without a timer of its own."""

    def __init__(self, seconds: float, rounds: Rounds) -> None:
        self._until = asyncio.get_running_loop().time() + seconds
        self._rounds = rounds
        self._task = asyncio.current_task()
        self._passed = False

    def __enter__(self) -> None:
        self._rounds.add(self._look)

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._rounds.remove(self._look)
        # Cancelled by us and by nobody else: then it is a matter of time.
        if self._passed and self._task is not None and self._task.uncancel() == 0 and kind is asyncio.CancelledError:
            raise TimeoutError

    def _look(self, now: float) -> None:
        if now > self._until and self._task is not None and not self._passed:
            self._passed = True
            self._task.cancel()


async def _read(receive: Receive, limit: int) -> bytes | None:
    """The whole body, or just more than the limit of it; None when the client has gone."""
    message = await receive()
    if message["type"] != "http.request":
        return None
    body: bytes = message.get("body", b"")
    if not message.get("more_body", False):
        return body
    collected = bytearray(body)
    while len(collected) <= limit:
        message = await receive()
        if message["type"] != "http.request":
            return None
        collected += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return bytes(collected)


def _is_json(content: bytes) -> bool:
    kind = content.partition(b";")[0].strip().lower()
    return kind == b"application/json" or (kind.startswith(b"application/") and kind.endswith(b"+json"))


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
