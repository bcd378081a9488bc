"""The choices that are tried otherwise: each beside what was done, so that the span between them means something."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from notebook_bcc.playbook.templates.environment import Kind, Templates
from playbooks.rehearsal import cell_file

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")
pytest.importorskip("sklearn")

COLUMNS = {
    "number_columns": ["size", "wealth"], "skewed_columns": ["wealth"], "code_columns": [], "few_levels": [],
    "some_levels": [], "many_levels": [], "word_columns": [], "repeated_texts": [],
    "numeric_columns": ["size", "wealth"], "category_columns": [], "given_features": ["size", "wealth"],
}  # fmt: skip
PRICES = {
    "task": "regression", "metric": "log_rmse", "target_positive": True, "train_rows": 300, "gap_count": 9,
    "split_kind": "random", "feature_count": 2, "best_single": "shallow trees",
}  # fmt: skip
# Any, throughout: variables of cells are whatever they are.


def carried_out(lang: str = "en", **facts: Any) -> dict[str, Any]:
    """What stands in the kernel after the cells for a table with these facts."""
    v = {**COLUMNS, **PRICES, **facts}
    known = {"v": v, "lang": lang}
    draws = np.random.default_rng(0)
    X = pd.DataFrame({"size": draws.normal(size=300), "wealth": np.exp(draws.normal(size=300))})
    X.loc[:8, "size"] = np.nan
    names: dict[str, Any] = {
        "np": np,
        "pd": pd,
        **COLUMNS,
        "X": X,
        "X_holdout": X.tail(60),
        "best_single": v["best_single"],
    }
    value = np.exp(X["wealth"].clip(upper=3))
    names["y"] = value if v["task"] == "regression" else (value > 3).astype(int)
    names["y_holdout"] = names["y"].tail(60)
    names |= {"metric": v["metric"], "score": lambda actual, guess: float(np.mean(np.abs(actual - guess)))}
    names["plain_number"] = str
    for cell in ("model_for_linear", "model_for_trees"):
        exec(_written(cell, known), names)
    linear, trees = ("Ridge", "Regressor") if v["task"] == "regression" else ("LogisticRegression", "Classifier")
    exec(
        f"from sklearn.linear_model import {linear}\nfrom sklearn.tree import DecisionTree{trees}\n"
        f"candidates = {{{'ridge' if linear == 'Ridge' else 'logistic'!r}: make_pipeline(for_linear, {linear}()), "
        f"'shallow trees': make_pipeline(for_trees, DecisionTree{trees}(max_depth=2))}}",
        names,
    )
    for cell in ("stable_rows", "stable_variants", "stable_scores"):
        exec(_written(cell, known), names)
    return names


def _written(cell: str, known: dict[str, Any]) -> str:
    path = cell_file(cell)
    return Templates().read(path.read_text(encoding="utf-8"), kind=Kind.CELL, at=path.name).render(known)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, {"model", "seed", "imputation", "transformation", "scale of the target"}),
        ({"metric": "rmse"}, {"model", "seed", "imputation", "transformation", "scale of the target"}),
        ({"metric": "rmse", "target_positive": False}, {"model", "seed", "imputation", "transformation"}),
        ({"task": "binary", "metric": "accuracy", "class_count": 2}, {"model", "seed", "imputation", "transformation"}),
        (
            {"task": "binary", "metric": "accuracy", "class_count": 2, "gap_count": 0},
            {"model", "seed", "transformation"},
        ),
    ],
)
def test_every_choice_but_the_model_is_tried_in_at_least_two_ways(facts: dict[str, Any], expected: set[str]) -> None:
    names = carried_out(**facts)
    tried = Counter(call for call, _, _ in names["variants"])
    assert set(tried) == expected
    assert all(count >= 2 for call, count in tried.items() if call != "model")
    assert set(names["spans"]) == expected


def test_what_was_chosen_is_among_what_is_tried() -> None:
    names = carried_out(metric="rmse")
    reference = names["stability"]["model"][names["best_single"]]
    assert set(names["stability"]["model"]) == set(names["candidates"])
    assert names["stability"]["seed"][f"{names['best_single']}, 0"] == reference
    assert names["stability"]["scale of the target"]["as it is"] == reference
    assert names["stability"]["imputation"]["linear, median"] == names["stability"]["model"]["ridge"]
    assert names["stability"]["transformation"]["linear, logarithms"] == names["stability"]["model"]["ridge"]


def test_a_transformation_is_compared_with_the_same_kind_of_model_only() -> None:
    tried = carried_out(metric="rmse")["variants"]
    ends = {call: {type(_last(one)).__name__ for other, _, one in tried if other == call} for call, _, _ in tried}
    assert ends["transformation"] == {"Ridge"}
    assert ends["scale of the target"] == {"DecisionTreeRegressor"}


def test_logarithms_of_columns_make_a_difference_where_columns_are_skewed() -> None:
    assert carried_out(metric="rmse")["spans"]["transformation"] > 0


def test_fits_on_a_small_part_of_the_rows_say_nothing_about_the_choices() -> None:
    part, most = ({"v": {**PRICES, "train_rows": rows}, "lang": "en"} for rows in (60_000, 26_000))
    assert "stability_spread = max(small_calls, default=0)" in _written("stable_scores", part)
    assert "perturbed_scores" not in _written("stable_scores", part)
    assert "min(perturbed_scores)" in _written("stable_scores", most)


def test_the_choices_have_chinese_names_too() -> None:
    assert set(carried_out(lang="zh")["spans"]) == {"模型", "种子", "插补", "变换", "目标的尺度"}


def _last(estimator: Any) -> Any:
    inner = getattr(estimator, "regressor", estimator)
    return inner[-1]


def test_seeds_of_a_model_without_chance_in_it_are_no_evidence() -> None:
    assert "seed" not in carried_out(metric="rmse", best_single="ridge")["spans"]
