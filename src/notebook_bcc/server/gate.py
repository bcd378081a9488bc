"""Who is let in: the size of the headers, the Host, the Origin, the Sec-Fetch-Site and the token of a request."""

from __future__ import annotations

import hmac
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from notebook_bcc.server.problems import Problem
from notebook_bcc.server.settings import ServerSettings, is_loopback

_BEARER = "bearer "
_LARGEST_HEADERS = 65_536
# What a browser says of a request that a page of this very service made, or a person who typed the address. A page at
# another port of this machine is `same-site`, and not ours.
_OWN_PAGES = frozenset({"same-origin", "none"})


class Gate:
    """Looks at the head of a request, before anything of its body is read."""

    def __init__(self, settings: ServerSettings) -> None:
        self._token = settings.token
        # Where a token is wanted a foreign page can do nothing; names are checked then only if somebody listed them.
        self._names = frozenset(name.lower() for name in settings.names)
        self._local = settings.is_loopback

    def check_size(self, headers: Headers) -> None:
        """Raises Problem for headers of more than 64 KiB. uvicorn stops such a head only where it comes in pieces."""
        if sum(len(name) + len(value) for name, value in headers.raw) > _LARGEST_HEADERS:
            raise Problem(431, "headers_too_large", f"The headers are larger than {_LARGEST_HEADERS} bytes together.")

    def check_origin(self, headers: Headers) -> None:
        """Raises Problem for a request under a name that is not ours or under two, or from a page of another origin."""
        if len(headers.getlist("host")) > 1:
            raise Problem(400, "two_hosts", "The request has more than one Host header.")
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._answers_to(_name(host)):
            raise Problem(421, "host_refused", "This service does not answer under the name in the Host header.")
        if origin is not None and _netloc(origin) != host.lower():
            raise _of_another_page()

    def check_page(self, headers: Headers) -> None:
        """Raises Problem where a browser says that a page of another origin asks, by an image or a link, say.

        Such a request carries no Origin. Programs send no Sec-Fetch-Site, and browsers let no page choose it.
        """
        if not _OWN_PAGES.issuperset(each.strip().lower() for each in headers.getlist("sec-fetch-site")):
            raise _of_another_page()

    def check_token(self, headers: Headers) -> None:
        """Raises Problem for a request without the token of this service, if it has one."""
        if self._token is None:
            return
        given = headers.get("authorization")
        scheme, token = (given or "")[: len(_BEARER)], (given or "")[len(_BEARER) :].strip()
        # Compared in constant time: how long the refusal takes says nothing about the token.
        if scheme.lower() == _BEARER and hmac.compare_digest(token.encode(), self._token.encode()):
            return
        challenge, message = "Bearer", "A bearer token is wanted: send `Authorization: Bearer TOKEN`."
        if given is not None:
            challenge += ' error="invalid_token"'
            message = "The Authorization header does not hold the token of this service."
        raise Problem(401, "unauthorized", message, headers={"www-authenticate": challenge})

    def _answers_to(self, name: str) -> bool:
        if not (self._local or self._names):
            return True
        return name in self._names or (self._local and is_loopback(name))


def _of_another_page() -> Problem:
    return Problem(403, "origin_refused", "Requests from web pages of other sites are not answered.")


def _name(host: str) -> str:
    """The name in a Host header, without its port and the brackets of an IPv6 address."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _netloc(origin: str) -> str:
    """Host and port of an origin, empty where it has none (`null`, nonsense)."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""
