"""The front door of the command line: which commands there are, the event loop, and the border post for errors."""

from __future__ import annotations

import asyncio
import functools
import inspect
import io
import itertools
import logging
import shlex
import sys
import traceback
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from notebook_bcc import __version__
from notebook_bcc.cli.codes import Exit, exit_of_error, table
from notebook_bcc.errors import BccError
from notebook_bcc.protocol.vocabulary import Language
from notebook_bcc.settings import read_settings

# Where each command lives and what `nbcc --help` says about it. The modules are loaded when the command is used: they
# need pydantic's models, SQLite and ZeroMQ, half a second that `--help` does not need.
COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "run": ("notebook_bcc.cli.run", "From a data file or a script to an executed notebook and a report."),
    "resume": ("notebook_bcc.cli.resume", "Go on with a run that stopped, from its last completed action."),
    "list": ("notebook_bcc.cli.overview", "List the runs, newest first."),
    "status": ("notebook_bcc.cli.overview", "Say how far a run is."),
    "show": ("notebook_bcc.cli.show", "Show a run's plan, cells, history or journal."),
    "export": (
        "notebook_bcc.cli.export",
        "Write a run's notebook as a page, a report, PDF, Markdown, script or .ipynb.",
    ),
    "verify": ("notebook_bcc.cli.verify", "Restart and run all: does the notebook give the same results?"),
    "predict": ("notebook_bcc.cli.predict", "Predict new rows with the model of a run."),
    "replay": ("notebook_bcc.cli.replay", "Carry out a recorded run again and compare the notebooks."),
    "pause": ("notebook_bcc.cli.commands", "Let a running run stop after its current action."),
    "cancel": ("notebook_bcc.cli.commands", "Cancel a run."),
    "confirm": ("notebook_bcc.cli.commands", "Accept the change of the plan that a run waits with."),
    "reject": ("notebook_bcc.cli.commands", "Decline the change of the plan that a run waits with."),
    "kernels": ("notebook_bcc.cli.kernels", "List the kernels that runs have left, or end them."),
    "logs": ("notebook_bcc.cli.kernels", "Show what the kernels of a run said."),
    "delete": ("notebook_bcc.cli.removal", "Delete runs."),
    "prune": ("notebook_bcc.cli.removal", "Delete old runs: all but the newest, older ones, failed ones."),
    "serve": ("notebook_bcc.cli.serve", "Answer planning and generating requests over HTTP."),
    "web": ("notebook_bcc.cli.web", "Watch and steer runs in a browser."),
    "backend": ("notebook_bcc.cli.backend", "Start a Jupyter Server for remote execution."),
    "planner": ("", "For people who write planners: observe, ask, apply, conform."),
    "config": ("notebook_bcc.cli.config", "Print the settings and where each came from."),
    "doctor": ("notebook_bcc.cli.doctor", "Try what runs need here: kernel, packages, sandboxes, fonts, disk."),
    "models": ("notebook_bcc.cli.models", "Check a language model: reachable, streaming, schema, speed, price."),
    "playbook": ("notebook_bcc.cli.playbook", "List, show, check or begin a playbook: a planner made of rules."),
    "fsm": ("notebook_bcc.cli.fsm", "Show the state machine."),
}
# Those of `nbcc planner`, in the order of an author's work.
PLANNER_COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "observe": (
        "notebook_bcc.cli.author.observe",
        "Show the next request to the planner and what its filter removed.",
    ),
    "ask": ("notebook_bcc.cli.author.ask", "Send a request to a planner and show its answer."),
    "apply": ("notebook_bcc.cli.author.apply", "Fold a planner's answer into a state, without touching the run."),
    "conform": ("notebook_bcc.cli.author.conform", "Check whether a DSLC server keeps the protocol."),
}
_PLANNER: Final = "planner"
# Earlier names of theirs that still work. `ask` is not one of them: it is to be what answers a run's question.
_FORMER: Final = ("observe", "apply", "conform")

_HELP: Final = f"""Run data-science workflows step by step in a real Jupyter notebook, without losing work.

\b
  nbcc run data.csv --target price   analyse a table: notebook, report, model; Ctrl-C pauses it
  nbcc run script.yaml               carry out a workflow of your own
  nbcc list                          see the runs there are
  nbcc resume last                   go on after a stop, a crash or a kill
  nbcc export last --to report       write the report again

\b
Exit codes:
{table()}
"""


def main() -> None:
    """Run the command that was typed, then exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets a substitute; no run ends because of one.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.argv[1:] = with_language_last(sys.argv[1:])
    language = reader_language(sys.argv[1:])
    if language == "en":
        application()(prog_name="nbcc")
    else:
        chinese = import_module("notebook_bcc.cli.chinese.usage")
        sys.exit(chinese.run_command_line(application(language)))


def with_language_last(arguments: Sequence[str]) -> list[str]:
    """The same, `--lang` said before the command as if it were an option of the command."""
    count = 1 if arguments and arguments[0].startswith("--lang=") else 2 if list(arguments[:1]) == ["--lang"] else 0
    command = list(arguments[count:])
    # Without a command there is nobody to read it: the help of them all is in this language by then.
    return [*command, *arguments[:count]] if command and not command[0].startswith("-") else list(arguments)


def reader_language(arguments: Sequence[str]) -> Language:
    """The language of help and errors: what `--lang` says, else the settings. Known before arguments are parsed."""
    said = [one.removeprefix("--lang=") for one in arguments if one.startswith("--lang=")]
    said += [after for one, after in itertools.pairwise(arguments) if one == "--lang"]
    try:
        return "zh" if "zh" in said else "en" if said else read_settings().lang
    except BccError:
        # A setting that makes no sense is complained of by the command that needs it.
        return "en"


def application(language: Language = "en") -> TyperGroup:
    """The command line, with every command loaded only when it is used."""
    classes = _classes(language)
    app = typer.Typer(
        cls=classes.group,
        rich_markup_mode=None,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        result_callback=functools.partial(finish, language=language),
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(help=_HELP)(_root)
    group = get_command(app)
    if not isinstance(group, TyperGroup):
        raise TypeError("an application with a callback is a group")
    for name, (module, summary) in COMMANDS.items():
        lazy = _LazyCommand(name, module, summary, classes=classes)
        group.add_command(_planner_group(summary, classes) if name == _PLANNER else lazy)
    for name in _FORMER:
        module, summary = PLANNER_COMMANDS[name]
        group.add_command(_FormerCommand(name, module, summary, classes=classes, hidden=True))
    group.add_command(_AskCommand("ask", hidden=True))
    return group


@dataclass(frozen=True, slots=True)
class _Classes:
    """What commands and groups are made of: their help has a language."""

    command: type[TyperCommand] = TyperCommand
    group: type[TyperGroup] = TyperGroup


def _classes(language: Language) -> _Classes:
    if language == "en":
        return _Classes()
    chinese = import_module("notebook_bcc.cli.chinese.help")
    return _Classes(chinese.ChineseCommand, chinese.ChineseGroup)


def _planner_group(summary: str, classes: _Classes) -> TyperGroup:
    return classes.group(
        name=_PLANNER,
        help=summary,
        commands={name: _LazyCommand(name, *one, classes=classes) for name, one in PLANNER_COMMANDS.items()},
        no_args_is_help=True,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


class _LazyCommand(TyperCommand):
    """A command whose name and summary are known, and whose module is loaded when it is called."""

    def __init__(self, name: str, module: str, summary: str, *, classes: _Classes, hidden: bool = False) -> None:
        super().__init__(name, help=summary, hidden=hidden)
        self._module = module
        self._classes = classes

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        # Any: the library's own context class has no public name.
        name = self.name or ""
        function = getattr(import_module(self._module), f"{name}_command")
        app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        app.command(name, cls=self._classes.command)(function)
        try:
            return get_command(app).make_context(info_name, args, parent=parent, **extra)
        except typer.BadParameter as error:
            # Loaded here alone: what it needs takes longer to load than the help of a command.
            words = import_module("notebook_bcc.protocol.problems")
            error.message = words.sentence_of(error.__cause__) or error.message
            raise


class _FormerCommand(_LazyCommand):
    """A command under the name it had before; it says the new one."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        # Any: as above. Whoever completes a line in a shell wants no remarks.
        if not extra.get("resilient_parsing"):
            print(f"nbcc: `nbcc {self.name}` is called `nbcc {_PLANNER} {self.name}` now", file=sys.stderr)
        return super().make_context(info_name, args, parent=parent, **extra)


class _AskCommand(TyperCommand):
    """The name that `nbcc planner ask` had before: it starts nothing, whatever it is given."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        # Any: as above.
        if not extra.get("resilient_parsing"):
            print(
                f"nbcc: to send a request to a planner: {shlex.join(['nbcc', _PLANNER, 'ask', *args])}", file=sys.stderr
            )
            raise typer.Exit(int(Exit.USAGE))
        return super().make_context(info_name, [], parent=parent, **extra)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"nbcc {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """The options that stand before a command."""


def finish(outcome: Coroutine[Any, Any, int | None], *, language: Language = "en", **_: Any) -> None:
    """Carry a command out. Whatever it raises becomes one message and an exit code, here and nowhere else."""
    if not inspect.iscoroutine(outcome):
        raise TypeError("every command is asynchronous")
    debugging = False
    try:
        level = read_settings().log_level
        debugging = level == "DEBUG"
        logging.basicConfig(level=level, stream=sys.stderr, format="%(asctime)s %(name)s %(levelname)s: %(message)s")
        # Its lines for every request would hide what the run does.
        logging.getLogger("httpx").setLevel(logging.NOTSET if debugging else logging.WARNING)
        # Loaded here alone: `--help` does not need it.
        for note in import_module("notebook_bcc.kernel.supervisor.notes").take_notes():
            print(f"nbcc: {note}", file=sys.stderr)
        code = asyncio.run(outcome)
    except BccError as error:
        outcome.close()
        _complain(str(error), language=language, debugging=debugging)
        code = exit_of_error(error)
    except KeyboardInterrupt:
        code = Exit.INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough. The interpreter would complain once more when it flushes.
        sys.stdout = None
        code = Exit.COMPLETED
    except Exception as error:  # noqa: BLE001  # the border post
        _complain(
            f"this is a fault of nbcc, not of yours: {type(error).__name__}: {error}\n"
            "What the run had done is in its journal; `nbcc resume` goes on from there. Please report this with the "
            "output of the same command under LOG_LEVEL=DEBUG.",
            language=language,
            debugging=debugging,
        )
        code = Exit.INTERNAL
    raise typer.Exit(int(code or 0))


def _complain(message: str, *, language: Language, debugging: bool) -> None:
    if language == "zh":
        message = import_module("notebook_bcc.cli.chinese.errors").in_chinese(message)
    print(f"nbcc: {message}", file=sys.stderr)
    if debugging:
        traceback.print_exc()
