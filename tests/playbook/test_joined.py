"""A joined cell goes into the cell before it: what belongs together is one cell of the notebook."""

from __future__ import annotations

from typing import Any

import pytest

from notebook_bcc.planners.script.shorthand import expand
from notebook_bcc.playbook.content import LONGEST_CELL, joined_cells

# Any, throughout: actions are JSON.


def sent(*items: dict[str, Any]) -> list[Any]:
    return list(expand(items, steps={}, stage_id="s").actions)


def test_the_code_goes_below_that_of_the_cell_before_and_runs_with_it() -> None:
    joined = joined_cells(sent({"code": "a = 1\n"}), sent({"code": "b = a"}))
    assert joined == sent({"code": "a = 1\n\nb = a"})


def test_the_cell_replaces_the_probes_of_both_parts() -> None:
    first, second = (
        sent({"code": "a = 1", "replaces": ["x"]}),
        sent({"code": "b = 2", "replaces": ["y"], "folded": True}),
    )
    add, run = joined_cells(first, second)
    assert add["metadata"]["extra"] == {"replaces": ["x", "y"], "folded": True}
    assert run["action"] == "exec"


@pytest.mark.parametrize(
    "before", [[], [{"text": "Read this."}], [{"code": "a = 1", "probe": "x"}], [{"code": "a = 1"}, {"text": "So."}]]
)
def test_it_stands_alone_where_no_cell_stands_before_it(before: list[dict[str, Any]]) -> None:
    second = sent({"code": "b = 2"})
    assert joined_cells(sent(*before), second) == [*sent(*before), *second]


@pytest.mark.parametrize(("lines", "cells"), [(LONGEST_CELL - 2, 1), (LONGEST_CELL - 1, 2)])
def test_it_stands_alone_where_both_together_were_too_long_to_read(lines: int, cells: int) -> None:
    joined = joined_cells(sent({"code": "a = 1\n" * lines}), sent({"code": "b = a"}))
    assert [action["action"] for action in joined] == ["add", "exec"] * cells
