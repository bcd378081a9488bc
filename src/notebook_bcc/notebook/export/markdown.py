"""The notebook as a Markdown text, with its pictures in files beside it or inside the text."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, assert_never
from urllib.parse import quote

from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.encoding import clean_text
from notebook_bcc.notebook.export.ansi import plain_text
from notebook_bcc.notebook.export.outputs import (
    IMAGE_EXTENSIONS,
    Html,
    Interactive,
    MarkdownOutput,
    PictureOutput,
    TextOutput,
    joined,
    shown,
)
from notebook_bcc.notebook.export.sanitising import safe_html, shows_something
from notebook_bcc.notebook.export.thinking import folded_source
from notebook_bcc.protocol.cells import Cell, Output
from notebook_bcc.protocol.vocabulary import CellType

_FENCE = re.compile(r"`{3,}")
_EMPTY_LINES = re.compile(r"\n\s*")
_ATTACHED = re.compile(r"\(attachment:([^()\s]+)((?:\s[^()]*)?)\)")
_NO_NAME = re.compile(r"[^A-Za-z0-9-]+")
_INTERACTIVE = "*Interactive output: open the notebook in Jupyter to see it.*"

# Takes a picture and the name it should have, gives the address to use in the text.
_Placed = Callable[[PictureOutput, str], str]


@dataclass(frozen=True, slots=True)
class MarkdownExport:
    """The text, and the pictures it refers to by relative path."""

    text: str
    pictures: Mapping[PurePosixPath, bytes]


def markdown_text(
    document: Document, *, folder: str = "", language: str = "python", thinking: bool = True
) -> MarkdownExport:
    """The notebook as Markdown. Pictures go to `folder`, relative to the text; without one they are embedded."""
    pictures: dict[PurePosixPath, bytes] = {}

    def place(picture: PictureOutput, name: str) -> str:
        if not folder:
            return picture.data_uri
        path = PurePosixPath(folder, f"{name}.{IMAGE_EXTENSIONS[picture.mime]}")
        pictures[path] = picture.content
        return quote(str(path))

    cells = [cell for cell in document.cells if thinking or cell.type is not CellType.THINKING]
    blocks = [block for cell in cells for block in _cell_blocks(cell, language, place)]
    return MarkdownExport(text=clean_text("\n\n".join(blocks)).rstrip("\n") + "\n", pictures=pictures)


def _cell_blocks(cell: Cell, language: str, place: _Placed) -> list[str]:
    match cell.type:
        case CellType.MARKDOWN:
            return [_with_attachments(cell, place)]
        case CellType.THINKING:
            return [folded_source(cell)]
        case CellType.CODE:
            outputs = (_output(output, f"{cell.id}-{at}", place) for at, output in enumerate(cell.outputs, start=1))
            note = ["*Not executed*"] if cell.is_unexecuted else []
            return [_fenced(cell.source, language), *note, *(block for block in outputs if block)]
        case _:
            assert_never(cell.type)


def _output(output: Output, name: str, place: _Placed) -> str:
    form = shown(output)
    match form:
        case TextOutput():
            return _fenced(plain_text(form.text)) if form.text.strip() else ""
        case PictureOutput():
            return f"![Figure]({place(form, name)})"
        case Html():
            # The text form of a table reads well in every viewer; HTML in Markdown is shown by some.
            return _fenced(plain_text(form.fallback)) if form.fallback.strip() else _inserted(form.html)
        case MarkdownOutput():
            return form.source
        case Interactive():
            return f"{_fenced(form.text)}\n\n{_INTERACTIVE}" if form.text.strip() else _INTERACTIVE
        case _:
            assert_never(form)


def _inserted(html: str) -> str:
    # An empty line would end the block of HTML.
    safe = _EMPTY_LINES.sub("\n", safe_html(html)).strip()
    return f"<div>\n{safe}\n</div>" if shows_something(safe) else _INTERACTIVE


def _fenced(text: str, language: str = "text") -> str:
    longest = max((len(found) for found in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.strip(chr(10))}\n{fence}"


def _with_attachments(cell: Cell, place: _Placed) -> str:
    attachments: Mapping[str, Any] = cell.metadata.get("attachments") or {}

    def address(found: re.Match[str]) -> str:
        picture = _attached(attachments.get(found[1]))
        if picture is None:
            return found[0]
        name = _NO_NAME.sub("-", found[1])[:60]
        return f"({place(picture, f'{cell.id}-{name}')}{found[2]})"

    return _ATTACHED.sub(address, cell.source) if attachments else cell.source


def _attached(bundle: Any) -> PictureOutput | None:  # Any: as it stood in a file
    for mime in IMAGE_EXTENSIONS:
        if isinstance(bundle, Mapping) and mime in bundle:
            try:
                return PictureOutput(mime, b64decode("".join(joined(bundle[mime]).split()), validate=True))
            except (binascii.Error, ValueError):
                return None
    return None
