"""Sentences that were false or ugly, each with the values that made it so."""

from __future__ import annotations

from typing import Any

import pytest

from notebook_bcc.planners.marked_yaml import load_marked
from notebook_bcc.playbook.templates.environment import Kind, Templates
from notebook_bcc.playbook.templates.filters import number_text, value_text
from notebook_bcc.playbook.templates.values import plain
from playbooks.rehearsal import stage_file, text_file

LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])
DRIVER: dict[str, Any] = {
    "column": "age", "direction": "falls", "from": 20.0, "to": 60.0, "effect": -0.064, "low": -0.09, "high": -0.04,
    "is_number": True, "class": "yes",
}  # fmt: skip
# Any, throughout: variables are whatever they are.


def said(name: str, lang: str, **facts: Any) -> str:
    path = text_file(name, lang)
    template = Templates().read(path.read_text(encoding="utf-8"), kind=Kind.PROSE, at=path.name)
    return template.render({"v": facts, "lang": lang, "inputs": {}, "asked": {}, "has_model": False})


def drivers(lang: str, *, unit: str = "probability", **driver: Any) -> str:
    falls = "falls" if lang == "en" else "下降"
    one = {**DRIVER, "direction": falls, **driver}
    return said(
        "drivers_found", lang, effect_unit=unit, beats_naive=True, drivers_sure=[one], target="churn",
        metric="accuracy", estimate=0.8, naive_estimate=0.6,
    )  # fmt: skip


@LANGUAGES
def test_what_falls_falls_by_a_number_without_a_sign(lang: str) -> None:
    text = drivers(lang)
    assert {
        "en": "falls by **6.4** points (95 % interval 4.0 to 9.0)",
        "zh": "下降 **6.4** 个百分点（95% 区间 4.0 至 9.0）",
    }[lang] in text
    text = drivers(lang, unit="value", effect=-12.5, low=-15.0, high=-10.0)
    assert {"en": "falls by **12.5** (95 % interval 10 to 15)", "zh": "下降 **12.5**（95% 区间 10 至 15）"}[
        lang
    ] in text


@LANGUAGES
def test_a_category_is_compared_with_another_instead_of_changing_by_a_number(lang: str) -> None:
    ends = {"from": "monthly", "to": "two years", "direction": {"en": "differs", "zh": "各类不同"}[lang]}
    text = drivers(lang, is_number=False, **ends, effect=0.3, low=0.2, high=0.4)
    assert {"en": "two years instead of monthly", "zh": "two years 相比 monthly"}[lang] in text
    assert {"en": "**30.0** points higher (95 % interval 20.0 to 40.0)", "zh": "高 **30.0** 个百分点"}[lang] in text


@LANGUAGES
def test_what_goes_up_and_down_says_what_the_number_is(lang: str) -> None:
    text = drivers(lang, direction={"en": "goes up and down", "zh": "先后不一"}[lang])
    assert {
        "en": "goes up and down; from one end to the other it changes by **-6.4** points",
        "zh": "时高时低，两端相差 **-6.4**",
    }[lang] in text


@LANGUAGES
def test_weekdays_have_names_and_years_no_separator(lang: str) -> None:
    days: dict[str, Any] = {"from": 0.0, "to": 6.0}
    weekday = drivers(lang, column="sold_day_of_week", **days)
    assert {"en": "from Monday to Sunday", "zh": "从星期一到星期日"}[lang] in weekday
    years: dict[str, Any] = {"from": 1955.0, "to": 2018.0}
    year = drivers(lang, column="built", **years)
    assert {"en": "from 1955 to 2018", "zh": "从 1955 到 2018"}[lang] in year


@LANGUAGES
def test_years_among_the_values_have_no_separator(lang: str) -> None:
    none = dict.fromkeys(["missing_cells", "missing_codes", "only_positive", "negative_values", "missing_together"], 0)
    text = said(
        "integrity_values", lang, **none, means_none={}, limits={"built": [1850, 2030]},
        far_values={"sold": [3, 1872, 2010]},
    )  # fmt: skip
    assert all(year in text for year in ("1850", "2030", "1872", "2010"))
    summary = {"median": 1998, "low": 1950, "high": 2015, "min": 1872, "max": 2018, "skew": 0.1, "at_max": 0}
    told = said("explore_target", lang, task="regression", target="built", target_summary=summary, target_levels=90)
    assert all(str(year) in told for year in (1998, 1950, 2015, 1872, 2018))


@pytest.mark.parametrize(
    ("value", "text"),
    [(2018, "2018"), (2018.0, "2018"), (12500, "12,500"), (999, "999"), (2010.25, "2,010.2"), (-1500, "-1500")],
)
def test_a_value_of_four_digits_is_written_as_a_year_is(value: float, text: str) -> None:
    assert value_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(123456789.12, "123,460,000"), (1234567.8, "1,234,600"), (98765.4, "98,765"), (123456789, "123,456,789")],
)
def test_a_computed_amount_has_no_more_digits_than_count(value: float, text: str) -> None:
    assert number_text(value) == text


def test_what_is_no_number_is_not_called_one() -> None:
    assert plain(float("nan")) == plain(float("inf")) == number_text(float("nan")) == "–"
    assert plain(-0.0) == number_text(-0.0) == "0"
    assert number_text(-0.001, 2) == "0.00"


@LANGUAGES
@pytest.mark.parametrize(("verdict", "named"), [("better", True), ("not shown", False), ("no better", False)])
def test_a_column_is_named_as_important_only_where_the_model_is_shown_to_be_better(
    lang: str, verdict: str, named: bool
) -> None:
    text = said(
        "report_conclusions", lang, verdict=verdict, task="regression", metric="rmse", holdout_rows=50, train_rows=200,
        split_kind="random", leaks={}, importance_top={"hour": 0.4},
    )  # fmt: skip
    assert ("`hour`" in text) == named
    when = [one.get("when", "") for one in _behaviors("predictability", "importance_top")]
    assert any("verdict == 'better'" in rule for rule in when)


def _behaviors(stage: str, word: str) -> list[dict[str, Any]]:
    path = stage_file(stage)
    plan = load_marked(path.read_bytes(), source=path.name).value
    behaviors = [one for step in plan["steps"] for one in step["behaviors"]]
    return [one for one in behaviors if word in str(one.get("when", ""))]


@LANGUAGES
def test_a_model_that_is_no_better_is_not_contradicted_by_the_table_beside_it(lang: str) -> None:
    facts: dict[str, Any] = {
        "verdict": "no better", "task": "regression", "metric": "rmse", "estimate": 1.121, "estimate_low": 0.9645,
        "estimate_high": 1.302, "naive_estimate": 1.055, "holdout_rows": 48, "tested_rows": 144, "holdout_score": 1.047,
        "cv_score": 1.144, "gain": -0.0626, "gain_low": -0.11, "gain_high": -0.02, "target": "y", "other_scores": None,
        "estimate_se": 0.08, "train_rows": 192, "higher_is_better": False,
    }  # fmt: skip
    text = said("predict_score", lang, **facts)
    assert {
        "en": "its error is 6.3 % larger (95 % interval 2.0 % to 11.0 % larger)",
        "zh": "大 6.3%（95% 区间为大 2.0% 至 11.0%）",
    }[lang] in text
    assert {"en": "favourable", "zh": "有利"}[lang] not in text + said("report_score", lang, **facts)


@LANGUAGES
def test_a_change_over_time_is_called_one_only_where_it_is_more_than_a_trifle(lang: str) -> None:
    word = {"en": "poorer guide", "zh": "参考价值"}[lang]
    spread = {"low": 100_000, "high": 250_000}
    near = said("explore_time", lang, target="price", time_change=[180_121, 180_397], target_summary=spread)
    far = said("explore_time", lang, target="price", time_change=[180_121, 230_000], target_summary=spread)
    assert word not in near
    assert word in far


@LANGUAGES
@pytest.mark.parametrize(
    ("metric", "higher", "alone", "blend", "told"),
    [
        ("rmse", False, 21.5, 21.68, True),
        ("rmse", False, 21.5, 20.9, False),
        ("accuracy", True, 0.8472, 0.8458, True),
        ("accuracy", True, 0.84, 0.85, False),
        ("accuracy", True, 0.84, 0.84, False),
    ],
)
def test_an_average_that_scores_worse_than_its_best_part_says_so(
    lang: str, metric: str, higher: bool, alone: float, blend: float, told: bool
) -> None:
    text = said(
        "model_chosen", lang, chosen={"ridge": 0.6, "deep trees": 0.4}, task="regression", metric=metric,
        higher_is_better=higher, cv_score=blend, best_single="ridge", cv_scores={"ridge": alone, "deep trees": 1.0},
        split_kind="random",
    )  # fmt: skip
    assert ({"en": "ridge alone had", "zh": "单独使用 ridge 时为"}[lang] in text) == told


@LANGUAGES
def test_what_a_forecast_of_later_rows_may_expect_is_told_beside_the_score(lang: str) -> None:
    facts: dict[str, Any] = {
        "verdict": "better", "task": "regression", "metric": "rmse", "holdout_rows": 50, "train_rows": 200,
        "split_kind": "random", "leaks": {}, "doubtful_time": "day", "group_column": "",
    }  # fmt: skip
    worse = {"quick_scores": {"later": [0.82, 0.67]}}
    for name in ("integrity_worth", "report_conclusions"):
        text = said(name, lang, **facts, **worse)
        assert text.index("0.82") != text.index("0.67") > 0
        assert "--time day" in text
    assert "--time" not in said("report_conclusions", lang, **facts, quick_scores={"later": [0.82, 0.81]})


@LANGUAGES
@pytest.mark.parametrize(
    ("metric", "unit"), [("rmse", "R²"), ("log_rmse", {"en": "R² of the logarithm", "zh": "对数的 R²"})]
)
def test_columns_that_surely_cost_the_score_are_not_said_to_cost_most(lang: str, metric: str, unit: Any) -> None:
    # A column may cost more and vary so much that it is not named.
    facts: dict[str, Any] = {
        "verdict": "better", "task": "regression", "metric": metric, "holdout_rows": 50, "train_rows": 200,
        "split_kind": "random", "leaks": {}, "importance_top": {"cars": 0.0145}, "importance_luck": {"cars": 0.004},
    }  # fmt: skip
    found = said("report_conclusions", lang, **facts)
    line = next(line for line in found.splitlines() if "`cars`" in line)
    assert {"en": "more than chance explains", "zh": "超出偶然波动"}[lang] in line
    assert (unit if isinstance(unit, str) else unit[lang]) in line
    assert {"en": "most", "zh": "最多"}[lang] not in line
    named = next(one for one in _behaviors("predictability", "importance_top") if "length > 0" in one["when"])
    template = Templates().read(named["actions"][0]["text"][lang], kind=Kind.PROSE, at="stage.yaml")
    text = template.render({"v": facts, "lang": lang})
    assert {"en": "Most is lost", "zh": "损失最多"}[lang] not in text
    assert "`cars`" in text


@LANGUAGES
def test_the_naive_forecast_at_the_head_is_named(lang: str) -> None:
    facts: dict[str, Any] = {
        "verdict": "better", "metric": "rmse", "estimate": 21.06, "estimate_low": 15.6, "estimate_high": 28.5,
        "naive_estimate": 39.2,
    }  # fmt: skip
    # The last day once more has learnt something.
    named = said("report_score", lang, **facts, naive_kind="the last 24 rows again")
    assert "the last 24 rows again" in named
    assert {"en": "learnt nothing", "zh": "什么都没学"}[lang] not in named
    assert {"en": "The naive forecast reaches 39.2", "zh": "朴素预测为 39.2"}[lang] in said(
        "report_score", lang, **facts
    )
