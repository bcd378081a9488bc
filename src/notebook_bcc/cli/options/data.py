"""The options of a run that begins with data, and of answers to its questions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.protocol.vocabulary import Language
from notebook_bcc.runs.data_check import check_place
from notebook_bcc.runs.data_files import DataWish, answer_inputs, format_of, is_script

TestOption = Annotated[
    Path | None, typer.Option("--test", help="Rows to predict: a file like the data, without the target.")
]
TargetOption = Annotated[
    list[str] | None, typer.Option("--target", help="The column to predict; give it again for more.", metavar="COLUMN")
]
GoalOption = Annotated[
    str, typer.Option("--goal", help="The goal in words. For data, it picks the target when it names a column.")
]
TimeOption = Annotated[
    str, typer.Option("--time", help="The column that orders rows in time: later rows test.", metavar="COLUMN")
]
GroupOption = Annotated[
    str,
    typer.Option("--group", help="The column of what rows share, such as a patient.", metavar="COLUMN"),
]
SheetOption = Annotated[str, typer.Option("--sheet", help="Of an Excel file: the sheet.", metavar="NAME")]
TableOption = Annotated[str, typer.Option("--table", help="Of an SQLite file: the table.", metavar="NAME")]
PlaybookOption = Annotated[
    str,
    typer.Option("--playbook", help="The playbook to follow: a name, or a folder. [default: dslc]", metavar="NAME|DIR"),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="Tell the run an input: the answer to its question.", metavar="NAME=VALUE"),
]


def data_wish(
    what: Path | None,
    *,
    test: Path | None,
    targets: Sequence[str],
    goal: str,
    time: str,
    group: str,
    sheet: str,
    table: str,
    playbook: str,
    planner: str,
    lang: Language,
) -> DataWish | None:
    """What was said about data; None for a run without. Raises SettingsInvalid, RunRefused."""
    said = {
        "--test": test,
        "--target": targets,
        "--time": time,
        "--group": group,
        "--sheet": sheet,
        "--table": table,
        "--playbook": playbook,
    }
    if what is None or is_script(what):
        stray = next((option for option, value in said.items() if value), None)
        if stray is not None:
            where = f"{str(what)!r} is a script" if what is not None else "there is no data file"
            raise SettingsInvalid(f"{stray} is for a run that begins with data, and {where}")
        return None
    for path in (what, test):
        if path is not None:
            check_place(path)
    form = format_of(what)
    if playbook and planner not in ("", "playbook", "llm"):
        raise SettingsInvalid("give --playbook or --planner, not both: a planner elsewhere has its own plan")
    for option, wanted in (("--sheet", "excel"), ("--table", "sqlite")):
        if said[option] and form != wanted:
            raise SettingsInvalid(f"{option} is for {wanted} files, and {str(what)!r} is none")
    if len(set(targets)) != len(targets) or not all(one.strip() for one in targets):
        raise SettingsInvalid("--target names a column that is empty or was named before")
    return DataWish(
        data=what,
        test=test,
        targets=tuple(targets),
        goal=goal,
        time=time,
        group=group,
        sheet=sheet,
        table=table,
        lang=lang,
    )


def set_inputs(pairs: Sequence[str], targets: Sequence[str]) -> dict[str, Any]:
    """The inputs of `--set NAME=VALUE` and `--target COLUMN`. Raises SettingsInvalid."""
    answers = []
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip().isidentifier() or not value:
            raise SettingsInvalid(f"--set {pair!r} cannot be used: give NAME=VALUE, as in --set target=price")
        answers.append((name.strip(), value))
    return answer_inputs([*answers, *(("target", one) for one in targets)])
