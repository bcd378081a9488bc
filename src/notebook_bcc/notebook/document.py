"""The notebook of a run as a value: cells, title, chapter and section numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from notebook_bcc.errors import CellIdRefused, CellUnknown
from notebook_bcc.notebook.cells import Cells
from notebook_bcc.protocol.cells import CELL_ID, Cell, Output
from notebook_bcc.protocol.vocabulary import CellType


@dataclass(frozen=True, slots=True)
class Document:
    """A notebook that is never changed, only followed by the next one."""

    cells: Cells = field(default_factory=Cells)
    title: str = ""
    chapters: int = 0
    sections: int = 0
    last_code_id: str | None = None
    thinking_id: str | None = None

    def check_id(self, cell_id: str) -> None:
        """Raises CellIdRefused unless a new cell may have this id."""
        if not CELL_ID.fullmatch(cell_id):
            raise CellIdRefused(cell_id, "1 to 64 letters, digits, '-' or '_' are allowed")
        if cell_id in self.cells:
            raise CellIdRefused(cell_id, "another cell has it")

    def free_id(self, prefix: str = "cell") -> str:
        """An id no cell has, the same one for the same document: runs replay to equal notebooks."""
        number = len(self.cells) + 1
        while (cell_id := f"{prefix}-{number}") in self.cells:
            number += 1
        return cell_id

    def cell(self, cell_id: str) -> Cell:
        """The cell of that id. Raises CellUnknown."""
        found = self.cells.get(cell_id)
        if found is None:
            raise CellUnknown(cell_id)
        return found

    def with_cell(self, cell: Cell, *, first: bool = False) -> Document:
        """The document with one more cell, at the end or (a title) at the start."""
        cells = self.cells.prepended(cell) if first else self.cells.appended(cell)
        if cell.type is CellType.CODE:
            return replace(self, cells=cells, last_code_id=cell.id)
        if cell.type is CellType.THINKING:
            return replace(self, cells=cells, thinking_id=cell.id)
        return replace(self, cells=cells)

    def with_changed_cell(
        self,
        cell_id: str,
        *,
        source: str | None = None,
        outputs: tuple[Output, ...] | None = None,
        execution_count: int | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Document:
        """The document with parts of one cell exchanged; what is None stays. Raises CellUnknown."""
        cell = self.cell(cell_id)
        changed = Cell(
            id=cell.id,
            type=cell.type,
            source=cell.source if source is None else source,
            outputs=cell.outputs if outputs is None else outputs,
            execution_count=cell.execution_count if execution_count is None else execution_count,
            metadata=cell.metadata if metadata is None else {**cell.metadata, **metadata},
        )
        if source is not None or outputs is not None:
            changed = replace(changed, last_success=_last_success(cell, changed, ran=outputs is not None))
        finished = self.thinking_id == cell_id and bool(changed.metadata.get("finished_thinking"))
        return replace(self, cells=self.cells.replaced(changed), thinking_id=None if finished else self.thinking_id)


def _last_success(before: Cell, after: Cell, *, ran: bool) -> Cell | None:
    if ran and not after.has_failed:
        return None
    if before.last_success is not None:
        return before.last_success
    succeeded = before.type is CellType.CODE and before.execution_count is not None and not before.has_failed
    return before if succeeded else None
