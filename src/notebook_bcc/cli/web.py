"""`nbcc web`: the page where runs are watched and steered in a browser."""

from __future__ import annotations

import asyncio
import sys
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

import typer

from notebook_bcc.cli.options.run import LangOption, RunsOption, TokenFileOption, settings_of
from notebook_bcc.cli.stopping import until_stopped
from notebook_bcc.server.serving import serve
from notebook_bcc.server.settings import ServerSettings, is_loopback, new_token
from notebook_bcc.settings import Settings, read_token
from notebook_bcc.views.words import Words
from notebook_bcc.web.app import DEFAULT_PORT, WebApp, WebSettings

_GRACE = 0.2


@asynccontextmanager
async def page_beside(settings: Settings, say: Callable[[str], None], words: Words) -> AsyncIterator[None]:
    """The page on this machine while the block runs, at its usual port or, where that is taken, at a free one."""
    try:
        async with _serving(settings, say, words, port=DEFAULT_PORT):
            yield
            return
    except _PortTaken:
        pass
    async with _serving(settings, say, words, port=0):
        yield


class _PortTaken(Exception):
    """Raised before the block has begun."""


@asynccontextmanager
async def _serving(settings: Settings, say: Callable[[str], None], words: Words, *, port: int) -> AsyncIterator[None]:
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    app = WebApp(settings, WebSettings(server=ServerSettings(port=port)))
    serving = asyncio.create_task(serve(app, ready=address.set_result, grace=_GRACE))
    try:
        either: set[asyncio.Future[Any]] = {serving, address}  # Any: what they come to is looked at below
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            raise _PortTaken from serving.exception()
        # Not before: the server's own signal handlers are replaced by those of the run.
        say(words("page_at", url=f"{address.result()}/"))
        yield
    finally:
        serving.cancel()
        await asyncio.wait({serving})


async def until_closed() -> None:
    """Wait for Ctrl-C: somebody may still look at the page."""
    await until_stopped(asyncio.Event().wait())


async def web_command(
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = DEFAULT_PORT,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in your browser.")] = False,
    token_file: TokenFileOption = None,
    watch: Annotated[
        bool, typer.Option("--watch-token", help="Make a second token up, for people who may only look on.")
    ] = False,
    base_path: Annotated[
        str, typer.Option("--base-path", help="The path under which a proxy shows the page.", metavar="/PATH")
    ] = "",
    notify: Annotated[
        str,
        typer.Option(
            "--notify",
            help="An address that gets one POST when a run waits for somebody, is done or has failed.",
            metavar="URL",
        ),
    ] = "",
    runs: RunsOption = None,
    lang: LangOption = None,
) -> None:
    """Watch and steer runs in a browser, until Ctrl-C: all runs, one of them live, what waits for you, a new one.

    It listens on this machine only, unless --host says otherwise; then whoever comes needs the token of --token-file,
    or one that is made up: the address with it is shown once. Runs that are started on the page are processes of their
    own, and go on when the page is closed.

    \b
      nbcc web --open
      nbcc web --port 9000 --runs /data/runs
      nbcc web --host 0.0.0.0 --watch-token      for a team, behind a server with TLS
    """
    settings = settings_of(runs=runs, lang=lang)
    words = Words(settings.lang)
    token = read_token(token_file) if token_file is not None else "" if is_loopback(host) and not watch else new_token()
    watch_token = new_token() if watch else None
    server = ServerSettings(host=host, port=port, token=token or None)
    app = WebApp(settings, WebSettings(server=server, watch_token=watch_token, base_path=base_path, notify=notify))
    if not server.is_loopback:
        print(words("unencrypted"), file=sys.stderr, flush=True)

    def ready(url: str) -> None:
        address = f"{url}{base_path}/"
        # A token that lies in a file is known to whom it concerns, and not shown.
        owners = address if token_file is not None or not token else f"{address}?token={token}"
        print(words("page_at", url=owners), flush=True)
        if watch_token is not None:
            print(words("page_for_watchers", url=f"{address}?token={watch_token}"), flush=True)
        if open_browser:
            webbrowser.open(f"{address}?token={token}" if token else address)

    await until_stopped(serve(app, ready=ready, grace=_GRACE))
