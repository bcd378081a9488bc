"""The service on a socket: uvicorn's door."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import uvicorn

from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.server.app import App
from notebook_bcc.server.connection import Connection

_BACKLOG = 512


async def serve(app: App, *, ready: Callable[[str], None] | None = None, grace: float = 10.0) -> None:
    """Answer until SIGINT or SIGTERM, or until this task is cancelled; then let answers end for `grace` seconds.

    Listens on `app.settings.host` and `port`; port 0 takes a free one. `ready` is told the address, such as
    `http://127.0.0.1:28600`, once connections are taken. Raises SettingsInvalid when the address cannot be had.
    """
    listener = _listen(app.settings.host, app.settings.port)
    config = uvicorn.Config(
        app,
        http=Connection,  # type: ignore[arg-type]  # any protocol of asyncio will do, a buffered one too
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="on",
        # Nobody in front of us is believed about who the client is.
        proxy_headers=False,
        timeout_graceful_shutdown=max(1, round(grace)),
    )
    server = _Server(config, ready=lambda: ready(_address(listener)) if ready is not None else None)
    with listener:
        serving = asyncio.create_task(server.serve([listener]))
        try:
            await asyncio.shield(serving)
        except asyncio.CancelledError:
            server.should_exit = True
            await serving
            raise


class _Server(uvicorn.Server):
    """Says when it is ready."""

    def __init__(self, config: uvicorn.Config, *, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


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
