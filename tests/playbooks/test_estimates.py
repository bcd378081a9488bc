"""How long the built-in analysis is said to take: by what its models get, not by the size of the file alone."""

from __future__ import annotations

from typing import Any

import pytest

from notebook_bcc.playbook.check import load_playbook
from notebook_bcc.playbook.folder import open_playbook
from notebook_bcc.playbook.outlook import reckon
from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.observation import (
    Context,
    Current,
    FsmView,
    Goals,
    LevelProgress,
    Location,
    Observation,
    Progress,
)
from notebook_bcc.protocol.vocabulary import State

PLAYBOOK = load_playbook(open_playbook("dslc"))
# What is planned where something is to be predicted.
AHEAD = ("integrity", "exploration", "methodology", "modelling", "predictability", "stability", "report")
BEGINNING = Request(
    observation=Observation(
        location=Location(
            current=Current(stage_id="structure"),
            progress=Progress(stages=LevelProgress(current="structure", remaining=AHEAD)),
            goals=Goals(),
        ),
        context=Context(fsm=FsmView(state=State.IDLE)),
    )
)


def estimated(rows: int, columns: int, **known: Any) -> float:
    """Seconds for a whole run on a table of this size, on a quiet machine."""
    variables = {"row_count": rows, "column_count": columns, **known}
    facts = {"v": variables, "inputs": {"data": "a.csv", "target": "y"}, "lang": "en", "asked": {"task": "predict"}}
    left = reckon(PLAYBOOK, BEGINNING, facts).left
    assert left is not None
    return left


def test_a_wide_table_of_few_rows_takes_no_longer_than_its_models_need() -> None:
    # 202 rows and 754 columns took 24 seconds; 175 were told before.
    assert 15 < estimated(202, 754) < 70


def test_texts_cost_as_much_as_the_words_that_become_columns() -> None:
    # 3,207 rows of used cars with two columns of texts took 143 seconds of processor time; 56 were told before.
    assert 70 < estimated(3207, 12, text_columns=["model", "engine"]) < 280


@pytest.mark.parametrize(("rows", "columns"), [(276, 7), (891, 12), (1168, 81), (3918, 12)])
def test_tables_that_are_neither_wide_nor_texts_are_estimated_as_before(rows: int, columns: int) -> None:
    assert estimated(rows, columns, text_columns=[]) == estimated(rows, columns)
    assert estimated(rows, columns) < estimated(4 * rows, columns)
