"""What a goal may speak of: the columns of the table and the values of its categories, as the kernel has told them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from notebook_bcc.playbook.goals.tokens import joined, tokens_of

ColumnKind = Literal["number", "boolean", "category", "text", "date"]
Value = str | int | float | bool

KINDS: Final = frozenset({"number", "boolean", "category", "text", "date"})


@dataclass(frozen=True, slots=True)
class GoalColumn:
    """A column of the table. `values` are those a goal may name: not all, where there are many."""

    name: str
    kind: ColumnKind
    distinct: int
    missing: int
    values: tuple[Value, ...] = ()

    @property
    def positive(self) -> Value | None:
        """The value that means yes in a column of yes and no; None for any other column."""
        if self.kind == "boolean":
            return True
        if self.kind == "number":
            return 1 if self.distinct == 2 and set(self.values) == {0, 1} else None
        return _yes(self.values) if self.distinct == len(self.values) == 2 else None


@dataclass(frozen=True, slots=True)
class GoalTable:
    """The columns of a table. `cut`: there are more columns or values than could be told."""

    columns: tuple[GoalColumn, ...] = ()
    rows: int = 0
    cut: bool = False
    words: tuple[str, ...] = field(default=())

    def column(self, name: str) -> GoalColumn:
        return next(one for one in self.columns if one.name == name)


def table_of(variables: Mapping[str, Any], *, file: str = "") -> GoalTable | None:  # Any: as the kernel shows them
    """The table that the variables `told_columns` and `told_values` tell of; None before they exist.

    A column is told as `kind distinct missing`.
    """
    columns, values = variables.get("told_columns"), variables.get("told_values")
    if columns is None or values is None:
        return None
    if not isinstance(columns, dict) or not isinstance(values, dict):
        return GoalTable(cut=True)
    found = [_column(name, summary, values.get(name) or ()) for name, summary in columns.items()]
    rows = variables.get("row_count")
    return GoalTable(
        columns=tuple(one for one in found if one is not None),
        rows=rows if isinstance(rows, int) else 0,
        cut=bool(variables.get("told_cut")) or None in found,
        words=_file_words(file),
    )


def _column(name: str, summary: Any, values: Sequence[Value]) -> GoalColumn | None:  # Any: see table_of
    parts = summary.split() if isinstance(summary, str) else []
    if len(parts) != 3 or parts[0] not in KINDS or not all(part.isdigit() for part in parts[1:]):
        return None
    # The set was checked in the line above.
    return GoalColumn(name, parts[0], int(parts[1]), int(parts[2]), tuple(values))  # type: ignore[arg-type]


def _file_words(file: str) -> tuple[str, ...]:
    """What the file is called says what its rows are: `titanic.csv`, `abalone.csv`."""
    stem = file.rpartition("/")[2].partition(".")[0]
    words = [token.key for token in tokens_of(stem) if token.key.isalpha()]
    return tuple(dict.fromkeys([*words, joined(stem)]))


_YES: Final = frozenset({"yes", "y", "true", "t", "是", "有", "1"})
_NO: Final = frozenset({"no", "n", "false", "f", "否", "无", "没有", "不是", "0"})


def _yes(values: Sequence[Value]) -> Value | None:
    by_key = {joined(str(value)): value for value in values}
    yes = [by_key[key] for key in by_key if key in _YES]
    return yes[0] if len(yes) == 1 and any(key in _NO for key in by_key) else None
