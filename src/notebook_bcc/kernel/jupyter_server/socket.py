"""A websocket that is kept open: opened again when it breaks, until the server is gone for too long."""

from __future__ import annotations

import asyncio
import logging
import random
import socket
import time
from collections.abc import Callable
from contextlib import suppress

import httpx2
from httpx2.websockets import AsyncWebSocketSession, HTTPXWSException, WebSocketUpgradeError
from wsproto.events import BytesMessage, TextMessage

from notebook_bcc.kernel.jupyter_server.rest import describe_status
from notebook_bcc.kernel.jupyter_server.wire import V1

logger = logging.getLogger(__name__)

# A message is as large as the cell's largest output; what is too large for a notebook is cut later, visibly.
_LARGEST_MESSAGE = 1 << 31
_READ_AHEAD = 1_000
_PING_SECONDS = 20.0
_FIRST_WAIT, _LONGEST_WAIT = 0.05, 2.0
# Linux only. Without it the kernel delays acknowledgements by 40 ms, and the server, which writes small messages one
# by one, waits for each of them (Nagle's algorithm): 48 ms a cell instead of 5.
_QUICKACK: int | None = getattr(socket, "TCP_QUICKACK", None)


class KeptSocket:
    """Owns the connection, in a task of its own. Callbacks run in the loop's thread.

    `on_open` gets whether the server speaks v1; `on_data` each message; `on_gone` why there will be no more of them.
    """

    def __init__(
        self,
        client: httpx2.AsyncClient,
        path: str,
        *,
        session_id: str,
        patience: float,
        on_open: Callable[[bool], None],
        on_data: Callable[[bytes | str], None],
        on_gone: Callable[[str], None],
    ) -> None:
        self._client = client
        self._path = path
        self._session_id = session_id
        self._patience = patience
        self._on_open, self._on_data, self._on_gone = on_open, on_data, on_gone
        self._outbox: asyncio.Queue[bytes | str] | None = None
        self._was_open = False
        self._task = asyncio.create_task(self._keep())
        self._task.add_done_callback(self._on_end)

    @property
    def is_open(self) -> bool:
        return self._outbox is not None

    def send(self, data: bytes | str) -> bool:
        """Put a message on its way. False when there is no connection: it is dropped."""
        if self._outbox is None:
            return False
        self._outbox.put_nowait(data)
        return True

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])

    def _on_end(self, task: asyncio.Task[None]) -> None:
        """A fault in here must not leave anybody waiting."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self._on_gone(repr(error))

    async def _keep(self) -> None:
        last, wait = time.monotonic(), _FIRST_WAIT
        while True:
            reason, final = await self._connect_once()
            if self._was_open:
                last, wait, self._was_open = time.monotonic(), _FIRST_WAIT, False
                logger.warning("the connection to the Jupyter server broke: %s", reason)
            gone = time.monotonic() - last
            if final or gone > self._patience:
                self._on_gone(reason if final else f"{reason}; tried for {gone:.0f} s")
                return
            # With jitter: a server that comes up again must not get all its clients in one moment.
            await asyncio.sleep(min(wait, self._patience) * (0.5 + random.random() / 2))
            wait = min(wait * 2, _LONGEST_WAIT)

    async def _connect_once(self) -> tuple[str, bool]:
        """Hold one connection as long as it lasts. Returns why it ended, and whether trying again is of no use."""
        reason, final = "", False
        try:
            async with self._client.websocket(
                self._client.base_url.join(self._path),
                params={"session_id": self._session_id},
                subprotocols=[V1],
                max_message_size_bytes=_LARGEST_MESSAGE,
                queue_size=_READ_AHEAD,
                keepalive_ping_interval_seconds=_PING_SECONDS,
                keepalive_ping_timeout_seconds=_PING_SECONDS,
            ) as connection:
                reason = await self._converse(connection)
        except* WebSocketUpgradeError as errors:
            response = _first(errors).response
            reason, final = (
                f"it {describe_status(response.status_code, response.reason_phrase)}",
                response.status_code < 500,
            )
            if response.status_code == 404:
                reason = "it no longer has this kernel"
        except* (HTTPXWSException, httpx2.HTTPError, OSError) as errors:
            first = errors.exceptions[0]
            reason = str(first) or type(first).__name__
        finally:
            self._outbox = None
        return reason or "the connection was closed", final

    async def _converse(self, connection: AsyncWebSocketSession) -> str:
        self._was_open = True
        raw = connection.stream.get_extra_info("socket")
        self._outbox = asyncio.Queue()
        writer = asyncio.create_task(self._write(connection, self._outbox))
        _acknowledge_at_once(raw)
        self._on_open(connection.subprotocol == V1)
        try:
            while True:
                event = await connection.receive()
                _acknowledge_at_once(raw)
                if isinstance(event, BytesMessage):
                    self._on_data(bytes(event.data))
                elif isinstance(event, TextMessage):
                    self._on_data(event.data)
        except HTTPXWSException as error:
            return str(error) or type(error).__name__
        finally:
            writer.cancel()
            await asyncio.wait([writer])

    async def _write(self, connection: AsyncWebSocketSession, outbox: asyncio.Queue[bytes | str]) -> None:
        # An error ends the writer only: the reader notices the same, and what was not sent is sent again.
        with suppress(HTTPXWSException, httpx2.HTTPError, OSError):
            while True:
                data = await outbox.get()
                if isinstance(data, bytes):
                    await connection.send_bytes(data)
                else:
                    await connection.send_text(data)


def _acknowledge_at_once(raw: socket.socket | None) -> None:
    """Again after every message: the system falls back to delaying by itself."""
    if raw is not None and _QUICKACK is not None:
        # Not every socket is one of TCP, and a connection may just have ended.
        with suppress(OSError):
            raw.setsockopt(socket.IPPROTO_TCP, _QUICKACK, 1)


def _first(errors: BaseExceptionGroup[WebSocketUpgradeError]) -> WebSocketUpgradeError:
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, WebSocketUpgradeError)
    return error
