"""Sends what the checks want to send, bounded in requests, time and size, and never fails: a failure is an exchange."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import httpx2

from notebook_bcc import __version__
from notebook_bcc.conformance.exchange import BodyChunk, Exchange, Json
from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.planners.remote.failures import one_line, reason_of

_PRINTABLE = frozenset(map(chr, range(0x21, 0x7F)))


@dataclass(frozen=True, slots=True, kw_only=True)
class KitLimits:
    """How much the kit asks of a server, whatever the server does. Seconds, bytes, counts."""

    requests: int = 600
    seconds: float = 300.0
    answer_seconds: float = 30.0
    answer_bytes: int = 8 * 1024 * 1024
    behaviors_per_step: int = 30
    turns: int = 400
    """Moves of the state machine in the workflow that the kit drives."""


class Caller:
    """One server. Every exchange is kept, for the rules that hold for all of them. Close it."""

    def __init__(
        self,
        base_url: str,
        *,
        token: str | None = None,
        limits: KitLimits | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        """Raises SettingsInvalid, which shows neither token nor password."""
        url = _address(base_url)
        if token is not None and not (token and _PRINTABLE.issuperset(token)):
            raise SettingsInvalid("the token is empty or holds blanks or characters that no header can carry")
        self.name = str(url.copy_with(userinfo=b"")).rstrip("/")
        self.limits = limits if limits is not None else KitLimits()
        self.exchanges: list[Exchange] = []
        self.has_token = token is not None
        self._token = token
        self._secrets = tuple(secret for secret in (token, url.password) if secret)
        self._end = time.monotonic() + self.limits.seconds
        self._asked = 0
        self._client = httpx2.AsyncClient(
            headers={"user-agent": f"notebook-bcc-conform/{__version__}", "accept-encoding": "identity"},
            auth=(url.username, url.password) if url.userinfo and token is None else None,
            follow_redirects=False,
            trust_env=False,
            verify=True if url.scheme == "https" else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            timeout=self.limits.answer_seconds,
            transport=transport,
        )

    @property
    def spent(self) -> str:
        """Which bound of the kit is reached, in words; empty while there is room."""
        if self._asked >= self.limits.requests:
            return f"the kit's bound of {self.limits.requests} requests is reached"
        if time.monotonic() >= self._end:
            return f"the kit's bound of {self.limits.seconds:g} s is reached"
        return ""

    async def post(self, path: str, data: Json, *, headers: Mapping[str, str] | None = None) -> Exchange:
        return await self.send(
            "POST", path, json.dumps(data, ensure_ascii=False).encode(errors="replace"), headers=headers
        )

    async def send(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        headers: Mapping[str, str] | None = None,
        authorized: bool = True,
    ) -> Exchange:
        """Ask and read the whole answer. Does not raise for anything a server or a network can do."""
        asked = Exchange(method=method, path=path, sent=body)
        if self.spent:
            return replace(asked, failure=self.spent)
        self._asked += 1
        done = self._without_secrets(await self._exchange(asked, self._headers(body, headers, authorized=authorized)))
        self.exchanges.append(done)
        return done

    async def close(self) -> None:
        await self._client.aclose()

    def _headers(self, body: bytes, more: Mapping[str, str] | None, *, authorized: bool) -> dict[str, str]:
        headers = {"content-type": "application/json"} if body else {}
        if self._token is not None and authorized:
            headers["authorization"] = f"Bearer {self._token}"
        return {**headers, **(more or {})}

    async def _exchange(self, asked: Exchange, headers: Mapping[str, str]) -> Exchange:
        within = max(0.0, min(self.limits.answer_seconds, self._end - time.monotonic()))
        begun = time.monotonic()
        heard = asked
        try:
            async with (
                asyncio.timeout(within),
                self._client.stream(
                    asked.method, f"{self.name}{asked.path}", content=asked.sent, headers=dict(headers)
                ) as response,
            ):
                heard = replace(
                    asked,
                    status=response.status_code,
                    headers={name.lower(): value for name, value in response.headers.items()},
                    connection=_connection(response),
                )
                body, arrivals = bytearray(), list[BodyChunk]()
                try:
                    async with contextlib.aclosing(response.aiter_raw()) as chunks:
                        async for chunk in chunks:
                            body += chunk
                            arrivals.append(BodyChunk(time.monotonic() - begun, len(chunk)))
                            if len(body) > self.limits.answer_bytes:
                                size = self.limits.answer_bytes
                                return replace(heard, failure=f"the answer is longer than {size} bytes")
                finally:
                    heard = replace(heard, body=bytes(body), arrivals=tuple(arrivals))
        except TimeoutError:
            return replace(heard, failure=f"the answer was not complete within {within:.3g} s")
        except httpx2.TimeoutException:
            return replace(heard, failure=f"nothing came within {self.limits.answer_seconds:g} s")
        except httpx2.HTTPError as error:
            return replace(heard, failure=reason_of(error, connect=self.limits.answer_seconds))
        except (httpx2.InvalidURL, httpx2.StreamError) as error:
            return replace(heard, failure=one_line(str(error)))
        return heard

    def _without_secrets(self, exchange: Exchange) -> Exchange:
        """A server may echo what it was sent; nothing that is kept holds the token."""
        for secret in self._secrets:
            hidden = secret.encode()
            exchange = replace(
                exchange,
                path=exchange.path.replace(secret, "***"),
                headers={name: value.replace(secret, "***") for name, value in exchange.headers.items()},
                body=exchange.body.replace(hidden, b"***"),
                failure=exchange.failure.replace(secret, "***"),
            )
        return exchange


def _connection(response: httpx2.Response) -> str:
    stream = response.extensions.get("network_stream")
    return str(stream.get_extra_info("client_addr")) if stream is not None else ""


def _address(base_url: str) -> httpx2.URL:
    try:
        url = httpx2.URL(base_url.strip())
    except httpx2.InvalidURL as error:
        raise SettingsInvalid(f"the server's address is not a URL: {error}") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise SettingsInvalid("the server's address must begin with http:// or https:// and name a host")
    return url.copy_with(query=None, fragment=None)
