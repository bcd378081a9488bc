"""One run as the page shows it: the state of its journal, and what the state alone does not tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from notebook_bcc.engine.reduce import reduce
from notebook_bcc.engine.state import RunState, elapsed
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import (
    ActionCompleted,
    ActionReceived,
    ActionTakenOver,
    ArtifactPromoted,
    AttemptWithdrawn,
    OutputReceived,
    RepairTried,
    RunStopped,
    Transitioned,
    Warned,
)
from notebook_bcc.protocol.tracking import Artifact
from notebook_bcc.protocol.vocabulary import CellType, Event
from notebook_bcc.views.narration import one_line
from notebook_bcc.views.remaining import Remaining

_EXEC = "exec"
_BEGIN_STEP = frozenset({Event.START_STEP, Event.NEXT_STEP})
_BEGIN_BEHAVIOR = frozenset({Event.START_BEHAVIOR, Event.NEXT_BEHAVIOR})
_MOST_NOTES = 500
_LONGEST_NOTE = 600
_MOST_REPAIRS = 10
# What markdown writes before a sign that means nothing else.
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


@dataclass(frozen=True, slots=True)
class RunNote:
    """Something worth a line beside the notebook, with the cell it is about."""

    seq: int
    kind: str
    text: str
    cell: str = ""


class RunProjection:
    """Keeps up with a journal. The numbers in `changed` are those of the entries that changed a cell last."""

    def __init__(self, *, verifies: bool) -> None:
        self.state = RunState()
        self.changed: dict[str, int] = {}
        self.ordered = 0
        """The entry that last added a cell or took one away."""
        self.seconds: dict[str, float] = {}
        self.places: dict[str, tuple[str, str]] = {}
        self.step_seconds: dict[tuple[str, str], float] = {}
        self.notes: list[RunNote] = []
        self.repairs: dict[str, tuple[RepairTried, ...]] = {}
        """The failed attempts of `auto_debug`, by their cell."""
        self.artifacts: dict[str, Artifact] = {}
        self.fresh: set[str] = set()
        """The variables that the behavior under way has made or changed."""
        self.running: str = ""
        self.running_since = ""
        self._now = 0.0
        self._remaining = Remaining(clock=lambda: self._now, verifies=verifies)
        self._began: dict[tuple[str, str], float] = {}

    def saw(self, entry: Entry) -> None:
        """Fold one entry."""
        before = self.state
        self.state = reduce(before, entry)
        self._now = _moment(entry.at)
        self._remaining.saw(entry)
        self._note_cells(entry, before)
        self._note_time(entry)
        self.notes.extend(self._notes(entry))
        del self.notes[:-_MOST_NOTES]
        if isinstance(entry.record, RunStopped):
            self._touch(self.running, entry.seq)
            self.running = ""

    def seconds_left(self, *, now: float) -> float | None:
        """About how long the run takes from now on; None when nobody has said."""
        self._now = max(self._now, now)
        return self._remaining.seconds

    def _note_cells(self, entry: Entry, before: RunState) -> None:
        match entry.record:
            case ActionReceived(action={"action": str() as kind} as action) if kind == _EXEC:
                named = action.get("codecell_id")
                cells = self.state.document.cells
                known = named if isinstance(named, str) and named in cells else self.state.document.last_code_id
                self._run(known or "", entry)
            case OutputReceived() as record:
                self._run(record.cell_id, entry)
            case ActionCompleted() as record:
                self.fresh |= record.variables.keys()
                self._touch(self.running, entry.seq)
                self.running = ""
                for change in record.cells:
                    self._touch(change.cell_id, entry.seq)
                if record.executed is not None:
                    self.seconds[record.executed] = record.seconds
                    self._touch(record.executed, entry.seq)
            case ActionTakenOver():
                self._touch(self.running, entry.seq)
                self.running = ""
            case AttemptWithdrawn() as record:
                for cell_id in record.ran:
                    self._touch(cell_id, entry.seq)
                for artifact_id in before.behavior.promoted:
                    self.artifacts.pop(artifact_id, None)
            case ArtifactPromoted() as record:
                self.artifacts[record.artifact.artifact_id] = record.artifact
                if record.cell is not None:
                    self._touch(record.cell.cell_id, entry.seq)
            case RepairTried() as record:
                self.repairs[record.cell_id] = (*self.repairs.get(record.cell_id, ()), record)[-_MOST_REPAIRS:]
                self._touch(record.cell_id, entry.seq)
            case _:
                pass
        if len(before.document.cells) == len(self.state.document.cells):
            return
        self.ordered = entry.seq
        place = (self.state.position.stage_id or "", self.state.position.step_id or "")
        for cell in self.state.document.cells:
            if cell.id not in self.changed or cell.id not in before.document.cells:
                self._touch(cell.id, entry.seq)
                self.places[cell.id] = place

    def _run(self, cell_id: str, entry: Entry) -> None:
        if cell_id != self.running:
            self.running, self.running_since = cell_id, entry.at
        self._touch(cell_id, entry.seq)

    def _touch(self, cell_id: str, seq: int) -> None:
        if cell_id:
            self.changed[cell_id] = seq

    def _note_time(self, entry: Entry) -> None:
        if not isinstance(entry.record, Transitioned):
            return
        event, position = entry.record.event, self.state.position
        here = (position.stage_id or "", position.step_id or "")
        if event in _BEGIN_STEP:
            self._began.setdefault(here, elapsed(self.state))
        elif event is Event.COMPLETE_STEP and here in self._began:
            self.step_seconds[here] = elapsed(self.state) - self._began[here]
        if event in _BEGIN_BEHAVIOR:
            self.fresh = set()

    def _notes(self, entry: Entry) -> Iterator[RunNote]:
        match entry.record:
            case ActionCompleted(finding=str() as said) as record if said:
                cell = record.executed or (record.cells[0].cell_id if record.cells else "")
                yield RunNote(entry.seq, "finding", self._whole(said, cell), cell)
            case ActionCompleted(success=False, executed=str() as cell) as record:
                yield RunNote(entry.seq, "failure", one_line(record.error or ""), cell)
            case RepairTried() as record:
                yield RunNote(entry.seq, "repair", one_line(record.error), record.cell_id)
            case Warned() as record:
                yield RunNote(entry.seq, "warning", one_line(record.message))
            case _:
                return

    def _whole(self, said: str, cell_id: str) -> str:
        """A finding as its cell says it: the record has the first words only."""
        cell = self.state.document.cells.get(cell_id)
        text = cell.source if cell is not None and cell.type is CellType.MARKDOWN else said
        return one_line(without_marks(text), limit=_LONGEST_NOTE)


def without_marks(text: str) -> str:
    """Markdown of a sentence as its words: no emphasis, no code marks, no escapes."""
    return _ESCAPED.sub(r"\1", text.replace("**", "").replace("`", ""))


def _moment(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()
