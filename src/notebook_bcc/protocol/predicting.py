"""What a saved model says about itself and about new rows, printed as JSON by the kernel that has loaded it."""

from __future__ import annotations

from notebook_bcc.protocol.message import Message


class Writing(Message):
    """How a file is written; encoding, separator, decimal sign are those of text. `header`: its columns have names."""

    format: str = "text"
    encoding: str = "utf-8"
    separator: str = ","
    decimal: str = "."
    header: bool = True


class ModelFacts(Message):
    """How the file was written that the model learnt from, the columns it needs, and what loading it warned of."""

    written: Writing
    names: tuple[str, ...]
    remarks: tuple[str, ...] = ()


class RowDoubts(Message):
    """By column, how many values and which: those that cannot be read, and categories that were never learnt."""

    unread: dict[str, tuple[int, tuple[str, ...]]]
    unknown: dict[str, tuple[int, tuple[str, ...]]]
