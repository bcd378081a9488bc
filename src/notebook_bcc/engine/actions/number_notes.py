"""Which cell assigned what a text speaks of: the planner names the variable, the client knows the cell. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from notebook_bcc.protocol.cells import NUMBERS, NumberNote

# `v.score.value` and `v["mean price"]`: the variable is what stands behind `v`.
_VARIABLE = re.compile(r'(?<![\w.])v(?:\.(?P<name>\w+)|\["(?P<quoted>[^"]*)"\])')


def with_cells(extra: Mapping[str, Any], assigned: Mapping[str, str]) -> dict[str, Any]:
    """An action's extra metadata whose notes on numbers name the cells; `assigned` has the newest variable last."""
    notes = extra.get(NUMBERS)
    if not isinstance(notes, list):
        return dict(extra)
    order = {name: number for number, name in enumerate(assigned)}
    return {**extra, NUMBERS: [_with_cell(note, assigned, order) for note in notes]}


def _with_cell(note: Any, assigned: Mapping[str, str], order: Mapping[str, int]) -> Any:  # Any: JSON of an action
    found = NumberNote.read(note)
    if found is None or found.cell:
        return note
    names = {each["name"] or each["quoted"] for each in _VARIABLE.finditer(found.variable)} & order.keys()
    # What is computed of several variables is known once the last of them is.
    return {**note, "cell": assigned[max(names, key=lambda name: order[name])]} if names else note
