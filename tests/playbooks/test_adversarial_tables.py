"""Tables made to mislead, from the file to the report: each ends in a clear statement, never in a proud wrong score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from playbooks.fonts import drawable, fonts
from playbooks.rehearsal import Rehearsal, at_work_in

pytestmark = pytest.mark.timeout(300)

STAGES = (
    "structure",
    "integrity",
    "exploration",
    "methodology",
    "modelling",
    "predictability",
    "stability",
    "report",
)


def whole_run(folder: Path, table: pd.DataFrame, test: pd.DataFrame | None = None, **inputs: Any) -> Rehearsal:
    """Every stage in turn; the target is `y` unless said otherwise."""
    with at_work_in(folder):
        table.to_csv("train.csv", index=False)
        given: dict[str, Any] = {"data": "train.csv", "format": "csv", "target": "y", "targets": ["y"], **inputs}
        if test is not None:
            test.to_csv("test.csv", index=False)
            given["test"] = "test.csv"
        played = Rehearsal(inputs={name: value for name, value in given.items() if value is not None})
        for stage in STAGES:
            played.play(stage)
        return played


def summary(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return found


def features(rows: int, seed: int = 0) -> pd.DataFrame:
    draws = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": draws.normal(size=rows).round(4),
            "b": draws.normal(size=rows).round(4),
            "c": draws.choice(list("xyz"), rows),
        }
    )


def test_a_constant_target_is_called_nothing_to_predict(tmp_path: Path) -> None:
    played = whole_run(tmp_path, features(120).assign(y=7))
    assert "same value in every row" in played.prose
    assert summary(tmp_path)["model"] is None
    assert not (tmp_path / "model.pkl").exists()


@pytest.mark.parametrize("rows", [1, 2, 8])
def test_a_table_of_a_few_rows_gets_no_model_and_says_why(tmp_path: Path, rows: int) -> None:
    played = whole_run(tmp_path, features(rows).assign(y=np.arange(rows) * 1.5 + 1))
    assert summary(tmp_path)["model"] is None
    assert "There is no model" in played.prose


def test_a_table_without_a_single_value_is_said_to_be_empty(tmp_path: Path) -> None:
    table = pd.DataFrame({name: [np.nan] * 50 for name in ("a", "b", "y")})
    played = whole_run(tmp_path, table)
    assert summary(tmp_path)["model"] is None
    assert "There is no model" in played.prose or "Nothing was analysed" in played.prose


def test_a_target_that_only_names_the_rows_is_refused(tmp_path: Path) -> None:
    played = whole_run(tmp_path, features(200).assign(y=[f"case-{number:05d}" for number in range(200)]))
    assert summary(tmp_path)["model"] is None
    assert "There is no model" in played.prose


def test_a_target_of_noise_is_not_sold_as_predictable(tmp_path: Path) -> None:
    table = features(160).assign(y=np.random.default_rng(5).normal(50, 9, 160).round(3))
    played = whole_run(tmp_path, table)
    found = summary(tmp_path)
    assert found["score"] + 2 * found["standard_error"] >= found["naive_forecast"]
    assert "It is not shown that" in played.prose or "not certain" in played.prose


def test_a_feature_that_is_the_target_in_disguise_is_named_and_left_out(tmp_path: Path) -> None:
    table = features(200)
    noise = np.random.default_rng(6).normal(size=200)
    table["y"] = (10 + 3 * table["a"] + 4 * noise).round(3)
    table["billed_afterwards"] = (table["y"] * 1.19 + 4).round(3)
    played = whole_run(tmp_path, table)
    found = summary(tmp_path)
    assert "billed_afterwards" in found["leaks"]
    assert "billed_afterwards" in played.prose
    assert found["score"] > 2, "the noise alone is 4: a smaller error would be the leak's"


def test_two_columns_that_add_up_to_the_target_are_named_and_left_out(tmp_path: Path) -> None:
    draws = np.random.default_rng(7)
    table = features(300)
    table["casual"], table["registered"] = draws.integers(0, 80, 300), draws.integers(0, 300, 300)
    table["y"] = table["casual"] + table["registered"]
    played = whole_run(tmp_path, table)
    assert {"casual", "registered"} <= set(summary(tmp_path)["leaks"])
    assert "casual" in played.prose


def test_rows_of_one_subject_are_never_on_both_sides(tmp_path: Path) -> None:
    draws = np.random.default_rng(8)
    subjects = [f"P{number:03d}" for number in range(40)]
    level = dict(zip(subjects, draws.normal(0, 10, 40), strict=True))
    rows = [(subject, visit, level[subject]) for subject in subjects for visit in range(6)]
    table = pd.DataFrame(rows, columns=["patient_id", "visit", "level"])
    table["pulse"] = (70 + draws.normal(0, 3, len(table))).round(1)
    table["y"] = (table.pop("level") + draws.normal(0, 1, len(table))).round(3)
    played = whole_run(tmp_path, table)
    assert played.names["split_kind"] == "group"
    assert not set(played.names["train"]["patient_id"]) & set(played.names["holdout"]["patient_id"])
    assert summary(tmp_path)["split"] == "group"


def test_rows_that_stand_in_both_files_are_counted(tmp_path: Path) -> None:
    table = features(200)
    table["y"] = (table["a"] * 2 + np.random.default_rng(9).normal(size=200)).round(3)
    test = pd.concat([table.drop(columns="y").head(15), features(25, seed=10)])
    played = whole_run(tmp_path, table, test)
    assert "15 of the 40 rows of the test file" in played.prose
    assert len(pd.read_csv(tmp_path / "predictions.csv")) == 40


def test_one_giant_text_column_is_read_without_choking(tmp_path: Path) -> None:
    draws = np.random.default_rng(11)
    words = np.array([f"word{number}" for number in range(300)])
    reviews = [" ".join(draws.choice(words, 400)) for _ in range(150)]
    label = ["good" if "word7 " in review else "bad" for review in reviews]
    whole_run(tmp_path, pd.DataFrame({"review": reviews, "y": label}))
    assert summary(tmp_path)["task"] == "binary"


def test_far_more_columns_than_rows_end_in_an_honest_interval(tmp_path: Path) -> None:
    draws = np.random.default_rng(12)
    table = pd.DataFrame(draws.normal(size=(80, 1500)).round(3), columns=[f"gene {number}" for number in range(1500)])
    table["y"] = np.where(draws.random(80) < 0.5, "case", "control")
    whole_run(tmp_path, table)
    found = summary(tmp_path)
    assert found["interval_95"][0] <= found["naive_forecast"], "pure noise must not look like knowledge"


@pytest.mark.slow
def test_ten_thousand_columns_are_got_through(tmp_path: Path) -> None:
    draws = np.random.default_rng(13)
    table = pd.DataFrame(draws.normal(size=(100, 10_000)).round(3), columns=[f"c{number}" for number in range(10_000)])
    table["y"] = (table["c5"] * 3 + draws.normal(size=100)).round(3)
    whole_run(tmp_path, table)
    assert summary(tmp_path)["task"] == "regression"


def test_a_table_without_a_target_is_described_and_nothing_is_predicted(tmp_path: Path) -> None:
    played = whole_run(tmp_path, features(150), target=None, targets=None)
    assert "predicts nothing" in played.prose
    assert not (tmp_path / "model.pkl").exists()
    assert "metric" not in played.steps


def test_several_labels_at_once_are_predicted_together(tmp_path: Path) -> None:
    table = features(200)
    table["wet"], table["cold"] = (table["a"] > 0).astype(int), (table["b"] > 0.5).astype(int)
    whole_run(tmp_path, table, target="wet", targets=["wet", "cold"])
    found = summary(tmp_path)
    assert found["task"] == "multilabel"
    assert found["score"] > 0.8


def test_whole_numbers_are_amounts_and_not_classes_for_a_column_of_many_levels(tmp_path: Path) -> None:
    draws = np.random.default_rng(5)
    shop = draws.integers(0, 260, 900)
    table = features(900).assign(shop=[chr(97 + number // 26) + chr(97 + number % 26) for number in shop])
    table["y"] = (2000 + 40 * shop + 300 * table["a"] + draws.normal(0, 50, 900)).astype(int)
    played = whole_run(tmp_path, table)
    assert played.names["many_levels"] == ["shop"]
    encoders = {name: encoder for name, encoder, _ in played.names["for_trees"].transformers}
    assert encoders["levels"].target_type == "continuous"
    assert summary(tmp_path)["score"] < 0.5 * summary(tmp_path)["naive_forecast"]


@pytest.mark.parametrize("kind", ["here", "bundled", "chinese"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_columns_of_any_script_and_hostile_names_go_through(
    tmp_path: Path, lang: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    draws = np.random.default_rng(14)
    table = pd.DataFrame(
        {
            '"); import os #': draws.normal(size=150).round(3),
            "价格 (元)": draws.normal(size=150).round(3),
            "$x_1^2$": draws.normal(size=150).round(3),
            "{{ v }}": draws.choice(["甲", "乙"], 150),
            "'''": draws.integers(0, 9, 150),
        }
    )
    table["目标"] = (table["价格 (元)"] * 2 + draws.normal(size=150)).round(3)
    with at_work_in(tmp_path), fonts(kind, tmp_path):
        table.to_csv("train.csv", index=False)
        played = Rehearsal(
            inputs={"data": "train.csv", "format": "csv", "target": "目标", "targets": ["目标"]}, lang=lang
        )
        for stage in STAGES:
            played.play(stage)
        unreadable = [text for text in played.drawn if not drawable().issuperset(map(ord, text))]
    assert summary(tmp_path)["task"] == "regression"
    assert not unreadable, "no figure shows a box in place of a letter"
    assert "font" not in played.prose
    assert "字体" not in played.prose
    if kind == "bundled":
        assert "column 2" in played.drawn
        assert "column 2: 价格 (元)" in capsys.readouterr().out, "the text beside the figure says what a number means"
    if kind == "chinese":
        assert "价格 (元)" in played.drawn
        assert ("行数" in played.drawn) == (lang == "zh")


def test_texts_with_gaps_and_rows_that_were_dropped_do_not_disturb_the_delivered_model(tmp_path: Path) -> None:
    draws = np.random.default_rng(15)
    words = np.array([f"word{number}" for number in range(60)])
    table = features(200)
    table["note"] = [" ".join(draws.choice(words, 12)) for _ in range(200)]
    table.loc[::7, "note"] = np.nan
    table["y"] = (5 * table["a"] + 2 * draws.normal(size=200)).round(3)
    test = table.tail(40).drop(columns="y")
    # Copies in front: whoever loses the place of a row afterwards mixes up all that follow.
    dirty = pd.concat([table.head(20), table.head(160)])
    whole_run(tmp_path, dirty, test)
    predicted = pd.read_csv(tmp_path / "predictions.csv").iloc[:, -1]
    assert np.corrcoef(predicted, table["y"].tail(40))[0, 1] > 0.8
