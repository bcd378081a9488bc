"""`nbcc predict`: new rows, by the model of a run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from notebook_bcc.cli.options.run import AllowNetOption, RunsOption, SandboxOption, complete_run, settings_of
from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import BccError, RunRefused
from notebook_bcc.lifecycle.folder import RunFolder, find_run
from notebook_bcc.lifecycle.history import load_state
from notebook_bcc.lifecycle.predict import MODEL, PredictOrder, predict, predict_confinement
from notebook_bcc.lifecycle.sandbox_request import SandboxRequest
from notebook_bcc.notebook.atomic import replace_file
from notebook_bcc.views.narration import one_line, safe
from notebook_bcc.wiring import journals, run_factories

STANDARD_OUTPUT = "-"

_DEFAULT_KERNEL = "python3"


async def predict_command(
    run: Annotated[
        str,
        typer.Argument(
            help="A run, a folder that one has delivered, or a model in it.",
            metavar="RUN|FOLDER|MODEL.pkl",
            autocompletion=complete_run,
        ),
    ],
    data: Annotated[Path, typer.Argument(help="A file with new rows, written like the run's own.", metavar="DATA")],
    out: Annotated[
        str, typer.Option("--out", "-o", help="Where; `-`: standard output. [default: DATA-predictions.csv]")
    ] = "",
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="The probability of every class instead of the class.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there already.")] = False,
    sandbox: SandboxOption = None,
    allow_net: AllowNetOption = False,
    runs: RunsOption = None,
) -> None:
    """Predict new rows with the model that a run has saved.

    The file is read the way the run's own file was read (encoding, separator, decimal sign, sheet, table), in a kernel
    of its own; where it is evidently written in another way, that is said and it is read as it is. CSV does for every
    model, also for one that learnt from Parquet, a workbook or a DataFrame. Its columns may
    stand in any order, and the target may be missing; a column that the model needs and does not find is named.
    Values that cannot be read and categories that the model has never seen are counted on standard error.

    A delivered folder, or a model in one, does as well as the run itself.
    """
    settings = settings_of(runs=runs)
    model, folder = _model_of(run, settings.runs)
    target = None if out == STANDARD_OUTPUT else Path(out) if out else Path(f"{data.stem}-predictions.csv")
    if target is not None and target.exists() and not overwrite:
        raise RunRefused(f"{str(target)!r} exists; choose another file with --out, or give --overwrite")
    tools = run_factories(settings)
    state = await load_state(folder, journals()) if folder is not None else RunState(run_id=str(model))
    order = PredictOrder(
        model=model,
        data=data,
        kernel=state.kernel.name or _DEFAULT_KERNEL,
        probabilities=probabilities,
        confinement=predict_confinement(
            state, try_rung=tools.try_rung, request=SandboxRequest(sandbox, allow_net=allow_net)
        ),
    )
    made = await predict(order, tools)
    for remark in made.doubts:
        print(f"nbcc: {one_line(safe(remark), limit=500)}", file=sys.stderr)
    if target is None:
        sys.stdout.write(made.content.decode("utf-8"))
        return
    replace_file(target, [made.content])
    print(target)


def _model_of(word: str, root: Path) -> tuple[Path, RunFolder | None]:
    """The model that is meant, and its run if that is still here: a delivered folder may be anywhere."""
    path = Path(word)
    given = path if path.suffix == ".pkl" else path / MODEL
    if word and given.is_file():
        try:
            return given, find_run(root, word)
        except BccError:
            return given, None
    folder = find_run(root, word)
    if not (folder.path / MODEL).is_file():
        raise RunRefused(f"run {folder.run_id!r} has no {MODEL}: it has not made a model that can predict")
    return folder.path / MODEL, folder
