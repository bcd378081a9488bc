"""Every goal with its truth, computed from the rows by plain Python: nothing of the playbook takes part in it."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from benchmarks.goals.tables import Row

Task = Literal["answer", "describe", "drivers", "predict", "declined"]
Truth = Callable[[Sequence[Row]], Any]  # Any: a number, or a mapping of numbers


@dataclass(frozen=True)
class GoalCase:
    """A goal in words. `expects` makes the truth from the rows; of a declined goal there is none."""

    task: Task
    lang: Literal["en", "zh"]
    table: str
    goal: str
    expects: Truth | None = None


def numbers(rows: Sequence[Row], name: str) -> list[float]:
    return [float(row[name]) for row in rows if row[name]]


def where(rows: Sequence[Row], **values: str) -> list[Row]:
    return [row for row in rows if all(row[name] == value for name, value in values.items())]


def by(rows: Sequence[Row], name: str, measure: Truth) -> dict[str, Any]:
    return {value: measure(where(rows, **{name: value})) for value in sorted({row[name] for row in rows})}


def highest(groups: dict[str, Any], count: int) -> dict[str, Any]:
    return dict(sorted(groups.items(), key=lambda item: -item[1])[:count])


def share(rows: Sequence[Row], **values: str) -> float:
    return len(where(rows, **values)) / len(rows)


def mean_of(name: str) -> Truth:
    return lambda rows: statistics.fmean(numbers(rows, name))


def median_of(name: str) -> Truth:
    return lambda rows: statistics.median(numbers(rows, name))


def sum_of(name: str) -> Truth:
    return lambda rows: sum(numbers(rows, name))


ANSWERS = (
    GoalCase("answer", "en", "shop", "What is the mean monthly bill of women in the North?",
             lambda rows: mean_of("monthly_bill")(where(rows, gender="female", region="North"))),
    GoalCase("answer", "en", "shop", "How many rows have age over 40 and contract yearly?",
             lambda rows: sum(float(row["age"]) > 40 for row in where(rows, contract="yearly") if row["age"])),
    GoalCase("answer", "en", "shop", "Which region has the highest median of support calls?",
             lambda rows: highest(by(rows, "region", median_of("support_calls")), 1)),
    GoalCase("answer", "en", "shop", "what percentage of monthly contract customers churned",
             lambda rows: share(where(rows, contract="monthly"), Churn="Yes")),
    GoalCase("answer", "en", "shop", "top 2 regions by total monthly bill",
             lambda rows: highest(by(rows, "region", sum_of("monthly_bill")), 2)),
    GoalCase("answer", "zh", "homes", "面积的中位数是多少？", lambda rows: statistics.median(numbers(rows, "面积"))),
    GoalCase("answer", "zh", "homes", "各区域的平均价格分别是多少", lambda rows: by(rows, "区域", mean_of("价格"))),
    GoalCase("answer", "zh", "homes", "面积和价格的相关系数",
             lambda rows: statistics.correlation(numbers(rows, "面积"), numbers(rows, "价格"))),
    GoalCase("answer", "zh", "homes", "城东有多少行的面积大于100？",
             lambda rows: sum(float(row["面积"]) > 100 for row in where(rows, 区域="城东"))),
    GoalCase("answer", "zh", "homes", "有电梯的行占比是多少", lambda rows: share(rows, 电梯="是")),
)  # fmt: skip


def alerts(rows: Sequence[Row]) -> dict[str, list[str]]:
    """What stands out in the messy table."""
    return {
        "empty": ["note"], "constant": ["site"], "imbalance": ["alarm"], "zeros": ["rain"], "missing": ["wind"],
        "high correlation": ["level / level_mm"], "duplicates": [""],
    }  # fmt: skip


DESCRIBED = tuple(
    GoalCase("describe", "en", "messy", goal, alerts)
    for goal in (
        "Describe this table", "Give me an overview of the data", "What is in this file?", "summarize the dataset",
        "Check the data quality: a profile of the file, please",
    )
) + tuple(
    GoalCase("describe", "zh", "messy", goal, alerts)
    for goal in ("描述这张表", "给我一份数据概览", "看看这个数据集里有什么", "介绍一下这个表的内容", "检查数据质量")
)  # fmt: skip


def leaving(rows: Sequence[Row]) -> dict[str, int]:
    """The columns that drive leaving, by the way the table was made; 1 or -1 is a direction, 0 is not ordered."""
    return {"contract": 0, "monthly_bill": 1}


def pricing(rows: Sequence[Row]) -> dict[str, int]:
    return {"面积": 1, "区域": 0}


DRIVEN = tuple(
    GoalCase("drivers", "en", "shop", goal, leaving)
    for goal in (
        "What drives churn?", "Which factors influence Churn?", "why do customers churn?", "drivers of churn",
        "What does churn depend on?",
    )
) + tuple(
    GoalCase("drivers", "zh", "homes", goal, pricing)
    for goal in (
        "哪些因素影响价格？", "价格取决于什么", "影响价格的因素有哪些", "是什么决定了价格", "价格高的原因是什么",
    )
)  # fmt: skip

PREDICTED = tuple(
    GoalCase("predict", "en", "shop", goal, lambda rows: "Churn")
    for goal in (
        "Predict churn", "predict whether a customer churns", "Forecast Churn from the other columns",
        "Can you estimate churn?", "Use this table to predict Churn",
    )
) + tuple(
    GoalCase("predict", "zh", "homes", goal, lambda rows: "价格")
    for goal in ("预测价格", "根据面积和区域预测价格", "请估计价格", "用其他列预测价格", "我想预测价格")
)  # fmt: skip

DECLINED = (
    GoalCase("declined", "en", "shop", "Is the monthly bill normally distributed?"),
    GoalCase("declined", "en", "shop", "How many customers called support more often than last year?"),
    GoalCase("declined", "en", "shop", "Remove outliers from age and give the mean"),
    GoalCase("declined", "zh", "homes", "去年的平均价格是多少？"),
    GoalCase("declined", "zh", "homes", "价格和面积有显著关系吗"),
)

CASES: tuple[GoalCase, ...] = (
    *ANSWERS, *DESCRIBED, *DECLINED, *DRIVEN, *PREDICTED,
)  # fmt: skip
