"""What is said about a hold-out score that differs from cross-validation."""

from __future__ import annotations

from typing import Any

import pytest

from notebook_bcc.playbook.templates.environment import Kind, Templates
from playbooks.rehearsal import text_file

FAR = {
    "metric": "rmse", "task": "regression", "higher_is_better": False, "target": "y", "holdout_score": 10.18,
    "holdout_se": 0.034, "holdout_low": 10.11, "holdout_high": 10.25, "naive_holdout": 18.6, "cv_score": 10.33,
    "gap": -0.15, "train_rows": 950_000, "holdout_rows": 50_000,
}  # fmt: skip


def said(lang: str = "en", **facts: Any) -> str:
    text = text_file("predict_score", lang)
    template = Templates().read(text.read_text(encoding="utf-8"), kind=Kind.PROSE, at=text.name)
    return template.render({"v": {**FAR, **facts}, "lang": lang})


@pytest.mark.parametrize(("lang", "warning"), [("en", "Believe the hold-out"), ("zh", "请以留出集为准")])
def test_a_model_of_all_rows_that_beats_models_of_fewer_is_no_reason_to_warn(lang: str, warning: str) -> None:
    found = said(lang)
    assert warning not in found
    assert "100,000" in found


@pytest.mark.parametrize("facts", [{"gap": 0.15}, {"higher_is_better": True}, {"train_rows": 150_000}])
def test_any_other_difference_beyond_chance_is_warned_about(facts: dict[str, Any]) -> None:
    assert "Believe the hold-out" in said(**facts)


def test_scores_that_agree_are_said_to_agree() -> None:
    assert "agree within 0.3 standard errors" in said(gap=-0.01)
