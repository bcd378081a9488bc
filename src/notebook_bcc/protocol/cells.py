"""A cell of the notebook, as every package knows it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from notebook_bcc.protocol.vocabulary import CellType

# nbformat's own output structure (4.5), opaque to us: stream, display_data, execute_result or error.
Output = dict[str, Any]

# What nbformat 4.5 allows as a cell id.
CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")

# The key of an action's extra metadata that asks for a cell whose code is folded away until a reader wants it.
FOLDED = "folded"
# The key of one that makes a text stand at the head of a report as well, and the parts of the head that it may name.
ABSTRACT = "abstract"
ABSTRACT_PARTS = ("learnt", "score", "trust")
# The key of the bars that are drawn beside such a text: a list of labels, lengths and what stands at their end.
BARS = "bars"
# The key of the notes that say where the numbers of a text came from.
NUMBERS = "numbers"
# The key of one that names what a cell only asks, and of one that lists the probes that a later cell replaces: they are
# not delivered. Journals and playbooks of earlier versions have the second under another name.
PROBE = "probe"
REPLACES = "replaces"
FORMER_REPLACES = "settles"
# The key of an action's metadata with the tags that Jupyter's tools know a cell by, such as papermill's `parameters`.
TAGS = "tags"
# The key of a delivered code cell that was never executed, and the tag by which nbclient leaves it out too.
NOT_EXECUTED = "not_executed"
SKIP_EXECUTION = "skip-execution"
# The keys under which a code cell keeps what its last `exec` asked for.
AUTO_DEBUG = "auto_debug"
KEEP_DEBUG_BUTTON = "keep_debug_button_visible"
# The key of a cell with effects outside: it is executed again by a person's word alone.
ONCE = "once"


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a small chart: its label, its length as a share of the longest, and the value in words."""

    label: str
    length: float
    value: str

    @classmethod
    def read(cls, found: Any) -> Bar | None:  # Any: JSON of an action
        """The bar that a list of three means, or None where it means none."""
        match found:
            case [label, int() | float() as length, value] if 0 <= length <= 1:
                return cls(str(label), float(length), str(value))
            case _:
                return None


def replaced_probes(extra: Mapping[str, Any]) -> tuple[str, ...]:  # Any: JSON of an action
    """The probes that a cell with this extra metadata replaces."""
    names = extra.get(REPLACES, extra.get(FORMER_REPLACES))
    if not isinstance(names, list | tuple):
        return ()
    return tuple(name for name in names if isinstance(name, str) and name)


@dataclass(frozen=True, slots=True)
class NumberNote:
    """Where a number or a comparative of a text came from.

    `variable` is a path in the facts of the planner, such as `v.score.value`, or an expression of such paths. `cell` is
    the code cell that assigned it, where the client knows. `text` stands between `start` and `end` of the cell's
    source; a note whose text is `bars` speaks of what is drawn beside it.
    """

    text: str
    variable: str
    cell: str = ""
    start: int = 0
    end: int = 0

    @classmethod
    def read(cls, found: Any) -> NumberNote | None:  # Any: JSON of an action
        """The note, or None where there is none."""
        match found:
            case {"text": str() as text, "variable": str() as variable}:
                cell, start, end = found.get("cell"), found.get("start"), found.get("end")
                place = (start, end) if isinstance(start, int) and isinstance(end, int) else (0, 0)
                return cls(text, variable, cell if isinstance(cell, str) else "", *place)
            case _:
                return None


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell. Thinking cells become markdown with metadata in the file.

    `last_success` is the cell as it was when it last ran without an error, if it has changed or failed since.
    """

    id: str
    type: CellType
    source: str
    outputs: tuple[Output, ...] = ()
    execution_count: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    last_success: Cell | None = None

    @property
    def has_failed(self) -> bool:
        """Whether a code cell's last execution ended with an error."""
        return self.type is CellType.CODE and any(one.get("output_type") == "error" for one in self.outputs)

    @property
    def is_unexecuted(self) -> bool:
        """Whether a delivered code cell is marked as one that was never executed."""
        return self.type is CellType.CODE and self.metadata.get(NOT_EXECUTED) is True

    @property
    def is_once(self) -> bool:
        """Whether what the cell does outside must not be done again."""
        return self.metadata.get(ONCE) is True

    @property
    def is_folded(self) -> bool:
        """Whether only the outputs are shown until a reader asks for the code."""
        return self._asks_for(FOLDED) or bool(self.probe)

    @property
    def probe(self) -> str:
        """What this cell asks of the data and does nothing else for; empty where it is no probe."""
        name = self._extra.get(PROBE)
        return name if isinstance(name, str) else ""

    @property
    def replaces(self) -> tuple[str, ...]:
        """The probes whose findings stand in this cell, so that a reader needs them no more."""
        return replaced_probes(self._extra)

    @property
    def is_abstract(self) -> bool:
        """Whether this text says what a reader should know who reads nothing else."""
        return self._asks_for(ABSTRACT) or bool(self.abstract_part)

    @property
    def abstract_part(self) -> str:
        """The part of a report's head that this text belongs to; empty where it names none."""
        part = self._extra.get(ABSTRACT)
        return part if isinstance(part, str) and part in ABSTRACT_PARTS else ""

    @property
    def bars(self) -> tuple[Bar, ...]:
        """What is drawn beside this text."""
        found = self._extra.get(BARS)
        made = [Bar.read(one) for one in found] if isinstance(found, list | tuple) else []
        return tuple(bar for bar in made if bar is not None)

    @property
    def numbers(self) -> tuple[NumberNote, ...]:
        """Where the numbers of this text came from."""
        found = self._extra.get(NUMBERS)
        made = [NumberNote.read(one) for one in found] if isinstance(found, list | tuple) else []
        return tuple(note for note in made if note is not None)

    def _asks_for(self, name: str) -> bool:
        return self._extra.get(name) is True

    @property
    def _extra(self) -> Mapping[str, Any]:
        extra = self.metadata.get("extra")
        return extra if isinstance(extra, Mapping) else {}
