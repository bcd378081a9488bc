"""The column that a goal wants predicted or explained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from notebook_bcc.playbook.goals.question import Declined
from notebook_bcc.playbook.goals.reading import GoalReader, Said
from notebook_bcc.playbook.goals.table import GoalTable
from notebook_bcc.playbook.goals.tasks import TaskWords, after_words, beyond_of
from notebook_bcc.playbook.goals.tokens import tokens_of
from notebook_bcc.playbook.goals.vocabulary import WordKind

# A word this long says which column is meant where only one column has it.
_TELLING: Final = 4


def target_of(goal: str, task: TaskWords, table: GoalTable) -> tuple[str, ...] | Declined:
    """The columns that the goal may mean: one where it is clear, else those that a person chooses from.

    Declined where the goal asks for more than the task does.
    """
    if beyond := beyond_of(goal, task):
        return Declined("words", tuple(beyond))
    reader = GoalReader(table)
    for text in (after_words(goal, task), goal):
        said = reader.read(text)
        named = tuple(dict.fromkeys(name for one in said if one.part is WordKind.COLUMN for name in one.columns))
        if named := named or _by_word(said, table):
            return named
    return ()


def _by_word(said: Sequence[Said], table: GoalTable) -> tuple[str, ...]:
    """The columns that have one of these words in their names: "price" is `SalePrice` where no other speaks of one."""
    words = {word for one in said if one.part is WordKind.UNKNOWN for word in _words(one.text)}
    return tuple(column.name for column in table.columns if words & set(_words(column.name)))


def _words(text: str) -> list[str]:
    keys = [token.key.removesuffix("s") for token in tokens_of(text) if not token.is_wide]
    return [key for key in keys if len(key) >= _TELLING]
