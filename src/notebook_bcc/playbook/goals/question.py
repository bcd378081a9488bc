"""A question about a table that can be computed: which rows, which measure of which column, in which groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from notebook_bcc.playbook.goals.table import Value

Measure = Literal["count", "mean", "median", "sum", "min", "max", "share", "missing", "distinct", "correlation"]
Operator = Literal["in", "not in", ">", ">=", "<", "<=", "between"]
Doubt = Literal["words", "ambiguous", "no numbers", "rows", "unclear", "no column", "too large", "too long"]


@dataclass(frozen=True, slots=True)
class Condition:
    """What rows must fulfil: the values of a column."""

    column: str
    operator: Operator
    values: tuple[Value, ...]

    def plain(self) -> dict[str, Any]:  # Any: JSON
        return {"column": self.column, "operator": self.operator, "values": list(self.values)}


@dataclass(frozen=True, slots=True)
class TableQuestion:
    """Measures of columns, over the rows that `where` leaves. `event`: the share of these rows is asked for.

    `top` of the groups or values are wanted, by `order`; 0 means all of them.
    """

    measures: tuple[Measure, ...]
    columns: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()
    event: tuple[Condition, ...] = ()
    group: tuple[str, ...] = ()
    top: int = 0
    order: Literal["", "highest", "lowest"] = ""
    values_only: bool = False

    def plain(self) -> dict[str, Any]:  # Any: JSON
        """As templates read it."""
        return {
            "measures": list(self.measures),
            "columns": list(self.columns),
            "where": [one.plain() for one in self.where],
            "event": [one.plain() for one in self.event],
            "group": list(self.group),
            "top": self.top,
            "order": self.order,
            "values_only": self.values_only,
        }


@dataclass(frozen=True, slots=True)
class Declined:
    """Why a goal is not answered, and the words or columns that this is about."""

    doubt: Doubt
    about: tuple[str, ...] = ()
