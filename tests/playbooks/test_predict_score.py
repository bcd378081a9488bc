"""What is said about a score: beside the naive forecast, and beside cross-validation."""

from __future__ import annotations

from typing import Any

import pytest

from notebook_bcc.playbook.templates.environment import Kind, Templates
from playbooks.rehearsal import text_file

FAR = {
    "metric": "rmse", "task": "regression", "higher_is_better": False, "target": "y", "holdout_score": 10.18,
    "estimate": 10.18, "estimate_se": 0.034, "estimate_low": 10.11, "estimate_high": 10.25, "naive_estimate": 18.6,
    "cv_score": 10.33, "train_rows": 950_000, "holdout_rows": 50_000, "tested_rows": 50_000, "verdict": "better",
    "gain": 0.45, "gain_low": 0.43, "gain_high": 0.47, "auc": 0.71, "auc_low": 0.65, "auc_high": 0.76,
}  # fmt: skip
LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])
DIFFERS = {"en": "differ from the others by more than chance", "zh": "差别超出了偶然"}
USELESS = {"en": "Do not use this model", "zh": "请不要使用这个模型"}


def said(lang: str = "en", **facts: Any) -> str:
    text = text_file("predict_score", lang)
    template = Templates().read(text.read_text(encoding="utf-8"), kind=Kind.PROSE, at=text.name)
    return template.render({"v": {**FAR, **facts}, "lang": lang})


@LANGUAGES
def test_a_model_of_all_rows_that_beats_models_of_fewer_is_no_reason_to_warn(lang: str) -> None:
    found = said(lang)
    assert DIFFERS[lang] not in found
    assert "100,000" in found


@LANGUAGES
@pytest.mark.parametrize("facts", [{"holdout_score": 10.48}, {"higher_is_better": True}, {"train_rows": 150_000}])
def test_any_other_difference_beyond_chance_is_warned_about(lang: str, facts: dict[str, Any]) -> None:
    assert DIFFERS[lang] in said(lang, **facts)


def test_scores_that_agree_are_said_to_agree() -> None:
    assert "agree within 0.3 standard errors" in said(holdout_score=10.32)


@LANGUAGES
def test_a_small_hold_out_is_never_said_to_be_believed_alone(lang: str) -> None:
    """59 rows said 0.864, cross-validation 0.72, and the truth was 0.57."""
    found = said(lang, holdout_score=0.864, cv_score=0.72, estimate=0.75, holdout_rows=59, tested_rows=295)
    assert "295" in found
    assert "0.864" in found
    assert DIFFERS[lang] not in found


@LANGUAGES
@pytest.mark.parametrize("task", ["regression", "binary", "multiclass"])
def test_a_model_is_called_useless_only_where_an_improvement_is_excluded(lang: str, task: str) -> None:
    facts = {"task": task, "gain": 0.03, "gain_low": -0.02, "gain_high": 0.08}
    doubtful = said(lang, **facts, verdict="not shown")
    assert USELESS[lang] not in doubtful
    assert {"en": "not shown", "zh": "没有证据"}[lang] in doubtful
    assert USELESS[lang] in said(lang, **facts, verdict="no better")
    assert USELESS[lang] not in said(lang, **facts, verdict="better")


@LANGUAGES
def test_the_value_before_is_told_only_where_repeating_it_is_better(lang: str) -> None:
    word = {"en": "the value before", "zh": "前一个值"}[lang]
    assert word in said(lang, previous_score=4.56)
    assert word not in said(lang, previous_score=12.0)


@LANGUAGES
def test_medians_are_called_medians_and_totals_that_are_off_are_told(lang: str) -> None:
    facts = {"metric": "log_rmse", "other_scores": {"mae": 3.0}}
    assert {"en": "medians", "zh": "中位数"}[lang] in said(lang, **facts)
    assert "80" in said(lang, **facts, total_ratio=0.8)
    assert "99" not in said(lang, **facts, total_ratio=0.99)
    # A sum of few rows is off by chance alone.
    assert "80" not in said(lang, **facts, total_ratio=0.8, total_luck=0.25)
    assert "80" in said(lang, **facts, total_ratio=0.8, total_luck=0.1)
