"""Goals in words: which task they ask for, how a question is understood, and what is declined."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notebook_bcc.playbook.check import load_playbook
from notebook_bcc.playbook.folder import open_playbook
from notebook_bcc.playbook.goals.asked import asked_of
from notebook_bcc.playbook.goals.parsing import question_of
from notebook_bcc.playbook.goals.question import Declined, TableQuestion
from notebook_bcc.playbook.goals.reading import GoalReader
from notebook_bcc.playbook.goals.table import GoalColumn, GoalTable, table_of
from notebook_bcc.playbook.goals.tasks import task_of
from notebook_bcc.playbook.goals.wording import declined_text, understood

TASKS = load_playbook(open_playbook("dslc")).tasks
SHIP = GoalTable(
    columns=(
        GoalColumn("PassengerId", "number", 891, 0),
        GoalColumn("Survived", "number", 2, 0, (0, 1)),
        GoalColumn("Pclass", "number", 3, 0),
        GoalColumn("Sex", "category", 2, 0, ("male", "female")),
        GoalColumn("Age", "number", 88, 177),
        GoalColumn("ticket_price", "number", 248, 0),
        GoalColumn("Harbour", "category", 3, 2, ("S", "C", "Q")),
        GoalColumn("Cabin", "text", 147, 687),
        GoalColumn("home_region", "category", 4, 0, ("North", "South", "New York", "Other")),
    ),
    rows=891,
    words=("ship",),
)
SHOP = GoalTable(
    columns=(
        GoalColumn("customer_id", "number", 40, 0),
        GoalColumn("地区", "category", 3, 0, ("华东", "华南", "华北")),
        GoalColumn("性别", "category", 2, 0, ("男", "女")),
        GoalColumn("销售额", "number", 300, 0),
        GoalColumn("流失", "category", 2, 0, ("是", "否")),
        GoalColumn("产品", "category", 2, 0, ("华东", "茶叶")),
    ),
    rows=400,
)


def read(goal: str, table: GoalTable, lang: str = "en") -> str:
    found = question_of(GoalReader(table).read(goal), table)
    return understood(found, lang) if isinstance(found, TableQuestion) else f"declined: {declined_text(found, lang)}"


@pytest.mark.parametrize(
    ("goal", "meaning"),
    [
        ("mean ticket price of female passengers?", "mean of `ticket_price` where `Sex` is female"),
        ("What's the average TicketPrice for women", "mean of `ticket_price` where `Sex` is female"),
        ("How many passengers survived?", "number of rows where `Survived` is 1"),
        ("how many passengers did not survive", "number of rows where `Survived` is known and is not 1"),
        ("average age of passengers who survived", "mean of `Age` where `Survived` is 1"),
        (
            "What share of female passengers survived?",
            "share of rows where `Survived` is 1, among rows where `Sex` is female",
        ),
        (
            "percentage of women who survived",
            "share of rows where `Survived` is 1, among rows where `Sex` is female",
        ),
        ("What percentage of passengers are female?", "share of rows where `Sex` is female"),
        ("survival rate by sex", "share of rows where `Survived` is 1, for each `Sex`"),
        ("which home region has the highest average age?", "the `home_region` with the highest mean of `Age`"),
        (
            "top 3 home regions by total ticket price",
            "the 3 values of `home_region` with the highest sum of `ticket_price`",
        ),
        ("the 5 highest ages", "the 5 highest values of `Age`"),
        ("correlation between age and ticket price", "Pearson correlation of `Age` and `ticket_price`"),
        ("How many missing values are in the Cabin column?", "number of missing values of `Cabin`"),
        ("how many different cabins are there?", "number of different values of `Cabin`"),
        (
            "count rows where age is over 30 and sex is male",
            "number of rows where `Age` is greater than 30 and `Sex` is male",
        ),
        ("number of passengers from North or New York", "number of rows where `home_region` is North or New York"),
        ("mean age where harbour is S", "mean of `Age` where `Harbour` is S"),
        ("mean age where home_region is other", "mean of `Age` where `home_region` is Other"),
        ("mean age for Pclass 3", "mean of `Age` where `Pclass` is 3"),
        ("age between 20 and 30: how many rows?", "number of rows where `Age` is between 20 and 30, both included"),
        ("mean and median of age", "mean and median of `Age`"),
        ("maximum age per Pclass", "largest value of `Age`, for each `Pclass`"),
        ("how many rows does the table have?", "number of rows"),
        ("mean of pasengerid", "mean of `PassengerId`"),
    ],
)
def test_a_question_in_english_is_understood(goal: str, meaning: str) -> None:
    assert read(goal, SHIP) == meaning


@pytest.mark.parametrize(
    ("goal", "meaning"),
    [
        ("销售额的平均值是多少？", "`销售额` 的平均值"),
        ("女性的平均销售额是多少", "在 `性别` 为 女 的行中，`销售额` 的平均值"),
        ("各地区的销售额总和", "按 `地区` 分组：`销售额` 的总和"),
        ("按性别分组的销售额中位数", "按 `性别` 分组：`销售额` 的中位数"),
        ("哪个地区的平均销售额最高？", "`销售额` 的平均值最大的 1 个 `地区`"),
        ("平均销售额最高的地区是哪个", "`销售额` 的平均值最大的 1 个 `地区`"),
        ("有多少行的销售额大于100", "在 `销售额` 大于 100 的行中，行数"),
        ("销售额在10到20之间的有多少行", "在 `销售额` 介于 10 与 20 之间（含两端） 的行中，行数"),
        ("流失率是多少", "`流失` 为 是 的行所占比例"),
        ("女性中流失的比例", "在 `性别` 为 女 的行中，`流失` 为 是 的行所占比例"),
        ("地区为华南的行有多少", "在 `地区` 为 华南 的行中，行数"),
        ("有多少种不同的产品", "`产品` 的不同取值个数"),
    ],
)
def test_a_question_in_chinese_is_understood(goal: str, meaning: str) -> None:
    assert read(goal, SHOP, "zh") == meaning


@pytest.mark.parametrize(
    ("goal", "table", "doubt"),
    [
        ("average age of outliers", SHIP, "words"),
        ("Is age normally distributed?", SHIP, "words"),
        ("How many passengers paid the highest ticket price?", SHIP, "words"),
        ("how many rows have the highest age?", SHIP, "unclear"),
        ("how many cabins are there?", SHIP, "unclear"),
        ("mean of cabin", SHIP, "no numbers"),
        ("what is the mean?", SHIP, "no column"),
        ("is the mean age of women higher than of men?", SHIP, "unclear"),
        ("mean age of men and women", SHIP, "unclear"),
        ("mean age in 1912", SHIP, "unclear"),
        ("mean age or ticket price", SHIP, "unclear"),
        ("share of survived women", SHIP, "unclear"),
        ("average age per passenger", SHIP, "unclear"),
        ("how many customers are there?", SHOP, "rows"),
        ("华东的销售额总和", SHOP, "ambiguous"),
        ("去年的平均销售额", SHOP, "words"),
        ("平均地区", SHOP, "no numbers"),
    ],
)
def test_what_is_not_clear_is_declined(goal: str, table: GoalTable, doubt: str) -> None:
    found = question_of(GoalReader(table).read(goal), table)
    assert isinstance(found, Declined), found
    assert found.doubt == doubt


def test_a_column_called_like_a_word_of_questions_needs_quotation_marks() -> None:
    table = GoalTable((GoalColumn("count", "number", 50, 0), GoalColumn("age", "number", 50, 0)), rows=60)
    assert read("mean of count", table).startswith("declined")
    assert read('mean of "count"', table) == "mean of `count`"


def test_two_spellings_of_one_value_are_one_value() -> None:
    table = GoalTable((GoalColumn("city", "category", 3, 0, ("Rome", "rome ", "Oslo")),), rows=30)
    assert read("how many rows are from rome", table) == "number of rows where `city` is Rome or rome"


def test_a_letter_is_no_word_for_a_gender_where_the_column_holds_grades() -> None:
    grades = GoalTable((GoalColumn("grade", "category", 3, 0, ("A", "B", "F")),), rows=30)
    assert read("how many women are there", grades).startswith("declined")
    genders = GoalTable((GoalColumn("gender", "category", 2, 0, ("M", "F")),), rows=30)
    assert read("how many rows are women", genders) == "number of rows where `gender` is F"


@pytest.mark.parametrize(
    ("goal", "task"),
    [
        ("Predict SalePrice", "predict"),
        ("Use this data to predict the price", "predict"),
        ("预测房价", "predict"),
        ("What drives churn?", "drivers"),
        ("Why do customers leave?", "drivers"),
        ("哪些因素影响销售额？", "drivers"),
        ("describe this table", "describe"),
        ("Give me an overview of the data", "describe"),
        ("看看这份数据里有什么", "describe"),
        ("Describe the distribution of fare", "answer"),
        ("Explore the correlation of a and b", "answer"),
        ("What is the average impact?", "answer"),
        ("Check if fare is normal", "answer"),
        ("平均销售额", "answer"),
        ("House prices in Ames", None),
        ("泰坦尼克号乘客", None),
    ],
)
def test_the_words_of_a_goal_choose_its_task(goal: str, task: str | None) -> None:
    found = task_of(goal, TASKS)
    assert (found.name if found is not None else None) == task


@pytest.mark.parametrize(
    "goal",
    [
        *("average fare by class", "highest price", "price by region", "distribution of fare", "churn rate"),
        *("plot the prices", "Is price normal", "build a model", "平均房价", "房价分布", "各地区房价", "价格标准差"),
        *("价格与面积的关系", "房价最高的区域"),
    ],
)
def test_a_goal_that_asks_for_something_is_no_title_where_no_target_is_named(goal: str) -> None:
    assert asked(goal=goal).task == "answer"


@pytest.mark.parametrize("goal", ["House prices in Ames", "Wine quality", "Sales report by region", "Titanic", "销量"])
def test_a_goal_that_names_the_matter_is_a_title_beside_a_target(goal: str) -> None:
    assert asked(goal=goal, target="price").task == "predict"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_declined_question_comes_with_questions_of_this_table_that_would_be_answered(lang: str) -> None:
    told = {
        "told_columns": {"id": "number 50 0", "fare": "number 40 0", "age": "number 30 2", "class": "category 3 0"},
        "told_values": {"class": ["first", "second", "third"]},
        "row_count": 50,
    }
    inputs = {"data": "t.csv", "goal": "Is the fare of the first class normally distributed?"}
    found = asked_of(inputs, told, TASKS, lang=lang)
    assert found.declined
    assert len(found.examples) == 4
    assert "`fare`" in found.examples[0]
    for example in found.examples:
        again = asked_of({**inputs, "goal": example, "asked_task": "answer"}, told, TASKS, lang=lang)
        assert (again.declined, again.question is None) == ("", False), example


def test_the_beginning_of_a_column_is_not_taken_for_it() -> None:
    table = {"price": "number 40 0", "Churned": "category 2 0", "passengers": "number 30 0"}
    assert asked(table, goal="predict pric").targets == ()
    assert asked(table, goal="predict passeng").targets == ()
    assert asked(table, goal="what drives churn?").targets == ("Churned",)


def asked(table: dict[str, str] | None = None, **inputs: Any) -> Any:
    """What a run with these inputs is asked for (Any: inputs are whatever a run was told)."""
    told = {"told_columns": table, "told_values": {}, "told_cut": False, "row_count": 50} if table is not None else {}
    return asked_of({"data": "inputs/t.csv", **inputs}, told, TASKS, lang="en")


def test_a_title_beside_a_target_is_a_prediction() -> None:
    assert asked(target="price", goal="House prices in Ames").task == "predict"
    assert asked(target="price", goal="What drives it?").task == "drivers"
    assert asked(target="price").task == "predict"
    assert asked(goal="House prices in Ames").task == ""


def test_a_task_that_is_named_counts_more_than_the_words() -> None:
    assert asked(asked_task="describe", goal="mean of price?").task == "describe"


def test_a_goal_finds_its_column_by_case_plural_and_a_single_word() -> None:
    table = {"Churn": "category 2 0", "SalePrice": "number 40 0", "lot_area": "number 40 0"}
    assert asked(table, goal="what drives churn?").targets == ("Churn",)
    assert asked(table, goal="predict prices from the lot area").targets == ("SalePrice",)
    assert asked(table, goal="predict the future").targets == ()


def test_a_goal_that_asks_for_more_than_a_prediction_is_declined() -> None:
    table = {"Fare": "number 40 0", "Age": "number 40 0"}
    found = asked(table, goal="Use a linear regression to predict fare and give the p value")
    assert found.task == "predict"
    assert "linear" in found.declined


def test_a_table_that_could_not_be_told_whole_is_declined() -> None:
    table = table_of({"told_columns": "dict(4000)", "told_values": {}, "row_count": 10})
    assert table is not None
    assert table.cut
    assert read("how many rows?", table) == (
        "declined: the table has too many columns or values to find the ones that are meant"
    )


SOME_WORDS = (
    "mean age Sex female top 5 by which not of between and 30 平均 的 ? or highest Survived share rate over zebra"
)
WORDS = st.sampled_from([*SOME_WORDS.split(), "how many", "passengers", "who", "is", "missing", "中"])


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, max_size=12) | st.text(string.printable, max_size=60).map(lambda text: [text]))
def test_any_words_are_read_without_an_error_and_unknown_ones_are_never_passed_over(words: list[str]) -> None:
    found = question_of(GoalReader(SHIP).read(" ".join(words)), SHIP)
    assert isinstance(found, Declined) or "zebra" not in words


@pytest.mark.parametrize(
    "goal",
    [
        "Which home region has the lowest ticket price?",
        "Which home region has the highest ticket price?",
        "top 3 home regions by ticket price",
        "Top 3 passengers by ticket price",
    ],
)
def test_groups_are_not_ranked_by_a_measure_that_nobody_named(goal: str) -> None:
    """A sum, a mean or a single row: the answers differ, and the reader would not know."""
    assert read(goal, SHIP).startswith("declined: ")


@pytest.mark.parametrize(
    "goal",
    [
        "how many rows have age over 20%",
        "share of rows with age above 10 %",
        "how many rows have age over 10 percent",
        "age大于10%的行有多少",
    ],
)
def test_a_percent_sign_after_a_number_is_not_dropped_and_asks_for_no_share(goal: str) -> None:
    assert read(goal, SHIP).startswith("declined: ")


def test_a_percent_sign_that_asks_for_a_share_is_still_read() -> None:
    assert "share" in read("what percent of rows have age over 20", SHIP)
