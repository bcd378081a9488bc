"""The generated tables of `make detect`: their truth is about columns they have, and the judge can tell."""

from __future__ import annotations

import pytest
from benchmarks.detect.__main__ import made
from benchmarks.detect.catalogue import CATALOGUE, CLEAN_KIND
from benchmarks.detect.judge import Variables, judge
from benchmarks.detect.tables import Disguise

ALL = [(kind, one) for kind, disguises in CATALOGUE.items() for one in disguises]


def test_there_are_enough_tables_and_a_third_of_the_disguises_is_held_back() -> None:
    traps = [one for kind, one in ALL if kind != CLEAN_KIND]
    assert len(traps) >= 80
    assert len(ALL) - len(traps) == 40
    assert sum(one.held_back for one in traps) / len(traps) >= 0.33


@pytest.mark.parametrize(("kind", "disguise"), ALL, ids=lambda one: one.name if isinstance(one, Disguise) else one)
def test_a_table_is_the_same_each_time_and_has_the_columns_its_truth_names(kind: str, disguise: Disguise) -> None:
    table = made(disguise, 5)
    assert table.rows.equals(made(disguise, 5).rows)
    assert {name for trap in table.traps for name in trap.columns} <= set(table.rows.columns)
    assert bool(table.traps) == (kind != CLEAN_KIND)


def test_the_judge_counts_a_trap_that_nothing_was_said_about_as_missed() -> None:
    silent: Variables = {"number_texts": {}, "total_rows": []}
    for kind, disguise in ALL:
        table = made(disguise, 5)
        # Where the trap is to see something that is not there, silence is right.
        right = kind in {CLEAN_KIND, "names that look like numbers", "a real row called total"}
        assert (judge(table, silent).missed == ()) == right


def test_the_judge_counts_what_was_found_in_a_clean_table_as_an_alarm() -> None:
    table = made(CATALOGUE[CLEAN_KIND][0], 5)
    assert judge(table, {"leaks": {"area": "same values"}}).alarms == ("leak: area",)
    assert judge(table, {"missing_codes": {"rooms": [-1.0]}}).alarms == ("missing_code: rooms",)
    assert judge(table, {"copied_rows": 3, "copies_natural": True}).alarms == ()
