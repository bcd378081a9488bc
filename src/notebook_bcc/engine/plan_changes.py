"""Changes of the plan: which are allowed, what they look like, and the plan that comes of them."""

from __future__ import annotations

from collections.abc import Sequence

from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import PlanInvalid
from notebook_bcc.journal.records import PlanProposal
from notebook_bcc.protocol.workflow import Stage, Step, Workflow, check_steps, check_workflow

_LINES_SHOWN, _LONGEST_LINE = 12, 160


def fills_in(plan: Workflow | None, proposal: PlanProposal) -> bool:
    """Whether nothing existing changes: the first plan, or steps for a stage that has none. Needs no confirmation."""
    if proposal.workflow is not None:
        return plan is None
    stage = plan.stage(proposal.stage_id or "") if plan is not None else None
    return stage is not None and not stage.steps


def changes_nothing(plan: Workflow | None, proposal: PlanProposal) -> bool:
    """Whether the proposal is what the plan says already."""
    if plan is None:
        return False
    if proposal.workflow is not None:
        return applied(plan, proposal) == plan
    stage = plan.stage(proposal.stage_id or "")
    return stage is not None and stage.steps == proposal.steps


def applied(plan: Workflow | None, proposal: PlanProposal) -> Workflow | None:
    """The plan after the change. A stage that comes without steps keeps those it has."""
    if proposal.workflow is not None:
        return _with_known_steps(plan, proposal.workflow)
    return plan.with_steps(proposal.stage_id or "", proposal.steps) if plan is not None else None


def _with_known_steps(plan: Workflow | None, new: Workflow) -> Workflow:
    for stage in new.stages:
        known = plan.stage(stage.id) if plan is not None and not stage.steps else None
        if known is not None and known.steps:
            new = new.with_steps(stage.id, known.steps)
    return new


def proposal_problem(state: RunState, proposal: PlanProposal) -> str:
    """Why this change cannot be made, or an empty text. Completed stages and steps stay, in their order; so does what
    is under way."""
    try:
        if proposal.workflow is not None:
            check_workflow(proposal.workflow)
            return _kept_stages(state, proposal.workflow)
        check_steps(proposal.steps)
    except PlanInvalid as error:
        return str(error)
    stage = state.plan.stage(proposal.stage_id or "") if state.plan is not None else None
    if stage is None:
        return f"stage {proposal.stage_id!r} is not in the plan"
    return _kept_steps(state, stage.id, proposal.steps)


def _kept_stages(state: RunState, new: Workflow) -> str:
    if state.plan is None:
        return ""
    done = [item.key for item in state.stages.completed]
    old, ids = [stage.id for stage in state.plan.stages], [stage.id for stage in new.stages]
    problem = _kept("stage", done, state.position.stage_id, old=old, new=ids)
    # A stage that comes without steps keeps those it has.
    problems = [_kept_steps(state, stage.id, stage.steps) for stage in new.stages if stage.steps]
    return next((one for one in [problem, *problems] if one), "")


def _kept_steps(state: RunState, stage_id: str, steps: Sequence[Step]) -> str:
    stage = state.plan.stage(stage_id) if state.plan is not None else None
    if stage is None:
        return ""
    old, new = [step.id for step in stage.steps], [step.id for step in steps]
    if stage_id == state.position.stage_id:
        done = [item.key for item in state.steps.completed]
        return _kept("step", done, state.position.step_id, old=old, new=new)
    if state.stages.is_completed(stage_id) and old != new:
        return f"stage {stage_id!r} is completed; its steps cannot change"
    return ""


def _kept(what: str, done: Sequence[str], current: str | None, *, old: Sequence[str], new: Sequence[str]) -> str:
    gone = [one for one in [*done, *([current] if current else [])] if one not in new]
    if gone:
        return f"{what} {gone[0]!r} is completed or under way and cannot be removed"
    # In the plan's order: a planner may have had them done in another one.
    order = [one for one in old if one in done]
    if [one for one in new if one in done] != order:
        return f"completed {what}s cannot be reordered: they are {', '.join(order)}"
    return ""


def plan_diff(plan: Workflow | None, proposal: PlanProposal) -> str:
    """The change as a person reads it: a line each stage and step, with `+`, `-`, `~` (changed) or nothing."""
    new = applied(plan, proposal)
    old_lines = _lines(plan) if plan is not None else {}
    new_lines = _lines(new) if new is not None else {}
    out: list[str] = []
    for key, text in new_lines.items():
        mark = "+" if key not in old_lines else " " if old_lines[key] == text else "~"
        out.append(f"{mark} {text}")
    out += [f"- {text}" for key, text in old_lines.items() if key not in new_lines]
    return "\n".join(out)


def changed_lines(plan: Workflow | None, proposal: PlanProposal) -> tuple[str, ...]:
    """What of the plan changes, a line each with its mark: the first few, long ones cut, and how many more."""
    changed = [line for line in plan_diff(plan, proposal).splitlines() if not line.startswith(" ")]
    shown = [line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + "..." for line in changed[:_LINES_SHOWN]]
    more = len(changed) - len(shown)
    return (*shown, f"[... {more} more ...]") if more else tuple(shown)


def _lines(plan: Workflow) -> dict[tuple[str, ...], str]:
    lines: dict[tuple[str, ...], str] = {}
    for stage in plan.stages:
        lines[(stage.id,)] = _line(stage)
        for step in stage.steps:
            lines[(stage.id, step.id)] = "  " + _line(step)
    return lines


def _line(item: Stage | Step) -> str:
    name = f"{item.id} ({item.name})" if item.name and item.name != item.id else item.id
    return f"{name}: {item.purpose}" if item.purpose else name
