"""Who may look and who may change things: a token, once given, becomes a cookie that no other site can send."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import Literal

from starlette.datastructures import Headers
from starlette.requests import cookie_parser

from notebook_bcc.server.gate import Gate
from notebook_bcc.server.problems import Problem
from notebook_bcc.server.settings import ServerSettings

Role = Literal["owner", "watcher"]

_BEARER = "bearer "
_CHANGES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


@dataclass(frozen=True, slots=True)
class PageAccess:
    """The rules of one page. Without a token everybody who reaches it is its owner: it is on this machine only."""

    settings: ServerSettings
    watch_token: str | None = field(default=None, repr=False)

    @property
    def cookie(self) -> str:
        """Its name: cookies know no ports, and two pages of one machine must not take each other's."""
        return f"nbcc-{self.settings.port}"

    def check_origin(self, method: str, headers: Headers, *, is_shell: bool) -> None:
        """Raises Problem for a name that is not ours, and for whatever another site asks for. To the empty page
        (`is_shell`) anybody may link."""
        gate = Gate(self.settings)
        gate.check_size(headers)
        gate.check_origin(headers)
        if not is_shell:
            gate.check_page(headers)
        if method in _CHANGES and not headers.get("content-type", "").startswith("application/json"):
            # A form of another site cannot send this type without asking first.
            raise Problem(415, "json_wanted", "Send `Content-Type: application/json`.")

    def role(self, headers: Headers) -> Role:
        """What whoever asks may do. Raises Problem for nobody we know."""
        if self.settings.token is None:
            return "owner"
        found = self.role_of_token(_bearer(headers)) or self._role_of_cookie(headers)
        if found is None:
            message = "Open the address that `nbcc web` has shown, with its token."
            raise Problem(401, "unauthorized", message, headers={"www-authenticate": "Bearer"})
        return found

    def role_of_token(self, given: str) -> Role | None:
        """Compared in constant time, both of them whatever the first one says."""
        owner = _same(given, self.settings.token)
        watcher = _same(given, self.watch_token)
        return "owner" if owner else "watcher" if watcher else None

    def cookie_of(self, token: str) -> str:
        """What is kept in the browser: it opens this page, and is not the token."""
        return hmac.new(token.encode(), b"nbcc page", hashlib.sha256).hexdigest()

    def _role_of_cookie(self, headers: Headers) -> Role | None:
        given = cookie_parser(headers.get("cookie", "")).get(self.cookie, "")
        owner = _same(given, self.cookie_of(self.settings.token) if self.settings.token else None)
        watcher = _same(given, self.cookie_of(self.watch_token) if self.watch_token else None)
        return "owner" if owner else "watcher" if watcher else None


def _bearer(headers: Headers) -> str:
    given = headers.get("authorization", "")
    return given[len(_BEARER) :].strip() if given[: len(_BEARER)].lower() == _BEARER else ""


def _same(given: str, wanted: str | None) -> bool:
    return wanted is not None and hmac.compare_digest(given.encode(), wanted.encode())
