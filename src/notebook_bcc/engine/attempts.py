"""What a behavior that is tried again makes of the attempt before: what it takes over, and what it withdraws. Pure."""

from __future__ import annotations

from notebook_bcc.engine.fold.attempts import is_left, taken_over, without_former
from notebook_bcc.engine.plan_changes import changes_nothing
from notebook_bcc.engine.state import DoneAction, RunState
from notebook_bcc.journal.records import ActionTakenOver, AttemptWithdrawn


def repeated(state: RunState) -> DoneAction | None:
    """The action at this place of the attempt before, if it is the same as the one that was received and had succeeded.

    A change of the plan that it had put forward must be in the plan: what nobody has confirmed is put forward again.
    """
    behavior = state.behavior
    if behavior.current is None or not behavior.former_left:
        return None
    former = behavior.former[len(behavior.done)]
    if not former.completed.success or former.action != behavior.current.action:
        return None
    proposal = former.completed.proposal
    return former if proposal is None or changes_nothing(state.plan, proposal) else None


def takeover(state: RunState) -> ActionTakenOver:
    """The record of that."""
    former, current = repeated(state), state.behavior.current
    if former is None or current is None:
        raise ValueError("there is nothing to take over")
    return ActionTakenOver(
        action_id=current.action_id,
        former=former.completed.action_id,
        cell_id=former.completed.executed or "",
    )


def withdrawal(state: RunState, *, restores: bool) -> AttemptWithdrawn:
    """The record of what is withdrawn. `restores`: checkpoints can be loaded; one of exactly this point is."""
    start = state.behavior.start
    if start is None:
        raise ValueError("there is nothing to withdraw")
    withdrawn = taken_over(state)[1]
    document, before = without_former(state, start)
    gone = tuple(cell.id for cell in state.document.cells if cell.id not in document.cells)
    executed = {one.completed.executed for one in withdrawn}
    promoted = {cell for cell in gone if state.document.cell(cell).metadata.get("artifact_id")}
    ran = tuple(cell.id for cell in state.document.cells if cell.id in executed | promoted)
    kernel, checkpoint = state.kernel, ""
    left: tuple[str, ...] = ()
    if ran and is_left(kernel):
        exact = (one.file for one in state.checkpoints.saved if one.cells == len(before.steps) and not one.unsaved)
        checkpoint = next(exact, "") if restores else ""
        changed = [name for name, cell in kernel.assigned.items() if cell in ran and name in kernel.variables]
        removed = [name for name in before.reproducible if name not in kernel.variables]
        left = () if checkpoint else (*changed, *removed)
    return AttemptWithdrawn(actions=len(withdrawn), cells=gone, ran=ran, left=left, checkpoint=checkpoint)
