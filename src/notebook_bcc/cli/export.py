"""`nbcc export`: a run's notebook for readers, made from the journal."""

from __future__ import annotations

import asyncio
import functools
import sys
import tempfile
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from notebook_bcc.cli.options.run import RunArgument, RunsOption, settings_of
from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import NotebookFailed
from notebook_bcc.lifecycle.deliverables import delivered_files
from notebook_bcc.lifecycle.folder import RunFolder, find_run
from notebook_bcc.lifecycle.handover import place_files
from notebook_bcc.lifecycle.history import load_state
from notebook_bcc.lifecycle.saver import notebook_metadata, shown_document
from notebook_bcc.lifecycle.session import reader_language
from notebook_bcc.lifecycle.verified import VERIFIED
from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.export.formats import ExportFormat, export_notebook
from notebook_bcc.notebook.export.pdf import print_page
from notebook_bcc.notebook.export.report import report_page
from notebook_bcc.notebook.ipynb import NotebookMetadata, write_notebook
from notebook_bcc.notebook.reading import read_notebook
from notebook_bcc.protocol.vocabulary import Language
from notebook_bcc.web.export import static_page
from notebook_bcc.wiring import journals, run_factories

STDOUT = "-"


class Form(StrEnum):
    """What a run can be exported to."""

    HTML = "html"
    REPORT = "report"
    MARKDOWN = "markdown"
    SCRIPT = "script"
    IPYNB = "ipynb"
    PDF = "pdf"
    PAGE = "page"


async def export_command(
    run: RunArgument,
    to: Annotated[Form, typer.Option("--to", help="The form to write.")] = Form.HTML,
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            help="FILE, FOLDER/, or - for standard output; default: beside the notebook.",
            metavar="PATH",
        ),
    ] = "",
    everything: Annotated[bool, typer.Option("--all", help="Include code cells whose last execution failed.")] = False,
    runs: RunsOption = None,
) -> None:
    """Write a run's notebook from its journal: as an HTML page that needs no network, a report with its code folded,
    the report as PDF (printed by a Chromium on this machine), Markdown, a script or .ipynb. `page` is the run as
    `nbcc web` shows it, in one file: plan, notebook, findings, variables.

    Works at any time, also while the run goes on or when its notebook file was lost.
    """
    folder = find_run(settings_of(runs=runs).runs, run)
    if to is Form.PAGE:
        await _write_page(folder, out, lang=settings_of(runs=runs).lang)
        return
    state = await load_state(folder, journals())
    document = shown_document(state, run=folder.typed, everything=everything)
    metadata = notebook_metadata(state, left_out=len(state.document.cells) - len(document.cells))
    metadata = _with_stamp(metadata, document, state, folder)
    usual = _default_target(folder, to, metadata, everything=everything)
    target = _target(out, usual)
    files = [(one.name, one.size) for one in delivered_files(folder)] if target == folder.delivered_report else []
    export = functools.partial(
        _written, to, document, metadata=metadata, reader=reader_language(state), files=files, alone=out == STDOUT
    )
    with tempfile.TemporaryDirectory(prefix="nbcc-export-") as place:
        made = await asyncio.to_thread(export, Path(place) / target.name)
        if out == STDOUT:
            sys.stdout.buffer.write(made[0].read_bytes())
            sys.stdout.flush()
            return
        names = {path.relative_to(place).as_posix(): path for path in made}
        await asyncio.to_thread(_place, names, target.parent)
    print("\n".join(str(target.parent / name) for name in names))


async def _write_page(folder: RunFolder, out: str, *, lang: Language) -> None:
    content = (await static_page(folder, lang, made=run_factories().timestamp())).encode()
    if out == STDOUT:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
        return
    target = _target(out, folder.delivered.with_name("page.html"))
    with tempfile.TemporaryDirectory(prefix="nbcc-export-") as place:
        made = Path(place) / target.name
        await asyncio.to_thread(made.write_bytes, content)
        await asyncio.to_thread(_place, {target.name: made}, target.parent)
    print(target)


def _place(files: Mapping[str, Path], folder: Path) -> None:
    """Put the files into the folder; what a person has edited there is kept under another name, and that is said."""
    if not folder.is_dir():
        raise NotebookFailed(path=str(folder), reason="this folder does not exist; create it, or choose another path")
    placed = place_files(folder, files, asked_for=True)
    for name, reason in placed.failed.items():
        raise NotebookFailed(path=str(folder / name), reason=reason)
    for name, kept in placed.kept.items():
        print(f"{folder / name} was changed since it was written: that version is now {kept}", file=sys.stderr)


def _written(
    to: Form,
    document: Document,
    target: Path,
    *,
    metadata: NotebookMetadata,
    reader: str,
    files: list[tuple[str, int]],
    alone: bool,
) -> list[Path]:
    """Write the form to `target`; the files that were written. `alone`: in one file, pictures included."""
    if to is Form.IPYNB:
        write_notebook(target, document, metadata=metadata)
        return [target]
    if to is Form.PDF:
        print_page(report_page(document, language=metadata.language, reader=reader, run=metadata.run), target)
        return [target]
    return export_notebook(
        document,
        target,
        form=ExportFormat(to.value),
        language=metadata.language,
        run=metadata.run,
        reader=reader,
        files=files,
        embed_pictures=alone,
    )


def _target(out: str, usual: Path) -> Path:
    """The file to write: the one that was named, or the usual name in the folder that was."""
    if not out:
        return usual
    if not out.endswith("/") and not Path(out).is_dir():
        return Path(out)
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotebookFailed(
            path=str(folder), reason=f"no folder can be made here: {error.strerror or error}"
        ) from error
    return folder / usual.name


def _default_target(folder: RunFolder, to: Form, metadata: NotebookMetadata, *, everything: bool) -> Path:
    if to in (Form.REPORT, Form.PDF):
        beside = folder.delivered_report.with_suffix(".pdf" if to is Form.PDF else ".html")
    else:
        suffix = ".ipynb" if to is Form.IPYNB else ExportFormat(to.value).suffix(language=metadata.language)
        beside = folder.delivered.with_suffix(suffix)
    return beside.with_stem(f"{beside.stem}-all") if everything else beside


def _with_stamp(metadata: NotebookMetadata, document: Document, state: RunState, folder: RunFolder) -> NotebookMetadata:
    """The metadata with the stamp of an earlier verification, if it was of these very cells."""
    try:
        file = read_notebook(folder.notebook)
    except NotebookFailed:
        return metadata
    stamp = file.run.get(VERIFIED)
    if stamp is None or file.document.cells != document.cells:
        return metadata
    return NotebookMetadata(
        kernel_name=metadata.kernel_name,
        display_name=metadata.display_name,
        language=metadata.language,
        language_version=metadata.language_version,
        file_extension=metadata.file_extension,
        run={**metadata.run, VERIFIED: stamp},
    )
