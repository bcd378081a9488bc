"""`nbcc predict`: new rows, by the model of a run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from notebook_bcc.cli.options.run import RunArgument, RunsOption, settings_of
from notebook_bcc.errors import RunRefused
from notebook_bcc.notebook.atomic import replace_file
from notebook_bcc.runs.folder import find_run
from notebook_bcc.runs.history import load_state
from notebook_bcc.runs.predict import PredictOrder, predict
from notebook_bcc.wiring import journals, run_factories

STANDARD_OUTPUT = "-"


async def predict_command(
    run: RunArgument,
    data: Annotated[Path, typer.Argument(help="A file with new rows, written like the run's own.", metavar="DATA")],
    out: Annotated[
        str, typer.Option("--out", "-o", help="Where; `-`: standard output. [default: DATA-predictions.csv]")
    ] = "",
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="The probability of every class instead of the class.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there already.")] = False,
    runs: RunsOption = None,
) -> None:
    """Predict new rows with the model that a run has saved.

    The file is read the way the run's own file was read (encoding, separator, decimal sign, sheet, table), in a kernel
    of its own. Columns of other names are not needed; one that the model needs and does not find is named.
    """
    settings = settings_of(runs=runs)
    folder = find_run(settings.runs, run)
    target = None if out == STANDARD_OUTPUT else Path(out) if out else Path(f"{data.stem}-predictions.csv")
    if target is not None and target.exists() and not overwrite:
        raise RunRefused(f"{str(target)!r} exists; choose another file with --out, or give --overwrite")
    state = await load_state(folder, journals())
    order = PredictOrder(data=data, kernel=state.kernel.name or "python3", probabilities=probabilities)
    content = await predict(folder, order, run_factories(settings))
    if target is None:
        sys.stdout.write(content.decode("utf-8"))
        return
    replace_file(target, [content])
    print(target)
