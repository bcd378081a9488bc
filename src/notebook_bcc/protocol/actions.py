"""The eleven actions and the custom ones. An action is what a planner asks the client to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from notebook_bcc.errors import ActionMalformed
from notebook_bcc.protocol.message import Message, validated
from notebook_bcc.protocol.problems import problems_of
from notebook_bcc.protocol.vocabulary import Event, ShotType
from notebook_bcc.protocol.workflow import Step, Workflow

LAST_ADDED_CELL = "lastAddedCellId"

# "text" and "code" are what the first document calls the two kinds of content.
OLD_SHOT_TYPES = {"text": "dialogue", "code": "action", "markdown": "dialogue"}


def _shot_type(value: Any) -> Any:  # Any: not validated yet
    return OLD_SHOT_TYPES.get(value, value) if isinstance(value, str) else value


Shot = Annotated[ShotType, BeforeValidator(_shot_type)]


class ActionMetadata(Message):
    """What an action says about the cell it makes. `once`: what the cell does outside must not be done again."""

    is_step: bool = False
    is_chapter: bool = False
    is_section: bool = False
    chapter_id: str | None = None
    section_id: str | None = None
    chapter_number: int | None = None
    section_number: int | None = None
    finished_thinking: bool = False
    thinking_text: str | None = None
    once: bool = False
    extra: dict[str, Any] = Field(default_factory=dict)


class ActionBase(Message):
    """What every action has."""

    shot_type: Shot | None = Field(default=None, validation_alias=AliasChoices("shot_type", "shotType", "content_type"))
    metadata: ActionMetadata | None = None


class Add(ActionBase):
    """Add text or code to the notebook."""

    action: Literal["add"] = "add"
    content: str
    store_id: str | None = None


class Exec(ActionBase):
    """Run a code cell."""

    action: Literal["exec"] = "exec"
    codecell_id: str = Field(min_length=1)
    need_output: bool = True
    auto_debug: bool = False
    keep_debug_button_visible: bool = False


class IsThinking(ActionBase):
    """Open a thinking cell."""

    action: Literal["is_thinking"] = "is_thinking"
    thinking_text: str | None = None
    agent_name: str | None = None
    custom_text: str | None = None
    text_array: tuple[str, ...] = ()


class FinishThinking(ActionBase):
    """Close the open thinking cell."""

    action: Literal["finish_thinking"] = "finish_thinking"


class NewChapter(ActionBase):
    """Add a `## ` heading."""

    action: Literal["new_chapter"] = "new_chapter"
    content: str = Field(min_length=1)


class NewSection(ActionBase):
    """Add a `### ` heading."""

    action: Literal["new_section"] = "new_section"
    content: str = Field(min_length=1)


class UpdateTitle(ActionBase):
    """Set the notebook's title."""

    action: Literal["update_title"] = "update_title"
    title: str = Field(min_length=1, validation_alias=AliasChoices("title", "content"))


class UpdateWorkflow(ActionBase):
    """Propose another plan."""

    action: Literal["update_workflow"] = "update_workflow"
    updated_workflow: Workflow


class UpdateStageSteps(ActionBase):
    """Propose other steps for one stage."""

    action: Literal["update_stage_steps"] = "update_stage_steps"
    stage_id: str = Field(min_length=1)
    updated_steps: tuple[Step, ...]


class EndPhase(ActionBase):
    """Complete the step once this behavior has been judged."""

    action: Literal["end_phase"] = "end_phase"
    step_id: str | None = Field(default=None, validation_alias=AliasChoices("step_id", "step_index"))


class NextEvent(ActionBase):
    """Fire an event of the state machine, if the table allows it."""

    action: Literal["next_event"] = "next_event"
    event_type: str = Field(min_length=1, validation_alias=AliasChoices("event_type", "event"))

    @property
    def event(self) -> Event | None:
        try:
            return Event(self.event_type)
        except ValueError:
            return None


class CustomAction(ActionBase):
    """An action of a type that is not one of the eleven; a registered handler may know it."""

    action: str = Field(min_length=1)


BuiltinAction = (
    Add
    | Exec
    | IsThinking
    | FinishThinking
    | NewChapter
    | NewSection
    | UpdateTitle
    | UpdateWorkflow
    | UpdateStageSteps
    | EndPhase
    | NextEvent
)
Action = BuiltinAction | CustomAction

BUILTIN_ACTIONS: Mapping[str, type[ActionBase]] = {
    "add": Add,
    "exec": Exec,
    "is_thinking": IsThinking,
    "finish_thinking": FinishThinking,
    "new_chapter": NewChapter,
    "new_section": NewSection,
    "update_title": UpdateTitle,
    "update_workflow": UpdateWorkflow,
    "update_stage_steps": UpdateStageSteps,
    "end_phase": EndPhase,
    "next_event": NextEvent,
}

# These change the notebook or the plan; any other action may run code.
WITHOUT_KERNEL = frozenset(BUILTIN_ACTIONS) - {"exec"}

_builtin: TypeAdapter[BuiltinAction] = TypeAdapter(
    Annotated[BuiltinAction, Field(discriminator="action")], config=ConfigDict(defer_build=True)
)


def action_name(data: Any) -> str:  # Any: whatever a planner sent
    """The type of an action in decoded JSON; `?` where it has none."""
    name = data.get("action", data.get("type")) if isinstance(data, Mapping) else None
    return name if isinstance(name, str) and name else "?"


def parse_action(data: Any) -> Action:  # Any: whatever a planner sent
    """Make an action of decoded JSON; `type` is read as `action`. Raises ActionMalformed naming each field."""
    if not isinstance(data, Mapping):
        raise ActionMalformed(action="?", problems=[("", f"an action is an object, not {type(data).__name__}")])
    name = action_name(data)
    if name == "?":
        raise ActionMalformed(action="?", problems=[("action", "the action has no type")])
    fields = dict(data)
    # Beside an `action` of another name, `type` is a field of the action itself, such as the kind of a plot.
    if fields.get("type") == name:
        del fields["type"]
    fields["action"] = name
    try:
        if name in BUILTIN_ACTIONS:
            return validated(_builtin.validate_python, fields)
        return validated(CustomAction.model_validate, fields)
    except ValidationError as error:
        problems = [(path.removeprefix(f"{name}."), problem) for path, problem in problems_of(error)]
        raise ActionMalformed(action=name, problems=problems) from error
