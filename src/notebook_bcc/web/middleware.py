"""What is around every request of the page: who is let in, and what becomes of the unforeseen."""

from __future__ import annotations

import logging
import secrets

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from notebook_bcc.errors import BccError, RunLocked, RunNotFound
from notebook_bcc.server.problems import Problem
from notebook_bcc.web.access import PageAccess

LOG = logging.getLogger(__name__)

# Our own scripts and styles, and pictures that cells hold. Styles of single elements stand in what the exporters have
# made safe (the alignment of a column); a script never does.
POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; style-src 'self'; "
    "style-src-attr 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


class PageMiddleware:
    """Lets a request through, or answers it with a problem. Whatever nobody foresaw becomes a 500 with an id."""

    def __init__(self, app: ASGIApp, *, access: PageAccess, shell: str) -> None:
        """`shell` is the path of the empty page."""
        self._app = app
        self._access = access
        self._shell = shell

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def send_on(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            is_shell = scope["path"] == self._shell
            self._access.check_origin(scope["method"], Headers(scope=scope), is_shell=is_shell)
            await self._app(scope, receive, send_on)
        except Problem as problem:
            await problem.response()(scope, receive, send_on)
        except BccError as error:
            await _refusal(error).response()(scope, receive, send_on)
        except ClientDisconnect:
            # Nobody is there to be answered.
            pass
        except Exception:
            error_id = secrets.token_hex(6)
            LOG.exception("internal error %s at %s", error_id, scope["path"])
            if not begun:
                message = (
                    f"Something went wrong here that should not. The log of `nbcc web` says more under {error_id}."
                )
                await Problem(500, "internal_error", message).response()(scope, receive, send_on)


def _refusal(error: BccError) -> Problem:
    """A refusal of the run's own: somebody was first, or it is not in a state for that."""
    if isinstance(error, RunNotFound):
        return Problem(404, "no_such_run", str(error))
    code = "locked" if isinstance(error, RunLocked) else "refused"
    return Problem(409, code, str(error))
