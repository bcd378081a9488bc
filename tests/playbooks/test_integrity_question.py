"""What the target asks for, how rows are set aside, and the answer that must not be among the features."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")

from playbooks.test_integrity_parse import play  # noqa: E402
from playbooks.test_integrity_rows import measured  # noqa: E402

BELL = [3] * 10 + [4] * 40 + [5] * 120 + [6] * 150 + [7] * 60 + [8] * 15 + [9] * 5


def asked(values: list[Any], name: str = "quality") -> Any:
    """A table with this target."""
    table = measured(len(values)).drop(columns="y")
    return table.assign(**{name: pd.Series(values).sample(frac=1, random_state=0).to_numpy()})


@pytest.mark.parametrize(
    ("values", "name", "task"),
    [
        ([0, 1] * 150, "survived", "binary"),
        (["no", "yes"] * 150, "churn", "binary"),
        ([True, False] * 150, "moved", "binary"),
        (["a", "b", "c"] * 100, "species", "multiclass"),
        ([0.5 * row for row in range(300)], "price", "regression"),
        (BELL, "quality", "regression"),
        ([value for value in BELL if value < 9], "quality", "multiclass"),
        ([1, 2, 3, 4, 5, 6, 7] * 50, "cover", "multiclass"),
        (list(range(12)) * 30, "digit_class", "multiclass"),
        (list(range(12)) * 30, "count", "regression"),
    ],
)
def test_the_values_of_the_target_decide_the_task(tmp_path: Path, values: list[Any], name: str, task: str) -> None:
    played = play(tmp_path, asked(values, name), target=name)
    assert (played.names["task"], played.names["can_model"]) == (task, True)


@pytest.mark.parametrize(
    ("goal", "task"), [("Classify the wines", "multiclass"), ("对酒进行分类", "multiclass"), ("", "regression")]
)
def test_the_goal_may_say_that_classes_are_meant(tmp_path: Path, goal: str, task: str) -> None:
    assert play(tmp_path, asked(BELL), target="quality", goal=goal).names["task"] == task


def test_a_given_kind_decides(tmp_path: Path) -> None:
    assert play(tmp_path, asked(BELL), target="quality", kind="classification").names["task"] == "multiclass"


def test_several_targets_of_yes_and_no_are_labels(tmp_path: Path) -> None:
    table = measured()
    table["red"], table["blue"] = ["yes", "no", "no"] * 100, [0, 1] * 150
    played = play(tmp_path, table.drop(columns="y"), targets=["red", "blue"], stages=("integrity", "exploration"))
    assert (played.names["task"], played.names["can_model"]) == ("multilabel", True)
    assert played.names["class_counts"] == {"red": 100, "blue": 150}


@pytest.mark.parametrize(
    ("values", "because", "words"),
    [
        ([7.0] * 300, "constant target", "same value in all 300 rows"),
        ([f"K{row:05}" for row in range(300)], "target is an identifier", "300 distinct values"),
        (list(range(5000, 5300)), "target is an identifier", "300 distinct values"),
        ([None] * 300, "target missing", "missing in every row"),
        (["yes"] + ["no"] * 299, "too few rows in a class", "more than three rows"),
        ([2.5], "too few rows", "Only 1 row has a target"),
    ],
)
def test_a_useless_target_ends_in_a_clear_statement(
    tmp_path: Path, values: list[Any], because: str, words: str
) -> None:
    table = measured(len(values)).assign(y=values)
    played = play(tmp_path, table, target="y", stages=("integrity", "exploration"))
    assert (played.names["can_model"], played.names["cannot_because"]) == (False, because)
    assert words in played.prose
    assert any(each.startswith("workflow: Nothing can be predicted") for each in played.replans)
    assert "explore_findings" in played.steps
    assert "leak_check" not in played.steps


def test_a_table_of_nothing_but_missing_values_is_borne(tmp_path: Path) -> None:
    table = pd.DataFrame({name: [np.nan] * 40 for name in ["a", "b"]}).assign(c=None, y=[1.0, 2.0] * 20)
    played = play(tmp_path, table, target="y", stages=("integrity", "exploration"))
    assert played.names["cannot_because"] == "no features"


def test_no_target_means_no_prediction(tmp_path: Path) -> None:
    table = measured().assign(when=pd.date_range("2020-01-01", periods=300).astype(str))
    played = play(tmp_path, table, stages=("integrity", "exploration"))
    assert (played.names["task"], played.names["can_model"]) == ("none", False)
    assert played.names["time_column"] == "when"
    assert "time_order" not in played.steps
    assert len(played.names["train"]) == 300
    assert played.names["holdout_rows"] == 0
    assert "The rows span" in played.prose


def test_rows_in_order_of_time_are_tested_on_the_newest(tmp_path: Path) -> None:
    table = measured().assign(day=pd.date_range("2020-01-01", periods=300).strftime("%d.%m.%Y"))
    played = play(tmp_path, table, target="y", stages=("integrity", "exploration"))
    assert played.names["split_kind"] == "time"
    assert "time_order" in played.steps
    assert played.names["train"]["day"].max() < played.names["holdout"]["day"].min()
    assert played.names["train"]["day"].is_monotonic_increasing
    assert any("order in time" in each for each in played.replans)


def test_a_test_file_from_the_same_time_asks_for_no_order(tmp_path: Path) -> None:
    table = measured().assign(day=pd.date_range("2020-01-01", periods=300).astype(str))
    test = table.iloc[::3].drop(columns="y")
    assert play(tmp_path, table, target="y", test=test).names["split_kind"] == "random"
    later = test.assign(day=pd.date_range("2021-01-01", periods=100).astype(str))
    assert play(tmp_path, table, target="y", test=later).names["split_kind"] == "time"


def test_subjects_with_several_rows_stay_on_one_side(tmp_path: Path) -> None:
    table = measured(400).assign(patient_id=np.repeat(np.arange(100), 4))
    played = play(tmp_path, table, target="y")
    assert played.names["group_column"] == "patient_id"
    assert "groups" in played.steps
    assert not set(played.names["train"]["patient_id"]) & set(played.names["holdout"]["patient_id"])
    assert "patient_id" not in played.names["numeric_columns"]
    known = table.drop(columns="y").sample(100, random_state=0)
    assert play(tmp_path, table, target="y", test=known).names["group_column"] == ""


def test_time_and_group_that_were_given_are_used(tmp_path: Path) -> None:
    table = measured().assign(visit=np.arange(300)[::-1], clinic=np.arange(300) % 7)
    assert play(tmp_path, table, target="y", time="visit").names["split_kind"] == "time"
    assert play(tmp_path, table, target="y", group="clinic").names["split_kind"] == "group"


def test_parts_of_the_target_are_found_and_dropped(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    table = measured(500).drop(columns="y")
    table["casual"], table["registered"] = generator.poisson(30, 500), generator.poisson(150, 500)
    table["cnt"] = table["casual"] + table["registered"]
    played = play(tmp_path, table, target="cnt")
    assert set(played.names["leaks"]) == {"casual", "registered"}
    assert "leaks" in played.steps
    assert played.names["numeric_columns"] == ["size"]
    assert "`registered` + `casual` = `cnt`" in played.prose


def test_a_total_that_holds_the_target_is_found(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    table = measured(500).drop(columns="y").assign(bus=generator.poisson(900, 500), rail=generator.poisson(400, 500))
    table["total"] = table["bus"] + table["rail"]
    played = play(tmp_path, table, target="rail")
    assert set(played.names["leaks"]) == {"bus", "total"}
    assert "`total` − `bus` = `rail`" in played.prose


@pytest.mark.parametrize("decimals", [1, 4])
def test_a_mean_of_two_columns_is_found_though_it_was_rounded(tmp_path: Path, decimals: int) -> None:
    generator = np.random.default_rng(0)
    table = measured(90).drop(columns="y").assign(low=generator.normal(20, 8, 90).round(decimals))
    table["high"] = (table["low"] + generator.exponential(5, 90)).round(decimals)
    table["price"] = ((table["low"] + table["high"]) / 2).round(decimals)
    played = play(tmp_path, table, target="price")
    assert set(played.names["leaks"]) == {"low", "high"}
    assert "The mean of `high` and `low` is `price`, but for rounding." in played.prose
    noisy = table.assign(price=(table["price"] + generator.normal(0, 0.5, 90)).round(decimals))
    assert not play(tmp_path, noisy, target="price").names["leaks"]


def test_a_sum_of_many_parts_is_found(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    table = pd.DataFrame(generator.integers(0, 50, (400, 5)), columns=list("abcde"))
    table["total"] = table[list("abcd")].sum(axis=1)
    assert set(play(tmp_path, table, target="total").names["leaks"]) == set("abcd")


@pytest.mark.parametrize(("gap", "why"), [(0.0, "threshold"), (3.0, "alone")])
def test_a_class_that_was_cut_from_a_measurement_is_told_from_two_kinds_that_differ(
    tmp_path: Path, gap: float, why: str
) -> None:
    weight = np.random.default_rng(3).normal(3.0, 0.7, 300)
    is_low = weight < 2.5
    table = measured(300).drop(columns="y")
    table = table.assign(weight=np.where(is_low, weight - gap, weight).round(3), y=np.where(is_low, "low", "usual"))
    played = play(tmp_path, table, target="y")
    assert played.names["leaks"] == {"weight": why}


@pytest.mark.parametrize("disguise", [lambda y: y, lambda y: 2.2 * y - 7, lambda y: np.exp(y / 10)])
def test_the_target_in_disguise_is_dropped(tmp_path: Path, disguise: Any) -> None:
    table = measured().assign(copy=lambda rows: disguise(rows["y"]))
    played = play(tmp_path, table, target="y")
    assert list(played.names["leaks"]) == ["copy"]
    assert "copy" not in played.names["numeric_columns"]


def test_a_column_that_is_better_than_honest_ones_is_left_out_unless_it_is_to_be_kept(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    table = measured(400).drop(columns="y").assign(label=generator.choice(["ill", "well"], 400))
    table["code"] = table["label"].map({"ill": 17, "well": 4})
    table["test_score"] = (table["label"] == "ill") * 10 + generator.normal(size=400)
    played = play(tmp_path, table, target="label")
    assert played.names["leaks"] == {"code": "decides", "test_score": "alone"}
    assert "code, test_score: give the answer away and are left out" in played.replans[-1]
    with_them, without = played.names["quick_scores"]["leaks"]
    assert with_them > 0.99 > 0.7 > without
    assert f"{with_them:.3f} with `code` and `test_score`, and {without:.3f} without" in played.prose
    kept = play(tmp_path, table, target="label", keep=["test_score"])
    assert list(kept.names["leaks"]) == ["code"]
    assert "test_score" in kept.names["numeric_columns"]
    assert "Kept because the run was asked to, though it looks like the answer: `test_score`." in kept.prose


def test_a_column_from_the_future_is_dropped(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    table = pd.DataFrame(
        {"day": pd.date_range("2020-01-01", periods=400).astype(str), "load": generator.normal(size=400)}
    )
    table["y"] = generator.normal(50, 9, 400)
    table["y_then"] = table["y"].shift(-1).fillna(50)
    played = play(tmp_path, table, target="y")
    assert played.names["leaks"] == {"y_then": "next row"}


def test_without_the_leaks_nothing_is_left_also_where_columns_are_too_many_to_list(tmp_path: Path) -> None:
    wide = pd.DataFrame(1, index=range(60), columns=[f"same {at}" for at in range(250)])
    y = np.random.default_rng(0).normal(size=60)
    played = play(tmp_path, wide.assign(copy=y, y=y), target="y")
    assert played.names["can_model"] is False
    assert "No honest feature is left" in played.prose


def test_a_group_is_no_feature_also_where_rows_follow_in_time(tmp_path: Path) -> None:
    table = measured(400).assign(day=np.arange(400), clinic=np.repeat(np.arange(40), 10))
    played = play(tmp_path, table, target="y", time="day", group="clinic")
    assert played.names["split_kind"] == "time"
    assert "clinic" not in played.names["numeric_columns"]


def test_without_the_leaks_nothing_is_left(tmp_path: Path) -> None:
    table = measured()[["y"]].assign(copy=lambda rows: rows["y"] * 2)
    played = play(tmp_path, table, target="y", stages=("integrity", "exploration"))
    assert (played.names["can_model"], played.names["cannot_because"]) == (False, "no features")
    assert "No honest feature is left" in played.prose


def test_an_unreadable_file_has_no_such_stage(tmp_path: Path) -> None:
    from playbooks.rehearsal import Rehearsal

    rehearsal = Rehearsal(inputs={"data": "x"})
    rehearsal.names["readable"] = False
    rehearsal.play("integrity")
    rehearsal.play("exploration")
    assert rehearsal.cells == []


def test_a_stray_label_warns_nobody_when_columns_are_asked_alone(tmp_path: Path) -> None:
    played = play(tmp_path, asked(["no"] * 200 + ["yes"] * 99 + ["maybe"], "churn"), target="churn")
    assert (played.names["task"], played.names["can_model"]) == ("multiclass", True)
