"""How good a run's result is, in the words of the run itself: the file `summary.json` that its cells may write."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from notebook_bcc.protocol.message import Message

SUMMARY_FILE: Final = "summary.json"

Finite = Annotated[float, Field(allow_inf_nan=False)]


class Summary(Message):
    """A score with what it must be read beside: its uncertainty, and what a forecast without any learning reaches.

    `typical_error` is the mean absolute error in the target's own unit, for a measure that is in another one.
    `better_than_naive` is None where neither that nor the contrary is shown; a summary may also say nothing about it.
    """

    metric: str
    score: Finite
    interval_95: tuple[Finite, Finite] | None = None
    naive_forecast: Finite | None = None
    typical_error: Finite | None = None
    better_than_naive: bool | None = None
    target: str | int | float | None = None
