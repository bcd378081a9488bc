"""The numbers and comparatives that texts of the built-in playbook say without a variable, each with the reason.

Where a constant is a limit of a cell, `cell` and `code` say what it must agree with; a test looks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Constant:
    """A phrase, why it needs no variable, and the code that makes it true, where there is some."""

    phrase: str
    reason: str
    cell: str = ""
    code: str = ""


_INTERVAL = "the level of every interval"
_SCALE = "the ends of a scale, by definition"
_ALERT = "describe/cells/describe_alerts.py"
_GENERAL = "said of methods in general"
_ORDER = "what forward splits are"
_BIG = "how many rows are used of a large table"

ALL: Final = (
    Constant("95 % interval", _INTERVAL),
    Constant("95% 区间", _INTERVAL),
    Constant("95% 的区间", _INTERVAL),
    Constant("on a scale from 0 to 1", _SCALE),
    Constant("在 0 到 1 的尺度上", _SCALE),
    Constant("1 means always rising together, −1 always", _SCALE),
    Constant("1 表示总是同升同降，−1 表示", _SCALE),
    Constant("0.10 means about 10 % off", _SCALE),
    Constant("0.10 约等于偏差 10%", _SCALE),
    Constant("0.5 is guessing, 1 is perfect", _SCALE),
    Constant("0.5 等于瞎猜，1 为完美", _SCALE),
    Constant("Lower is better", _SCALE),
    Constant("Higher is better", _SCALE),
    Constant("one half is chance", _SCALE),
    Constant("one half would be chance", _SCALE),
    Constant("一半就等于瞎猜", _SCALE),
    Constant("a probability of 0.5 on", "the usual limit where classes are even"),
    Constant("概率达到 0.5 的行", "the usual limit where classes are even"),
    Constant("任何模型必须超过的底线", "a heading"),
    Constant("of 100 overall", _SCALE),
    Constant("of 100**", _SCALE),
    Constant("每 100 行", _SCALE),
    Constant("two rows of different classes", "what the area under the ROC curve compares"),
    Constant("两个不同类别的行", "what the area under the ROC curve compares"),
    Constant("top 5 COLUMN", "an example of a question"),
    Constant("两列的相关系数", "an example of a question"),
    Constant("5 % of the rows or more", "a limit", _ALERT, "missing >= 0.05"),
    Constant("缺失达到 5% 或更多", "a limit", _ALERT, "missing >= 0.05"),
    Constant("more than 50 different values", "a limit", _ALERT, "distinct > 50"),
    Constant("取值超过 50 种", "a limit", _ALERT, "distinct > 50"),
    Constant("skewness of 3 or more", "a limit", _ALERT, "abs(column.skew()) >= 3"),
    Constant("偏度达到 3 或更大", "a limit", _ALERT, "abs(column.skew()) >= 3"),
    Constant("Zero in 10 % of the rows or more", "a limit", _ALERT, ".mean() >= 0.1"),
    Constant("零值达到 10% 或更多", "a limit", _ALERT, ".mean() >= 0.1"),
    Constant("One value in 90 % of the rows or more", "a limit", _ALERT, ".iloc[0] >= 0.9"),
    Constant("同一个值占 90% 或更多", "a limit", _ALERT, ".iloc[0] >= 0.9"),
    Constant("Rank correlation of 0.9 or more", "a limit", _ALERT, ">= 0.9"),
    Constant("秩相关达到 0.9 或更高", "a limit", _ALERT, ">= 0.9"),
    Constant(
        "low to its high tenth", "how effects are measured", "drivers/cells/drivers_effects.py", "linspace(0.1, 0.9"
    ),
    Constant("eight samples of the rows", "how effects are measured", "drivers/cells/drivers_effects.py", "range(8)"),
    Constant("八个重抽样的样本", "how effects are measured", "drivers/cells/drivers_effects.py", "range(8)"),
    Constant("predicted worse without the column", "how effects are measured"),
    Constant("more than half zeros", "a limit", "exploration/cells/explore_numbers.py", "zeros > 0.5"),
    Constant("一半以上为零", "a limit", "exploration/cells/explore_numbers.py", "zeros > 0.5"),
    Constant("more than 95 % of the rows", "a limit", "exploration/cells/explore_categories.py", "> 0.95"),
    Constant("95% 以上的行取同一个值", "a limit", "exploration/cells/explore_categories.py", "> 0.95"),
    Constant("nine rows in ten", "a range of quantiles", "exploration/cells/explore_target.py", "quantile(0.05)"),
    Constant("九成的行", "a range of quantiles", "exploration/cells/explore_target.py", "quantile(0.05)"),
    Constant("first quarter of the time", "how a course is told", "exploration/cells/explore_time.py", "// 4"),
    Constant("the last quarter it is", "how a course is told", "exploration/cells/explore_time.py", "// 4"),
    Constant("前四分之一", "how a course is told", "exploration/cells/explore_time.py", "// 4"),
    Constant("后四分之一", "how a course is told", "exploration/cells/explore_time.py", "// 4"),
    Constant("more than 200 columns", "more than the observation lists"),
    Constant("200 多列", "more than the observation lists"),
    Constant("more than 50 categories", "a limit", "integrity/cells/integrity_features.py", "nunique() > 50"),
    Constant("超过 50 个的有", "a limit", "integrity/cells/integrity_features.py", "nunique() > 50"),
    Constant("They become 1 and 0", "how yes and no are coded"),
    Constant("改为 1 和 0", "how yes and no are coded"),
    Constant("days since 2000", "where days are counted from"),
    Constant("距 2000 年初", "where days are counted from"),
    Constant("no day is above 12", "there are so many months"),
    Constant("12 的日", "there are so many months"),
    Constant("more than three rows", "what folds need"),
    Constant("三行", "what folds need"),
    Constant("begin at 0 and get ever", "what counts are"),
    Constant("从 0 开始", "what counts are"),
    Constant("越大越少", "what counts are"),
    Constant(" is 0", "what `none` means of a count"),
    Constant("为 0 时", "what `none` means of a count"),
    Constant("the newest rows are set aside", _ORDER),
    Constant("留出最新的行", _ORDER),
    Constant("更晚的行", _ORDER),
    Constant("about ten for half a million rows on two cores", "a time budget"),
    Constant("两个核心上五十万行约十分钟", "a time budget"),
    Constant("about 100,000 rows", _BIG, "methodology/cells/method_folds.py", "100_000"),
    Constant("约 100,000 行", _BIG, "methodology/cells/method_folds.py", "100_000"),
    Constant("四个标准差", "a limit", "modelling/cells/model_for_linear.py", "reach=4"),
    Constant("four standard deviations", "a limit", "modelling/cells/model_for_linear.py", "reach=4"),
    Constant("often better than the best of them", _GENERAL),
    Constant("往往比其中最好的还要好", _GENERAL),
    Constant("不能明显超过它的模型", _GENERAL),
    Constant(
        "five groups from low to high", "how calibration is told", "predictability/cells/predict_scores.py", ".mul(5)"
    ),
    Constant("从低到高分为五组", "how calibration is told", "predictability/cells/predict_scores.py", ".mul(5)"),
    Constant(
        "nine in ten errors", "a range of quantiles", "predictability/cells/predict_figure.py", "(0.05, 0.5, 0.95)"
    ),
    Constant("十分之九的误差", "a range of quantiles", "predictability/cells/predict_figure.py", "(0.05, 0.5, 0.95)"),
    Constant("highest fifth", "a share of the rows", "predictability/cells/predict_figure.py", "0.8"),
    Constant("五分之一中", "a share of the rows", "predictability/cells/predict_figure.py", "0.8"),
    Constant("What is not shown is less", "the list is cut where it begins to be chance"),
    Constant("没有列出的，损失更小", "the list is cut where it begins to be chance"),
    Constant("costs the model more than chance would", "the list of such columns is empty"),
    Constant("one in 100,000", "a limit", "report/cells/report_findings.py", "1e-5"),
    Constant("十万分之一", "a limit", "report/cells/report_findings.py", "1e-5"),
    Constant("fitted once more", "not a comparison"),
    Constant("20,000 of the training rows", _BIG, "stability/cells/stable_scores.py", "20_000"),
    Constant("20,000 rows drawn anew", _BIG, "stability/cells/stable_rows.py", "20_000"),
    Constant("20,000 行训练数据", _BIG, "stability/cells/stable_rows.py", "20_000"),
    Constant("four fifths of the training rows", "how rows are drawn", "stability/cells/stable_rows.py", "0.8"),
    Constant("五分之四的训练数据", "how rows are drawn", "stability/cells/stable_rows.py", "0.8"),
    Constant("use 20,000 of them", _BIG, "exploration/cells/explore_numbers.py", "20_000"),
    Constant("随机抽取的 20,000 行", _BIG, "exploration/cells/explore_numbers.py", "20_000"),
    Constant("the largest file in it is taken", "how an archive is read"),
    Constant("取其中最大的文件", "how an archive is read"),
    Constant("the first 60 are listed", "a limit", "structure/cells/structure_columns.py", "[:60]"),
    Constant("列出前 60 列", "a limit", "structure/cells/structure_columns.py", "[:60]"),
)

CONSTANTS: Final = {one.phrase: one.reason for one in ALL}
