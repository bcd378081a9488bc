"""What a run answers, in lines for people: how the goal was understood, and the values that it asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from notebook_bcc.engine.state import RunState
from notebook_bcc.protocol.deliverables import DeliverableKind
from notebook_bcc.views.narration import one_line

_ITEMS_SHOWN = 10


def answer_lines(state: RunState) -> Iterator[str]:
    """A line for each value that the plan describes and the run has made: `Answer: 12.5`."""
    wanted = (state.plan.deliverables if state.plan is not None else None) or ()
    for one in wanted:
        if one.kind is DeliverableKind.VALUE and one.description and one.name in state.kernel.variables:
            yield one_line(f"{one.description}: {_shown(state.kernel.variables[one.name])}")


def _shown(value: Any) -> str:  # Any: JSON, as the kernel has shown it
    match value:
        case bool() | int() | None:
            return str(value)
        case float():
            return f"{value:.6g}"
        case dict():
            items = [f"{name} {_shown(item)}" for name, item in value.items()]
        case list():
            items = [_shown(item) for item in value]
        case _:
            return str(value)
    return ", ".join(items[:_ITEMS_SHOWN]) + (", …" if len(items) > _ITEMS_SHOWN else "")
