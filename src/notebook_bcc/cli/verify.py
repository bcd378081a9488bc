"""`nbcc verify`: restart and run all, compare, stamp."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from notebook_bcc.cli.carry import drawn
from notebook_bcc.cli.codes import Exit
from notebook_bcc.cli.ending import report_verification
from notebook_bcc.cli.options.run import (
    AllowNetOption,
    CellTimeoutOption,
    JsonOption,
    LangOption,
    QuietOption,
    RunsOption,
    SandboxOption,
    settings_of,
)
from notebook_bcc.cli.stopping import until_stopped
from notebook_bcc.cli.view.choice import choose_view
from notebook_bcc.errors import RunNotFound
from notebook_bcc.lifecycle.factories import RunFactories
from notebook_bcc.lifecycle.folder import INPUTS_FOLDER, NOTEBOOK, RunFolder, find_run, run_folders
from notebook_bcc.lifecycle.handover import delivered_by
from notebook_bcc.lifecycle.operations import verify_run
from notebook_bcc.lifecycle.sandbox_request import SandboxRequest
from notebook_bcc.lifecycle.sandboxing import kept_confinement
from notebook_bcc.lifecycle.verify import VerifyOrder, verify_notebook
from notebook_bcc.notebook.reading import read_notebook
from notebook_bcc.protocol.limits import Limits
from notebook_bcc.protocol.specs import LocalKernelSpec, sandbox_of_text
from notebook_bcc.views.words import Words
from notebook_bcc.wiring import kernel_spec, run_factories


async def verify_command(
    what: Annotated[str, typer.Argument(help="A run, a notebook, or a delivered folder.", metavar="RUN|FILE.ipynb")],
    inputs: Annotated[
        Path | None,
        typer.Option("--inputs", help="The files the cells read. Default: the run's, or what lies beside the file."),
    ] = None,
    cell_timeout: CellTimeoutOption = None,
    sandbox: SandboxOption = None,
    allow_net: AllowNetOption = False,
    runs: RunsOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    lang: LangOption = None,
) -> int:
    """Run all cells of a notebook in order in a fresh kernel and compare the outputs with the recorded ones.

    The cells work in a copy of their input files. Text is compared exactly, apart from memory addresses, durations and
    ids; pictures by type and size. The result is stamped into the notebook's metadata (notebook_bcc.verified).
    Exit code 0 when everything is the same, 5 when not. 2 when a file that the cells read is not here: then nothing is
    stamped, and --inputs says where it is.
    """
    settings = settings_of(runs=runs, lang=lang)
    words = Words(settings.lang)
    path = _delivered_notebook(Path(what))
    folder = _run_of_file(path, settings.runs) if path.suffix == ".ipynb" else find_run(settings.runs, what)
    notebook = path if folder is None or path.suffix == ".ipynb" else folder.notebook
    beside = notebook.absolute().parent
    order = VerifyOrder(
        notebook=notebook,
        inputs=inputs or (folder.inputs if folder is not None else beside),
        place=_place_of(inputs) if inputs is not None else folder.inputs_place if folder is not None else "",
        tidy=inputs is not None or folder is not None,
        worked_in=folder.work if folder is not None else beside,
        cell_seconds=cell_timeout or 0.0,
        kernel_spec=kernel_spec(settings) if settings.use_remote_execution else None,
    )
    view = choose_view(words, as_json=as_json, quiet=quiet)
    async with drawn(view):
        factories, request = run_factories(settings), SandboxRequest(sandbox, allow_net=allow_net)
        result = await until_stopped(
            verify_notebook(_confined(order, request, factories), factories, on_cell=view.verifying)
            if folder is None
            else verify_run(folder, order, factories=factories, on_cell=view.verifying, request=request)
        )
        view.close()
        if result is None:
            return Exit.INTERRUPTED
        return Exit.COMPLETED if report_verification(result, view, words) else Exit.UNVERIFIED


def _confined(order: VerifyOrder, request: SandboxRequest, factories: RunFactories) -> VerifyOrder:
    """Of a notebook whose run is not here: it says itself whether that was confined. Raises RunRefused."""
    said = str(read_notebook(order.notebook).run.get("sandbox", ""))
    kept = kept_confinement(
        sandbox_of_text(said),
        Limits(),
        request,
        kernel=order.kernel_spec or LocalKernelSpec(),
        try_rung=factories.try_rung,
        run=str(order.notebook),
    )
    return replace(order, confinement=kept)


def _delivered_notebook(path: Path) -> Path:
    """The notebook of a folder that a run has delivered; a run's own folder stays what it is."""
    return path / NOTEBOOK if delivered_by(path) not in ("", path.absolute().name) else path


def _run_of_file(path: Path, root: Path) -> RunFolder | None:
    """The run that wrote this notebook, if it is one of ours and still here."""
    run_id = read_notebook(path).run.get("run_id")
    try:
        found = find_run(root, str(path))
    except RunNotFound:
        return next((folder for folder in run_folders(root) if folder.run_id == run_id), None)
    # A notebook of another run that was put into this one's folder is checked by what lies beside it.
    return found if found.run_id == run_id else None


def _place_of(inputs: Path) -> str:
    """Where these files go in the working directory: a folder that is called `inputs` keeps its name, as notebooks that
    nbcc delivers read `inputs/...`."""
    return INPUTS_FOLDER if inputs.absolute().name == INPUTS_FOLDER else ""
