"""The program that counts how often intervals hold the truth: its tables, its page."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.coverage import FAMILIES, SPLITS, Family, Outcome, page, table

SHARES = {"balanced binary": (0.35, 0.65), "5 % binary": (0.03, 0.09)}


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_is_what_its_name_says(family: Family, split: str) -> None:
    made = table(family, 4000, split=split, signal=True, draws=np.random.default_rng(1))
    low, high = SHARES.get(family.name, (float("-inf"), float("inf")))
    assert low <= made["y"].mean() <= high
    assert (made["y"].nunique() <= 3) is (family.task != "regression")


def test_without_a_signal_no_column_tells_anything() -> None:
    made = table(FAMILIES[0], 4000, split="random", signal=False, draws=np.random.default_rng(2))
    assert abs(made["a"].corr(made["y"])) < 0.05


def test_the_page_counts_what_held_and_on_which_side_it_missed() -> None:
    held = Outcome("normal", "random", 40, True, 0.9, 1.2, 1.0, "better")
    proud = Outcome("normal", "random", 40, True, 0.9, 1.2, 1.4, "not shown")
    noise = Outcome("normal", "random", 40, False, 0.9, 1.2, 1.0, "no better")
    lines = page([held, proud, noise], declined=1, seconds=3).splitlines()
    assert lines[-1] == "| normal | random | 3 | 0.67 | 1 | 0 | 1 / 1 / 0 | 0 / 0 / 1 |"
