"""Keeps the notebook file of a run up to date: often enough to look at, never so often that it slows the run."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from notebook_bcc import __version__
from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import NotebookFailed
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import INPUTS, RunStopped, Transitioned
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.lifecycle.server_copy import ServerCopy
from notebook_bcc.notebook.cells import Cells
from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.ipynb import NotebookMetadata, NotebookWriter
from notebook_bcc.protocol.cells import NOT_EXECUTED, SKIP_EXECUTION, TAGS, Cell
from notebook_bcc.protocol.specs import is_confined
from notebook_bcc.protocol.vocabulary import CellType, State

logger = logging.getLogger(__name__)

NOTE_ID = "nbcc-stopped"
UNANSWERED_ID = "nbcc-unanswered"
EVERY_SECONDS = 3.0

# Saving takes at most a twentieth of the time, however large the notebook grows; behaviors that end in quick succession
# share a file.
_REST_FACTOR = 19.0
_SHORTEST_REST = 0.5


class NotebookSaver:
    """One notebook file of one run, and its copy on a server where one is wanted. `warn` is told when the file cannot
    be written: the run goes on without it."""

    def __init__(
        self,
        folder: RunFolder,
        *,
        warn: Callable[[str], None],
        copy: ServerCopy | None = None,
        every: float = EVERY_SECONDS,
    ) -> None:
        self._writer = NotebookWriter(folder.notebook)
        self._run = folder.typed
        self._warn = warn
        self._copy = copy
        self._every = every
        self._state = RunState()
        self._saved: Document | None = None
        self._wanted = asyncio.Event()
        self._writing = asyncio.Lock()
        self._last_warning = ""

    def saw(self, entry: Entry, state: RunState) -> None:
        """A record was folded. Cheap: the file is written by `keep`, soon after a behavior has ended."""
        self._state = state
        if isinstance(entry.record, Transitioned) and entry.record.to is State.BEHAVIOR_COMPLETED:
            self._wanted.set()

    async def keep(self) -> None:
        """Write when it is wanted, and every few seconds when something has changed. Ends by cancellation."""
        while True:
            try:
                async with asyncio.timeout(self._every):
                    await self._wanted.wait()
            except TimeoutError:
                pass
            self._wanted.clear()
            started = time.monotonic()
            if self._state.document is not self._saved and self._state.run_id:
                await self.save(self._state)
            await asyncio.sleep(max(_SHORTEST_REST, (time.monotonic() - started) * _REST_FACTOR))

    async def save(self, state: RunState, *, everything: bool = False, probes: bool = False) -> bool:
        """Write the file now. False when it could not be written; then `warn` was told, once a reason."""
        async with self._writing:
            document = shown_document(state, run=self._run, everything=everything, probes=probes)
            metadata = notebook_metadata(state, left_out=len(state.document.cells) - own_cells(document))
            try:
                # Encoding and writing a large notebook takes a while: the run goes on meanwhile.
                await asyncio.to_thread(self._writer.write, document, metadata=metadata)
            except NotebookFailed as error:
                self._complain(error)
                return False
            self._saved = state.document
            self._last_warning = ""
            await self.copy()
            return True

    async def copy(self) -> None:
        """Bring the copy on the server up to the file, where there is one."""
        if self._copy is not None:
            await self._copy.write()

    def _complain(self, error: NotebookFailed) -> None:
        logger.warning("notebook not written: %s", error)
        if str(error) != self._last_warning:
            self._last_warning = str(error)
            self._warn(f"{error}. The run goes on and loses nothing; write it later with: nbcc export {self._run}")


def shown_document(state: RunState, *, run: str, everything: bool = False, probes: bool = False) -> Document:
    """The document as a reader gets it.

    Of a completed run, without the code cells that failed and (unless `probes`) those that only asked what a later cell
    says, or with all of them (`everything`), and with those marked that were never executed; of a run that stopped for
    another reason, with a note at the end that says why and how to go on; `run` is how the run is typed there.
    """
    stopped = state.stopped
    if stopped is None:
        return state.document
    if stopped.reason == "completed":
        document = with_marks(state.document)
        document = document if everything else delivered_document(document, probes=probes)
        return _said_unanswered(document, state) if stopped.answered == "no" else document
    note = Cell(
        id=NOTE_ID if NOTE_ID not in state.document.cells else state.document.free_id(NOTE_ID),
        type=CellType.MARKDOWN,
        source=stop_note(stopped, run=run),
        metadata={"note": True},
    )
    return replace(state.document, cells=state.document.cells.appended(note))


def _said_unanswered(document: Document, state: RunState) -> Document:
    """The document whose first lines say that the goal is not answered, and why."""
    note = Cell(
        id=UNANSWERED_ID if UNANSWERED_ID not in document.cells else document.free_id(UNANSWERED_ID),
        type=CellType.MARKDOWN,
        source=unanswered_note(state.stopped.detail if state.stopped is not None else "", lang=_language(state)),
        metadata={"note": True},
    )
    cells = Cells().appended(note)
    for cell in document.cells:
        cells = cells.appended(cell)
    return replace(document, cells=cells)


def unanswered_note(why: str, *, lang: str = "") -> str:
    """The markdown at the head of a notebook whose run is completed without what its goal asks for."""
    if lang == "zh":
        return f"> **已完成，但未能回答**：{why}。"
    return f"> **Completed, not answered**: {why}."


def _language(state: RunState) -> str:
    inputs = state.planner_context.variables.get(INPUTS)
    return str(inputs.get("lang", "")) if isinstance(inputs, dict) else ""


def delivered_document(document: Document, *, probes: bool = False) -> Document:
    """The document without the code cells that failed and, unless `probes`, without replaced probes; the same object if
    there are none. A cell that succeeded and failed later stands there as it succeeded.

    A cell that was never executed stays, unless its behavior was given up before its turn and a later cell has done the
    same.
    """
    cells = list(document.cells)
    replaced: set[str] = set()
    executed: set[str] = set()
    kept: list[Cell] = []
    # From the end, for a probe is replaced by a later cell.
    for cell in reversed(cells):
        if (is_unrun(cell) and cell.source in executed) or (cell.probe in replaced and not probes):
            continue
        shown = _as_it_succeeded(cell)
        if shown is None:
            continue
        if not is_unrun(cell):
            executed.add(shown.source)
        kept.append(shown)
        replaced.update(shown.replaces)
    if len(kept) == len(cells) and all(one is cell for one, cell in zip(reversed(kept), cells, strict=True)):
        return document
    left, count = Cells(), 0
    for cell in reversed(kept):
        if cell.type is CellType.CODE and not is_unrun(cell):
            count += 1
            left = left.appended(_numbered(cell, count))
        else:
            left = left.appended(cell)
    return replace(document, cells=left)


def with_marks(document: Document) -> Document:
    """The document whose unexecuted code cells say so, and are left out by whoever executes it; the same object if
    there are none. Run in a fresh kernel they would be news."""
    if not any(map(is_unrun, document.cells)):
        return document
    marked = Cells()
    for cell in document.cells:
        marked = marked.appended(_marked(cell) if is_unrun(cell) else cell)
    return replace(document, cells=marked)


def _marked(cell: Cell) -> Cell:
    tags = [*cell.metadata.get(TAGS, ())]
    tags += [] if SKIP_EXECUTION in tags else [SKIP_EXECUTION]
    return replace(cell, metadata={**cell.metadata, NOT_EXECUTED: True, TAGS: tags})


def _numbered(cell: Cell, count: int) -> Cell:
    """The cell with the number that a fresh kernel would give it: gaps would look as if something were hidden."""
    outputs = tuple({**one, "execution_count": count} if "execution_count" in one else one for one in cell.outputs)
    return replace(cell, execution_count=count, outputs=outputs)


def _as_it_succeeded(cell: Cell) -> Cell | None:
    """A cell that failed when it was run again, as it was before: later cells may need what it did. None where it never
    succeeded."""
    if not cell.has_failed:
        return cell
    return replace(cell.last_success, metadata=cell.metadata) if cell.last_success is not None else None


def is_unrun(cell: Cell) -> bool:
    """Whether a code cell was added and never executed."""
    return cell.type is CellType.CODE and cell.execution_count is None and not cell.outputs


def stop_note(stopped: RunStopped, *, run: str) -> str:
    """The markdown note at the end of a notebook whose run has not reached its end."""
    detail = f": {stopped.detail}" if stopped.detail else ""
    command = f"nbcc resume {run} --restart reset" if stopped.reason == "cancelled" else f"nbcc resume {run}"
    how = "Start it over with" if stopped.reason == "cancelled" else "Go on with"
    return f"> **This run has not reached its end** ({stopped.reason}{detail}).\n>\n> {how}: `{command}`"


def notebook_metadata(state: RunState, *, left_out: int = 0) -> NotebookMetadata:
    """What the file says about its kernel and its run."""
    kernel, stopped = state.kernel, state.stopped
    code = [cell for cell in state.document.cells if cell.type is CellType.CODE]
    run: dict[str, Any] = {
        "run_id": state.run_id,
        "goal": state.goal,
        "state": state.fsm.value,
        "stopped": "" if stopped is None else stopped.reason,
        "reason": "" if stopped is None else stopped.detail,
        **({"answered": stopped.answered} if stopped is not None and stopped.answered != "unknown" else {}),
        "started_at": state.started_at,
        "saved_at": state.at,
        "actions": state.actions_completed,
        "code_cells": len(code),
        "failed_cells": sum(cell.has_failed for cell in code),
        "left_out_cells": max(0, left_out),
        "rebuild_differences": list(kernel.differences),
        "planner": str(state.planner or ""),
        **({"sandbox": str(state.sandbox_spec)} if is_confined(state.sandbox_spec) else {}),
        **({"models": models_used(state)} if state.spent.calls else {}),
        "versions": {"notebook_bcc": __version__, kernel.language: kernel.language_version},
    }
    return NotebookMetadata(
        kernel_name=kernel.name,
        display_name=kernel.display_name or kernel.name,
        language=kernel.language or "python",
        language_version=kernel.language_version,
        run=run,
    )


def models_used(state: RunState) -> dict[str, Any]:  # Any: JSON
    """Which language models were asked, and what that took in all. An unknown cost is said to be unknown."""
    spent = state.spent
    return {
        "names": list(state.models),
        "calls": spent.calls,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "cost": spent.cost,
        "seconds": round(spent.seconds, 3),
    }


def own_cells(document: Document) -> int:
    """How many cells are the run's own, and no notes about it."""
    return sum(1 for cell in document.cells if not cell.metadata.get("note"))
