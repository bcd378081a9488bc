"""One HTTP client for one server: connection reuse, headers, deadlines, and every failure told apart."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import socket
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import NoReturn
from urllib.parse import quote

import httpx2

from notebook_bcc import __version__
from notebook_bcc.errors import (
    EvidenceMissing,
    JudgementMalformed,
    PlannerAnswerInvalid,
    PlannerFailed,
    PlannerUnreachable,
    RequestRefused,
    RequestRejected,
    SettingsInvalid,
)
from notebook_bcc.planners.remote.failures import (
    is_passing,
    needs_of,
    nobody_listens,
    one_line,
    reason_of,
    refusal,
    retry_after,
)
from notebook_bcc.protocol.messages import Options

_log = logging.getLogger(__name__)

JSON_TYPES = frozenset({"application/json"})
# Seed 002's server sends its lines as application/json; text/plain is what simple servers say.
STREAM_TYPES = JSON_TYPES | {"application/x-ndjson", "application/ndjson", "application/jsonl", "text/plain"}

# Many servers drop an idle connection after five seconds: give it up before they do.
_KEEP_ALIVE = 4.0
_REFUSAL_BYTES = 16 * 1024
_REFUSAL_SECONDS = 5.0
# Servers and proxies seldom take more where they expect no body at all.
_GET_BYTES = 1024 * 1024
_WANTS_A_PERSON = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY})
_PRINTABLE = frozenset(map(chr, range(0x21, 0x7F)))


@dataclass(frozen=True, slots=True)
class RemoteTimeouts:
    """Seconds. `first_byte` is until the answer's headers, connecting included; `planning` is a whole judgement.

    `between_lines` counts while a line is waited for, not while the one before is carried out; a blank line is one.
    Our own service gives its planner 300 s and then says why there is no answer: it is waited for a little longer.
    """

    connect: float = 10.0
    first_byte: float = 310.0
    between_lines: float = 310.0
    planning: float = 320.0


class PlannerConnection:
    """Posts to one server. `name` is its address as it may be shown: without user name, password and query."""

    def __init__(
        self,
        base_url: str,
        *,
        token: str | None,
        timeouts: RemoteTimeouts,
        transport: httpx2.AsyncBaseTransport | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Raises SettingsInvalid, which shows neither token nor password."""
        if token is not None and not (token and _PRINTABLE.issuperset(token)):
            raise SettingsInvalid("the planner's token is empty or holds blanks or characters that no header can carry")
        url = _address(base_url)
        self.name = str(url.copy_with(userinfo=b"")).rstrip("/")
        self._timeouts = timeouts
        self._secrets = tuple(secret for secret in (token, url.password) if secret)
        self._now = now
        self._by_get: set[str] = set()
        headers = {"user-agent": f"notebook-bcc/{__version__}", "accept-encoding": "identity"}
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        named = (url.username, url.password) if url.userinfo and token is None else None
        try:
            self._client = httpx2.AsyncClient(
                headers=headers,
                auth=named,
                follow_redirects=False,
                # Proxies are all that it takes from the environment. A request to this machine never leaves it.
                trust_env=not is_loopback(url.host),
                verify=_trust(url),
                limits=httpx2.Limits(max_connections=None, keepalive_expiry=_KEEP_ALIVE),
                transport=transport,
            )
        except (ValueError, ImportError, httpx2.InvalidURL) as error:
            # Nothing but a proxy can be wrong here. Its address may hold a password, so it is not shown.
            reason = "the proxy that HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names cannot be used"
            raise SettingsInvalid(f"{reason}: write http://HOST:PORT, or add {url.host} to NO_PROXY") from error

    async def fetch(self, path: str, body: bytes, *, options: Options, within: float, most: int) -> bytes:
        """The whole JSON answer. Raises PlannerUnreachable or PlannerAnswerInvalid."""
        try:
            async with (
                asyncio.timeout(within),
                self.ask(path, body, options=options, accepted=JSON_TYPES) as answer,
            ):
                return await answer.body(most)
        except TimeoutError as error:
            raise self.unreachable(path, f"the answer was not complete within {within:g} s") from error

    @contextlib.asynccontextmanager
    async def ask(
        self,
        path: str,
        body: bytes,
        *,
        options: Options,
        accepted: frozenset[str],
        query: Mapping[str, str] | None = None,
    ) -> AsyncIterator[RemoteAnswer]:
        """Post, and give out the answer once its headers are in and promise something of use; closed at the end.

        With a `query` the server is asked by GET where it refuses POST (405), with the same body: what the query names
        is for servers that read no body.
        """
        response = await self._send(self._request(path, body, options, accepted, query), path)
        if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED and query is not None and path not in self._by_get:
            await response.aclose()
            self._by_get.add(path)
            response = await self._send(self._request(path, body, options, accepted, query), path)
        try:
            await self._check(path, response, accepted)
            yield RemoteAnswer(self, path, response, between_lines=self._timeouts.between_lines)
        finally:
            await response.aclose()

    def _request(
        self, path: str, body: bytes, options: Options, accepted: frozenset[str], query: Mapping[str, str] | None
    ) -> httpx2.Request:
        """Raises PlannerAnswerInvalid for a body that no GET should carry."""
        by_get = path in self._by_get
        if by_get and len(body) > _GET_BYTES:
            reason = f"it takes no POST, and the request of {len(body)} bytes is too long for a GET ({_GET_BYTES})"
            raise self.invalid(path, reason)
        return self._client.build_request(
            "GET" if by_get else "POST",
            f"{self.name}{path}",
            params=dict(query) if by_get and query else None,
            content=body,
            headers=_headers(options, accepted),
            # All other waits have deadlines of their own, in `fetch`, `_send` and `chunks`.
            timeout=httpx2.Timeout(None, connect=self._timeouts.connect),
        )

    def where(self, path: str) -> str:
        """The request as messages name it."""
        return f"{'GET' if path in self._by_get else 'POST'} {path}"

    def unreachable(
        self, path: str, reason: str, *, retry_after: float | None = None, nobody_listens: bool = False
    ) -> PlannerUnreachable:
        shown = self.hide(f"{self.where(path)}: {reason}")
        return PlannerUnreachable(
            planner=self.name, reason=shown, retry_after=retry_after, nobody_listens=nobody_listens
        )

    def invalid(self, path: str, reason: str) -> PlannerAnswerInvalid:
        return PlannerAnswerInvalid(planner=self.name, reason=self.hide(f"{self.where(path)}: {reason}"))

    def malformed(self, path: str, reason: str) -> JudgementMalformed:
        return JudgementMalformed(planner=self.name, reason=self.hide(f"POST {path}: {reason}"))

    def reason_of(self, error: httpx2.HTTPError) -> str:
        """What an error below HTTP means, without secrets."""
        return self.hide(reason_of(error, connect=self._timeouts.connect))

    def hide(self, text: str) -> str:
        """A text that may hold what a server echoed, without our secrets."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    async def close(self) -> None:
        await self._client.aclose()

    async def _send(self, request: httpx2.Request, path: str) -> httpx2.Response:
        limit = self._timeouts.first_byte
        try:
            async with asyncio.timeout(limit):
                response = await self._client.send(request, stream=True)
        except TimeoutError as error:
            raise self.unreachable(path, f"no answer within {limit:g} s; a slow planner needs more") from error
        except httpx2.HTTPError as error:
            reason = reason_of(error, connect=self._timeouts.connect)
            raise self.unreachable(path, reason, nobody_listens=nobody_listens(error)) from error
        _log.debug("POST %s%s: %d", self.name, path, response.status_code)
        return response

    async def _check(self, path: str, response: httpx2.Response, accepted: frozenset[str]) -> None:
        if not response.is_success:
            await self._refused(path, response)
        coding = response.headers.get("content-encoding", "identity").strip().lower()
        if coding not in ("", "identity"):
            reason = f"it is compressed ({one_line(coding)}), which was not asked for; turn that off at the server"
            raise self.invalid(path, reason)
        found = response.headers.get("content-type", "").split(";")[0].strip().lower()
        if found and found not in accepted and not found.endswith("+json"):
            wanted = " or ".join(sorted(accepted))
            raise self.invalid(path, f"its content type is {one_line(found)!r}, not {wanted}; check the address")

    async def _refused(self, path: str, response: httpx2.Response) -> NoReturn:
        said = bytearray()
        # What the server says helps; that it does not come is no second failure.
        with contextlib.suppress(httpx2.HTTPError, TimeoutError):
            async with asyncio.timeout(_REFUSAL_SECONDS), contextlib.aclosing(response.aiter_raw()) as chunks:
                async for chunk in chunks:
                    said += chunk
                    if len(said) >= _REFUSAL_BYTES:
                        break
        reason = refusal(response, bytes(said[:_REFUSAL_BYTES]))
        if is_passing(response.status_code):
            raise self.unreachable(path, reason, retry_after=retry_after(response.headers, now=self._now()))
        if response.status_code == HTTPStatus.CONFLICT:
            # An answer: it does not get better by being asked for again, unless with what it names.
            needs = [self.hide(name) for name in needs_of(bytes(said[:_REFUSAL_BYTES]))]
            if needs:
                raise EvidenceMissing(planner=self.name, needs=needs, reason=self.hide(f"POST {path}: {reason}"))
            raise RequestRefused(planner=self.name, reason=self.hide(f"POST {path}: {reason}"))
        failure = self.invalid(path, reason)
        if response.status_code in _WANTS_A_PERSON:
            raise RequestRejected(planner=self.name, reason=failure.reason, status=response.status_code)
        raise failure


class RemoteAnswer:
    """An answer whose headers are in."""

    def __init__(self, wire: PlannerConnection, path: str, response: httpx2.Response, *, between_lines: float) -> None:
        self._wire = wire
        self._path = path
        self._response = response
        self._between_lines = between_lines

    @property
    def delimited(self) -> bool:
        """Whether its end can be told from a connection that was lost."""
        headers = self._response.headers
        return "content-length" in headers or "transfer-encoding" in headers

    async def body(self, most: int) -> bytes:
        """All of it; the caller has the deadline.

        Raises PlannerUnreachable, or PlannerAnswerInvalid when it is longer than `most` bytes.
        """
        body = bytearray()
        try:
            async for chunk in self._response.aiter_raw():
                body += chunk
                if len(body) > most:
                    raise self._wire.invalid(self._path, f"it is longer than {most} bytes")
        except httpx2.HTTPError as error:
            raise self._wire.unreachable(self._path, self._wire.reason_of(error)) from error
        return bytes(body)

    async def chunks(self, broken: Callable[[str], PlannerFailed]) -> AsyncGenerator[bytes, None]:
        """The bytes as they arrive; `broken` makes the error of a reason when they do not."""
        clock = asyncio.get_running_loop().time
        slow = f"no line within {self._between_lines:g} s; a slow planner needs more, or sends blank lines meanwhile"
        # Only waiting counts, and only the end of a line begins it anew: a server that drips must end its line too.
        left = self._between_lines
        try:
            async with contextlib.aclosing(self._response.aiter_raw()) as chunks:
                while True:
                    asked = clock()
                    async with asyncio.timeout(left):
                        chunk = await anext(chunks, None)
                    if chunk is None:
                        return
                    left = self._between_lines if b"\n" in chunk else left - (clock() - asked)
                    yield chunk
        except TimeoutError as error:
            raise broken(slow) from error
        except httpx2.HTTPError as error:
            raise broken(self._wire.reason_of(error)) from error


def is_loopback(host: str) -> bool:
    """Whether an address names this machine, without asking a name server."""
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        # inet_aton knows the short forms that resolvers know: 127.1.
        address = ipaddress.ip_address(host if ":" in host else socket.inet_aton(host))
    except (ValueError, OSError):
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback or address.is_unspecified


def _address(base_url: str) -> httpx2.URL:
    try:
        url = httpx2.URL(base_url.strip())
    except httpx2.InvalidURL as error:
        raise SettingsInvalid(f"the planner's address is not a URL: {error}") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise SettingsInvalid("the planner's address must begin with http:// or https:// and name a host")
    return url.copy_with(query=None, fragment=None)


def _trust(url: httpx2.URL) -> ssl.SSLContext:
    """Reading the system's certificates takes long: only where TLS is spoken."""
    if url.scheme == "https":
        return httpx2.create_ssl_context(trust_env=False)
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _headers(options: Options, accepted: frozenset[str]) -> dict[str, str]:
    """The ids of the options again, for what stands between: proxies and logs do not read bodies."""
    ids = {"x-request-id": options.request_id, "x-run-id": options.run_id, "x-attempt": options.attempt}
    id_headers = {name: quote(str(value), safe=" /:;,+@=~") for name, value in ids.items() if value is not None}
    return {"content-type": "application/json", "accept": ", ".join(sorted(accepted, reverse=True)), **id_headers}
