"""Stages `answer` and `describe` of the built-in playbook: what is computed, what is declined, what stands out."""

from __future__ import annotations

import csv
import json
import statistics
from pathlib import Path
from typing import Any

import pytest
from benchmarks.goals.__main__ import ask
from benchmarks.goals.cases import CASES, GoalCase, alerts
from benchmarks.goals.tables import messy

from playbooks.rehearsal import Rehearsal, at_work_in

ROWS: list[dict[str, Any]] = [  # Any: cells of a table
    {"name": 'O\'Brien "x"', "city": "Rome", "age": 30, "paid": "yes"},
    {"name": "Ann", "city": "rome", "age": 41, "paid": "no"},
    {"name": "Bob", "city": "Oslo", "age": "", "paid": "yes"},
    {"name": "Cid", "city": "Oslo", "age": 22, "paid": "yes"},
    {"name": "Dot", "city": "Bern", "age": 35, "paid": "no"},
] * 5


def played(folder: Path, goal: str, *, lang: str = "en", rows: list[dict[str, Any]] = ROWS) -> Rehearsal:
    """The stages of a question, played on a small table."""
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    play = Rehearsal(inputs={"data": "people.csv", "goal": goal, "lang": lang}, lang=lang)
    with at_work_in(folder):
        for stage in ("structure", "answer", "describe"):
            play.play(stage)
    return play


@pytest.mark.parametrize(
    ("goal", "answer"),
    [
        ("mean age of rows from Rome", 35.5),
        ("how many rows are from rome or oslo?", 20),
        ("how many rows are not from Bern?", "words"),
        ("count rows where city is not Bern", 20),
        ("how many rows where age is at least 35", 10),
        ("maximum and minimum of age", {"max": 41.0, "min": 22.0}),
        ("number of people for each city", {"Bern": 5, "Oslo": 10, "Rome": 5, "rome": 5}),
        ("share of rows where paid is yes", 0.6),
        ("what share of rows from Oslo paid?", 1.0),
        ("number of missing values of age", 5),
        ("how many different cities are there", 4),
        ("what are the 2 lowest ages?", [22.0, 22.0]),
        ("how many rows are from O Brien x", 5),
        ("which city has the lowest average age", {"Oslo": 22.0}),
    ],
)
def test_a_question_is_answered_by_its_cell(tmp_path: Path, goal: str, answer: object) -> None:
    play = played(tmp_path, goal)
    if answer == "words":
        assert "answer" not in play.names
    else:
        assert play.names["answer"] == answer
        assert play.names["question"]
        assert len(play.delivered) <= 7, "a notebook with an answer is small"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_interval_and_the_whole_table_stand_beside_a_mean(tmp_path: Path, lang: str) -> None:
    play = played(tmp_path, "mean age where paid is no", lang=lang)
    assert play.names["answer"] == 38
    ages = [row["age"] for row in ROWS if row["age"] != ""]
    assert play.names["answer_overall"] == pytest.approx(statistics.fmean(ages))
    assert play.names["answer_low"] < 38 < play.names["answer_high"]
    assert {"en": "Over all rows it is 32", "zh": "全部行的结果为 32"}[lang] in play.prose


def test_a_mean_of_no_rows_is_no_answer(tmp_path: Path) -> None:
    play = played(tmp_path, "mean age where age is over 90")
    assert "answer" not in play.names
    assert "The goal is not answered" in play.prose


def untidy() -> list[dict[str, Any]]:
    """Forty rows, each tenth fare a code for "not measured", shares with a sign, and a row of totals below."""
    fares = [-999 if at % 10 == 0 else 20 + at for at in range(40)]
    rows = [{"city": "AB"[at % 2], "fare": fare, "discount": f"{at % 7},5 %"} for at, fare in enumerate(fares)]
    return [*rows, {"city": "Total", "fare": sum(fares), "discount": ""}]


@pytest.mark.parametrize(
    ("goal", "answer", "said"),
    [
        (
            "mean of fare",
            statistics.fmean(20 + at for at in range(40) if at % 10),
            "-999 in `fare` is taken for a missing",
        ),
        ("how many rows are there?", 40, "1 row of totals (Total, "),
        ("minimum fare", 21, "(4 times)"),
        ("mean of discount", statistics.fmean(at % 7 + 0.5 for at in range(40)), "`discount` read as numbers"),
        ("number of missing values of fare", 4, "(4 times)"),
        ("how many rows where fare is -999", 4, "row of totals"),
        ("how many rows where city is total", 1, "No codes for missing values and no rows of totals"),
    ],
)
def test_a_question_is_answered_from_the_table_as_an_analysis_would_repair_it(
    tmp_path: Path, goal: str, answer: float, said: str
) -> None:
    play = played(tmp_path, goal, rows=untidy())
    assert play.names["answer"] == pytest.approx(answer)
    assert said in play.prose


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_answer_of_many_groups_is_a_file_and_its_text_names_the_largest(tmp_path: Path, lang: str) -> None:
    ages = {f"person {at}": at for at in range(300)}
    rows = [{"shop": name, "age": age} for name, age in ages.items() for _ in range(2)]
    play = played(tmp_path, "sum of age for each shop", lang=lang, rows=rows)
    whole = json.loads((tmp_path / "values" / "answer.json").read_text())
    assert whole == {name: 2 * age for name, age in ages.items()} == play.names["answer"]
    assert {"en": "300 groups", "zh": "共 300 组"}[lang] in play.prose
    assert "person 299" in play.prose
    assert "person 3:" not in play.prose


def test_a_count_of_no_rows_is_zero(tmp_path: Path) -> None:
    assert played(tmp_path, "how many rows where age is over 90").names["answer"] == 0


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_declined_question_is_said_so_and_the_table_is_described(tmp_path: Path, lang: str) -> None:
    play = played(tmp_path, "Is age normally distributed?", lang=lang)
    assert "answer" not in play.names
    assert {"en": "The goal is not answered", "zh": "目标没有得到回答"}[lang] in play.prose
    assert {"en": '"mean of `age` for each `paid`"', "zh": "“各 `paid` 的 `age` 的平均值”"}[lang] in play.prose
    assert len(play.names["cards"]) == 4


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_description_finds_what_stands_out(tmp_path: Path, lang: str) -> None:
    table = messy(3)
    path = table.write(tmp_path)
    play = Rehearsal(inputs={"data": path.name, "asked_task": "describe", "lang": lang}, lang=lang)
    with at_work_in(tmp_path):
        for stage in ("structure", "describe"):
            play.play(stage)
    assert play.names["alert_kinds"] == alerts(table.rows)
    assert play.names["suggested_targets"]


FIRST = [next(case for case in CASES if case.task == task) for task in ("answer", "describe", "drivers", "predict")]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("case", FIRST, ids=[case.task for case in FIRST])
def test_one_goal_of_each_task_comes_out_right(tmp_path: Path, case: GoalCase) -> None:
    outcome = ask(case, tmp_path, seed=1)
    assert (outcome.verdict, outcome.problem) == ("right", "")
