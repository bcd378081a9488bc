"""The handlers of the eleven actions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from notebook_bcc.engine.actions.content import clean_content, clean_heading
from notebook_bcc.engine.actions.context import ActionContext
from notebook_bcc.engine.actions.number_notes import with_cells
from notebook_bcc.errors import ActionRefused
from notebook_bcc.journal.records import PlanProposal
from notebook_bcc.protocol.actions import (
    Action,
    ActionMetadata,
    Add,
    EndPhase,
    Exec,
    FinishThinking,
    IsThinking,
    NewChapter,
    NewSection,
    NextEvent,
    UpdateStageSteps,
    UpdateTitle,
    UpdateWorkflow,
)
from notebook_bcc.protocol.cells import AUTO_DEBUG, KEEP_DEBUG_BUTTON, ONCE
from notebook_bcc.protocol.vocabulary import CellType, Event, ShotType

_SUMMARY_CHARS = 80
# Events that a next_event action may ask for; the others need something to go with them.
_FIREABLE = frozenset({Event.COMPLETE_BEHAVIOR, Event.FAIL, Event.CANCEL})


async def add(context: ActionContext, action: Add) -> None:
    """Text becomes a markdown cell, code a code cell that is not run yet."""
    shot = action.shot_type or ShotType.DIALOGUE
    content = clean_content(action.content, shot)
    cell_type = CellType.CODE if shot is ShotType.ACTION else CellType.MARKDOWN
    metadata = _cell_metadata(shot, action.metadata)
    if "extra" in metadata:
        metadata["extra"] = with_cells(metadata["extra"], context.assigned)
    context.add_cell(cell_type, content, cell_id=action.store_id, metadata=metadata)
    if action.metadata is not None and (action.metadata.is_section or action.metadata.is_chapter):
        context.changes.metadata = action.metadata
    if cell_type is CellType.MARKDOWN:
        context.changes.summary = _first_line(content)
    if shot is ShotType.OBSERVATION:
        context.changes.finding = _first_line(content)


async def execute(context: ActionContext, action: Exec) -> None:
    """Run the cell; what it prints is an effect unless the planner does not need it."""
    cell = context.code_cell(action.codecell_id)
    context.changes.summary = f"ran {cell.id}: {_first_line(cell.source)}"
    asked = {AUTO_DEBUG: action.auto_debug, KEEP_DEBUG_BUTTON: action.keep_debug_button_visible}
    if changed := {name: one for name, one in asked.items() if one != bool(cell.metadata.get(name))}:
        context.change_cell(cell.id, metadata=changed)
    if action.metadata is not None and action.metadata.once and not cell.is_once:
        context.change_cell(cell.id, metadata={ONCE: True})
    await context.run_cell(cell.id, keep_effects=action.need_output, auto_debug=action.auto_debug)


async def is_thinking(context: ActionContext, action: IsThinking) -> None:
    """Open a thinking cell; one that is still open is closed first."""
    _close_thinking(context)
    # What stands on the cell, its custom text, is not said again inside it.
    text = "\n\n".join(one for one in (action.thinking_text, *action.text_array) if one)
    said = {"agent_name": action.agent_name, "custom_text": action.custom_text, "text_array": list(action.text_array)}
    metadata = {"thinking": True, "finished_thinking": False} | {name: one for name, one in said.items() if one}
    context.add_cell(CellType.THINKING, text, metadata=metadata)


async def finish_thinking(context: ActionContext, action: FinishThinking) -> None:
    """Close the open thinking cell."""
    if not _close_thinking(context):
        raise ActionRefused("no thinking cell is open; an is_thinking action opens one")


async def new_chapter(context: ActionContext, action: NewChapter) -> None:
    """A `## ` heading with the next chapter number."""
    number = context.document.chapters + 1
    title = clean_heading(action.content)
    given = action.metadata or ActionMetadata()
    metadata = given.model_copy(
        update={"is_chapter": True, "chapter_id": f"chapter-{number}", "chapter_number": number}
    )
    _heading(context, f"## {title}", f"chapter-{number}", metadata)
    context.changes.chapter = number
    context.changes.summary = title


async def new_section(context: ActionContext, action: NewSection) -> None:
    """A `### ` heading with the next section number."""
    number = context.document.sections + 1
    title = clean_heading(action.content)
    given = action.metadata or ActionMetadata()
    metadata = given.model_copy(
        update={
            "is_section": True,
            "section_id": given.section_id or f"section-{number}",
            "section_number": number,
        }
    )
    _heading(context, f"### {title}", f"section-{number}", metadata)
    context.changes.section = number
    context.changes.summary = title


async def update_title(context: ActionContext, action: UpdateTitle) -> None:
    """Set the title in the metadata and in the first `# ` cell, which is made if there is none."""
    title = clean_heading(action.title)
    texts = (cell for cell in context.document.cells if cell.type is CellType.MARKDOWN)
    heading = next((cell for cell in texts if cell.source.startswith("# ")), None)
    if heading is None:
        context.add_cell(CellType.MARKDOWN, f"# {title}", cell_id=_free(context, "title"), first=True)
    else:
        rest = heading.source.partition("\n")
        context.change_cell(heading.id, source=f"# {title}{rest[1]}{rest[2]}")
    context.changes.title = title
    context.changes.summary = title


async def update_workflow(context: ActionContext, action: UpdateWorkflow) -> None:
    """Put another plan forward; it waits for its confirmation."""
    context.propose(PlanProposal(workflow=action.updated_workflow))
    context.result = {"workflow_update_pending": True}


async def update_stage_steps(context: ActionContext, action: UpdateStageSteps) -> None:
    """Put other steps for a stage forward; they wait for their confirmation."""
    context.propose(PlanProposal(stage_id=action.stage_id, steps=action.updated_steps))
    context.result = {"step_update_pending": True}


async def end_phase(context: ActionContext, action: EndPhase) -> None:
    """The step is to be completed once this behavior has been judged."""
    context.changes.end_phase = True


async def next_event(context: ActionContext, action: NextEvent) -> None:
    """Fire an event of the state machine, if the table allows it after this action; any other is skipped aloud."""
    event = action.event
    if event in (Event.COMPLETE_ACTION, Event.NEXT_ACTION):
        return
    if event is None:
        context.skip(f"next_event: {action.event_type!r} is not an event of the state machine; skipped")
    elif event not in _FIREABLE:
        context.skip(f"next_event: the table has no {event.value} after an action; skipped")
    else:
        context.changes.fire = event


def _close_thinking(context: ActionContext) -> bool:
    open_id = context.document.thinking_id
    if open_id is None:
        return False
    context.change_cell(open_id, metadata={"finished_thinking": True})
    return True


def _heading(context: ActionContext, source: str, cell_id: str, metadata: ActionMetadata) -> None:
    shown = _cell_metadata(None, metadata)
    context.add_cell(CellType.MARKDOWN, source, cell_id=_free(context, cell_id), metadata=shown)
    context.changes.metadata = metadata


def _free(context: ActionContext, cell_id: str) -> str:
    return context.document.free_id(cell_id) if cell_id in context.document.cells else cell_id


def _cell_metadata(shot: ShotType | None, metadata: ActionMetadata | None) -> dict[str, Any]:
    kept: dict[str, Any] = {} if shot is None else {"shot_type": shot.value}
    if metadata is not None:
        kept |= metadata.model_dump(mode="json", exclude_defaults=True)
    return kept


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "").lstrip("# ")
    return line if len(line) <= _SUMMARY_CHARS else line[: _SUMMARY_CHARS - 3] + "..."


@dataclass(frozen=True, slots=True)
class Builtin:
    """A handler and the action it takes, tied together where the types are known."""

    takes: type[Any]
    handle: Callable[[ActionContext, Any], Awaitable[None]]

    async def __call__(self, context: ActionContext, action: Action) -> None:
        if not isinstance(action, self.takes):
            raise ActionRefused(f"{self.takes.__name__} is expected here, not {type(action).__name__}")
        await self.handle(context, action)


BUILTIN_HANDLERS: Mapping[str, Builtin] = {
    "add": Builtin(Add, add),
    "exec": Builtin(Exec, execute),
    "is_thinking": Builtin(IsThinking, is_thinking),
    "finish_thinking": Builtin(FinishThinking, finish_thinking),
    "new_chapter": Builtin(NewChapter, new_chapter),
    "new_section": Builtin(NewSection, new_section),
    "update_title": Builtin(UpdateTitle, update_title),
    "update_workflow": Builtin(UpdateWorkflow, update_workflow),
    "update_stage_steps": Builtin(UpdateStageSteps, update_stage_steps),
    "end_phase": Builtin(EndPhase, end_phase),
    "next_event": Builtin(NextEvent, next_event),
}
