"""Who is let in: the Host, the Origin and the token of a request."""

from __future__ import annotations

import hmac
from urllib.parse import urlsplit

from notebook_bcc.server.problems import Problem
from notebook_bcc.server.settings import ServerSettings, is_loopback
from notebook_bcc.server.wire import Scope, header

_BEARER = b"bearer "
_MOST_KNOWN = 16


class Gate:
    """Looks at the head of a request, before anything of its body is read."""

    def __init__(self, settings: ServerSettings) -> None:
        self._token = settings.token.encode() if settings.token is not None else None
        # Where a token is wanted a foreign page can do nothing; names are checked then only if somebody listed them.
        self._names = frozenset(name.lower() for name in settings.names)
        self._local = settings.is_loopback
        self._known: set[str] = set()

    def refusal(self, scope: Scope, *, public: bool) -> Problem | None:
        """Why this request is not answered, or None. `public` pages need no token."""
        host, origin = "", None
        for name, value in reversed(scope["headers"]):  # backwards, so that of a repeated one the first counts
            if name == b"host":
                host = value.decode("latin-1")
            elif name == b"origin":
                origin = value
        if host not in self._known and not self._answers_to(host):
            return Problem(421, "host_refused", "This service does not answer under the name in the Host header.")
        if origin is not None and not _same_site(origin.decode("latin-1"), host):
            return Problem(403, "origin_refused", "Requests from web pages of other sites are not answered.")
        if public or self._token is None:
            return None
        return self._unauthorized(header(scope, b"authorization"))

    def _answers_to(self, host: str) -> bool:
        if not (self._local or self._names):
            return True
        name = _name(host)
        if name not in self._names and not (self._local and is_loopback(name)):
            return False
        # Nearly every request has the same Host; which ones there may be is bounded, not what a client can write.
        if len(self._known) < _MOST_KNOWN:
            self._known.add(host)
        return True

    def _unauthorized(self, given: bytes | None) -> Problem | None:
        scheme, token = (given or b"")[: len(_BEARER)], (given or b"")[len(_BEARER) :].strip()
        # Compared in constant time: how long the refusal takes says nothing about the token.
        if scheme.lower() == _BEARER and hmac.compare_digest(token, self._token or b""):
            return None
        challenge = b"Bearer" if given is None else b'Bearer error="invalid_token"'
        message = "A bearer token is wanted: send `Authorization: Bearer TOKEN`."
        if given is not None:
            message = "The Authorization header does not hold the token of this service."
        return Problem(401, "unauthorized", message, headers=((b"www-authenticate", challenge),))


def _name(host: str) -> str:
    """The name in a Host header, without its port and the brackets of an IPv6 address."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _same_site(origin: str, host: str) -> bool:
    return _netloc(origin) == host.lower()


def _netloc(origin: str) -> str:
    """Host and port of an origin, empty where it has none (`null`, nonsense)."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""
