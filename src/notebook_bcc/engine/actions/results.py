"""What whoever asked for an action is told of it: a dict, as the protocol's documents show it."""

from __future__ import annotations

from typing import Any

from notebook_bcc.engine.actions.context import ActionContext
from notebook_bcc.journal.records import ActionCompleted
from notebook_bcc.protocol.actions import BUILTIN_ACTIONS


def result_of(context: ActionContext, done: ActionCompleted) -> dict[str, Any]:
    """Always `success`, `action_id` and `action`, the rest where there is something to tell."""
    answer: dict[str, Any] = {"success": done.success, "action_id": done.action_id, "action": done.action}
    if done.error is not None:
        answer |= {"error": done.error, "error_name": done.error_name}
    if context.skipped:
        answer |= {"skipped": True, "warning": context.skipped}
    if done.cells:
        answer["cell_id"] = done.cells[-1].cell_id
    if done.executed is not None:
        cell = context.document.cell(done.executed)
        answer |= {"outputs": list(cell.outputs), "execution_count": cell.execution_count}
    if done.effects:
        answer["effects"] = list(done.effects)
    if done.end_phase:
        answer["end_phase"] = True
    if done.fire is not None:
        answer["event"] = done.fire.value
    if done.proposal is not None and isinstance(context.result, dict):
        answer |= context.result
    elif done.success and not done.skipped and done.action not in BUILTIN_ACTIONS:
        # The value itself, not its JSON: the caller is in the same process as the handler.
        answer["result"] = context.result
    return answer
