"""Cells as the page shows them: the exporters' own safe HTML, bounded in size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from notebook_bcc.notebook.export.ansi import plain_text as plain
from notebook_bcc.notebook.export.html_cells import CELL_WORDS, CellWords, cell_html
from notebook_bcc.notebook.export.markup import Markup
from notebook_bcc.notebook.export.outputs import joined
from notebook_bcc.protocol.cells import AUTO_DEBUG, KEEP_DEBUG_BUTTON, Cell, Output
from notebook_bcc.protocol.vocabulary import CellType, Language
from notebook_bcc.web.numbers import with_sources
from notebook_bcc.web.projection import RunProjection

# A browser that shows more text than this at once becomes slow; the notebook has all of it.
_MOST_TEXT: Final = 60_000
_MOST_LINES: Final = 400
_MOST_OUTPUTS: Final = 60
_MOST_KEPT: Final = 2_000
_MOST_ERROR: Final = 4_000
_LARGEST_FORM: Final = 3_000_000
_PLAIN: Final = "text/plain"


@dataclass(frozen=True, slots=True)
class _Rendered:
    cell: Cell
    html: str


class CellRenderer:
    """Renders each cell once for each language: everybody who looks on gets the same text."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, Language], _Rendered] = {}

    def payload(self, cell_id: str, projection: RunProjection, language: Language) -> dict[str, Any]:  # Any: JSON
        """One cell for the page."""
        cell = shown_cell(cell_id, projection)
        stage, step = projection.places.get(cell_id, ("", ""))
        return {
            "id": cell_id,
            "seq": projection.changed.get(cell_id, 0),
            "kind": cell.type.value,
            "status": _status(cell, projection),
            "seconds": projection.seconds.get(cell_id),
            "since": projection.running_since if cell_id == projection.running else "",
            "where": "/".join(part for part in (stage, step) if part),
            "debug": _debug(cell, projection),
            "html": self._html(cell, projection, language),
        }

    def _html(self, cell: Cell, projection: RunProjection, language: Language) -> str:
        key = (cell.id, language)
        kept = self._kept.get(key)
        if kept is None or kept.cell != cell:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            kernel, words = projection.state.kernel, CELL_WORDS[language]
            code = kernel.language or "python"
            html = with_sources(cell, lambda one: rendered(one, language=code, words=words), kernel.assigned)
            kept = _Rendered(cell, html)
            self._kept[key] = kept
        return kept.html


def rendered(cell: Cell, *, language: str, words: CellWords) -> str:
    """The cell as safe HTML, long outputs cut in the middle."""
    outputs = tuple(_bounded(output) for output in cell.outputs[:_MOST_OUTPUTS])
    left_out = len(cell.outputs) - len(outputs)
    if left_out:
        outputs += ({"output_type": "stream", "name": "stdout", "text": f"[... {left_out} more ...]"},)
    # The page shows its own number of the cell.
    return cell_html(replace(cell, outputs=outputs), Markup(), words=words, language=language, count=False)


def shown_cell(cell_id: str, projection: RunProjection) -> Cell:
    """The cell, with what it has printed so far while it runs. Raises CellUnknown."""
    cell = projection.state.document.cell(cell_id)
    partial = projection.state.behavior.partial
    return replace(cell, outputs=partial) if cell_id == projection.running and partial else cell


def _debug(cell: Cell, projection: RunProjection) -> dict[str, Any] | None:  # Any: JSON
    """What the debug button of a cell opens; None for a cell without one: neither failed, repaired nor marked."""
    tried = projection.repairs.get(cell.id, ())
    keeps = cell.metadata.get(KEEP_DEBUG_BUTTON) is True
    if cell.type is not CellType.CODE or not (tried or keeps or cell.has_failed):
        return None
    attempts = [
        {"attempt": one.attempt, "error": plain(one.error)[:_MOST_ERROR], "source": one.source[:_MOST_ERROR]}
        for one in tried
    ]
    return {"auto": cell.metadata.get(AUTO_DEBUG) is True, "keeps": keeps, "tried": attempts}


def _bounded(output: Output) -> Output:
    match output:
        case {"output_type": "stream"}:
            return {**output, "text": bounded_text(joined(output.get("text", "")))}
        case {"output_type": "error", "traceback": list() as traceback}:
            return {**output, "traceback": [bounded_text("\n".join(map(joined, traceback)))]}
        case {"data": dict() as data}:
            return {**output, "data": _bounded_data(data)}
        case _:
            return output


def _bounded_data(data: dict[str, Any]) -> dict[str, Any]:  # Any: JSON
    """Without the forms that are too large for a page: a simpler one is shown in their place."""
    fits = {
        mime: value
        for mime, value in data.items()
        if len(joined(value) if isinstance(value, str | list) else "") <= _LARGEST_FORM or mime == _PLAIN
    }
    plain_form = fits.get(_PLAIN)
    if isinstance(plain_form, str | list):
        fits[_PLAIN] = bounded_text(joined(plain_form))
    return fits or {_PLAIN: "[...]"}


def bounded_text(text: str) -> str:
    """The text, or its beginning and its end with how much stands between them."""
    if len(text) > _MOST_TEXT:
        # Cut before lines are counted: a million lines need not become a list.
        half = _MOST_TEXT // 2
        middle = text[half:-half]
        text = f"{text[:half]}\n[... {len(middle):,} characters ...]\n{text[-half:]}"
    lines = text.split("\n")
    if len(lines) <= _MOST_LINES:
        return text
    half = _MOST_LINES // 2
    return "\n".join([*lines[:half], f"[... {len(lines) - 2 * half:,} lines ...]", *lines[-half:]])


def _status(cell: Cell, projection: RunProjection) -> str:
    if cell.type is not CellType.CODE:
        return ""
    if cell.id == projection.running:
        return "running"
    if cell.has_failed:
        return "failed"
    return "ok" if cell.execution_count is not None else "new"
