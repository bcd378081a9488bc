"""A page in front of a folder of runs, asked without a socket or on one, and scripts for its runs."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2

from notebook_bcc.server.settings import ServerSettings
from notebook_bcc.settings import Settings
from notebook_bcc.web.app import WebApp, WebSettings

OWNER = "the-token-of-the-owner"
WATCHER = "the-token-of-a-watcher"
ADDRESS = "http://127.0.0.1:28680"

CHANGES = """
goal: Look, then change the plan
stages:
  - id: look
    name: Structure
    steps:
      - id: read
        name: Read values
        behaviors:
          - focus: Read the table
            actions:
              - text: "# Leaks"
              - steps: [read]
                stage: look
              - code: print("after the change")
      - id: extra
        name: Leave out
        behaviors: [{actions: [{text: never}]}]
"""


def page_of(runs: Path, *, token: str | None = None, watch: str | None = None, **settings: Any) -> WebApp:
    """Any: fields of WebSettings."""
    server = ServerSettings(port=28680, token=token)
    return WebApp(Settings(runs=runs), WebSettings(server=server, watch_token=watch, **settings))


@contextlib.asynccontextmanager
async def asked(app: WebApp, **headers: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the page, without a socket."""
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url=ADDRESS, headers=headers, timeout=60) as client:
        try:
            yield client
        finally:
            await app.close()
