"""What a goal asks for, and what came of it: deliverables in the plan, and the file `answer.json` at the end."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import Field, model_validator

from notebook_bcc.protocol.message import Message
from notebook_bcc.protocol.vocabulary import CaseFree

ANSWER_FILE: Final = "answer.json"

Answered = Literal["yes", "no", "unknown"]


class DeliverableKind(CaseFree):
    """What a deliverable is, and so how it is found."""

    VALUE = "value"
    TABLE = "table"
    FILE = "file"
    FIGURE = "figure"
    TEXT = "text"


class DeliverableCheck(Message):
    """What a value must be to count. An unknown condition is kept and not checked."""

    type: Literal["number", "text", "boolean", "list", "object"] | None = None
    minimum: float | None = None
    maximum: float | None = None
    one_of: tuple[Any, ...] | None = None


class Deliverable(Message):
    """One thing that the goal asks for. A bare name is read as a value.

    A value or table is a variable in the kernel; a file is a path in the run's working directory; a figure is a
    variable, or a cell of that id that shows a picture; a text is a variable, or a text cell of that id.
    """

    name: str = Field(min_length=1)
    kind: DeliverableKind = DeliverableKind.VALUE
    description: str = ""
    check: DeliverableCheck | None = None

    @model_validator(mode="before")
    @classmethod
    def _bare_name(cls, value: Any) -> Any:  # Any: not validated yet
        return {"name": value} if isinstance(value, str) else value


class AnswerItem(Message):
    """What came of one deliverable. `value` is a value as the run recorded it, or wrote it to `values/NAME.json`; one
    that is too large is a summary, and `file` the path of that file. `problem` says why it does not count."""

    name: str
    kind: DeliverableKind = DeliverableKind.VALUE
    description: str = ""
    produced: bool = False
    value: Any | None = None  # Any: JSON
    file: str | None = None
    problem: str | None = None


class RunAnswer(Message):
    """What a completed run answers, beside its notebook as `answer.json`: what its plan named, and what was made."""

    run_id: str
    goal: str = ""
    answered: Answered = "unknown"
    deliverables: tuple[AnswerItem, ...] = ()

    @property
    def problem(self) -> str:
        """Why the goal is not answered, in one line; empty where it is, or where nothing was named."""
        missing = [one.name for one in self.deliverables if not one.produced and one.problem is None]
        said = [f"not made: {', '.join(missing)}"] if missing else []
        return "; ".join([*said, *(f"{one.name}: {one.problem}" for one in self.deliverables if one.problem)])
