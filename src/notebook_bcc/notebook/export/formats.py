"""Notebooks for readers without Jupyter: one HTML page, a report, Markdown, or a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, assert_never

from notebook_bcc.errors import NotebookFailed
from notebook_bcc.notebook.atomic import replace_file
from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.export.html import html_page
from notebook_bcc.notebook.export.markdown import MarkdownExport, markdown_text
from notebook_bcc.notebook.export.report import report_page
from notebook_bcc.notebook.export.script import script_text

__all__ = [
    "ExportFormat",
    "MarkdownExport",
    "export_notebook",
    "html_page",
    "markdown_text",
    "report_page",
    "script_text",
]


class ExportFormat(StrEnum):
    """What a notebook can be exported to."""

    HTML = "html"
    REPORT = "report"
    MARKDOWN = "markdown"
    SCRIPT = "script"

    def suffix(self, *, language: str = "python") -> str:
        """How the exported file's name ends."""
        match self:
            case ExportFormat.HTML | ExportFormat.REPORT:
                return ".html"
            case ExportFormat.MARKDOWN:
                return ".md"
            case ExportFormat.SCRIPT:
                return {"python": ".py", "r": ".r", "julia": ".jl"}.get(language.lower(), ".txt")
            case _:
                assert_never(self)


def export_notebook(
    document: Document,
    target: Path,
    *,
    form: ExportFormat,
    language: str = "python",
    run: Mapping[str, Any] | None = None,
    fold_code: bool = False,
    thinking: bool = True,
    embed_pictures: bool = False,
    reader: str = "",
    files: Sequence[tuple[str, int]] = (),
) -> list[Path]:
    """Write the notebook to `target`, atomically, and give every file written.

    `reader` and `files` are for a report: the language it speaks, and the names and sizes of what lies beside it.
    The pictures of a Markdown export go to a folder `<name>_files` beside it unless they are embedded; a script has
    no thoughts. Raises NotebookFailed.
    """
    match form:
        case ExportFormat.HTML:
            page = html_page(document, language=language, run=run, fold_code=fold_code, thinking=thinking)
            return [_written(target, page.encode())]
        case ExportFormat.REPORT:
            report = report_page(document, language=language, reader=reader, run=run, files=files)
            return [_written(target, report.encode())]
        case ExportFormat.MARKDOWN:
            folder = "" if embed_pictures else f"{target.stem}_files"
            made = markdown_text(document, folder=folder, language=language, thinking=thinking)
            if made.pictures:
                _make_folder(target.parent / folder)
            pictures = [_written(target.parent / path, content) for path, content in made.pictures.items()]
            return [_written(target, made.text.encode()), *pictures]
        case ExportFormat.SCRIPT:
            return [_written(target, script_text(document, language=language).encode())]
        case _:
            assert_never(form)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        reason = f"the folder for its pictures cannot be made ({error.strerror or error})"
        raise NotebookFailed(path=str(folder), reason=reason) from error


def _written(path: Path, content: bytes) -> Path:
    replace_file(path, [content])
    return path
