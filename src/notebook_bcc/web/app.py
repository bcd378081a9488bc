"""The page as an ASGI application on Starlette: which path is answered by what."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route

from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.server.problems import Problem
from notebook_bcc.server.settings import ServerSettings
from notebook_bcc.settings import Settings
from notebook_bcc.web.access import PageAccess
from notebook_bcc.web.assets import static_names, static_text
from notebook_bcc.web.endpoints import PageEndpoints
from notebook_bcc.web.middleware import PageMiddleware
from notebook_bcc.web.notify import Notifier, checked_address
from notebook_bcc.web.runs import RunList

DEFAULT_PORT: Final = 28680
_TYPES: Final = {".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_YEAR: Final = 365 * 24 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSettings:
    """One page: where it listens, whom it lets in. `base_path` is where a proxy shows it, such as `/nbcc`; `notify` is
    the address that is told when a run waits, is done or has failed."""

    server: ServerSettings = field(default_factory=lambda: ServerSettings(port=DEFAULT_PORT))
    watch_token: str | None = field(default=None, repr=False)
    base_path: str = ""
    notify: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if self.base_path and (not self.base_path.startswith("/") or self.base_path.endswith("/")):
            raise SettingsInvalid(f"the page's base path {self.base_path!r} must begin with / and not end with it")
        if self.notify:
            checked_address(self.notify)
        if self.watch_token is not None and self.server.token is None:
            raise SettingsInvalid("a token for watchers makes sense beside one for the owner only")
        if self.watch_token is not None and self.watch_token == self.server.token:
            raise SettingsInvalid("the token for watchers must be another one than the owner's")


class WebApp(Starlette):
    """The page in front of a folder of runs."""

    def __init__(self, settings: Settings, web: WebSettings) -> None:
        self.settings = web.server
        self._base = web.base_path
        self._notifies = (settings, web.notify)
        self._access = PageAccess(web.server, web.watch_token)
        do = self._endpoints = PageEndpoints(settings, access=self._access)
        routes = [
            Route("/", self._shell),
            Route("/static/{name:path}", self._static),
            Route("/api/about", do.about),
            Route("/api/stream", do.stream),
            Route("/api/compare", do.compare),
            Route("/api/runs", do.runs),
            Route("/api/runs", do.start, methods=["POST"]),
            Route("/api/runs/{run}", do.run),
            Route("/api/runs/{run}/events", do.events),
            Route("/api/runs/{run}/files/{name:path}", do.file),
            *(
                Route(f"/api/runs/{{run}}/{name}", endpoint, methods=["POST"])
                for name, endpoint in {
                    "answer": do.answer,
                    "resume": do.resume,
                    "pause": do.pause,
                    "cancel": do.cancel,
                    "delete": do.delete,
                }.items()
            ),
        ]
        middleware = Middleware(PageMiddleware, access=self._access, shell=f"{self._base}/")
        super().__init__(
            routes=[Mount(self._base, routes=routes)] if self._base else routes,
            middleware=[middleware],
            lifespan=_close_at_end,
        )
        self.router.redirect_slashes = False

    def notifying(self) -> AbstractAsyncContextManager[None]:
        """Tells the address of the settings what becomes of runs while the block runs."""
        settings, url = self._notifies
        if not url:
            return nullcontext()
        return Notifier(RunList(settings.runs), url, language=settings.lang).watching()

    async def close(self) -> None:
        """End all streams. Runs that were started here go on."""
        await self._endpoints.close()

    async def _shell(self, request: Request) -> Response:
        """The empty page. With a token in the address it is kept as a cookie, and taken out of the address."""
        given = request.query_params.get("token")
        if given is not None:
            # A proxy with TLS says so; whoever says it untruly gets a cookie that is sent more rarely.
            shown = request.headers.get("x-forwarded-proto", request.url.scheme)
            return self._admitted(given, secure=shown.strip().lower() == "https")
        return _file("page.html", "text/html")

    def _admitted(self, token: str, *, secure: bool) -> Response:
        if self._access.role_of_token(token) is None:
            raise Problem(401, "unauthorized", "This is not the token of this page.")
        answer = RedirectResponse(f"{self._base}/", 303)
        answer.set_cookie(
            self._access.cookie,
            self._access.cookie_of(token),
            max_age=_YEAR,
            path=f"{self._base}/",
            httponly=True,
            samesite="strict",
            secure=secure,
        )
        return answer

    async def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        suffix = f".{name.rpartition('.')[2]}"
        if suffix not in _TYPES or ".." in name or name not in static_names():
            raise Problem(404, "not_found", "There is nothing here.")
        return _file(name, _TYPES[suffix])


def _file(name: str, media_type: str) -> Response:
    return Response(static_text(name), media_type=media_type)


@asynccontextmanager
async def _close_at_end(app: WebApp) -> AsyncIterator[None]:
    async with app.notifying():
        yield
    await app.close()
