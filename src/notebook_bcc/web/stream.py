"""What happens, as server-sent events: one stream for all that a browser looks at, resumed by sequence numbers.

A client is sent what changed since its cursor, never what happened in between: one that is slow gets fewer and larger
pieces, and nothing is kept for it. One that takes nothing at all is cut, and comes back by its cursor.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import aclosing
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from notebook_bcc.errors import BccError
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.protocol.vocabulary import Language
from notebook_bcc.views.words import Words
from notebook_bcc.web.runs import RunList
from notebook_bcc.web.watch import RunWatches

LOG = logging.getLogger(__name__)

Json = dict[str, Any]  # Any: JSON
_Queue = asyncio.Queue[tuple[str, int, Json] | None]

_REST_SECONDS: Final = 0.2
_LIST_SECONDS: Final = 1.5
_ALIVE_SECONDS: Final = 15.0
_SLOWEST_SECONDS: Final = 30.0
_QUEUED: Final = 4


class EventStream(Response):
    """Server-sent events until the client goes, takes nothing for a while, or the page is closed."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[bytes, None], *, closing: asyncio.Event) -> None:
        # A proxy that collects a stream before it passes it on would undo the streaming.
        super().__init__(headers={"x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._events = events
        self._closing = closing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        sending = asyncio.create_task(self._send_all(send))
        ends = [asyncio.create_task(_disconnected(receive)), asyncio.create_task(self._until_closing())]
        try:
            await asyncio.wait({sending, *ends}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, *ends):
                task.cancel()
            await asyncio.gather(sending, *ends, return_exceptions=True)
        if self._closing.is_set():
            await send({"type": "http.response.body", "body": b""})

    async def _send_all(self, send: Send) -> None:
        async with aclosing(self._events):
            async for event in self._events:
                # The socket's buffer is full: whoever reads so slowly comes back when there is time.
                async with asyncio.timeout(_SLOWEST_SECONDS):
                    await send({"type": "http.response.body", "body": event, "more_body": True})

    async def _until_closing(self) -> None:
        await self._closing.wait()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def run_events(
    folders: Sequence[RunFolder | None],
    cursors: Sequence[int],
    *,
    watches: RunWatches,
    listed: RunList | None,
    language: Language,
) -> AsyncGenerator[bytes, None]:
    """The events of these runs (None: one that is gone) from these cursors on, and of the list where it is wanted."""
    queue: _Queue = asyncio.Queue(_QUEUED)
    seen = list(cursors)
    tasks = [
        asyncio.create_task(_ending(_follow(number, folder, cursors[number], watches, language, queue), queue))
        for number, folder in enumerate(folders)
        if folder is not None
    ]
    if listed is not None:
        tasks.append(asyncio.create_task(_ending(_list(listed, language, queue), queue)))
    try:
        yield b"retry: 1000\n\n"
        while True:
            try:
                async with asyncio.timeout(_ALIVE_SECONDS):
                    event = await queue.get()
            except TimeoutError:
                yield b": alive\n\n"
                continue
            if event is None:
                return
            kind, number, payload = event
            if kind == "run":
                seen[number] = payload["seq"]
            cursor = ",".join(map(str, seen))
            yield f"id: {cursor}\nevent: {kind}\ndata: {json.dumps(payload)}\n\n".encode()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _ending(work: Coroutine[Any, Any, None], queue: _Queue) -> None:
    """Do the work. Where it fails the stream ends, and the client comes back."""
    try:
        await work
    except BccError as error:
        LOG.warning("a stream of the page has ended: %s", error)
        await queue.put(None)


async def _follow(
    number: int,
    folder: RunFolder,
    cursor: int,
    watches: RunWatches,
    language: Language,
    queue: _Queue,
) -> None:
    """Send what of one run has changed since the cursor, whenever something has."""
    sent: Json = {}
    async with watches.watching(folder) as watch:
        # A cursor from another life of this run: what it stands for is not known.
        cursor = cursor if cursor <= watch.seq else 0
        while True:
            version = watch.version
            page = watch.page(language, after=cursor)
            cursor = page["seq"]
            news = {name: part for name, part in page.items() if name == "cells" or sent.get(name) != part}
            sent = page
            await queue.put(("run", number, {**news, "run": page["run"], "seq": cursor}))
            await asyncio.sleep(_REST_SECONDS)
            await watch.wait_beyond(version)


async def _list(listed: RunList, language: Language, queue: _Queue) -> None:
    sent = None
    while True:
        rows = await listed.rows(Words(language))
        if rows != sent:
            sent = rows
            await queue.put(("runs", 0, {"runs": rows}))
        await asyncio.sleep(_LIST_SECONDS)
