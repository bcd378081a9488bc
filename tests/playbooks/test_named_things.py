"""What texts name was really tried: candidates, choices, errors come from the variables."""

from __future__ import annotations

from typing import Any

import pytest

from notebook_bcc.playbook.templates.environment import Kind, Templates
from playbooks.rehearsal import cell_file, text_file

FOUND = {
    "metric": "log_rmse", "task": "regression", "higher_is_better": False, "target": "price", "holdout_score": 0.131,
    "estimate": 0.13, "estimate_se": 0.01, "estimate_low": 0.11, "estimate_high": 0.15, "naive_estimate": 0.4,
    "verdict": "better", "gain": 0.6, "gain_low": 0.5, "gain_high": 0.7, "cv_score": 0.13, "tested_rows": 1200,
    "auc": 0.7, "auc_low": 0.6, "auc_high": 0.8,
    "train_rows": 900, "holdout_rows": 300, "split_kind": "random", "best_single": "ridge", "baseline_score": 0.4,
    "cv_scores": {"ridge": 0.13, "extra trees": 0.14}, "other_scores": {"rmse": 26312.44, "mae": 15912.44},
    "spans": {"model": 0.05, "seed": 0.001}, "stability_spread": 0.004,
}  # fmt: skip
# Any, throughout: variables of cells are whatever they are.


def said(name: str, lang: str = "en", **facts: Any) -> str:
    text = text_file(name, lang)
    template = Templates().read(text.read_text(encoding="utf-8"), kind=Kind.PROSE, at=text.name)
    return template.render({"v": {**FOUND, **facts}, "lang": lang})


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_candidates_are_named_by_what_was_compared(lang: str) -> None:
    text = said("model_compared", lang)
    assert all(part in text for part in ("2", "ridge", "extra trees"))
    assert "support" not in text


@pytest.mark.parametrize(("lang", "model", "untried"), [("en", "model", "imputation"), ("zh", "模型", "插补")])
def test_the_conclusions_name_the_choices_that_were_tried(lang: str, model: str, untried: str) -> None:
    text = said("report_conclusions", lang, spans={model: 0.05, "seed": 0.001})
    line = next(line for line in text.splitlines() if "0.004" in line)
    assert "seed" in line
    assert untried not in line
    assert f", {model}" not in line
    assert f"、{model}" not in line


@pytest.mark.parametrize("name", ["predict_score", "report_meaning"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_where_a_logarithm_was_scored_the_plain_error_stands_beside_it(name: str, lang: str) -> None:
    assert "15,912" in said(name, lang)
    assert "15,912" not in said(name, lang, task="binary", other_scores={"macro_f1": 0.4})


@pytest.mark.parametrize(
    ("value", "shown"), [(11943.71, "11,944"), (1.5e7, "15,000,000"), (0.81463, "0.8146"), (58.316, "58.32"), (0, "0")]
)
@pytest.mark.parametrize("task", ["regression", "binary"])
def test_cells_print_scores_as_people_write_numbers(task: str, value: float, shown: str) -> None:
    cell = cell_file("method_metric")
    known = {"v": {"task": task, "relative_errors": False, "smallest_share": 0.4}, "lang": "en"}
    names: dict[str, Any] = {}
    exec(Templates().read(cell.read_text(encoding="utf-8"), kind=Kind.CELL, at=cell.name).render(known), names)
    assert names["plain_number"](value) == shown
