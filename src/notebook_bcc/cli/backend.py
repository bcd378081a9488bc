"""`nbcc backend`: a Jupyter Server of ours, for kernels that outlive the program that uses them, and for notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from notebook_bcc.cli.options.run import LangOption, TokenFileOption, settings_of
from notebook_bcc.cli.stopping import until_stopped
from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.kernel.jupyter_server.backend import PORT, Backend, serve_backend
from notebook_bcc.settings import read_token
from notebook_bcc.views.words import Words


async def backend_command(
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Where to listen.")] = PORT,
    root: Annotated[
        Path, typer.Option("--root", help="The folder the server sees; give the one you type `nbcc run` in.")
    ] = Path("."),
    token_file: TokenFileOption = None,
    lang: LangOption = None,
) -> None:
    """Start a Jupyter Server on this machine for remote execution, until Ctrl-C. Its kernels end with it.

    The token is the one of --token-file or BACKEND_TOKEN; without either one is made up and shown once. Output rate
    limits are off: what cells print arrives. With --notebook-id a run keeps its notebook here too, while it goes on.

    \b
      nbcc backend
      export USE_REMOTE_EXECUTION=true BACKEND_TOKEN=...                 in another terminal
      nbcc run hello.yaml --notebook-id hello
    """
    settings = settings_of(lang=lang)
    words = Words(settings.lang)
    if not root.is_dir():
        raise SettingsInvalid(f"--root {str(root)!r} is not a folder")
    token = read_token(token_file) if token_file is not None else settings.backend_token

    def ready(server: Backend) -> None:
        print(words("backend", url=server.url, root=root.resolve()), flush=True)
        if not token:
            print(words("token", token=server.token), flush=True)
        variables = f"USE_REMOTE_EXECUTION=true BACKEND_BASE_URL={server.url} BACKEND_TOKEN=..."
        print(words("backend_use", command=f"{variables} nbcc run SCRIPT.yaml"), flush=True)

    await until_stopped(serve_backend(root, port=port, token=token, on_ready=ready))
