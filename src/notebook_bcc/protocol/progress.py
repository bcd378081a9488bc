"""How far a long piece of work is: one message for all of them, shown to people and then forgotten."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.protocol.cells import Output
from notebook_bcc.protocol.message import Message

PROGRESS_MIME: Final = "application/vnd.notebook-bcc.progress+json"
"""The type under which code in a cell displays a `WorkProgress`. What is displayed so is no output of the cell."""


class WorkProgress(Message):
    """How far a long piece of work is. `done` and `of` count its parts, whatever they are; None: not known.

    `seconds` is how long it has taken so far. Memory and CPU are those of the kernel with all that it has
    started; 100 % is one processor.
    """

    what: str
    done: int | None = Field(default=None, ge=0)
    of: int | None = Field(default=None, ge=0)
    seconds: float | None = Field(default=None, ge=0)
    seconds_left: float | None = Field(default=None, ge=0)
    memory_bytes: int | None = Field(default=None, ge=0)
    cpu_percent: float | None = Field(default=None, ge=0)


def is_progress(output: Output) -> bool:
    """Whether an output of a cell is such a message, well formed or not."""
    data = output.get("data")
    return isinstance(data, dict) and PROGRESS_MIME in data


def progress_of(output: Output) -> WorkProgress | None:
    """The message that a cell has displayed; None where it is none, or malformed."""
    if not is_progress(output):
        return None
    try:
        return WorkProgress.parse(output["data"][PROGRESS_MIME])
    except MessageInvalid:
        return None
