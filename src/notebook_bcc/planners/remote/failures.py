"""What went wrong on the way to a server, in words, and how long it wants to be left alone."""

from __future__ import annotations

import email.utils
import json
import re
import socket
import ssl
from collections.abc import Iterator
from http import HTTPStatus

import httpx2

LONGEST_RETRY_AFTER = 3600.0
"""Seconds. A server that asks for more, or whose clock is far off, is not believed."""

_LONGEST_MESSAGE = 300
# Too early, too late, too busy, or broken for the moment: the same request may be answered a little later.
_PASSING = frozenset({408, 425, 429})
_LASTING = frozenset({501, 505})
_SECONDS = re.compile(r"[0-9]{1,12}(\.[0-9]{1,6})?")
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\s]+")
_ADVICE = {
    401: "give the token that this server wants: DSLC_TOKEN, or --token-file",
    403: "the token given by DSLC_TOKEN or --token-file does not allow this",
    404: "is the address that of a DSLC server, and does it speak this dialect?",
    405: "is the address that of a DSLC server?",
    413: "narrow the context filter, or raise the server's limit",
}


def is_passing(status: int) -> bool:
    """Whether the same request may be answered if it is asked again."""
    return status in _PASSING or (500 <= status <= 599 and status not in _LASTING)


def retry_after(headers: httpx2.Headers, *, now: float) -> float | None:
    """The seconds of a `Retry-After`, at most LONGEST_RETRY_AFTER; None: there is none that makes sense.

    A date is measured from the server's own `Date`: whether its clock agrees with ours does not matter. A date that
    has passed says nothing, and the usual backoff is better than an immediate retry.
    """
    given = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(given):
        return min(float(given), LONGEST_RETRY_AFTER)
    at = _moment(given)
    if at is None:
        return None
    said = _moment(headers.get("date", ""))
    seconds = at - (said if said is not None else now)
    return min(seconds, LONGEST_RETRY_AFTER) if seconds > 0 else None


def refusal(response: httpx2.Response, body: bytes) -> str:
    """An answer that is none, in words: the status, what the server says about it, and what may help."""
    status = response.status_code
    try:
        phrase = f" {HTTPStatus(status).phrase}"
    except ValueError:
        phrase = ""
    said = server_message(body, content_type=response.headers.get("content-type", ""))
    text = f"HTTP {status}{phrase}" + (f": {said}" if said else "")
    if 300 <= status <= 399:
        target = one_line(response.headers.get("location", "")) or "nowhere"
        return f"{text}: it redirects to {target}, which is not followed; give the address it redirects to"
    advice = _ADVICE.get(status)
    return f"{text} ({advice})" if advice else text


def needs_of(body: bytes) -> tuple[str, ...]:
    """The variables that a refusal names as missing, in `error.needs` or in `needs`; empty: it names none."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return ()
    error = said.get("error") if isinstance(said, dict) else None
    for place in (error, said):
        listed = place.get("needs") if isinstance(place, dict) else None
        if isinstance(listed, list) and listed and all(isinstance(name, str) for name in listed):
            return tuple(listed)
    return ()


def server_message(body: bytes, *, content_type: str) -> str:
    """What a server says about its refusal, on one line; a page for browsers says nothing."""
    if "html" in content_type:
        return ""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return one_line(body.decode(errors="replace"))
    problems = ""
    for name in ("error", "message", "detail", "title"):
        if isinstance(said, dict) and said.get(name):
            problems = _problems(said) or problems
            said = said[name]
    said = _fields(said) or said
    return one_line((said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)) + problems)


def reason_of(error: httpx2.HTTPError, *, connect: float) -> str:
    """A failure below HTTP, in words. `connect` is how long a connection was waited for."""
    if isinstance(error, httpx2.ConnectTimeout):
        return f"no connection within {connect:g} s; is the server up, and is nothing in between?"
    for cause in _causes(error):
        match cause:
            case socket.gaierror():
                return f"the host name cannot be resolved ({cause.strerror}); check the address"
            case ConnectionRefusedError():
                return "the connection was refused; nothing listens there. Start the server, or check the address"
            case ssl.SSLError():
                return f"no TLS connection: {one_line(str(cause))}; check the certificate and the address"
            case ConnectionResetError() | BrokenPipeError():
                return "the connection was reset"
    detail = one_line(str(error)) or type(error).__name__
    if isinstance(error, httpx2.ProxyError):
        return f"the proxy refused: {detail}; check HTTPS_PROXY, or add the host to NO_PROXY"
    if isinstance(error, httpx2.ConnectError):
        return f"no connection: {detail}; check the address"
    if isinstance(error, httpx2.RemoteProtocolError):
        return f"the connection ended too early, or what came is not HTTP: {detail}"
    return f"the connection failed: {detail}"


def nobody_listens(error: httpx2.HTTPError) -> bool:
    """Whether the host refused the connection: no server listens at that port."""
    return any(isinstance(cause, ConnectionRefusedError) for cause in _causes(error))


def one_line(text: str) -> str:
    """A text from outside that can stand in a message: without line breaks and control characters, and not long."""
    line = _UNSEEN.sub(" ", text[: _LONGEST_MESSAGE * 4]).strip()
    return line if len(line) <= _LONGEST_MESSAGE else line[:_LONGEST_MESSAGE] + "..."


def _problems(said: object) -> str:
    """The fields that our own service names beside its message."""
    listed = said.get("problems") if isinstance(said, dict) else None
    found = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return "".join(f" {one.get('path')}: {one.get('problem')};" for one in found)[:-1]


def _fields(said: object) -> str:
    """The fields that a service built with FastAPI names: a list of places, each with what is wrong there."""
    found = [one for one in said if isinstance(one, dict) and "loc" in one] if isinstance(said, list) else []
    places = [one["loc"] if isinstance(one["loc"], list) else [one["loc"]] for one in found]
    named = zip(places, found, strict=True)
    return "; ".join(
        f"{'.'.join(str(part) for part in place if part != 'body')}: {one.get('msg')}" for place, one in named
    )


def _moment(text: str) -> float | None:
    """Seconds since 1970 of a date as HTTP writes it."""
    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError, IndexError, TypeError):
        return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and everything it was made of."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, BaseExceptionGroup):
            waiting.extend(one.exceptions)
        waiting.extend(each for each in (one.__context__, one.__cause__) if each is not None)
