"""What the texts say is what the variables say: rendered with the values that a run would have."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from notebook_bcc.planners.marked_yaml import load_marked
from notebook_bcc.playbook.goals.asked import Asked
from notebook_bcc.playbook.templates.environment import Kind, Templates
from notebook_bcc.playbook.templates.filters import number_text
from playbooks.rehearsal import DSLC, cell_file, stage_file, text_file

LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])
SCORED: dict[str, Any] = {
    "metric": "rmse", "task": "regression", "higher_is_better": False, "target": "y", "holdout_score": 18.43,
    "estimate": 18.43, "estimate_low": 6.224, "estimate_high": 30.63, "naive_estimate": 47.87, "verdict": "better",
    "importance_luck": {"hour": 0.02, "day": 0.01, "wind": 0.0004}, "holdout_rows": 114, "train_rows": 455,
    "split_kind": "time", "leaks": {}, "importance_top": {"hour": 0.93, "day": 0.11, "wind": 0.0031},
    "best_single": "trees", "perturbed_scores": [17.98, 19.26], "stability_spread": 1.281, "gap_count": 20,
    "skewed_columns": [], "target_positive": False,
}  # fmt: skip
SPANS = {
    "en": {"model": 16.77, "seed": 1.092, "imputation": 0.04023},
    "zh": {"模型": 16.77, "种子": 1.092, "插补": 0.04023},
}
COLUMNS: dict[str, Any] = {
    "number_columns": ["a"], "skewed_columns": [], "few_levels": [], "some_levels": [], "many_levels": [],
    "code_columns": [], "word_columns": [], "missing_features": 0, "task": "regression",
}  # fmt: skip
# Any, throughout: variables are whatever they are.


def said(name: str, lang: str, *, inputs: dict[str, Any] | None = None, has_model: bool = False, **facts: Any) -> str:
    path = text_file(name, lang)
    template = Templates().read(path.read_text(encoding="utf-8"), kind=Kind.PROSE, at=path.name)
    asked = Asked(task="predict").plain()
    return template.render({"v": facts, "lang": lang, "inputs": inputs or {}, "has_model": has_model, "asked": asked})


def said_in(stage: str, lang: str, word: str, **facts: Any) -> str:
    """The short text of a stage that holds this word."""
    path = stage_file(stage)
    plan = load_marked(path.read_bytes(), source=path.name).value
    actions = [action for step in plan["steps"] for one in step["behaviors"] for action in one["actions"]]
    sources = [action["text"][lang] for action in actions if word in action.get("text", {}).get("en", "")]
    (source,) = sources
    return Templates().read(source, kind=Kind.PROSE, at=path.name).render({"v": facts, "lang": lang, "inputs": {}})


def items(markdown: str) -> list[str]:
    tokens = MarkdownIt("commonmark").parse(markdown)
    starts = [at for at, token in enumerate(tokens) if token.type == "list_item_open"]
    return [next(token.content for token in tokens[at:] if token.type == "inline") for at in starts]


@LANGUAGES
def test_how_far_choices_move_the_score_is_said_of_the_kind_of_model_and_of_the_rest_apart(lang: str) -> None:
    told = items(said("report_conclusions", lang, **SCORED, spans=SPANS[lang]))
    (choices,) = [item for item in told if "1.281" in item]
    sentences = choices.replace("。", ". ").split(". ")
    (rest,) = [sentence for sentence in sentences if "1.281" in sentence]
    (models,) = [sentence for sentence in sentences if number_text(max(SPANS[lang].values())) in sentence]
    assert rest != models
    words = list(SPANS[lang])
    assert words[0] in models or "模型" in models
    assert words[0] not in rest
    assert all(word in rest for word in words[1:])
    assert "transformation" not in choices, "only what was tried is listed"
    assert "变换" not in choices


@LANGUAGES
def test_the_span_of_every_choice_is_told_and_compared_with_the_width_of_the_interval(lang: str) -> None:
    told = said("stable_found", lang, **SCORED, spans=SPANS[lang])
    for name, span in SPANS[lang].items():
        assert name in told
        assert number_text(span) in told
    assert number_text(SCORED["estimate_high"] - SCORED["estimate_low"]) in told
    wide = said("stable_found", lang, **{**SCORED, "stability_spread": 99.5}, spans=SPANS[lang])
    assert ("depends on" in wide) == (lang == "en")
    assert ("取决于人为的选择" in wide) == (lang == "zh")


@LANGUAGES
def test_the_rows_set_aside_are_not_said_to_be_used_only_once(lang: str) -> None:
    texts = [
        said("integrity_split", lang, **SCORED),
        said_in("predictability", lang, "rows set aside are used", **SCORED),
        stage_file("predictability").read_text(encoding="utf-8"),
    ]
    for text in texts:
        assert not [
            word for word in ("once,", "used once", "only time", "用一次", "使用一次", "唯一一次") if word in text
        ]
    assert "114" in texts[0]
    assert "114" in texts[1]


@LANGUAGES
def test_a_notebook_says_that_no_model_wrote_it_only_where_none_did(lang: str) -> None:
    given = {"data": "houses.csv", "target": "price"}
    without = said("structure_intro", lang, inputs=given)
    with_one = said("structure_intro", lang, inputs=given, has_model=True)
    nobody = {"en": "without a language model", "zh": "没有使用语言模型"}[lang]
    somebody = {"en": "a language model was asked", "zh": "由语言模型撰写"}[lang]
    assert (nobody in without, somebody in without) == (True, False)
    assert (nobody in with_one, somebody in with_one) == (False, True)


@LANGUAGES
def test_a_notebook_names_every_file_that_it_needs(lang: str) -> None:
    inputs = {"data": "inputs/train.csv", "test": "inputs/test.csv", "target": "y"}
    assert "`inputs/test.csv`" in said("structure_intro", lang, inputs=inputs)


@LANGUAGES
def test_values_that_may_mean_unknown_are_not_said_to_stay_before_it_is_decided(lang: str) -> None:
    facts: dict[str, Any] = {
        "column_count": 7,
        "number_count": 4,
        "text_count": 3,
        "missing_share": 0.134,
        "empty_columns": 0,
    }
    told = said("structure_columns", lang, **facts, unclear_values={"rentals: 9999": 3})
    assert "`rentals: 9999`" in told
    assert "left as they are" not in told
    assert "保持原样" not in told


@LANGUAGES
def test_findings_in_text_columns_are_items_of_their_own(lang: str) -> None:
    nothing: dict[str, Any] = dict.fromkeys(
        ["number_texts", "flag_texts", "code_parts", "lettered_codes", "unit_numbers"]
    )
    facts: dict[str, Any] = {**nothing, "unclear_dates": [], "long_texts": ["note"], "spellings": {"weather": {}}}
    told = said("integrity_found", lang, **facts, date_formats={"time": "%Y-%m-%d"})
    assert len(items(told)) == 3


@LANGUAGES
def test_a_code_for_missing_is_written_as_the_number_it_is(lang: str) -> None:
    told = said(
        "integrity_values", lang, missing_cells=4, missing_columns=1, most_missing={"y": 4}, missing_together=[],
        means_none={}, missing_codes={"y": [-99.0, 9999.0]}, only_positive={}, limits={},
        negative_values={}, far_values={}, code_counts={"y": [4, 1.5, 80.0]},
    )  # fmt: skip
    (item,) = items(told)
    assert "-99" in item
    assert "9999" in item
    assert ".0" not in item


@LANGUAGES
@pytest.mark.parametrize(("task", "class_count", "rows", "vectors"), [
    ("regression", None, 4000, True), ("regression", None, 4001, False), ("binary", 2, 700, True),
    ("multiclass", 3, 700, False), ("multilabel", None, 700, False),
])  # fmt: skip
def test_support_vectors_are_named_where_they_are_candidates(
    lang: str, task: str, class_count: int | None, rows: int, vectors: bool
) -> None:
    counted: dict[str, Any] = {} if class_count is None else {"class_count": class_count}
    told = said("model_candidates", lang, task=task, train_rows=rows, **counted)
    cell = {"regression": "numbers", "multilabel": "many"}.get(task, "classes")
    source = cell_file(f"model_candidates_{cell}").read_text(encoding="utf-8")
    facts: dict[str, Any] = {
        "task": task, "train_rows": rows, "feature_count": 5, "few_levels": [], "some_levels": [], "word_columns": [],
        "metric": "rmse", "target_counts": False, "split_kind": "random", "smallest_share": 0.3,
        "number_columns": ["a"], "category_columns": [], "has_lightgbm": False, "target_positive": False,
        "target_skew": 0, **counted,
    }  # fmt: skip
    written = Templates().read(source, kind=Kind.CELL, at=cell).render({"v": facts, "lang": lang})
    assert ("support vectors" in written) is vectors
    assert ("support vectors" in told or "支持向量" in told) is vectors
    assert ("penalty" in told or "惩罚" in told) is ("RidgeCV" in written), "what is tuned is said"


@LANGUAGES
def test_a_text_on_columns_names_only_what_this_table_has(lang: str) -> None:
    plain = said("model_columns", lang, **COLUMNS)
    for word in ("logarithm", "vocabular", "categor", "missing", "对数", "词", "类别", "缺失"):
        assert word not in plain
    rich: dict[str, Any] = {
        **COLUMNS,
        "skewed_columns": ["a"],
        "few_levels": ["b"],
        "many_levels": ["c"],
        "word_columns": ["d"],
    }
    told = said("model_columns", lang, **{**rich, "missing_features": 1})
    for word in {"en": ("logarithm", "vocabular", "categor", "missing"), "zh": ("对数", "词表", "类别", "缺失")}[lang]:
        assert word in told


@LANGUAGES
def test_importance_is_told_with_its_numbers(lang: str) -> None:
    told = said_in("predictability", lang, "importance_top", **SCORED)
    concluded = "".join(items(said("report_conclusions", lang, **SCORED, spans=SPANS[lang])))
    for name, value in SCORED["importance_top"].items():
        for text in (told, concluded):
            assert f"`{name}`" in text
            assert number_text(value) in text


@LANGUAGES
def test_errors_are_told_with_the_digits_that_count(lang: str) -> None:
    found: dict[str, Any] = {
        "error_quantiles": {"0.05": -25440.197, "0.5": -1632.09, "0.95": 0.0314159},
        "bias_upper": 0,
        "bias_rest": 9,
    }
    told = said("predict_errors", lang, **SCORED, **found)
    for text in ("-25,440", "-1,632.1", "0.03142"):
        assert text in told
    assert ".197" not in told


@LANGUAGES
def test_a_column_without_association_is_not_called_the_next_strongest(lang: str) -> None:
    only = said("explore_association", lang, association={"size": 0.83, "colour": 0.0, "noise": 0.04, "day": 0.0})
    assert "`size`" in only
    assert not [name for name in ("colour", "noise", "day") if name in only]
    some = said("explore_association", lang, association={"size": 0.83, "rooms": 0.31, "colour": 0.02, "day": 0.0})
    assert "`rooms`" in some
    assert "colour" not in some
    pair = said("explore_association", lang, association={"size": 0.83, "rooms": 0.31})
    assert "`rooms`" in pair


@LANGUAGES
def test_a_column_that_costs_no_more_than_chance_is_no_finding(lang: str) -> None:
    concluded = said("report_conclusions", lang, **{**SCORED, "importance_top": {}}, spans=SPANS[lang])
    assert {"en": "Shuffled", "zh": "打乱"}[lang] not in concluded
    told = said_in("predictability", lang, "No column by itself", **{**SCORED, "importance_top": {}})
    assert {"en": "chance", "zh": "偶然"}[lang] in told


ONE: dict[str, dict[str, Any]] = {
    "explore_findings": {
        "train_rows": 500, "feature_kinds": [1, 1, 1], "dropped_rows": 1, "missing_features": 0, "time_column": "",
    },
    "integrity_features": {"feature_kinds": [0, 1, 0], "many_levels": []},
    "integrity_read": {"repaired_values": 1, "number_texts": {"a": {}}, "unread": {}},
    "structure_table": {"row_count": 1, "column_count": 1, "test_row_count": 1},
    "structure_columns": {
        "number_count": 1, "text_count": 0, "column_count": 1, "missing_share": 0, "unclear_values": {},
    },
    "report_predictions": {
        **SCORED, "prediction_count": 1, "id_column": "", "expected_low": 1.5, "expected_high": 2.5,
    },
    "integrity_rows": {
        "total_rows": [], "copied_rows": 1, "copies_natural": True, "chance_copies": 1, "untargeted_rows": 0,
        "test_overlap": 1, "test_rows": 1, "row_numbers": {},
    },
}  # fmt: skip


@pytest.mark.parametrize("text", ONE)
def test_one_of_a_thing_is_not_told_in_the_plural(text: str) -> None:
    told = said(text, "en", **ONE[text])
    assert not re.findall(r"\b(?:1|one) (?:\w+ )?(?:row|column|value|feature|categorie|number|text|pair)s\b", told), (
        told
    )
    assert not re.findall(r"\b1 (?:row|column|value) (?:were|are|have)\b", told), told


@LANGUAGES
@pytest.mark.parametrize(("task", "measure"), [("regression", "R²"), ("binary", "ROC"), ("multiclass", "accuracy")])
def test_the_best_single_column_is_told_with_its_measure(lang: str, task: str, measure: str) -> None:
    told = said_in("integrity", lang, "gives the target away", task=task, best_single={"Sex": 0.7683})
    assert "0.7683" in told
    assert measure in told
    assert ("sum" in told or "相加" in told) is (task == "regression"), "sums are looked for in quantities only"


@LANGUAGES
def test_the_course_over_time_is_told_as_the_averages_that_they_are(lang: str) -> None:
    spread = {"low": 5.0, "high": 60.0}
    told = said("explore_time", lang, target="y", time_change=[54.0, 37.25], target_summary=spread)
    assert "54" in told
    assert "37.25" in told
    same = said("explore_time", lang, target="y", time_change=[5.0, 5.0], target_summary=spread)
    assert "rose" not in same
    assert "fell" not in same


@LANGUAGES
def test_a_target_with_missing_values_has_them_beside_its_values_not_among_them(lang: str) -> None:
    facts: dict[str, Any] = {"target": "y", "target_distinct": 157, "target_missing": 4, "target_source": "given"}
    told = said("structure_target", lang, inputs={"target": "y"}, **facts)
    assert "157" in told
    assert "其中" not in told
    assert {"en": "missing in 4 rows", "zh": "另有 4 行缺失"}[lang] in told


@LANGUAGES
@pytest.mark.parametrize("reason", [
    "constant target", "too few rows", "target is an identifier", "target missing", "no features", "target is a date",
    "target is not a number", "too few rows in a class", "several targets", "one class to learn from",
])  # fmt: skip
def test_why_there_is_no_model_is_told_in_the_language_of_the_reader(lang: str, reason: str) -> None:
    facts: dict[str, Any] = {
        "target": "y",
        "cannot_because": reason,
        "row_count": 500,
        "target_rows": 12,
        "target_levels": 11,
        "learnable_rows": 1,
    }
    told = said("report_no_model", lang, **facts)
    assert told.strip()
    assert "500" not in told, "what counts are the rows with a target"
    assert lang == "en" or reason not in told


@pytest.mark.parametrize("path", sorted(DSLC.glob("*/text/*.zh.md")), ids=lambda path: path.stem)
def test_chinese_lines_are_not_broken(path: Path) -> None:
    """A line break inside a Chinese sentence becomes a blank on the page."""
    lines = path.read_text(encoding="utf-8").splitlines()
    broken = [
        line
        for line, after in pairwise(lines)
        if line.strip() and after.strip() and not line.rstrip().endswith(("。", "：", "%}", "|", "`", "）"))
        and not after.lstrip().startswith(("{%", "-", "|", "`", "import", "model", "rows"))
        and any("\u4e00" <= letter <= "\u9fff" for letter in line)
    ]  # fmt: skip
    assert not broken


@LANGUAGES
@pytest.mark.parametrize("verdict", ["better", "not shown", "no better"])
def test_the_figure_at_the_head_is_the_estimate_with_its_interval_and_the_naive_forecast(
    lang: str, verdict: str
) -> None:
    told = said("report_score", lang, **{**SCORED, "verdict": verdict})
    assert number_text(SCORED["estimate"]) in told
    assert number_text(SCORED["naive_estimate"]) in told
    assert told.startswith(f"**{number_text(SCORED['estimate'])}**") is (verdict == "better")
    if verdict != "no better":
        assert number_text(SCORED["estimate_low"]) in told
        assert number_text(SCORED["estimate_high"]) in told


@LANGUAGES
def test_what_a_class_costs_is_told_in_rows_of_a_hundred(lang: str) -> None:
    facts = {"called": 0.2, "precision": 0.6, "recall": 0.45, "lift": 2.4}
    told = said("report_meaning", lang, task="binary", verdict="better", threshold_facts=facts, rare_class="yes")
    for text in ("60", "25", "45"):
        assert text in told
    assert said("report_meaning", lang, task="binary", verdict="not shown", threshold_facts=facts).strip() == ""


@LANGUAGES
def test_trust_says_whether_a_column_gives_the_answer_away(lang: str) -> None:
    clean = said("report_conclusions", lang, **SCORED, spans=SPANS[lang])
    leaky = said("report_conclusions", lang, **{**SCORED, "leaks": {"closed_on": "decides"}}, spans=SPANS[lang])
    assert {"en": "No column was found", "zh": "没有发现"}[lang] in clean
    assert "`closed_on`" in leaky
    assert {"en": "No column was found", "zh": "没有发现"}[lang] not in leaky
