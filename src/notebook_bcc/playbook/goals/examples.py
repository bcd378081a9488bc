"""Questions that can be asked about a table, in its own words: what to say to whoever asked in others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from notebook_bcc.playbook.goals.parsing import question_of
from notebook_bcc.playbook.goals.question import Declined
from notebook_bcc.playbook.goals.reading import GoalReader
from notebook_bcc.playbook.goals.table import GoalColumn, GoalTable

# Each names the columns it needs: numbers, a category, a value of it.
_FORMS: Final[Mapping[str, tuple[str, ...]]] = {
    "en": (
        "mean of `{number}`",
        "mean of `{number}` for each `{category}`",
        "how many rows where `{category}` is {value}",
        "correlation of `{number}` and `{other}`",
    ),
    "zh": (
        "`{number}` 的平均值",
        "各 `{category}` 的 `{number}` 的平均值",
        "`{category}` 为 {value} 的有多少行",
        "`{number}` 和 `{other}` 的相关系数",
    ),
}
_MOST_GROUPS: Final = 30


def examples_of(table: GoalTable, lang: str) -> tuple[str, ...]:
    """Questions about this table, each of which would be answered."""
    if table.cut:
        return ()
    reader = GoalReader(table)
    made = dict.fromkeys(_made(table, lang))
    return tuple(one for one in made if not isinstance(question_of(reader.read(one), table), Declined))


def _made(table: GoalTable, lang: str) -> Iterator[str]:
    numbers = [one.name for one in table.columns if one.kind == "number" and not _is_key(one, table)]
    groups = [one for one in table.columns if one.kind == "category" and 1 < one.distinct <= _MOST_GROUPS]
    valued = sorted(groups, key=lambda one: (not one.values, one.distinct))
    names = {
        **({"number": numbers[0]} if numbers else {}),
        **({"other": numbers[1]} if len(numbers) > 1 else {}),
        **({"category": valued[0].name} if valued else {}),
        **({"value": str(valued[0].values[0])} if valued and valued[0].values else {}),
    }
    for form in _FORMS[lang if lang in _FORMS else "en"]:
        if all(f"{{{name}}}" not in form or name in names for name in ("number", "other", "category", "value")):
            yield form.format(**names)


def _is_key(column: GoalColumn, table: GoalTable) -> bool:
    """Whether it may number the rows: its mean says nothing."""
    return column.distinct == table.rows or column.name.casefold().endswith("id")
