"""A planner that answers from a script: for tests, for documents, and for people who know what they want.

It keeps no memory of the run. What it answers follows from the request alone, so that the same question, after a crash
or in another process, gets the same answer. Each behavior has a name, `<step>.<number>`, which the answer before it
gives (`behavior.id`) and which comes back as `location.current.behavior_id`: a restarted one is the same one again. A
client that names behaviors itself is told the place as a variable (`behavior_place`), which comes back with its next
request. Without that the completed behaviors are counted: each moves the script on by one, a failed one
(`achieved: false`, or outputs missing) to its `on_error` or nowhere. The iteration alone decides only where an
observation lists nothing: it also counts behaviors that were begun and lost.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from functools import cached_property

from notebook_bcc.errors import PlannerUnreachable, PositionUnknown, StreamBroken
from notebook_bcc.planners.interface import ActionData, Generated, StreamWarning
from notebook_bcc.planners.planning_question import PlanningQuestion, judge, level_progress, question_of
from notebook_bcc.planners.script.position import (
    Place,
    follow,
    place_after,
    place_name,
    running_place,
    tries,
    with_place,
)
from notebook_bcc.planners.script.values import (
    Behavior,
    Fail,
    Script,
    ScriptedAction,
    StageScript,
    StepKey,
    StepScript,
    check_script,
    steps_of,
    visible_plan,
)
from notebook_bcc.protocol.actions import ActionBase
from notebook_bcc.protocol.messages import (
    BehaviorFeedback,
    BehaviorInfo,
    ContextFilter,
    ContextUpdate,
    PlanningResponse,
    ProgressUpdate,
    Request,
    ResponseMetadata,
    StageStepsUpdate,
    TransitionAdvice,
)
from notebook_bcc.protocol.tracking import OutputsTrackingSpec
from notebook_bcc.protocol.vocabulary import Level
from notebook_bcc.protocol.workflow import Workflow

# What clients that list no errors say.
_BAD_RESULTS = frozenset({"error", "failed", "failure"})


class ScriptedPlanner:
    """Answers from a script. The behaviors stay on this side; the plan that goes out has goals and outputs only."""

    def __init__(
        self,
        workflow: Workflow,
        behaviors: Mapping[StepKey, Sequence[Behavior] | StepScript] | None = None,
        *,
        stages: Mapping[str, StageScript] | None = None,
        context_update: ContextUpdate | None = None,
        fail: Fail | None = None,
        name: str = "scripted",
    ) -> None:
        """`fail` is the fault of the very first question. Raises PlanInvalid."""
        steps = {
            key: content if isinstance(content, StepScript) else StepScript(behaviors=content)
            for key, content in (behaviors or {}).items()
        }
        self._script = Script(
            workflow=workflow,
            steps=steps,
            stages=stages or {},
            context_update=context_update or ContextUpdate(),
            fail=fail,
        )
        self._name = name
        check_script(self._script)

    @classmethod
    def from_script(cls, script: Script, *, name: str = "scripted") -> ScriptedPlanner:
        """The planner of a script that was read from a file. Raises PlanInvalid."""
        return cls(
            script.workflow,
            script.steps,
            stages=script.stages,
            context_update=script.context_update,
            fail=script.fail,
            name=name,
        )

    @property
    def name(self) -> str:
        return self._name

    async def plan(self, request: Request) -> PlanningResponse:
        """Judge from the observation and the feedback. A place the script does not know is PositionUnknown."""
        if question_of(request) is not PlanningQuestion.START:
            self._check_position(request)
        return judge(request, start=self._start, stage=self._stage, step=self._step, feedback=self._feedback)

    async def generate(self, request: Request, *, fallback: bool = False) -> AsyncIterator[Generated]:
        """The actions of the behavior that the run is in."""
        step = self._content(request)
        if not step.behaviors:
            return
        place = running_place(step, request)
        behavior = step.behaviors[place.index]
        begun = tries(place, request)
        if behavior.fail is not None and begun <= behavior.fail.tries and (behavior.fail.fallback or not fallback):
            self._fail(behavior.fail, request)
        fault = behavior.break_after
        # A stream that broke is asked for again by the same request: only the attempt tells the two apart.
        asked = begun + (request.options.attempt or 1) - 1
        limit = fault.actions if fault is not None and asked <= fault.tries and not place.recovering else None
        actions = behavior.on_error if place.recovering else behavior.actions
        for sent, action in enumerate(actions):
            if sent == limit:
                break
            yield _generated(action)
        if limit is not None:
            raise StreamBroken(planner=self._name, received=min(limit, len(actions)), reason="the script says so")

    async def repair(self, request: Request) -> str | None:
        """The repair that the script has for this attempt at this cell."""
        wanted = request.options.repair
        if wanted is None:
            return None
        for behavior in self._content(request).behaviors:
            sources = behavior.repairs.get(wanted.cell_id, ())
            if 0 < wanted.attempt <= len(sources):
                return sources[wanted.attempt - 1]
        return None

    async def close(self) -> None:
        """There is nothing to release."""

    def _start(self, request: Request) -> PlanningResponse:
        self._fail(self._script.fail, request)
        update = self._script.context_update.model_copy(update={"workflow_update": visible_plan(self._script)})
        return PlanningResponse(context_update=update)

    def _stage(self, request: Request) -> PlanningResponse:
        stage_id = request.observation.location.current.stage_id or ""
        content = self._script.stages.get(stage_id, StageScript())
        self._fail(content.fail, request)
        level = level_progress(request, Level.STEPS)
        done = bool(level.completed) and not level.remaining
        update = _with_progress(content.context_update, Level.STAGES, content.focus)
        if content.deferred and not level.completed and not level.remaining:
            steps = StageStepsUpdate(stage_id=stage_id, steps=steps_of(self._script, stage_id))
            update = update.model_copy(update={"stage_steps_update": steps})
        return PlanningResponse(target_achieved=done, context_update=update)

    def _step(self, request: Request) -> PlanningResponse:
        content = self._content(request)
        self._fail(content.fail, request)
        place = follow(content, request, level_progress(request, Level.BEHAVIORS).completed)
        if place.index >= len(content.behaviors):
            return PlanningResponse(target_achieved=True, context_update=content.completed_update)
        return _begin(content, place, request, step_begins=True)

    def _feedback(self, request: Request) -> PlanningResponse:
        content = self._content(request)
        feedback = request.behavior_feedback or BehaviorFeedback()
        if not content.behaviors:
            return PlanningResponse(target_achieved=True)
        ended = running_place(content, request)
        behavior = content.behaviors[ended.index]
        self._fail(behavior.fail_feedback, request)
        if behavior.verdict is not None and not ended.recovering:
            return behavior.verdict
        place = place_after(content, ended, failed=_went_wrong(feedback))
        if place.index >= len(content.behaviors):
            return PlanningResponse(target_achieved=True, context_update=content.completed_update)
        if place == ended:
            # It failed and the script has nothing else to try: the client decides, and a restart asks for it again.
            return PlanningResponse()
        return with_place(_begin(content, place, request), place, content, request)

    def _content(self, request: Request) -> StepScript:
        current = request.observation.location.current
        key = (current.stage_id or "", current.step_id or "")
        content = self._script.steps.get(key)
        if content is not None:
            return content
        if any(step.id == key[1] for step in steps_of(self._script, key[0])):
            return StepScript()
        raise self._unknown(request)

    def _check_position(self, request: Request) -> None:
        current, known = request.observation.location.current, self._known
        if current.stage_id not in known or (current.step_id and current.step_id not in known[current.stage_id]):
            raise self._unknown(request)

    def _unknown(self, request: Request) -> PositionUnknown:
        current, known = request.observation.location.current, self._known
        step_id = current.step_id or "" if current.stage_id in known else None
        return PositionUnknown(planner=self._name, stage_id=current.stage_id, step_id=step_id, known=known)

    @cached_property
    def _known(self) -> dict[str, tuple[str, ...]]:
        """The steps of each stage: those of the plan, and those that an action of the script may add to it."""
        stages = [stage.id for stage in self._script.workflow.stages]
        planned = [(stage, step.id) for stage in stages for step in steps_of(self._script, stage)]
        places = dict.fromkeys([*planned, *self._script.steps])
        names = dict.fromkeys([*stages, *(stage for stage, _ in places)])
        return {name: tuple(step for stage, step in places if stage == name) for name in names}

    def _fail(self, fault: Fail | None, request: Request) -> None:
        attempt = request.options.attempt or 1
        if fault is not None and attempt <= fault.times:
            raise PlannerUnreachable(planner=self._name, reason=fault.reason, retry_after=fault.retry_after)


def _went_wrong(feedback: BehaviorFeedback) -> bool:
    return bool(feedback.errors or feedback.missing_outputs) or feedback.last_action_result in _BAD_RESULTS


def _begin(step: StepScript, place: Place, request: Request, *, step_begins: bool = False) -> PlanningResponse:
    """The answer that starts the behavior at this place: its focus, what it promises, what it shall see."""
    behavior = step.behaviors[place.index]
    update = _with_progress(behavior.context_update, Level.STEPS, step.focus if step_begins else "")
    update = _with_progress(update, Level.BEHAVIORS, behavior.focus, goal=behavior.goal, expected=behavior.expected)
    return PlanningResponse(
        transition=TransitionAdvice(continue_behaviors=not step_begins),
        context_update=update,
        context_filter=_filter(behavior),
        behavior=BehaviorInfo(
            id=place_name(place, request.observation.location.current.step_id or ""), target=behavior.goal or None
        ),
        metadata=ResponseMetadata(estimated_remaining_behaviors=len(step.behaviors) - place.index),
    )


def _with_progress(
    update: ContextUpdate, level: Level, focus: str, *, goal: str = "", expected: Sequence[str] = ()
) -> ContextUpdate:
    if not (focus or goal or expected):
        return update
    progress = ProgressUpdate(
        level=level, focus=focus or None, goal=goal or None, expected_outputs=tuple(expected) or None
    )
    return update.model_copy(update={"progress_update": (*update.progress_updates, progress)})


def _filter(behavior: Behavior) -> ContextFilter | None:
    if not (behavior.expected or behavior.validate or behavior.promotions):
        return behavior.context_filter
    given = behavior.context_filter or ContextFilter()
    if given.outputs_tracking is not None:
        return given
    tracking = OutputsTrackingSpec(
        expected_variables=tuple(behavior.expected),
        validation_required=tuple(behavior.validate),
        promotions=tuple(behavior.promotions),
    )
    return given.model_copy(update={"outputs_tracking": tracking})


def _generated(action: ScriptedAction) -> Generated:
    if isinstance(action, StreamWarning):
        return action
    return ActionData(action.to_dict() if isinstance(action, ActionBase) else action)
