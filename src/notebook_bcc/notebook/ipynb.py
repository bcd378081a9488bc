"""The notebook file: nbformat 4.5, written atomically, cheap to write again.

Reading, which needs nbformat's slow import, is in `reading`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, assert_never

from notebook_bcc.notebook.atomic import remove_abandoned, replace_file
from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.encoding import encoded
from notebook_bcc.notebook.export.thinking import folded_source
from notebook_bcc.protocol.cells import TAGS, Cell, Output
from notebook_bcc.protocol.vocabulary import CellType

# The key of everything ours in the metadata of the notebook and of a cell.
NAMESPACE = "notebook_bcc"
THINKING_TAG = "thinking"

# These stand outside our namespace in the file, where Jupyter looks for them.
_ATTACHMENTS = "attachments"

_PYTHON_INFO: Mapping[str, Any] = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "mimetype": "text/x-python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
}
_OUTPUT_FIELDS: Mapping[str, tuple[str, ...]] = {
    "stream": ("output_type", "name", "text"),
    "display_data": ("output_type", "data", "metadata"),
    "execute_result": ("output_type", "data", "metadata", "execution_count"),
    "error": ("output_type", "ename", "evalue", "traceback"),
}


@dataclass(frozen=True, slots=True)
class NotebookMetadata:
    """What the file says about itself. `run` is ours, under the key `notebook_bcc`: any JSON values."""

    kernel_name: str = "python3"
    display_name: str = "Python 3 (ipykernel)"
    language: str = "python"
    language_version: str = ""
    file_extension: str = ".py"
    run: Mapping[str, Any] = field(default_factory=dict)


_NO_METADATA = NotebookMetadata()


class NotebookEncoder:
    """Turns documents into the bytes of a notebook; a cell that did not change is not encoded again."""

    def __init__(self) -> None:
        self._encoded: dict[str, tuple[Cell, bytes]] = {}

    def parts(self, document: Document, *, metadata: NotebookMetadata = _NO_METADATA) -> list[bytes]:
        """The bytes of the file, in pieces."""
        known: dict[str, tuple[Cell, bytes]] = {}
        parts = [b'{\n "cells": [']
        separator = b"\n  "
        for cell in document.cells:
            found = self._encoded.get(cell.id)
            if found is None or found[0] is not cell:
                found = (cell, encoded(_file_cell(cell), depth=2))
            known[cell.id] = found
            parts.append(separator)
            parts.append(found[1])
            separator = b",\n  "
        self._encoded = known
        parts.append(b'\n ],\n "metadata": ' if known else b'],\n "metadata": ')
        parts.append(encoded(_file_metadata(document, metadata), depth=1))
        parts.append(b',\n "nbformat": 4,\n "nbformat_minor": 5\n}\n')
        return parts


class NotebookWriter:
    """Keeps one notebook file up to date. One writer per file; saving again costs what has changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._encoder = NotebookEncoder()
        self._tidied = False

    def write(self, document: Document, *, metadata: NotebookMetadata = _NO_METADATA) -> None:
        """Replace the file whole. Raises NotebookFailed; the version written before is then untouched."""
        if not self._tidied:
            remove_abandoned(self.path)
            self._tidied = True
        replace_file(self.path, self._encoder.parts(document, metadata=metadata))


def notebook_bytes(document: Document, *, metadata: NotebookMetadata = _NO_METADATA) -> bytes:
    """The document as the bytes of an `.ipynb` file: what nbformat would write for it."""
    return b"".join(NotebookEncoder().parts(document, metadata=metadata))


def write_notebook(path: Path, document: Document, *, metadata: NotebookMetadata = _NO_METADATA) -> None:
    """Write the notebook once, atomically. Raises NotebookFailed; an older file is then untouched."""
    NotebookWriter(path).write(document, metadata=metadata)


def _file_metadata(document: Document, metadata: NotebookMetadata) -> dict[str, Any]:
    language_info: dict[str, Any] = {"name": metadata.language, "file_extension": metadata.file_extension}
    if metadata.language == "python":
        language_info.update(_PYTHON_INFO)
    if metadata.language_version:
        language_info["version"] = metadata.language_version
    made: dict[str, Any] = {
        "kernelspec": {
            "display_name": metadata.display_name,
            "language": metadata.language,
            "name": metadata.kernel_name,
        },
        "language_info": language_info,
    }
    if document.title:
        made["title"] = document.title
    if metadata.run:
        made[NAMESPACE] = dict(metadata.run)
    return made


def _file_cell(cell: Cell) -> dict[str, Any]:
    match cell.type:
        case CellType.CODE:
            return {
                "cell_type": "code",
                "execution_count": cell.execution_count,
                "id": cell.id,
                "metadata": _cell_metadata(cell),
                "outputs": [_file_output(output) for output in cell.outputs],
                "source": _lines(cell.source),
            }
        case CellType.MARKDOWN:
            return _markdown(cell, cell.source)
        case CellType.THINKING:
            return _markdown(cell, folded_source(cell))
        case _:
            assert_never(cell.type)


def _markdown(cell: Cell, source: str) -> dict[str, Any]:
    made = {"cell_type": "markdown", "id": cell.id, "metadata": _cell_metadata(cell), "source": _lines(source)}
    if cell.metadata.get(_ATTACHMENTS):
        made[_ATTACHMENTS] = cell.metadata[_ATTACHMENTS]
    return made


def _cell_metadata(cell: Cell) -> dict[str, Any]:
    own = {key: value for key, value in cell.metadata.items() if key not in (TAGS, _ATTACHMENTS)}
    tags = [*cell.metadata.get(TAGS, ())]
    if cell.type is CellType.THINKING:
        own["thinking"] = True
        if THINKING_TAG not in tags:
            tags.append(THINKING_TAG)
    made: dict[str, Any] = {}
    if own:
        made[NAMESPACE] = own
    if tags:
        made[TAGS] = tags
    if cell.is_folded:
        made["jupyter"] = {"source_hidden": True}
    return made


def _file_output(output: Output) -> Output:
    # What a kernel adds beyond nbformat's fields (`transient`) would make the whole file invalid.
    fields = _OUTPUT_FIELDS.get(output["output_type"], tuple(output))
    made = {name: output[name] for name in fields if name in output}
    if isinstance(made.get("text"), str):
        made["text"] = _lines(made["text"])
    if "data" in made:
        made["data"] = {mime: _mime_value(mime, value) for mime, value in made["data"].items()}
    return made


def _mime_value(mime: str, value: Any) -> Any:  # Any: text, lines, or JSON for a JSON type
    is_text = mime.startswith("text/") or mime in ("application/javascript", "image/svg+xml")
    return _lines(value) if is_text and isinstance(value, str) else value


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)
