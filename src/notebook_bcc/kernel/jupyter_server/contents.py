"""Notebooks on a Jupyter Server, by its Contents API: looked at, read, written."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any
from urllib.parse import quote

import httpx2
import orjson

from notebook_bcc.errors import KernelFailed, NotebookFailed
from notebook_bcc.kernel.contents import StoredNotebook
from notebook_bcc.kernel.jupyter_server.rest import ServerRest


class ServerContents:
    """Implements `Contents`. Owns the HTTP client; the token travels in a header."""

    def __init__(
        self, base_url: str, *, token: str, timeout: float = 30.0, verify: ssl.SSLContext | bool = True
    ) -> None:
        self._rest = ServerRest(base_url, token=token, timeout=timeout, verify=verify)

    @property
    def where(self) -> str:
        return self._rest.where

    async def look(self, path: str) -> StoredNotebook | None:
        found = await self._read(path, content=False)
        return _stored(found) if found is not None else None

    async def read(self, path: str) -> dict[str, Any] | None:  # Any: JSON
        found = await self._read(path, content=True)
        content = found.get("content") if found is not None and found.get("type") == "notebook" else None
        return content if isinstance(content, dict) else None

    async def write(self, path: str, content: dict[str, Any]) -> StoredNotebook:  # Any: JSON
        # Encoding a large notebook takes a while, and a run goes on meanwhile.
        body = await asyncio.to_thread(orjson.dumps, {"type": "notebook", "format": "json", "content": content})
        response = await self._request("PUT", path, content=body, headers={"Content-Type": "application/json"})
        if not response.is_success:
            raise NotebookFailed(path=path, reason=self._rest.refusal(response))
        return _stored(_json(response))

    async def close(self) -> None:
        await self._rest.close()

    async def _read(self, path: str, *, content: bool) -> dict[str, Any] | None:
        params = {"type": "notebook", "content": "1"} if content else {"content": "0", "hash": "1"}
        response = await self._request("GET", path, params=params)
        # 400 is what a server says of a file that it cannot read as a notebook.
        if response.status_code == 404 or (content and response.status_code == 400):
            return None
        if not response.is_success:
            raise NotebookFailed(path=path, reason=self._rest.refusal(response))
        return _json(response)

    async def _request(self, method: str, path: str, **options: Any) -> httpx2.Response:  # Any: httpx2's own options
        try:
            return await self._rest.request(method, f"api/contents/{quote(path)}", **options)
        except KernelFailed as error:
            raise NotebookFailed(path=path, reason=str(error)) from error


def _json(response: httpx2.Response) -> dict[str, Any]:
    try:
        found = orjson.loads(response.content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _stored(model: dict[str, Any]) -> StoredNotebook:
    return StoredNotebook(last_modified=str(model.get("last_modified") or ""), hash=str(model.get("hash") or ""))
