"""An ASGI application on a real socket of this machine, in the test's own event loop."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Any

import uvicorn

PATIENCE = 60.0


@contextlib.asynccontextmanager
async def hosted(app: Any) -> AsyncIterator[str]:  # Any: an ASGI application
    """The address under which the application answers."""
    # With the protocol named asyncio sends small packets at once; without it each answer may wait for 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    config = uvicorn.Config(
        app, log_config=None, access_log=False, ws="none", lifespan="off", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    with listener:
        serving = asyncio.create_task(server.serve([listener]))
        try:
            async with asyncio.timeout(PATIENCE):
                # The socket listens already: what connects before the server is up waits for it.
                yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await serving
