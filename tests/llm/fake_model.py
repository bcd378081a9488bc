"""A model's endpoint that answers what a test wrote down: raw bytes on loopback, in pieces that end anywhere."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from notebook_bcc.llm.providers.names import Access, ModelName

Api = Literal["openai", "anthropic"]
PATIENCE = 30.0


@dataclass(frozen=True)
class Heard:
    """A request as it came."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]  # Any: JSON


@dataclass(frozen=True)
class Reply:
    """What is sent back. `cut` breaks the connection after the pieces, `hang` leaves it open and silent."""

    pieces: Sequence[bytes] = ()
    status: str = "200 OK"
    headers: Mapping[str, str] = field(default_factory=dict)
    end: Literal["whole", "cut", "hang"] = "whole"
    content_type: str = "text/event-stream"


def refusal(status: str, message: str, **headers: str) -> Reply:
    body = json.dumps({"type": "error", "error": {"type": "some_error", "message": message}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply([body], status=status, headers=named, content_type="application/json")


def events(api: Api, texts: Iterable[str], *, finish: str | None = "stop", counted: bool = True) -> bytes:
    """A streamed answer as the vendor writes it. `finish` None: it ends without saying that it ended."""
    return b"".join(_openai(texts, finish, counted) if api == "openai" else _anthropic(texts, finish))


def in_pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def _openai(texts: Iterable[str], finish: str | None, counted: bool) -> Iterable[bytes]:
    def chunk(**fields: Any) -> bytes:  # Any: JSON
        body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [], **fields}
        return f"data: {json.dumps(body, ensure_ascii=False)}\n\n".encode()

    yield chunk(choices=[{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}])
    for text in texts:
        yield chunk(choices=[{"index": 0, "delta": {"content": text}, "finish_reason": None}])
    if finish is not None:
        yield chunk(choices=[{"index": 0, "delta": {}, "finish_reason": finish}])
        if counted:
            yield chunk(usage={"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18})
        yield b"data: [DONE]\n\n"


_ANTHROPIC_FINISH = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}


def _anthropic(texts: Iterable[str], finish: str | None) -> Iterable[bytes]:
    def event(kind: str, **fields: Any) -> bytes:  # Any: JSON
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields}, ensure_ascii=False)}\n\n".encode()

    message: dict[str, Any] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
    }
    usage = {"input_tokens": 11, "output_tokens": 1}
    yield event("message_start", message={**message, "stop_sequence": None, "usage": usage})
    yield event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    yield event("ping")
    for text in texts:
        yield event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})
    if finish is not None:
        yield event("content_block_stop", index=0)
        reason = {"stop_reason": _ANTHROPIC_FINISH[finish], "stop_sequence": None}
        yield event("message_delta", delta=reason, usage={"output_tokens": 7})
        yield event("message_stop")


class FakeModel:
    """Answers each request with the next reply, the last one again and again. `async with` starts and ends it."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.heard: list[Heard] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def address(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def access(self, api: Api, *, key: str = "sk-test-key-0123456789") -> Access:
        address = f"{self.address}/v1" if api == "openai" else self.address
        return Access(ModelName(vendor=api, name="m", address=address), key=key)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            async with asyncio.timeout(PATIENCE):
                while await self._exchange(reader, writer):
                    pass
        writer.close()
        self._tasks.discard(task)

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        request, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        self.heard.append(Heard(request.split()[1], headers, json.loads(body or b"{}")))
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        more = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
        kind = f"content-type: {reply.content_type}\r\ntransfer-encoding: chunked\r\n"
        writer.write(f"HTTP/1.1 {reply.status}\r\n{kind}{more}\r\n".encode())
        for piece in reply.pieces:
            writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            await writer.drain()
        if reply.end == "cut":
            # What was sent arrives first: the end of the connection is what is missing.
            writer.close()
            return False
        if reply.end == "hang":
            await reader.read()
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


@contextlib.contextmanager
def in_a_thread(fake: FakeModel) -> Iterator[FakeModel]:
    """The same for tests that have no event loop of their own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(fake.__aenter__(), loop).result(PATIENCE)
        try:
            yield fake
        finally:
            asyncio.run_coroutine_threadsafe(fake.__aexit__(), loop).result(PATIENCE)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE)
        loop.close()
