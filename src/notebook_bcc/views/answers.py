"""What a run answers, in lines for people: how the goal was understood, and the values that it asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from notebook_bcc.protocol.deliverables import DeliverableKind, RunAnswer
from notebook_bcc.views.narration import one_line

_ITEMS_SHOWN = 10


def answer_lines(answer: RunAnswer) -> Iterator[str]:
    """A line for each value that the plan describes and the run has made: `Answer: 12.5`."""
    for one in answer.deliverables:
        if one.kind is DeliverableKind.VALUE and one.description and one.produced:
            yield one_line(f"{one.description}: {_shown(one.value)}{f' ({one.file})' if one.file else ''}")


def _shown(value: Any) -> str:  # Any: JSON, as the kernel has shown it
    match value:
        case bool() | int() | None:
            return str(value)
        case float():
            return _number(value)
        case dict():
            items = [f"{name} {_shown(item)}" for name, item in value.items()]
        case list():
            items = [_shown(item) for item in value]
        case _:
            return str(value)
    return ", ".join(items[:_ITEMS_SHOWN]) + (f", … ({len(items)})" if len(items) > _ITEMS_SHOWN else "")


def _number(value: float) -> str:
    """Six digits that count, and no powers of ten where a reader would have to move the comma."""
    if not math.isfinite(value):
        return "–"
    if abs(value) >= 1e6:
        return f"{float(f'{value:.6g}'):,.0f}"
    return f"{value + 0.0:.6g}"
