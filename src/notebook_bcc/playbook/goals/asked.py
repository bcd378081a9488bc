"""What a run is asked for: its task, what of the table that is about, and how the goal was understood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from notebook_bcc.playbook.goals.examples import examples_of
from notebook_bcc.playbook.goals.names import TASK_INPUT
from notebook_bcc.playbook.goals.parsing import question_of
from notebook_bcc.playbook.goals.question import Declined, TableQuestion
from notebook_bcc.playbook.goals.reading import GoalReader
from notebook_bcc.playbook.goals.table import GoalTable, table_of
from notebook_bcc.playbook.goals.target import target_of
from notebook_bcc.playbook.goals.tasks import TaskWords, task_of
from notebook_bcc.playbook.goals.tokens import MOST_CHARACTERS
from notebook_bcc.playbook.goals.wording import declined_text, understood

_TARGET: Final = "target"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a goal asks for, as far as it is known. `looked`: the table was looked at, so that nothing will change.

    `task` is empty where nobody asked for one; `declined` says why the task cannot be done, `examples` how a question
    about this table may be asked.
    """

    task: str = ""
    by_words: bool = False
    looked: bool = False
    targets: tuple[str, ...] = ()
    question: TableQuestion | None = None
    understood: str = ""
    declined: str = ""
    examples: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:  # Any: JSON
        """As rules and templates read it."""
        return {
            "task": self.task,
            "by_words": self.by_words,
            "looked": self.looked,
            "targets": list(self.targets),
            "question": self.question.plain() if self.question is not None else None,
            "understood": self.understood,
            "declined": self.declined,
            "examples": list(self.examples),
        }


def reads_table(inputs: Mapping[str, Any], tasks: Sequence[TaskWords]) -> bool:  # Any: what a run was given
    """Whether the goal is read with the columns and values of the table, as `VARIABLES` tell of them."""
    task = _task(inputs, tasks)
    if task is None:
        return False
    return bool(task.asks or (task.about and inputs.get("goal") and not inputs.get(_TARGET)))


def _task(inputs: Mapping[str, Any], tasks: Sequence[TaskWords]) -> TaskWords | None:
    """The task that was named, or that the goal's words ask for."""
    goal = str(inputs.get("goal") or "")
    named = next((one for one in tasks if one.name == inputs.get(TASK_INPUT)), None)
    return named or (task_of(goal[:MOST_CHARACTERS], tasks, alone=not inputs.get(_TARGET)) if goal else None)


def asked_of(
    inputs: Mapping[str, Any], variables: Mapping[str, Any], tasks: Sequence[TaskWords], *, lang: str
) -> Asked:  # Any: what a run was given, and what its kernel has shown
    """Read the goal anew from what is known now: the same facts give the same answer."""
    goal = str(inputs.get("goal") or "")
    task = _task(inputs, tasks)
    if task is None:
        implied = next((one for one in tasks if one.about and inputs.get(_TARGET)), None)
        return Asked(task=implied.name if implied is not None else "")
    table = table_of(variables, file=str(inputs.get("data") or ""))
    begun = Asked(task=task.name, by_words=task.name != inputs.get(TASK_INPUT), looked=table is not None)
    if table is None:
        return begun
    if task.asks:
        return _question(begun, goal, table, lang)
    return _about(begun, goal, task, table, inputs, lang) if task.about else begun


def _question(begun: Asked, goal: str, table: GoalTable, lang: str) -> Asked:
    if len(goal) > MOST_CHARACTERS:
        return _declined(begun, Declined("too long"), lang, examples_of(table, lang))
    found = question_of(GoalReader(table).read(goal), table)
    if isinstance(found, Declined):
        return _declined(begun, found, lang, examples_of(table, lang))
    return Asked(begun.task, begun.by_words, looked=True, question=found, understood=understood(found, lang))


def _about(begun: Asked, goal: str, task: TaskWords, table: GoalTable, inputs: Mapping[str, Any], lang: str) -> Asked:
    """The column that the goal is about; one that was named by its own option counts."""
    if inputs.get(_TARGET) or not goal:
        return begun
    found = target_of(goal, task, table)
    if isinstance(found, Declined):
        return _declined(begun, found, lang)
    return Asked(begun.task, begun.by_words, looked=True, targets=found)


def _declined(begun: Asked, why: Declined, lang: str, examples: tuple[str, ...] = ()) -> Asked:
    said = declined_text(why, lang)
    return Asked(begun.task, begun.by_words, looked=True, declined=said, examples=examples)
