"""`nbcc export`: a run's notebook for readers, made from the journal."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from notebook_bcc.cli.options import RunArgument, RunsOption, settings_of
from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import NotebookFailed
from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.export import ExportFormat, export_notebook
from notebook_bcc.notebook.ipynb import NotebookMetadata, write_notebook
from notebook_bcc.notebook.reading import read_notebook
from notebook_bcc.runs.deliverables import delivered_files
from notebook_bcc.runs.folder import RunFolder, find_run
from notebook_bcc.runs.lifecycle import load_state
from notebook_bcc.runs.saver import notebook_metadata, shown_document
from notebook_bcc.runs.session import reader_language
from notebook_bcc.runs.verify import VERIFIED


class Form(StrEnum):
    """What a run can be exported to."""

    HTML = "html"
    REPORT = "report"
    MARKDOWN = "markdown"
    SCRIPT = "script"
    IPYNB = "ipynb"


async def export_command(
    run: RunArgument,
    to: Annotated[Form, typer.Option("--to", help="The form to write.")] = Form.HTML,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where; default: beside the notebook.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Include code cells whose last execution failed.")] = False,
    runs: RunsOption = None,
) -> None:
    """Write a run's notebook from its journal: as an HTML page that needs no network, a report with its code folded,
    Markdown, a script or .ipynb.

    Works at any time, also while the run goes on or when its notebook file was lost.
    """
    folder = find_run(settings_of(runs=runs).runs, run)
    state = await load_state(folder)
    document = shown_document(state, run_id=folder.run_id, everything=everything)
    metadata = notebook_metadata(state, left_out=len(state.document.cells) - len(document.cells))
    target = out if out is not None else _default_target(folder, to, metadata, everything=everything)
    metadata = _with_stamp(metadata, document, state, folder)
    if to is Form.IPYNB:
        write_notebook(target, document, metadata=metadata)
        written = [target]
    else:
        beside = delivered_files(folder) if target == folder.delivered_report else ()
        written = export_notebook(
            document,
            target,
            form=ExportFormat(to.value),
            language=metadata.language,
            run=metadata.run,
            reader=reader_language(state),
            files=[(one.name, one.size) for one in beside],
        )
    print("\n".join(str(path) for path in written))


def _default_target(folder: RunFolder, to: Form, metadata: NotebookMetadata, *, everything: bool) -> Path:
    suffix = ".ipynb" if to is Form.IPYNB else ExportFormat(to.value).suffix(language=metadata.language)
    beside = folder.delivered_report if to is Form.REPORT else folder.delivered.with_suffix(suffix)
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
