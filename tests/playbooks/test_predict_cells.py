"""What the cells about the rows set aside draw and name: run on small models that are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")
base = pytest.importorskip("sklearn.base")
linear_model = pytest.importorskip("sklearn.linear_model")

from notebook_bcc.playbook.templates.environment import Kind, Templates  # noqa: E402
from playbooks.rehearsal import Rehearsal, at_work_in, cell_file  # noqa: E402

# Any, throughout: models and tables have no types here.


def ran(folder: Path, cells: list[str], *, facts: dict[str, Any], lang: str = "en", **names: Any) -> Rehearsal:
    """These cells in a namespace that has what the stages before them would have made."""
    rehearsal = Rehearsal()
    told = {"word_columns": [], "feature_count": 5, "smallest_share": 0.4, "relative_errors": False, "cjk_font": ""}
    told |= {"holdout_rows": 180}
    with at_work_in(folder):
        rehearsal.run(cell_file("structure_setup").read_text(encoding="utf-8"))
        rehearsal.names |= names
        for cell in cells:
            source = cell_file(cell).read_text(encoding="utf-8")
            template = Templates().read(source, kind=Kind.CELL, at=cell)
            rehearsal.run(template.render({"v": told | facts, "lang": lang, "inputs": {}}))
    return rehearsal


def measured(rows: int) -> Any:
    generator = np.random.default_rng(7)
    return pd.DataFrame(generator.normal(size=(rows, 5)), columns=["size", "n1", "n2", "n3", "n4"])


@pytest.mark.parametrize("task", ["regression", "binary", "rare", "multilabel"])
def test_a_column_is_named_only_where_its_loss_is_beyond_chance(tmp_path: Path, task: str) -> None:
    X, X_holdout = measured(120), measured(300).iloc[120:]
    noise = np.random.default_rng(1).normal(size=300)

    def answers(table: Any, more: Any) -> Any:
        if task == "regression":
            return 3 * table["size"] + more
        happened = table["size"] + more > (1 if task == "rare" else 0)
        return (
            pd.DataFrame({"a": happened, "b": happened}).astype(int) if task == "multilabel" else happened.astype(int)
        )

    y, y_holdout = answers(X, noise[:120]), answers(X_holdout, noise[120:])
    single = y["a"] if task == "multilabel" else y
    model: Any = (
        linear_model.LinearRegression() if task == "regression" else linear_model.LogisticRegression(C=1e6)
    ).fit(X, single)
    if task == "multilabel":
        model = Twice(model)
    facts = {
        "regression": {"task": "regression", "metric": "rmse", "higher_is_better": False},
        "binary": {"task": "binary", "metric": "accuracy", "higher_is_better": True},
        "rare": {"task": "binary", "metric": "roc_auc", "higher_is_better": True, "smallest_share": 0.05},
        "multilabel": {"task": "multilabel", "metric": "macro_f1", "higher_is_better": True},
    }[task]
    facts |= {"holdout_rows": 200}
    given = {"X": X, "y": y, "model": model, "given_features": [*X.columns], "raw": X, "train": X}
    if task == "multilabel":
        given |= {"holdout": X_holdout.assign(**y_holdout), "targets": ["a", "b"]}
    else:
        given |= {"holdout": X_holdout.assign(y=y_holdout), "target": "y"}
    played = ran(tmp_path, ["method_metric", "predict_groups", "predict_importance"], facts=facts, **given)
    assert list(played.names["importance_top"]) == ["size"]


class Twice(base.BaseEstimator):  # type: ignore[name-defined, misc]
    """A model that gives the same answer to two questions."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, *given: Any) -> Twice:
        return self

    def predict(self, table: Any) -> Any:
        return np.column_stack([self.model.predict(table)] * 2)


@pytest.mark.parametrize(
    ("task", "lang"), [("binary", "en"), ("binary", "zh"), ("multiclass", "en"), ("multiclass", "zh")]
)
def test_no_grid_runs_through_a_confusion_matrix(tmp_path: Path, task: str, lang: str) -> None:
    table = measured(200)
    labels = pd.cut(table["size"], 2 if task == "binary" else 3, labels=False).astype(str)
    model = linear_model.LogisticRegression().fit(table, labels)
    probability = pd.Series(model.predict_proba(table)[:, 1], index=table.index)
    predicted = pd.Series(model.predict(table), index=table.index)
    given = {"y_holdout": labels, "holdout_predicted": predicted, "holdout_probability": probability, "model": model}
    played = ran(tmp_path, ["predict_figure"], facts={"task": task, "metric": "accuracy"}, lang=lang, **given)
    assert any("onfusion matrix" in text or "混淆矩阵" in text for text in played.drawn)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_summary_is_shown_without_the_marks_of_its_file(
    tmp_path: Path, lang: str, capsys: pytest.CaptureFixture[str]
) -> None:
    scored: dict[str, Any] = {"estimate": 0.8146, "estimate_se": 0.03, "estimate_low": 0.7569, "estimate_high": 0.8723}
    scored |= {"holdout_score": 0.81, "verdict": "better", "tested_rows": 891}
    given = {"target": "y", "naive_estimate": 0.618, "cv_score": 0.8471, "other_scores": {}, "split_kind": "random"}
    counted = {"train_rows": 713, "holdout_rows": 178, "chosen": {"trees": 1.0}, "dropped_columns": {}, "y": None}
    facts = {"task": "binary", "metric": "accuracy", "leaks": {}, "split_kind": "random"}
    ran(tmp_path, ["method_metric", "report_summary"], facts=facts, lang=lang, **scored, **given, **counted)
    shown = capsys.readouterr().out
    assert "0.8146" in shown
    assert "**" not in shown
    assert "**0.8146**" in (tmp_path / "summary.md").read_text(encoding="utf-8")
