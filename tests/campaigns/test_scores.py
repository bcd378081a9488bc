"""How a table is judged: in every listed measure, by the same rule, and what the page shows of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from benchmarks.scores import Result, best_baselines, holds, judged_by, row

OWN: dict[str, Any] = {"metric": "accuracy", "score": 0.87, "standard_error": 0.02}
CLASSES = Result(
    name="people",
    ending="completed, verified",
    seconds=20,
    cpu_seconds=30,
    own=OWN,
    independent={"accuracy": 0.88, "roc_auc": 0.93},
    baselines={"accuracy": 0.87, "roc_auc": 0.92},
    rows=16_000,
    scored=True,
)
PRICES = replace(
    CLASSES,
    own={"metric": "log_rmse", "score": 0.1, "standard_error": 0.01},
    independent={"log_rmse": 0.1, "rmse": 900.0},
    baselines={"log_rmse": 0.11, "rmse": 800.0},
)


def test_a_table_of_classes_is_judged_by_all_its_listed_measures() -> None:
    assert judged_by(CLASSES) == ["accuracy", "roc_auc"]
    assert holds(CLASSES)


@pytest.mark.parametrize("short", ["accuracy", "roc_auc"])
def test_one_measure_below_its_baseline_is_enough_not_to_hold(short: str) -> None:
    worse = {**CLASSES.independent, short: CLASSES.baselines[short] - 0.0003}
    assert not holds(replace(CLASSES, independent=worse))


@pytest.mark.parametrize("measure", ["accuracy", "roc_auc"])
def test_on_few_rows_each_measure_may_be_two_per_cent_below(measure: str) -> None:
    within = {**CLASSES.independent, measure: 0.985 * CLASSES.baselines[measure]}
    beyond = {**CLASSES.independent, measure: 0.975 * CLASSES.baselines[measure]}
    assert holds(replace(CLASSES, independent=within, rows=1_999))
    assert not holds(replace(CLASSES, independent=within, rows=2_000))
    assert not holds(replace(CLASSES, independent=beyond, rows=1_999))


def test_predictions_without_what_a_listed_measure_needs_do_not_hold() -> None:
    assert not holds(replace(CLASSES, independent={"accuracy": 0.88}))


def test_a_measure_that_nobody_listed_is_not_judged() -> None:
    assert holds(replace(CLASSES, independent={"accuracy": 0.88, "roc_auc": 0.5}, baselines={"accuracy": 0.87}))


def test_numbers_are_judged_by_the_first_listed_measure_alone() -> None:
    assert judged_by(PRICES) == ["log_rmse"]
    assert holds(PRICES)
    assert not holds(replace(PRICES, independent={"log_rmse": 0.12, "rmse": 700.0}))


def test_a_table_without_baselines_holds_when_it_is_scored_and_not_too_proud() -> None:
    free = replace(CLASSES, baselines={})
    assert judged_by(free) == []
    assert holds(free)
    assert not holds(replace(free, independent={}))
    assert not holds(replace(free, independent={"accuracy": 0.82}))


def test_a_run_that_was_not_verified_does_not_hold() -> None:
    assert not holds(replace(CLASSES, ending="completed, not verified"))


def test_the_row_shows_every_judged_measure_side_by_side() -> None:
    cells = [cell.strip() for cell in row(CLASSES).strip("|").split("|")]
    assert cells[2:6] == ["accuracy / roc_auc", "0.88 / 0.93", "0.87 / 0.92", "1.0115 / 1.0109"]
    assert cells[-1] == "yes"


def test_a_row_says_that_a_ratio_is_short_even_where_three_digits_would_hide_it() -> None:
    shown = row(replace(CLASSES, independent={"accuracy": 0.88, "roc_auc": 0.91971}))
    assert "1.0115 / 0.9997" in shown
    assert shown.endswith("| **no** |")


def test_the_best_baseline_of_each_measure_may_be_another_models() -> None:
    scores = {
        "linear": {"accuracy": 0.80, "roc_auc": 0.91, "cpu_seconds": 1.0},
        "trees": {"accuracy": 0.82, "roc_auc": 0.90, "cpu_seconds": 2.0},
    }
    best = {"accuracy": 0.82, "roc_auc": 0.91}
    assert best_baselines({"baseline_holdout": {"n_test": 9, "scores": scores}}) == best
    assert best_baselines({"baseline_holdout": {"protocol": "official", **scores}}) == best
    assert best_baselines({"baseline_holdout": None}) == {}
