"""`%nbcc` in IPython and Jupyter, after `%load_ext notebook_bcc`: the command line without leaving the notebook."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from IPython.core.error import UsageError
from typer.main import get_command

from notebook_bcc.api.frames import is_frame
from notebook_bcc.api.front import run_as_typed
from notebook_bcc.api.options import keywords_of
from notebook_bcc.api.run import Run
from notebook_bcc.cli.run import run_command
from notebook_bcc.protocol.problems import sentence_of

_COMMAND = [sys.executable, "-c", "from notebook_bcc.cli.main import main; main()"]
# Quotes that do not close, and every error of the parser: its own class for them has no public name.
_LINE_ERRORS: tuple[type[Exception], ...] = (ValueError, typer.BadParameter.__bases__[0])


def load_ipython_extension(shell: Any) -> None:  # Any: IPython's shell, which is not imported for it
    """Give the shell the magic `%nbcc`. IPython calls this."""

    def nbcc(line: str) -> Run | None:
        """`%nbcc run DATA --target COLUMN` gives the run, to look at or to keep: `run = %nbcc run ...`. DATA may be the
        name of a DataFrame. Any other command of `nbcc` writes what it writes on a terminal."""
        with _usage_errors():
            words = shlex.split(line)
            said = _options(words[1:]) if words[:1] == ["run"] else None
        if said is not None:
            return _run(said, shell.user_ns)
        _write(words)
        return None

    shell.register_magic_function(nbcc, "line", "nbcc")


@contextmanager
def _usage_errors() -> Iterator[None]:
    """What is wrong with a line is shown in one line, as IPython does for its own magics."""
    try:
        yield
    except typer.BadParameter as error:
        error.message = sentence_of(error.__cause__) or error.message
        raise UsageError(error.format_message()) from error
    except _LINE_ERRORS as error:
        raise UsageError(str(error)) from error


def _options(arguments: list[str]) -> dict[str, Any]:  # Any: values that a command line has parsed
    """What was said to `nbcc run`; nothing where it was asked for help, and has printed it."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command("run")(run_command)
    try:
        return get_command(app).make_context("%nbcc run", arguments).params
    except typer.Exit:
        return {}


def _run(said: dict[str, Any], names: dict[str, Any]) -> Run | None:  # Any: options, and a notebook's variables
    if not said:
        return None
    what = said["what"]
    data = names[str(what)] if what is not None and is_frame(names.get(str(what))) else what
    options = keywords_of(said | {"verify": not said["no_verify"]})
    if said["quiet"]:
        options["progress"] = False
    return run_as_typed(data, **options)


def _write(words: list[str]) -> None:
    """Carry any other command out in a process of its own, which has an event loop of its own."""
    done = subprocess.run([*_COMMAND, *words], capture_output=True, text=True, encoding="utf-8", check=False)
    print(done.stdout, end="")
    print(done.stderr, end="", file=sys.stderr)
