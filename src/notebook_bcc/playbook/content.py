"""The content of a behavior: its actions with what is known now. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from notebook_bcc.planners.script.position import Place
from notebook_bcc.planners.script.values import ScriptedAction
from notebook_bcc.playbook.actions import notes_of, write_out
from notebook_bcc.playbook.book import (
    Action,
    Ask,
    Playbook,
    PlaybookBehavior,
    PlaybookStage,
    Text,
    templates_of,
    templates_of_action,
)
from notebook_bcc.playbook.facts import traced_facts
from notebook_bcc.playbook.outlook import other_steps, other_workflow, steps_of_stage
from notebook_bcc.playbook.templates.environment import Facts, Template
from notebook_bcc.protocol.cells import NUMBERS, PROBE, REPLACES
from notebook_bcc.protocol.messages import Request

# Lines of code that people read as one thing.
LONGEST_CELL: Final = 45


def content_of(
    playbook: Playbook, stage: PlaybookStage, behavior: PlaybookBehavior, place: Place, request: Request, facts: Facts
) -> list[ScriptedAction]:
    """Everything that the behavior puts into the notebook. Raises MessageInvalid with file and line."""
    if behavior.ask is not None:
        return [_note(behavior.ask.text, facts)]
    actions = behavior.on_error if place.recovering else behavior.actions
    content: list[ScriptedAction] = []
    for action in actions:
        if action.when is None or action.when.holds(facts):
            sent = list(_sent(playbook, stage, action, request, facts))
            content = joined_cells(content, sent) if action.joined else [*content, *sent]
    return content


def joined_cells(before: Sequence[ScriptedAction], sent: Sequence[ScriptedAction]) -> list[ScriptedAction]:
    """All of these, the new cell inside the last one where that is a cell that is no probe and has room for it."""
    if len(before) < 2 or len(sent) != 2 or not _is_cell(before[-2]):
        return [*before, *sent]
    if not have_room(before[-2]["content"], sent[0]["content"]):
        return [*before, *sent]
    *others, first, run = before
    extras = [each.get("metadata", {}).get("extra", {}) for each in (first, sent[0])]
    replaced = [name for extra in extras for name in extra.get(REPLACES, ())]
    extra = {**extras[0], **extras[1], **({REPLACES: replaced} if replaced else {})}
    whole = {**first, "content": f"{first['content'].rstrip()}\n\n{sent[0]['content'].lstrip()}"}
    return [*others, {**whole, "metadata": {"extra": extra}} if extra else whole, run]


def have_room(first: str, second: str) -> bool:
    """Whether the code of two cells is short enough to be read as one."""
    return len(first.strip().splitlines()) + 1 + len(second.strip().splitlines()) <= LONGEST_CELL


def _is_cell(action: ScriptedAction) -> bool:
    probed = PROBE in action.get("metadata", {}).get("extra", {})
    return action["action"] == "add" and action.get("shot_type") == "action" and not probed


def templates_of_content(
    playbook: Playbook, stage: PlaybookStage, behavior: PlaybookBehavior, *, recovering: bool
) -> Iterator[Template]:
    """Every template and rule that is asked when the content is written."""
    if behavior.ask is not None:
        yield from _of_question(behavior.ask)
    for action in behavior.on_error if recovering else behavior.actions:
        yield from templates_of_action(action)
        if action.head == "replan":
            wholes = stage.steps if action.given == "stage" else playbook.stages
            yield from (each.when for each in wholes if each.when is not None)


def _of_question(ask: Ask) -> Iterator[Template]:
    yield from templates_of(ask.text)
    if ask.options is not None:
        yield ask.options


def _sent(
    playbook: Playbook, stage: PlaybookStage, action: Action, request: Request, facts: Facts
) -> Iterator[ScriptedAction]:
    if action.head != "replan":
        known = {stage.id: {step.id: step for step in steps_of_stage(stage, facts, kept=[s.id for s in stage.steps])}}
        yield from write_out(action, facts, steps=known, stage_id=stage.id)
        return
    change = _change(playbook, stage, action, request, facts)
    if change is not None:
        if action.because.render(facts):
            yield _note(action.because, facts)
        yield change


def _change(
    playbook: Playbook, stage: PlaybookStage, action: Action, request: Request, facts: Facts
) -> ScriptedAction | None:
    """The change of the plan that the rules ask for now."""
    if action.given == "stage":
        steps = other_steps(stage, request, facts)
        if steps is None:
            return None
        updated = [step.to_dict() for step in steps]
        return {"action": "update_stage_steps", "stage_id": stage.id, "updated_steps": updated}
    plan = other_workflow(playbook, request, facts)
    return None if plan is None else {"action": "update_workflow", "updated_workflow": plan.to_dict()}


def _note(text: Text, facts: Facts) -> ScriptedAction:
    written = text.written(traced_facts(facts))
    made: ScriptedAction = {"action": "add", "content": written.text, "shot_type": "observation"}
    notes = notes_of(written)
    return {**made, "metadata": {"extra": {NUMBERS: notes}}} if notes else made
