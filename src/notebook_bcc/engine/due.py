"""What the kernel gets to run next, where that is known beforehand. Pure."""

from __future__ import annotations

from keyword import iskeyword

from notebook_bcc.engine.actions.context import code_cell
from notebook_bcc.engine.mentions import mentioned
from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import ActionRefused
from notebook_bcc.protocol.actions import Exec, parse_action
from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.tracking import Promotion


def source_due(state: RunState) -> str | None:
    """What the kernel gets to run first, as `decide` has it; None where that is not known beforehand."""
    promotions = state.promotions or (state.behavior.promotions if state.behavior.current is None else ())
    if not promotions:
        cell = cell_due(state)
        return None if cell is None else cell.source
    if promotions[0].keep_name:
        return None
    try:
        return promotion_source(promotions[0])
    except ActionRefused:
        return None


def cell_due(state: RunState) -> Cell | None:
    """The cell that the action under way has the kernel run first: of an exec, its cell."""
    action = _exec(state)
    return None if action is None else code_cell(state.document, action.codecell_id)


def once_due(state: RunState) -> str:
    """The id of the cell that is run next, if it or its action is marked `once`; else nothing."""
    action, cell = _exec(state), cell_due(state)
    if action is None or cell is None:
        return ""
    return cell.id if cell.is_once or (action.metadata is not None and action.metadata.once) else ""


def _exec(state: RunState) -> Exec | None:
    received = state.behavior.current
    if received is None:
        return None
    try:
        action = parse_action(received.action)
        if not isinstance(action, Exec):
            return None
        code_cell(state.document, action.codecell_id)
    except ActionRefused:
        return None
    return action


def lacks_names(state: RunState) -> bool:
    """Whether what is run next uses a name that the checkpoint, which the kernel came from, could not hold."""
    if not state.kernel.missing or (source := source_due(state)) is None:
        return False
    return not mentioned(source).isdisjoint(state.kernel.missing)


def once_again(cell_id: str, why: str) -> str:
    """What a run says that would have to execute a cell marked `once` again."""
    return f"cell {cell_id!r} is marked `once` and {why}. To execute it again: nbcc resume RUN --run-once {cell_id}"


def promotion_source(promotion: Promotion) -> str:
    """The code that promotes: the new name first, so that a missing variable changes nothing."""
    old, new = promotion.variable, promotion.variable_name
    for name in (old, new):
        if not name.isidentifier() or iskeyword(name):
            raise ActionRefused(f"{name!r} is not a name that a Python variable can have")
    if old == new:
        raise ActionRefused(f"variable {old!r} has the artifact's name already")
    said = " ".join(promotion.description.split())
    return f"# {promotion.artifact_id}{': ' + said if said else ''}\n{new} = {old}\ndel {old}"
