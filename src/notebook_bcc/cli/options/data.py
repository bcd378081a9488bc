"""The options of a run that begins with data, and of answers to its questions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from notebook_bcc.api.options import TargetKind
from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.lifecycle.data_files import answer_inputs

TestOption = Annotated[
    Path | None, typer.Option("--test", help="Rows to predict: a file like the data, without the target.")
]
TargetOption = Annotated[
    list[str] | None, typer.Option("--target", help="The column to predict; give it again for more.", metavar="COLUMN")
]
GoalOption = Annotated[
    str,
    typer.Option(
        "--goal", help="The goal in words. For data, it is a question to answer, or says what to do with which column."
    ),
]
TaskOption = Annotated[
    str,
    typer.Option(
        "--task",
        help="What to do: predict, drivers (what drives the target), describe, or answer (the question of --goal). "
        "Default: what the goal asks for; with a target, predict.",
        metavar="TASK",
    ),
]
TimeOption = Annotated[
    str, typer.Option("--time", help="The column that orders rows in time: later rows test.", metavar="COLUMN")
]
GroupOption = Annotated[
    str,
    typer.Option("--group", help="The column of what rows share, such as a patient.", metavar="COLUMN"),
]
KindOption = Annotated[
    TargetKind | None,
    typer.Option("--kind", help="Whether the target is a quantity or a class. [default: its values decide]"),
]
KeepOption = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        help="A column to use even if it looks like the answer or an identifier; again for more.",
        metavar="COLUMN",
    ),
]
SheetOption = Annotated[str, typer.Option("--sheet", help="Of an Excel file: the sheet.", metavar="NAME")]
TableOption = Annotated[str, typer.Option("--table", help="Of an SQLite file: the table.", metavar="NAME")]
PlaybookOption = Annotated[
    str,
    typer.Option("--playbook", help="The playbook to follow: a name, or a folder. [default: dslc]", metavar="NAME|DIR"),
]


def read_variables(pairs: list[str] | None) -> dict[str, Any] | None:  # Any: JSON values
    """The variables of `--var NAME=VALUE`; None where none was given. Raises BadParameter."""
    found: dict[str, Any] = {}
    for pair in pairs or ():
        name, equals, text = pair.partition("=")
        if not equals or not name.isidentifier():
            raise typer.BadParameter(f"{pair!r} is not NAME=VALUE, as in --var csv_file_path=data/train.csv")
        if name in found:
            raise typer.BadParameter(f"{name!r} is given twice")
        found[name] = _json_or_text(text)
    return found or None


def _json_or_text(text: str) -> Any:  # Any: a JSON value
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return text


def _no_constant(name: str) -> Any:  # Any: the type of a parser's hook
    raise ValueError(f"JSON has no {name}")


VarOption = Annotated[
    list[str] | None,
    typer.Option(
        "--var",
        help="A starting variable that the planner sees in context.variables; again for more. The value is JSON where "
        "it can be read as such, else text.",
        metavar="NAME=VALUE",
        callback=read_variables,
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="Tell the run an input: the answer to its question.", metavar="NAME=VALUE"),
]


def set_inputs(pairs: Sequence[str], targets: Sequence[str]) -> dict[str, Any]:
    """The inputs of `--set NAME=VALUE` and `--target COLUMN`. Raises SettingsInvalid."""
    answers = []
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip().isidentifier() or not value:
            raise SettingsInvalid(f"--set {pair!r} cannot be used: give NAME=VALUE, as in --set target=price")
        answers.append((name.strip(), value))
    return answer_inputs([*answers, *(("target", one) for one in targets)])
