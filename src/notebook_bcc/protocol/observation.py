"""What a planner sees of a run."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import AliasChoices, Field

from notebook_bcc.protocol.message import Message
from notebook_bcc.protocol.tracking import CompletedItem, OutputsTrackingSpec, OutputTracking
from notebook_bcc.protocol.vocabulary import Event, State


class Current(Message):
    """Where the run is. Everything is empty before the workflow has started."""

    stage_id: str | None = Field(default=None, validation_alias=AliasChoices("stage_id", "current_stage_id"))
    step_id: str | None = Field(default=None, validation_alias=AliasChoices("step_id", "current_step_id", "step_index"))
    behavior_id: str | None = None
    behavior_iteration: int = 0


class LevelProgress(Message):
    """What is done, under way and left on one level."""

    completed: tuple[CompletedItem, ...] = ()
    completed_left_out: int | None = None
    """How many older ones are not listed; None: all are."""
    current: str | None = None
    remaining: tuple[str, ...] = ()
    iteration: int | None = None
    focus: str = ""
    current_outputs: OutputTracking = Field(default_factory=OutputTracking)


class UnfocusedLevel(LevelProgress):
    """A level that the context filter does not name: only what is under way and what remains is written."""

    unwritten: ClassVar[frozenset[str]] = frozenset(
        {"completed", "completed_left_out", "iteration", "focus", "current_outputs"}
    )


class Progress(Message):
    """Progress on the three levels. Of a level that the context filter does not name, `current` and `remaining`."""

    stages: LevelProgress | None = None
    steps: LevelProgress | None = None
    behaviors: LevelProgress | None = None


class Goals(Message):
    """What is to be reached, from the plan. `workflow` is the goal the person gave."""

    workflow: str | None = None
    stage: str | None = None
    step: str | None = None
    behavior: str | None = None


class Location(Message):
    """Position, progress and goals."""

    current: Current
    progress: Progress
    goals: Goals = Field(default_factory=Goals)


class Effects(Message):
    """What code printed, displayed, returned or raised, and warnings about the context. Not a log of operations."""

    current: tuple[Any, ...] = ()
    history: tuple[Any, ...] = ()


class CurrentEffects(Effects):
    """The effects of the running behavior alone."""

    unwritten: ClassVar[frozenset[str]] = frozenset({"history"})


class FigureView(Message):
    """A picture among the outputs of a cell: its size in pixels, what it says of itself, what the code calls it.

    `data` are its bytes in base64, only when the client was told to send them.
    """

    cell_id: str = ""
    media_type: str = ""
    width: int | None = None
    height: int | None = None
    text: str = ""
    caption: str = ""
    labels: tuple[str, ...] = ()
    data: str | None = None


class NotebookView(Message):
    """A summary of the notebook; `cells` only when the client was told to send them. `figures` are the newest few."""

    title: str | None = None
    cell_count: int | None = None
    last_cell_type: str | None = None
    last_output: str | None = None
    cells: tuple[dict[str, Any], ...] | None = None
    figures: tuple[FigureView, ...] | None = None


class TransitionRecord(Message):
    """One move of the state machine."""

    source: State = Field(alias="from")
    event: Event
    to: State
    timestamp: str


class FsmView(Message):
    """The state machine as a planner sees it: bounded history, newest last."""

    state: State = State.IDLE
    last_transition: str | None = None
    timestamp: str | None = None
    history: tuple[Any, ...] = Field(default=(), validation_alias=AliasChoices("history", "transition"))


class FsmNow(FsmView):
    """Where the state machine is, without how it got there."""

    unwritten: ClassVar[frozenset[str]] = frozenset({"history"})


class SectionProgress(Message):
    """Which sections of the text are written."""

    current_section_id: str | None = None
    current_section_number: int | None = None
    completed_sections: tuple[str, ...] = ()
    all: tuple[str, ...] = ()


class Decision(Message):
    """What a person, or a policy that declines, has said to a proposed change of the plan.

    `proposed` are the lines that it adds (`+`), removes (`-`) or changes (`~`); of an edited one, what came of it is in
    `decided`. `stage_id`: only the steps of that stage were to change.
    """

    proposed: tuple[str, ...] = ()
    decision: Literal["confirmed", "rejected", "edited"]
    decided: tuple[str, ...] | None = None
    reason: str = ""
    by: Literal["person", "policy"] = "person"
    stage_id: str | None = None
    timestamp: str = ""


class Context(Message):
    """What is known: variables, tasks, effects, notebook, state machine."""

    variables: dict[str, Any] = Field(default_factory=dict)
    variables_left_out: int | None = None
    """How many older ones exist and are not shown; None: all are."""
    variables_summarized: tuple[str, ...] | None = None
    """The names whose value is a summary because of its size, though it could be told; None: there are none."""
    todo_list: tuple[str, ...] = Field(
        default=(), validation_alias=AliasChoices("toDoList", "todo_list"), serialization_alias="toDoList"
    )
    effects: Effects = Field(default_factory=Effects, validation_alias=AliasChoices("effects", "effect"))
    notebook: NotebookView | None = None
    fsm: FsmView | None = Field(default=None, alias="FSM")
    section_progress: SectionProgress | str | None = None
    workflow_progress: Any | None = None
    outputs_tracking: OutputsTrackingSpec | None = None
    """What the behavior that is asked for promises, as the context filter said it."""
    decisions: tuple[Decision, ...] | None = None
    """What people have decided about proposed changes of the plan, the newest few; None: nothing yet."""


class Observation(Message):
    """Location and context: all that a planner may judge from."""

    location: Location
    context: Context = Field(default_factory=Context)
