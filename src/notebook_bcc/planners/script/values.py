"""What a script says: a plan, and on the planner's side the behaviors of each of its steps. Values only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from notebook_bcc.errors import ActionMalformed, PlanInvalid
from notebook_bcc.protocol.actions import UpdateStageSteps, UpdateWorkflow, parse_action
from notebook_bcc.protocol.messages import ContextFilter, ContextUpdate, PlanningResponse
from notebook_bcc.protocol.tracking import Promotion
from notebook_bcc.protocol.workflow import Stage, Step, Workflow, check_workflow

# An action as it goes out: decoded JSON, one of our own values, or a StreamWarning that stands in the stream. Any: a
# script may send what is no action at all, to show what a client does with it.
ScriptedAction = Any
StepKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Fail:
    """No answer for the first `times` attempts at a request (`options.attempt`), then the answer.

    `fallback` says whether the fallback endpoint is silent too. Of a behavior that is restarted after an error only the
    first `tries` carry the fault.
    """

    times: int = 1
    fallback: bool = False
    tries: int = 1
    reason: str = "the script says so"
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Break:
    """The stream breaks after `actions` actions, the first `tries` times that it is asked for."""

    actions: int
    tries: int = 1


@dataclass(frozen=True, slots=True)
class Behavior:
    """The content of one behavior, and what is told with the answer that starts it.

    `on_error` is the content of one more behavior, asked for when this one ended with errors or missing outputs.
    `repairs` are the sources to try in turn for a cell that failed under auto_debug. `verdict` replaces the judgement
    that the script would pass after this behavior.
    """

    actions: Sequence[ScriptedAction] = ()
    goal: str = ""
    focus: str = ""
    expected: Sequence[str] = ()
    validate: Sequence[str] = ()
    promotions: Sequence[Promotion] = ()
    context_filter: ContextFilter | None = None
    context_update: ContextUpdate = field(default_factory=ContextUpdate)
    repairs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    on_error: Sequence[ScriptedAction] = ()
    verdict: PlanningResponse | None = None
    fail: Fail | None = None
    fail_feedback: Fail | None = None
    break_after: Break | None = None


@dataclass(frozen=True, slots=True)
class StepScript:
    """The behaviors of one step. `accept_errors`: errors and missing outputs do not keep it from its goal."""

    behaviors: Sequence[Behavior] = ()
    focus: str = ""
    accept_errors: bool = False
    completed_update: ContextUpdate = field(default_factory=ContextUpdate)
    fail: Fail | None = None


@dataclass(frozen=True, slots=True)
class StageScript:
    """What is told when a stage begins. `deferred`: the plan has this stage without steps, they come at its start."""

    focus: str = ""
    context_update: ContextUpdate = field(default_factory=ContextUpdate)
    deferred: bool = False
    fail: Fail | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """A whole script. `workflow` is the plan as it goes out; `steps` may know steps that a later plan brings.

    `files` are what the run needs in its working folder, as the script names them: relative to `folder`.
    """

    workflow: Workflow
    steps: Mapping[StepKey, StepScript] = field(default_factory=dict)
    stages: Mapping[str, StageScript] = field(default_factory=dict)
    context_update: ContextUpdate = field(default_factory=ContextUpdate)
    fail: Fail | None = None
    files: tuple[str, ...] = ()
    folder: str = ""


def check_script(script: Script) -> None:
    """Raises PlanInvalid: the plan contradicts itself, or there are behaviors for a step that no plan has."""
    check_workflow(script.workflow)
    known = {(stage.id, step.id) for stage in planned_stages(script) for step in stage.steps}
    problems = [
        (f"behaviors.{stage}.{step}", "no plan of this script has such a step; add it to the workflow or rename it")
        for stage, step in script.steps
        if (stage, step) not in known
    ]
    stages = {stage.id for stage in planned_stages(script)}
    problems += [
        (f"stages.{stage}", "the workflow has no such stage") for stage in script.stages if stage not in stages
    ]
    if problems:
        raise PlanInvalid(problems)


def planned_stages(script: Script) -> Iterable[Stage]:
    """The stages of the plan, and of every plan that an action of the script proposes."""
    yield from script.workflow.stages
    for content in script.steps.values():
        for behavior in content.behaviors:
            for action in (*behavior.actions, *behavior.on_error):
                yield from _proposed(action)


def _proposed(action: ScriptedAction) -> Iterable[Stage]:
    if isinstance(action, Mapping):
        try:
            action = parse_action(action)
        except ActionMalformed:
            return
    match action:
        case UpdateWorkflow():
            yield from action.updated_workflow.stages
        case UpdateStageSteps():
            yield Stage(id=action.stage_id, steps=action.updated_steps)


def visible_plan(script: Script) -> Workflow:
    """The plan as it goes out: deferred stages without their steps."""
    stages = tuple(
        stage.model_copy(update={"steps": ()}) if script.stages.get(stage.id, StageScript()).deferred else stage
        for stage in script.workflow.stages
    )
    return script.workflow.model_copy(update={"stages": stages})


def steps_of(script: Script, stage_id: str) -> tuple[Step, ...]:
    """The steps that the script's own plan has for a stage."""
    stage = script.workflow.stage(stage_id)
    return stage.steps if stage is not None else ()
