"""The figures of a notebook as a planner is told of them: in words, and as pictures where somebody allows it. Pure."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from notebook_bcc.protocol.cells import Cell, Output
from notebook_bcc.protocol.observation import FigureView

_KINDS: Final = ("image/png", "image/jpeg")
_LABEL: Final = re.compile(
    r"\b(?:set_|sup)?(?P<what>title|xlabel|ylabel)\s*(?:\(|=)\s*(?P<quote>[\"'])(?P<text>(?:(?!(?P=quote))[^\\\n]|\\.){0,200})(?P=quote)"
)
_PNG_SIZE: Final = slice(16, 24)
_MOST_LABELS: Final = 6
_LABEL_CHARS: Final = 120
_LARGEST: Final = 2_000_000


def figures_of(cells: Iterable[Cell], *, most: int, with_bytes: bool = False) -> tuple[FigureView, ...]:
    """The newest figures of these cells, oldest first. A picture above 2 MB goes without its bytes."""
    found = [view for cell in cells for view in _of_cell(cell, with_bytes=with_bytes)]
    return tuple(found[-most:])


def _of_cell(cell: Cell, *, with_bytes: bool) -> Iterator[FigureView]:
    pictures = [(output, kind) for output in cell.outputs if (kind := _kind(output))]
    labels = tuple(
        f"{found['what']}: {found['text'][:_LABEL_CHARS]}" for found in _LABEL.finditer(cell.source if pictures else "")
    )
    for output, kind in pictures:
        data = _joined(output["data"][kind])
        width, height = _size(data) if kind == "image/png" else (None, None)
        yield FigureView(
            cell_id=cell.id,
            media_type=kind,
            width=width,
            height=height,
            text=_joined(output["data"].get("text/plain", ""))[:_LABEL_CHARS],
            caption=_caption(cell, output, kind),
            labels=labels[:_MOST_LABELS],
            data=data if with_bytes and len(data) <= _LARGEST else None,
        )


def _kind(output: Output) -> str:
    data = output.get("data")
    return next((kind for kind in _KINDS if isinstance(data, dict) and kind in data), "")


def _caption(cell: Cell, output: Output, kind: str) -> str:
    """What the metadata say of a figure: those of the output first, then those of its cell."""
    metadata = output.get("metadata")
    of_output = metadata if isinstance(metadata, Mapping) else {}
    extra = cell.metadata.get("extra")
    for place in (of_output.get(kind), of_output, extra, cell.metadata):
        for key in ("caption", "alt", "title"):
            if isinstance(place, Mapping) and isinstance(place.get(key), str):
                return str(place[key])[:_LABEL_CHARS]
    return ""


def _size(data: str) -> tuple[int | None, int | None]:
    """Width and height from the head of a PNG."""
    try:
        head = base64.b64decode(data[:32].encode())[_PNG_SIZE]
    except (binascii.Error, ValueError):
        return None, None
    return (int.from_bytes(head[:4]), int.from_bytes(head[4:])) if len(head) == 8 else (None, None)


def _joined(text: Any) -> str:  # Any: nbformat writes a text, or a list of lines
    return text if isinstance(text, str) else "".join(text) if isinstance(text, list) else ""
