"""How a question was understood, or why it is declined, in a sentence of the run's language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from notebook_bcc.playbook.goals.question import Condition, Declined, Doubt, Measure, Operator, TableQuestion
from notebook_bcc.playbook.goals.table import Value

_MEASURES: Final[Mapping[str, Mapping[Measure, str]]] = {
    "en": {
        "count": "number of rows",
        "mean": "mean of {columns}",
        "median": "median of {columns}",
        "sum": "sum of {columns}",
        "min": "smallest value of {columns}",
        "max": "largest value of {columns}",
        "missing": "number of missing values of {columns}",
        "distinct": "number of different values of {columns}",
        "correlation": "Pearson correlation of {columns}",
        "share": "share of rows",
    },
    "zh": {
        "count": "行数",
        "mean": "{columns} 的平均值",
        "median": "{columns} 的中位数",
        "sum": "{columns} 的总和",
        "min": "{columns} 的最小值",
        "max": "{columns} 的最大值",
        "missing": "{columns} 的缺失值个数",
        "distinct": "{columns} 的不同取值个数",
        "correlation": "{columns} 的皮尔逊相关系数",
        "share": "行数占比",
    },
}
_OPERATORS: Final[Mapping[str, Mapping[Operator, str]]] = {
    "en": {
        "in": "is",
        "not in": "is known and is not",
        ">": "is greater than",
        ">=": "is at least",
        "<": "is less than",
        "<=": "is at most",
        "between": "is between",
    },
    "zh": {
        "in": "为",
        "not in": "已知且不为",
        ">": "大于",
        ">=": "至少为",
        "<": "小于",
        "<=": "至多为",
        "between": "介于",
    },
}
_DOUBTS: Final[Mapping[str, Mapping[Doubt, str]]] = {
    "en": {
        "words": "these words are not understood: {about}",
        "ambiguous": "{first} may mean {rest}",
        "no numbers": "{about} holds no numbers",
        "rows": "{about} repeats, so a row is not one of what the goal counts; ask for rows or for different values",
        "unclear": "the words are known, but not what they ask for together",
        "no column": "no column of the table is named",
        "too large": "the table has too many columns or values to find the ones that are meant",
        "too long": "the goal is too long to be one question",
    },
    "zh": {
        "words": "无法理解这些词：{about}",
        "ambiguous": "{first} 可能指 {rest}",
        "no numbers": "{about} 不是数值列",
        "rows": "{about} 有重复，一行并不就是所要计数的一个对象；请改问行数或不同取值的个数",
        "unclear": "每个词都认识，但合在一起问什么并不清楚",
        "no column": "没有提到表中的任何一列",
        "too large": "列或取值太多，无法确定所指的是哪些",
        "too long": "目标太长，不像一个问题",
    },
}


def understood(question: TableQuestion, lang: str) -> str:
    """The question in words, columns between backticks: mean of `fare` where `sex` is female."""
    return _chinese(question) if lang == "zh" else _english(question)


def declined_text(declined: Declined, lang: str) -> str:
    """Why, as a clause."""
    quoted = [f"`{_plain(one)}`" for one in declined.about]
    between = "、" if lang == "zh" else ", "
    rest = _listed(quoted[1:], " 或 " if lang == "zh" else " or ", between)
    template = _DOUBTS[lang if lang in _DOUBTS else "en"][declined.doubt]
    return template.format(about=between.join(quoted), first=quoted[0] if quoted else "", rest=rest)


def _english(question: TableQuestion) -> str:
    columns = _columns(question.columns, " and ", ", ")
    measures = [_MEASURES["en"][one].format(columns=columns) for one in question.measures]
    text = " and ".join([*(one.partition(" of ")[0] for one in measures[:-1]), measures[-1]])
    groups = _columns(question.group, " and ", ", ")
    if question.values_only:
        text = f"the {question.top} {question.order} values of {columns}"
    elif question.top and question.group:
        which = f"the {groups}" if question.top == 1 else f"the {question.top} values of {groups}"
        text = f"{which} with the {question.order} {text}"
    elif question.measures == ("share",):
        text = f"share of rows where {_where(question.event, 'en')}" if question.event else "share of rows"
    if question.where:
        among = ", among rows where" if question.measures == ("share",) else " where"
        text += f"{among} {_where(question.where, 'en')}"
    return f"{text}, for each {groups}" if question.group and not question.top else text


def _chinese(question: TableQuestion) -> str:
    columns = _columns(question.columns, " 与 ", "、")
    measures = [_MEASURES["zh"][one].format(columns=columns) for one in question.measures]
    text = "和".join([measures[0], *(one.rpartition(" 的")[2] for one in measures[1:])])
    groups = _columns(question.group, " 与 ", "、")
    order = "最大" if question.order == "highest" else "最小"
    if question.values_only:
        text = f"{columns} {order}的 {question.top} 个值"
    elif question.top and question.group:
        text = f"{text}{order}的 {question.top} 个 {groups}"
    elif question.measures == ("share",):
        text = f"{_where(question.event, 'zh')} 的行所占比例" if question.event else "行数占比"
    if question.where:
        text = f"在 {_where(question.where, 'zh')} 的行中，{text}"
    return f"按 {groups} 分组：{text}" if question.group and not question.top else text


def _where(conditions: Sequence[Condition], lang: str) -> str:
    return (" 且 " if lang == "zh" else " and ").join(_condition(one, lang) for one in conditions)


def _condition(condition: Condition, lang: str) -> str:
    values = [_plain(one) for one in condition.values]
    if condition.operator == "between":
        both = (
            f"{values[0]} 与 {values[1]} 之间（含两端）"
            if lang == "zh"
            else f"{values[0]} and {values[1]}, both included"
        )
        return f"`{condition.column}` {_OPERATORS[lang]['between']} {both}"
    listed = _listed(values, " 或 " if lang == "zh" else " or ", "、" if lang == "zh" else ", ")
    return f"`{condition.column}` {_OPERATORS[lang][condition.operator]} {listed}"


def _columns(names: Sequence[str], last: str, between: str) -> str:
    return _listed([f"`{_plain(name)}`" for name in names], last, between)


def _listed(items: Sequence[str], last: str, between: str) -> str:
    return between.join(items[:-1]) + last + items[-1] if len(items) > 1 else "".join(items)


def _plain(value: Value) -> str:
    return " ".join(str(value).replace("`", "'").split())
