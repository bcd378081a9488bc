"""Which candidates a table of classes gets by its size, and that each of them can be fitted."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from notebook_bcc.playbook.templates.environment import Kind, Templates
from playbooks.rehearsal import cell_file

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")
exceptions = pytest.importorskip("sklearn.exceptions")
pipeline = pytest.importorskip("sklearn.pipeline")
LARGE = {
    "train_rows": 26_000, "feature_count": 3, "few_levels": [], "some_levels": [], "class_count": 2,
    "split_kind": "stratified", "smallest_share": 0.24, "number_columns": ["a"], "category_columns": [],
    "has_lightgbm": False,
}  # fmt: skip
PLAIN = "boosted trees as they come"
# Any, throughout: variables of cells are whatever they are.


def written(**facts: Any) -> str:
    """The cell for a table with these facts."""
    cell = cell_file("model_candidates_classes")
    known = {"v": {**LARGE, **facts}, "lang": "en"}
    return Templates().read(cell.read_text(encoding="utf-8"), kind=Kind.CELL, at=cell.name).render(known)


def candidates(**facts: Any) -> dict[str, Any]:
    names: dict[str, Any] = {
        "make_pipeline": pipeline.make_pipeline, "for_trees": None, "for_linear": None, "for_forests": None,
        "as_given": None, "few_levels": [], "some_levels": [],
    }  # fmt: skip
    exec(written(**facts), names)
    return dict(names["candidates"])


@pytest.mark.parametrize("cell", ["numbers", "classes", "many"])
def test_a_fit_that_does_not_converge_shows_no_warning(cell: str) -> None:
    path = cell_file(f"model_candidates_{cell}")
    facts = {**LARGE, "train_rows": 300, "word_columns": [], "metric": "rmse", "target_counts": False}
    facts |= {"target_positive": False, "target_skew": 0}
    source = Templates().read(path.read_text(encoding="utf-8"), kind=Kind.CELL, at=path.name).render({"v": facts})
    names: dict[str, Any] = {
        "np": np, "make_pipeline": pipeline.make_pipeline, "StandardScaler": list,
        **dict.fromkeys(["for_trees", "for_linear", "for_lines", "for_forests", "as_given"]),
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(source, names)
        warnings.warn("not there yet", exceptions.ConvergenceWarning, stacklevel=1)


def test_on_a_large_table_deep_trees_stop_when_they_have_learnt_enough() -> None:
    found = candidates()
    assert list(found) == ["logistic", "small trees", "shallow trees", "deep trees", PLAIN]
    stopping = {name: one[-1].get_params().get("early_stopping") for name, one in found.items()}
    assert stopping == {
        "logistic": None,
        "small trees": False,
        "shallow trees": False,
        "deep trees": True,
        PLAIN: False,
    }


@pytest.mark.parametrize("facts", [{"smallest_share": 0.001}, {"split_kind": "time"}, {"split_kind": "group"}])
def test_nothing_is_split_off_where_a_class_might_be_left_with_one_row(facts: dict[str, Any]) -> None:
    assert "early_stopping=True" not in written(**facts)
    assert not candidates(**facts)["deep trees"][-1].early_stopping


def test_more_than_two_classes_do_without_the_small_trees() -> None:
    found = candidates(class_count=5)
    assert list(found) == ["logistic", "shallow trees", "deep trees", PLAIN]
    assert found["deep trees"][-1].max_iter < candidates()["deep trees"][-1].max_iter


@pytest.mark.parametrize("rows", [500, 4_000, 20_000])
def test_up_to_twenty_thousand_rows_there_is_a_forest_and_nothing_stops_early(rows: int) -> None:
    found = candidates(train_rows=rows)
    assert "extra trees" in found
    assert "small trees" not in found
    assert "early_stopping=early_stopping" not in written(train_rows=rows)


@pytest.mark.parametrize("class_count", [2, 4])
def test_every_candidate_of_a_large_table_can_be_fitted(class_count: int) -> None:
    draws = np.random.default_rng(0)
    X = pd.DataFrame(draws.normal(size=(400, 3)), columns=["a", "b", "c"])
    y = pd.cut(X["a"] + draws.normal(scale=0.1, size=400), class_count, labels=False)
    for name, estimator in candidates(class_count=class_count).items():
        model = estimator[-1]
        model.set_params(max_iter=min(model.max_iter, 30 if name != "logistic" else 500))
        assert model.fit(X, y).predict_proba(X).shape == (400, y.nunique()), name
