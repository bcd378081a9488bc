"""The service on a socket: uvicorn's adapter."""

from __future__ import annotations

import asyncio
import math
import socket
from collections.abc import Callable
from typing import Protocol

import uvicorn
from starlette.types import Receive, Scope, Send

from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.server.connections import bounded_connections
from notebook_bcc.server.settings import ServerSettings

_BACKLOG = 512
# For the last words to clients, before uvicorn cancels what is left.
_LAST_SECONDS = 2


class Service(Protocol):
    """An ASGI application that knows where it listens, and ends its answers when it is closed."""

    @property
    def settings(self) -> ServerSettings: ...

    async def close(self) -> None:
        """Stop every answer that is being given."""
        ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...


async def serve(app: Service, *, ready: Callable[[str], None] | None = None, grace: float = 10.0) -> None:
    """Answer until SIGINT or SIGTERM, or until this task is cancelled; then let answers end for `grace` seconds.

    Listens on `app.settings.host` and `port`; port 0 takes a free one. `ready` is told the address, such as
    `http://127.0.0.1:28600`, once connections are taken. Raises SettingsInvalid when the address cannot be had.
    """
    listener = _listen(app.settings.host, app.settings.port)
    config = uvicorn.Config(
        app,
        http=bounded_connections(most=app.settings.connections, head_seconds=app.settings.head_seconds),
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="on",
        # Nobody in front of us is believed about who the client is.
        proxy_headers=False,
        timeout_graceful_shutdown=math.ceil(grace) + _LAST_SECONDS,
    )
    server = _Server(config, app, grace=grace, ready=lambda: ready(_address(listener)) if ready is not None else None)
    with listener:
        serving = asyncio.create_task(server.serve([listener]))
        try:
            await asyncio.shield(serving)
        except asyncio.CancelledError:
            server.should_exit = True
            await serving
            raise


class _Server(uvicorn.Server):
    """Says when it is ready, and stops the answers that outlast the grace."""

    def __init__(self, config: uvicorn.Config, app: Service, *, grace: float, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._app = app
        self._grace = grace
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Clients are told that there is no answer; uvicorn would cancel their requests and log each as a fault."""
        stopping = asyncio.create_task(self._stop_answers())
        try:
            await super().shutdown(sockets)
        finally:
            stopping.cancel()

    async def _stop_answers(self) -> None:
        await asyncio.sleep(self._grace)
        await self._app.close()


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket, made here so that a port in use is an error of ours and not the end of the process."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        # Connections inherit it. asyncio sets it only on sockets that name their protocol, and without it the last
        # piece of an answer waits 40 ms for an acknowledgement that the client delays.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except (OSError, UnicodeError) as error:
        raise SettingsInvalid(f"the server cannot listen on {host} port {port}: {error}") from error


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
