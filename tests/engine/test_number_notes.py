"""A note on a number names the cell that assigned its variable."""

from __future__ import annotations

from typing import Any

import pytest

from notebook_bcc.engine.actions.number_notes import with_cells

ASSIGNED = {"low": "cell-2", "high": "cell-5", "mean price": "cell-3", "estimate": "cell-4"}


@pytest.mark.parametrize(
    ("variable", "cell"),
    [
        ("v.low", "cell-2"),
        ("v.low.value[0]", "cell-2"),
        ('v["mean price"] | length', "cell-3"),
        ("v.high - v.low", "cell-5"),
        ("v.estimate, v.high", "cell-4"),
    ],
)
def test_the_cell_that_assigned_the_newest_of_the_variables_is_named(variable: str, cell: str) -> None:
    extra = with_cells({"numbers": [{"text": "7", "variable": variable}], "abstract": True}, ASSIGNED)
    assert extra == {"numbers": [{"text": "7", "variable": variable, "cell": cell}], "abstract": True}


@pytest.mark.parametrize(
    "note",
    [
        {"text": "7", "variable": "inputs.goal"},
        {"text": "7", "variable": "v.unknown"},
        {"text": "7", "variable": "v.low", "cell": "named-by-the-planner"},
        {"text": 7},
        "no note",
    ],
)
def test_a_note_that_names_no_variable_of_the_kernel_stays_as_it_is(note: Any) -> None:
    assert with_cells({"numbers": [note]}, ASSIGNED) == {"numbers": [note]}
