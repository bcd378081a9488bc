"""`nbcc serve`: the DSLC service in front of a script, a playbook or a recorded run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from notebook_bcc.cli.options import LangOption, RunsOption, TokenFileOption, settings_of
from notebook_bcc.cli.stopping import until_stopped
from notebook_bcc.cli.words import Words
from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.planners.playbook.folder import open_playbook
from notebook_bcc.runs.folder import find_run
from notebook_bcc.server.app import build_app
from notebook_bcc.server.serving import serve
from notebook_bcc.server.settings import DEFAULT_PORT, ServerSettings, is_loopback, new_token
from notebook_bcc.wiring import playbook_planner, recorded_planner, script_planner

_GRACE = 5.0


async def serve_command(
    script: Annotated[
        Path | None, typer.Argument(help="The script to plan from.", metavar="[SCRIPT.yaml]", show_default=False)
    ] = None,
    playbook: Annotated[
        str, typer.Option("--playbook", help="Plan by this playbook: a name, or a folder.", metavar="NAME|DIR")
    ] = "",
    replay: Annotated[
        str, typer.Option("--replay", help="Give the answers that this run was given.", metavar="RUN")
    ] = "",
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = DEFAULT_PORT,
    token_file: TokenFileOption = None,
    runs: RunsOption = None,
    lang: LangOption = None,
) -> None:
    """Answer planning and generating requests over HTTP until Ctrl-C, from a script, a playbook or a recorded run.

    When the service is ready, one line says its address. /docs there is a page about the endpoints, /openapi.json
    describes them, /health and /metrics tell how it is. It listens on this machine only, unless --host says otherwise;
    then whoever asks needs a token: the one of --token-file or DSLC_TOKEN, or one that is made up and shown once.

    \b
      nbcc serve hello.yaml
      nbcc run --planner http://127.0.0.1:28600 --goal "Say hello"       in another terminal
      nbcc serve --playbook dslc
      nbcc run houses.csv --planner http://127.0.0.1:28600               in another terminal
    """
    if [script is not None, bool(playbook), bool(replay)].count(True) != 1:
        raise SettingsInvalid("give one thing to plan from: a script, a playbook with --playbook, a run with --replay")
    settings = settings_of(runs=runs, lang=lang, token_file=token_file)
    words = Words(settings.lang)
    token = settings.dslc_token
    made_up = not token and not is_loopback(host)
    if made_up:
        token = new_token()
    offered = ServerSettings(host=host, port=port, token=token or None)
    if script is not None:
        planner = script_planner(script)
    elif playbook:
        planner = playbook_planner(open_playbook(playbook))
    else:
        planner = await recorded_planner(find_run(settings.runs, replay))
    if made_up:
        print(words("token", token=token), flush=True)
    if not offered.is_loopback:
        print(words("unencrypted"), file=sys.stderr, flush=True)
    source = script.name if script is not None else playbook or replay

    def ready(url: str) -> None:
        print(words("serving", url=url, source=source), flush=True)

    try:
        await until_stopped(serve(build_app(planner, offered), ready=ready, grace=_GRACE))
    finally:
        await planner.close()
