"""Requests to a planner and its answers."""

from __future__ import annotations

import re
from typing import Any, Final

from pydantic import AliasChoices, Field, model_validator

from notebook_bcc.protocol.message import Message
from notebook_bcc.protocol.observation import Observation, SectionProgress
from notebook_bcc.protocol.tracking import OutputsProduced, OutputsTrackingSpec, Promotion
from notebook_bcc.protocol.vocabulary import Level, Strategy, TodoOperation
from notebook_bcc.protocol.workflow import Step, Workflow


class RepairWanted(Message):
    """A cell that failed and is to be repaired; the answer is the source to run instead."""

    cell_id: str
    source: str
    error_name: str
    error: str
    traceback: tuple[str, ...] = ()
    attempt: int = 1


class Options(Message):
    """How to answer. The three ids let a planner answer a repeated request again instead of planning it again.

    `protocol_version` is that of the one who asks; a newer one than is known is answered too.
    """

    stream: bool = False
    request_id: str | None = None
    run_id: str | None = None
    attempt: int | None = None
    repair: RepairWanted | None = None
    protocol_version: str | int | float | None = None


class ActionProblem(Message):
    """One action that did not succeed, as the feedback tells it."""

    action_id: str
    action: str
    error: str


class BehaviorFeedback(Message):
    """What really happened in the behavior that just ended. None: an older peer did not say.

    A skipped action was neither executed nor has it succeeded. `last_action_result` is `success`, `skipped`, the error,
    or `none` where there was no action.
    """

    behavior_id: str | None = None
    actions_executed: int = 0
    actions_succeeded: int | None = None
    actions_skipped: int | None = None
    sections_added: int = 0
    last_action_result: str | None = None
    errors: tuple[ActionProblem, ...] = ()
    missing_outputs: tuple[str, ...] = ()


class Request(Message):
    """A request to /planning or /generating."""

    observation: Observation
    behavior_feedback: BehaviorFeedback | None = None
    options: Options = Field(default_factory=Options)


class TodoUpdate(Message):
    """A change of the task list."""

    operation: TodoOperation
    items: tuple[str, ...] = ()


class ProgressUpdate(Message):
    """The planner's text for one level, and what it promises there.

    `outputs_produced` is what the planner says of the outputs of that level's item: the one completed last if the run
    is between two, else the one under way. What exists is the client's word: `variables` and `artifacts` are not read.
    """

    level: Level
    focus: str | None = None
    goal: str | None = None
    expected_outputs: tuple[str, ...] | None = None
    outputs_produced: OutputsProduced | None = None


class StageStepsUpdate(Message):
    """Other steps for one stage; without `stage_id` the current one."""

    stage_id: str | None = None
    steps: tuple[Step, ...] = Field(
        validation_alias=AliasChoices("updated_steps", "steps"), serialization_alias="updated_steps"
    )


class ContextUpdate(Message):
    """What the planner wants the client to know from now on."""

    variables: dict[str, Any] = Field(default_factory=dict)
    todo_list_update: TodoUpdate | None = None
    progress_update: ProgressUpdate | tuple[ProgressUpdate, ...] | None = None
    section_progress: SectionProgress | str | None = None
    workflow_progress: Any | None = None
    workflow_update: Workflow | None = None
    stage_steps_update: StageStepsUpdate | None = None
    promotions: tuple[Promotion, ...] = ()

    @property
    def progress_updates(self) -> tuple[ProgressUpdate, ...]:
        update = self.progress_update
        if update is None:
            return ()
        return (update,) if isinstance(update, ProgressUpdate) else update


class EffectPatterns(Message):
    """Regular expressions from outside; whoever applies them bounds their time."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class EffectsConfig(Message):
    """Which effects go into the next Generating request. Limits keep the newest; None means no limit.

    History goes along only where it is asked for: by `include_history`, or without that by a limit above zero.
    """

    include_current: bool = True
    current_limit: int | None = Field(default=None, ge=0)
    include_history: bool | None = None
    history_limit: int | None = Field(default=None, ge=0)
    patterns: EffectPatterns | None = None

    @property
    def wants_history(self) -> bool:
        if self.include_history is None:
            return bool(self.history_limit)
        return self.include_history and self.history_limit != 0


INCLUDABLE: Final = ("fsm_history", "notebook", "sections")
"""What a filter's `include` may name."""

SUMMARY_STRATEGY = re.compile(r"shape_only|describe_only|head_only|last_[1-9][0-9]{0,5}_only")


class ContextFilter(Message):
    """What the next Generating request shall hold.

    Without `variables_to_include` all variables go along, without `focus_to_include` all levels. Of the effects only
    the current ones do, unless `effects_config` says otherwise; `include` names what else is wanted: `fsm_history`,
    `notebook`, `sections`.
    """

    variables_to_include: tuple[str, ...] | None = None
    variables_to_summarize: dict[str, str] = Field(default_factory=dict)
    effects_config: EffectsConfig | None = None
    focus_to_include: tuple[Level, ...] | None = None
    outputs_tracking: OutputsTrackingSpec | None = None
    include: tuple[str, ...] = ()


class TransitionAdvice(Message):
    """Where the planner wants the run to go."""

    strategy: Strategy | None = None
    continue_behaviors: bool = False
    target_achieved: bool | None = Field(
        default=None, validation_alias=AliasChoices("target_achieved", "targetAchieved")
    )
    next_stage_id: str | None = None
    next_step_id: str | None = None
    workflow_update: Workflow | None = None

    @property
    def destination(self) -> tuple[str | None, str | None] | None:
        """The stage and step that the planner sends the run to; None when it leaves navigation to the client."""
        if self.strategy is not Strategy.SERVER_CONTROLLED or not (self.next_stage_id or self.next_step_id):
            return None
        return (self.next_stage_id, self.next_step_id)


class Question(Message):
    """What the planner must be told before it can go on. The answer becomes the run's input of that name."""

    text: str
    options: tuple[str, ...] = ()
    input: str = "answer"


class ResponseMetadata(Message):
    """Estimates and other remarks of the planner. With a question the run stops until somebody has answered it.

    `reason` says why a step is neither continued nor achieved. `estimated_done_seconds` is what the planner would have
    estimated for the work that is done: a client that knows how long it took learns how quick its machine is.
    """

    estimated_remaining_behaviors: int | None = Field(default=None, ge=0)
    estimated_remaining_seconds: float | None = Field(default=None, ge=0)
    estimated_done_seconds: float | None = Field(default=None, ge=0)
    question: Question | None = None
    reason: str | None = None


# Frozen and empty: one is enough for all the judgements without remarks.
_NO_METADATA = ResponseMetadata()


class BehaviorInfo(Message):
    """What the planner calls the behavior it answers with."""

    id: str | None = None
    iteration: int | None = None
    target: str | None = None


class PlanningResponse(Message):
    """The planner's judgement."""

    target_achieved: bool = Field(
        default=False,
        validation_alias=AliasChoices("targetAchieved", "target_achieved"),
        serialization_alias="targetAchieved",
    )
    transition: TransitionAdvice = Field(default_factory=TransitionAdvice)
    context_update: ContextUpdate = Field(default_factory=ContextUpdate)
    context_filter: ContextFilter | None = None
    behavior: BehaviorInfo | None = None
    metadata: ResponseMetadata = Field(default_factory=lambda: _NO_METADATA)

    def with_whole_transition(self) -> PlanningResponse:
        """As a service writes it: clients read both verdicts of `transition` without looking whether they are there."""
        if self.transition.target_achieved is not None:
            return self
        advice = self.transition.model_copy(update={"target_achieved": self.target_achieved})
        return self.model_copy(update={"transition": advice})

    @model_validator(mode="before")
    @classmethod
    def _one_verdict(cls, value: Any) -> Any:  # Any: not validated yet
        """The verdict may stand at the top, in transition or (oldest) in metadata: the first one found counts, and a
        transition that says otherwise is brought into line, so that no reader finds two."""
        if not isinstance(value, dict):
            return value
        if value.get("targetAchieved") is not None and "target_achieved" not in value:
            advice = value.get("transition")
            if advice is None or (type(advice) is dict and not {"target_achieved", "targetAchieved"} & advice.keys()):
                # As nearly every planner says it.
                return value
        found = [value.get("targetAchieved"), value.get("target_achieved")]
        for place in ("transition", "metadata"):
            part = value.get(place)
            found += [part.get("target_achieved"), part.get("targetAchieved")] if isinstance(part, dict) else []
            found += [part.target_achieved] if isinstance(part, TransitionAdvice) else []
        verdict = next((one for one in found if one is not None), None)
        if verdict is None:
            return value
        advice = value.get("transition")
        if isinstance(advice, TransitionAdvice) and advice.target_achieved is not None:
            value = {**value, "transition": advice.model_copy(update={"target_achieved": verdict})}
        elif isinstance(advice, dict) and {"target_achieved", "targetAchieved"} & advice.keys():
            others = {name: one for name, one in advice.items() if name != "targetAchieved"}
            value = {**value, "transition": {**others, "target_achieved": verdict}}
        rest = {name: one for name, one in value.items() if name != "target_achieved"}
        return {**rest, "targetAchieved": verdict}


class GeneratingResponse(Message):
    """The whole content of one behavior, when it was not streamed. Actions are parsed one by one: a bad one is an
    error result, not the end of the others."""

    actions: tuple[Any, ...] = ()
    behavior: BehaviorInfo | None = None
    transition: TransitionAdvice | None = None
    context_update: ContextUpdate | None = None


class ActionLine(Message):
    """One line of a streamed answer."""

    action: dict[str, Any]


class ActionResult(Message):
    """What became of one action."""

    success: bool
    action_id: str
    error: str | None = None
