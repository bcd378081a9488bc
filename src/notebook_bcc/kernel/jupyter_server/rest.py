"""The REST side of a Jupyter Server: kernels started, looked at, interrupted and deleted."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

import httpx2

from notebook_bcc.errors import KernelFailed

# A server waits this long for a kernel that it asks to shut down, and then kills it: 5 s by default, and some more.
_DELETE_SECONDS = 30.0
_DELETE_WAITS = (0.2, 0.5, 1.0, 0.0)


class ServerRest:
    """Owns the HTTP client; the token is in its headers and nowhere else. `where` is the address, for messages."""

    def __init__(self, base_url: str, *, token: str, timeout: float, verify: ssl.SSLContext | bool = True) -> None:
        address = httpx2.URL(base_url if base_url.endswith("/") else base_url + "/")
        # A password or a token that somebody put into the address is not to appear in messages.
        plain = address.copy_with(query=None, fragment=None, userinfo=b"")
        self.where = str(plain).rstrip("/")
        headers = {"Authorization": f"token {token}"} if token else {}
        self.client = httpx2.AsyncClient(base_url=plain, headers=headers, timeout=timeout, verify=verify)

    async def kernelspecs(self) -> dict[str, dict[str, Any]]:
        """Name -> spec, empty when the server does not tell. Raises KernelFailed."""
        response = await self.request("GET", "api/kernelspecs")
        if response.status_code != 200:
            return {}
        specs: dict[str, Any] = _json(response).get("kernelspecs", {})
        return {name: found.get("spec", {}) for name, found in specs.items()}

    async def start(self, *, name: str, path: str, timeout: float) -> str:
        """The id of a new kernel. Raises KernelFailed."""
        # With an empty path too: without any, a kernel starts wherever the server was started.
        body = {"name": name, "path": path}
        response = await self.request("POST", "api/kernels", json=body, timeout=timeout)
        if response.status_code != 201:
            raise KernelFailed(self.refusal(response))
        kernel_id: str = _json(response)["id"]
        return kernel_id

    async def state(self, kernel_id: str) -> str | None:
        """Its execution state in the server's words, None when the server has no such kernel. Raises KernelFailed."""
        response = await self.request("GET", f"api/kernels/{kernel_id}")
        if response.status_code == 404:
            return None
        if response.status_code != 200:
            raise KernelFailed(self.refusal(response))
        return str(_json(response).get("execution_state") or "unknown")

    async def interrupt(self, kernel_id: str) -> None:
        """Raises KernelFailed."""
        response = await self.request("POST", f"api/kernels/{kernel_id}/interrupt")
        if not response.is_success:
            raise KernelFailed(self.refusal(response))

    async def delete(self, kernel_id: str) -> None:
        """End a kernel; no error when the server has none of that id. Raises KernelFailed."""
        for wait in _DELETE_WAITS:
            response = await self.request("DELETE", f"api/kernels/{kernel_id}", timeout=_DELETE_SECONDS)
            if response.is_success or response.status_code == 404:
                return
            # A server that is about to restart a kernel cannot delete it in that moment.
            await asyncio.sleep(wait)
        raise KernelFailed(self.refusal(response))

    async def close(self) -> None:
        await self.client.aclose()

    async def request(self, method: str, path: str, **options: Any) -> httpx2.Response:  # Any: httpx2's own options
        """Any request under the server's address. Raises KernelFailed where there is no answer."""
        try:
            return await self.client.request(method, path, **options)
        except httpx2.TimeoutException as error:
            raise KernelFailed(
                f"the Jupyter server at {self.where} did not answer in time ({method} {path})"
            ) from error
        except httpx2.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise KernelFailed(f"the Jupyter server at {self.where} cannot be reached: {reason}") from error

    def refusal(self, response: httpx2.Response) -> str:
        """What an answer that is no success means, in words."""
        words = str(_json(response).get("message") or response.reason_phrase)
        return f"the Jupyter server at {self.where} {describe_status(response.status_code, words)}"


def describe_status(code: int, words: str) -> str:
    """What a status means for somebody who wants a kernel; `words` are the server's own."""
    # A hub sends those it does not know to its login page.
    if code in (301, 302, 303, 307, 308, 401, 403):
        return f"refused the token (HTTP {code}: {words[:500]})"
    return f"answered HTTP {code}: {words[:500]}"


def _json(response: httpx2.Response) -> dict[str, Any]:
    """The body as an object, an empty one when it is none."""
    try:
        found = response.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
