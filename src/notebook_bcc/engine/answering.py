"""Whether a run has what its plan names as deliverables. Reads the state; files are asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

from notebook_bcc.engine.state import RunState
from notebook_bcc.protocol.deliverables import AnswerItem, Deliverable, DeliverableCheck, DeliverableKind, RunAnswer
from notebook_bcc.protocol.vocabulary import CellType

# Whether the run has written a file of this path, relative to its working directory.
HasFile = Callable[[str], bool]


def answer_of(state: RunState, has_file: HasFile) -> RunAnswer:
    """What was named and what was made. None named: unknown, the planner's word counts."""
    wanted = (state.plan.deliverables if state.plan is not None else None) or ()
    items = tuple(_item(one, state, has_file) for one in wanted)
    answered = "unknown" if not items else "yes" if all(one.produced for one in items) else "no"
    return RunAnswer.model_validate(
        {"run_id": state.run_id, "goal": state.goal, "answered": answered, "deliverables": items}
    )


def _item(wanted: Deliverable, state: RunState, has_file: HasFile) -> AnswerItem:
    exists = _exists(wanted, state, has_file)
    value = state.kernel.variables.get(wanted.name) if wanted.kind is DeliverableKind.VALUE else None
    problem = _problem(value, wanted.check) if exists and wanted.kind is DeliverableKind.VALUE else ""
    return AnswerItem(
        name=wanted.name,
        kind=wanted.kind,
        description=wanted.description,
        produced=exists and not problem,
        value=value,
        problem=problem or None,
    )


def _exists(wanted: Deliverable, state: RunState, has_file: HasFile) -> bool:
    cell = state.document.cells.get(wanted.name)
    match wanted.kind:
        case DeliverableKind.VALUE | DeliverableKind.TABLE:
            return wanted.name in state.kernel.variables
        case DeliverableKind.FILE:
            return has_file(wanted.name)
        case DeliverableKind.FIGURE:
            pictures = cell is not None and any(_has_picture(output) for output in cell.outputs)
            return pictures or wanted.name in state.kernel.variables
        case DeliverableKind.TEXT:
            written = cell is not None and cell.type is CellType.MARKDOWN and bool(cell.source.strip())
            return written or wanted.name in state.kernel.variables
        case _:
            assert_never(wanted.kind)


def _has_picture(output: dict[str, Any]) -> bool:
    return any(mime.startswith("image/") for mime in output.get("data") or ())


def _problem(value: Any, check: DeliverableCheck | None) -> str:  # Any: JSON
    if check is None:
        return ""
    if check.type is not None and not _is_a(check.type, value):
        return f"{value!r} is no {check.type}"
    if check.one_of is not None and value not in check.one_of:
        return f"{value!r} is not one of {', '.join(map(repr, check.one_of))}"
    if check.minimum is None and check.maximum is None:
        return ""
    if not _is_a("number", value):
        return f"{value!r} is no number"
    if check.minimum is not None and not value >= check.minimum:
        return f"{value!r} is below {check.minimum:g}"
    if check.maximum is not None and not value <= check.maximum:
        return f"{value!r} is above {check.maximum:g}"
    return ""


def _is_a(kind: str, value: Any) -> bool:  # Any: JSON
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, {"text": str, "boolean": bool, "list": list | tuple, "object": dict}[kind])
