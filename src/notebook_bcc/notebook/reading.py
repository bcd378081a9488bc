"""Notebook files that exist already, of any author: read, checked by nbformat, turned into our cells."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from notebook_bcc.errors import NotebookFailed
from notebook_bcc.notebook.atomic import replace_file
from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.encoding import encoded
from notebook_bcc.notebook.export.thinking import unfolded_text
from notebook_bcc.notebook.ipynb import NAMESPACE, THINKING_TAG
from notebook_bcc.notebook.soundness import sound_content
from notebook_bcc.protocol.cells import CELL_ID, Cell
from notebook_bcc.protocol.vocabulary import CellType

_JSON = dict[str, Any]


@dataclass(frozen=True, slots=True)
class NotebookFile:
    """A valid notebook that was read. `metadata` is the notebook's own, `run` what we wrote into it."""

    path: Path
    document: Document
    metadata: Mapping[str, Any]

    @property
    def run(self) -> Mapping[str, Any]:
        return _mapping(self.metadata.get(NAMESPACE))

    @property
    def language(self) -> str:
        info, spec = _mapping(self.metadata.get("language_info")), _mapping(self.metadata.get("kernelspec"))
        return str(info.get("name") or spec.get("language") or "python")


def read_notebook(path: Path) -> NotebookFile:
    """Read and validate a notebook; older formats are upgraded. Raises NotebookFailed with the reason."""
    content = read_content(path)
    cells = [_cell(cell) for cell in content["cells"]]
    metadata = content["metadata"]
    return NotebookFile(path=path, document=document_of(cells, title=str(metadata.get("title", ""))), metadata=metadata)


def document_of(cells: list[Cell], *, title: str = "") -> Document:
    """A document of these cells, with chapters and sections counted as their metadata says."""
    document = Document(
        title=title,
        chapters=sum(bool(cell.metadata.get("is_chapter")) for cell in cells),
        sections=sum(bool(cell.metadata.get("is_section")) for cell in cells),
    )
    for cell in cells:
        document = document.with_cell(cell)
    return document


def stamp_notebook(path: Path, **facts: Any) -> None:  # Any: JSON values
    """Set facts in our part of a notebook's metadata; everything else in the file stays as it is, atomically.

    Raises NotebookFailed; the file is then unchanged.
    """
    read_content(path)
    content: _JSON = json.loads(path.read_bytes())
    metadata = content.setdefault("metadata", {})
    metadata[NAMESPACE] = {**_mapping(metadata.get(NAMESPACE)), **facts}
    replace_file(path, [encoded(content), b"\n"])


def read_content(path: Path) -> _JSON:
    """A valid notebook as JSON, every text in one piece. Raises NotebookFailed with the reason."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise NotebookFailed(path=str(path), reason=f"it cannot be read ({error.strerror or error})") from error
    content = sound_content(data)
    return content if content is not None else _converted(path, data)


def _converted(path: Path, data: bytes) -> _JSON:
    """Have nbformat upgrade and validate what is not plainly sound."""
    import nbformat  # it takes seconds to load where jsonschema's formats are installed

    try:
        # nbformat gives its newer functions types, but not these.
        versioned = nbformat.reader.reads(data.decode())  # type: ignore[no-untyped-call]
        content = nbformat.convert(versioned, 4)  # type: ignore[no-untyped-call]
        _complete_ids(content)
        nbformat.validate(content)
    except UnicodeDecodeError as error:
        raise NotebookFailed(path=str(path), reason=f"it is not UTF-8 text (byte {error.start})") from error
    except nbformat.reader.NotJSONError as error:
        raise NotebookFailed(path=str(path), reason="it is not JSON: cut off, or not a notebook at all") from error
    except nbformat.ValidationError as error:
        problem = str(error).strip().splitlines()[0]
        raise NotebookFailed(path=str(path), reason=f"it is not a valid notebook: {problem}") from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        # JSON that is no notebook (a list, cells that are numbers) fails inside nbformat's conversion.
        raise NotebookFailed(path=str(path), reason="it is JSON, but not a notebook") from error
    made: _JSON = content
    return made


def _complete_ids(content: _JSON) -> None:
    """Give ids to the cells of older formats, and new ones in place of repeated ones: the same every time."""
    if (content["nbformat"], content["nbformat_minor"]) < (4, 5):
        content["nbformat_minor"] = 5
    taken = {cell["id"] for cell in content["cells"] if "id" in cell}
    seen: set[str] = set()
    for number, cell in enumerate(content["cells"], start=1):
        cell_id = cell.get("id")
        if not isinstance(cell_id, str) or cell_id in seen or not CELL_ID.fullmatch(cell_id):
            cell_id = _free_id(number, taken)
        cell["id"] = cell_id
        taken.add(cell_id)
        seen.add(cell_id)


def _free_id(number: int, taken: set[str]) -> str:
    wanted = f"cell-{number}"
    while wanted in taken:
        wanted += "-b"
    return wanted


def _cell(cell: _JSON) -> Cell:
    metadata = _own_metadata(cell)
    match cell["cell_type"]:
        case "code":
            return Cell(
                id=cell["id"],
                type=CellType.CODE,
                source=cell["source"],
                outputs=tuple(_plain(output) for output in cell["outputs"]),
                execution_count=cell["execution_count"],
                metadata=metadata,
            )
        case "markdown" if metadata.get("thinking"):
            return _thinking_cell(cell, metadata)
        case "markdown":
            return Cell(id=cell["id"], type=CellType.MARKDOWN, source=cell["source"], metadata=metadata)
        case _:
            # A raw cell is meant for a converter; a reader gets to see it as it stands.
            source = f"~~~~~~\n{cell['source']}\n~~~~~~"
            return Cell(id=cell["id"], type=CellType.MARKDOWN, source=source, metadata=metadata)


def _thinking_cell(cell: _JSON, metadata: _JSON) -> Cell:
    # The tag was added by the writer; a cell is the same after a round trip.
    tags = [tag for tag in metadata.pop("tags", ()) if tag != THINKING_TAG]
    if tags:
        metadata["tags"] = tags
    return Cell(id=cell["id"], type=CellType.THINKING, source=unfolded_text(cell["source"]), metadata=metadata)


def _own_metadata(cell: _JSON) -> _JSON:
    metadata = dict(_plain(_mapping(cell["metadata"].get(NAMESPACE))))
    if cell["metadata"].get("tags"):
        metadata["tags"] = _plain(cell["metadata"]["tags"])
    if cell.get("attachments"):
        metadata["attachments"] = _plain(cell["attachments"])
    return metadata


def _plain(value: Any) -> Any:  # Any: a JSON value; nbformat's own dict class becomes a plain dict
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
