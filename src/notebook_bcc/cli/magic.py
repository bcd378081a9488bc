"""`%nbcc` in IPython and Jupyter, after `%load_ext notebook_bcc`: the command line without leaving the notebook."""

from __future__ import annotations

import shlex
import subprocess
import sys
from typing import Any

import typer
from typer.main import get_command

from notebook_bcc.api.frames import is_frame
from notebook_bcc.api.front import run
from notebook_bcc.api.options import keywords_of
from notebook_bcc.api.run import Run
from notebook_bcc.cli.run import run_command

_COMMAND = [sys.executable, "-c", "from notebook_bcc.cli.main import main; main()"]


def load_ipython_extension(shell: Any) -> None:  # Any: IPython's shell, which is not imported for it
    """Give the shell the magic `%nbcc`. IPython calls this."""

    def nbcc(line: str) -> Run | None:
        """`%nbcc run DATA --target COLUMN` gives the run, to look at or to keep: `run = %nbcc run ...`. DATA may be the
        name of a DataFrame. Any other command of `nbcc` writes what it writes on a terminal."""
        words = shlex.split(line)
        if words[:1] == ["run"]:
            return _run(words[1:], shell.user_ns)
        _write(words)
        return None

    shell.register_magic_function(nbcc, "line", "nbcc")


def _run(arguments: list[str], names: dict[str, Any]) -> Run | None:  # Any: a notebook's variables
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command("run")(run_command)
    try:
        said = get_command(app).make_context("%nbcc run", arguments).params
    except typer.Exit:
        # It was asked for help, and has printed it.
        return None
    what = said["what"]
    data = names[str(what)] if what is not None and is_frame(names.get(str(what))) else what
    options = keywords_of(said | {"verify": not said["no_verify"]})
    if said["quiet"]:
        options["progress"] = False
    return run(data, **options)


def _write(words: list[str]) -> None:
    """Carry any other command out in a process of its own, which has an event loop of its own."""
    done = subprocess.run([*_COMMAND, *words], capture_output=True, text=True, encoding="utf-8", check=False)
    print(done.stdout, end="")
    print(done.stderr, end="", file=sys.stderr)
