"""The planner of a playbook: judges by rules, and writes cells and text from templates.

Like the scripted one it keeps no memory: an answer follows from the request alone. A behavior is called
`<step>.<number>` and that name comes back, so that behaviors whose rule does not hold can be passed over.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from functools import cached_property

from notebook_bcc.errors import (
    EvidenceMissing,
    FactsMissing,
    MessageInvalid,
    PlannerAnswerInvalid,
    PlannerFailed,
    PositionUnknown,
)
from notebook_bcc.planners.interface import ActionData, Generated, StreamWarning
from notebook_bcc.planners.planning_question import PlanningQuestion, judge, level_progress, question_of
from notebook_bcc.planners.script.position import (
    Place,
    follow,
    known_place,
    place_after,
    place_name,
    running_place,
    with_place,
)
from notebook_bcc.playbook.asking import declaring, filter_of
from notebook_bcc.playbook.book import Playbook, PlaybookBehavior, PlaybookStage, PlaybookStep, Text
from notebook_bcc.playbook.content import content_of
from notebook_bcc.playbook.facts import INPUTS, PROBLEMS, facts_of, inputs_of
from notebook_bcc.playbook.needed import needed_names
from notebook_bcc.playbook.outlook import first_plan, known_steps, reckon, steps_of_stage
from notebook_bcc.playbook.progress_updates import (
    behavior_update,
    produced_update,
    stage_update,
    step_update,
    with_progress,
    with_todo,
)
from notebook_bcc.playbook.templates.environment import Facts
from notebook_bcc.protocol.messages import (
    BehaviorFeedback,
    BehaviorInfo,
    ContextUpdate,
    PlanningResponse,
    ProgressUpdate,
    Request,
    ResponseMetadata,
    StageStepsUpdate,
    TodoUpdate,
    TransitionAdvice,
)
from notebook_bcc.protocol.messages import Question as AskedPerson
from notebook_bcc.protocol.vocabulary import Level, TodoOperation

# What clients that list no errors say.
_BAD_RESULTS = frozenset({"error", "failed", "failure"})


class PlaybookPlanner:
    """Answers from a playbook that was read and checked. `has_model`: a language model writes what it leaves open."""

    def __init__(self, playbook: Playbook, *, name: str = "playbook", has_model: bool = False) -> None:
        self._playbook = playbook
        self._name = name
        self._has_model = has_model

    @property
    def name(self) -> str:
        return self._name

    async def plan(self, request: Request) -> PlanningResponse:
        """Judge by the rules. A rule or text that fails on these facts is PlannerAnswerInvalid, with file and line.

        Raises PositionUnknown for a stage or step that is not in the playbook, EvidenceMissing where the observation
        lacks an input that the playbook requires, or a variable that a text names.
        """
        self._check_inputs(request)
        try:
            answer = with_todo(self._judge(request), self._playbook, request, self._facts(request))
            return self._declaring(request, answer)
        except MessageInvalid as error:
            raise self._failed(error) from error

    async def generate(self, request: Request, *, fallback: bool = False) -> AsyncIterator[Generated]:
        """The content of the behavior that the run is in. All of it is written before the first action goes out."""
        try:
            stage, step = self._place(request)
            if not step.behaviors:
                return
            place = self._running(step, request)
            actions = content_of(
                self._playbook, stage, step.behaviors[place.index], place, request, self._facts(request)
            )
        except MessageInvalid as error:
            raise self._failed(error) from error
        for action in actions:
            yield action if isinstance(action, StreamWarning) else ActionData(action)

    def is_open(self, request: Request) -> bool:
        """Whether a language model may write the behavior that is asked for, or that the feedback is about."""
        try:
            _, step = self._place(request)
        except PositionUnknown:
            return False
        if not step.behaviors:
            return False
        place = running_place(step.shape, request)
        return not place.recovering and step.behaviors[place.index].written_by == "model"

    def open_steps(self, request: Request) -> dict[str, str]:
        """The steps of the current stage that a language model may leave out or add, with their goals: those that are
        all its own, and neither done nor under way."""
        stage, facts = self._current_stage(request), self._facts(request)
        begun, _ = known_steps(request)
        return {
            step.id: step.goal.render(facts)
            for step in stage.steps
            if step.id not in begun and step.behaviors and all(one.written_by == "model" for one in step.behaviors)
        }

    def other_steps(self, request: Request, *, skip: Sequence[str], add: Sequence[str]) -> StageStepsUpdate | str:
        """The steps of the current stage without these and with those, or why that cannot be."""
        begun, planned = known_steps(request)
        free = self.open_steps(request)
        strange = next((each for each in (*skip, *add) if each not in free), None)
        if strange is not None:
            return f"the step {strange} cannot be left out or added"
        idle = next((each for each in skip if each not in planned), None) or next(
            (each for each in add if each in planned), None
        )
        if idle is not None:
            return f"the step {idle} is {'planned already' if idle in planned else 'not planned anyway'}"
        stage = self._current_stage(request)
        wanted = [each for each in planned if each not in skip] + list(add)
        if not set(wanted) - set(begun) and not begun:
            return "a stage needs a step"
        steps = steps_of_stage(stage, self._facts(request), kept=wanted, only_kept=True)
        return StageStepsUpdate(stage_id=stage.id, steps=steps)

    @cached_property
    def needed_names(self) -> frozenset[str]:
        """What cells and texts of the playbook rely on: whoever else writes cells leaves these names alone."""
        return needed_names(self._playbook)

    async def repair(self, request: Request) -> str | None:
        """None: what to do about an error stands in `on_error`."""
        return None

    async def close(self) -> None:
        """There is nothing to release."""

    def _failed(self, error: MessageInvalid) -> PlannerFailed:
        if isinstance(error, FactsMissing):
            return EvidenceMissing(planner=self._name, needs=error.names, reason=str(error))
        return PlannerAnswerInvalid(planner=self._name, reason=str(error))

    def _check_inputs(self, request: Request) -> None:
        given = inputs_of(request)
        lacking = [f"{INPUTS}.{name}" for name in self._playbook.requires if given.get(name) in (None, "")]
        if lacking:
            raise EvidenceMissing(planner=self._name, needs=[INPUTS], reason=f"{', '.join(lacking)} must be given")

    def _judge(self, request: Request) -> PlanningResponse:
        if question_of(request) is not PlanningQuestion.START:
            self._current_stage(request)
            if request.observation.location.current.step_id is not None:
                self._place(request)
        return judge(request, start=self._start, stage=self._stage, step=self._step, feedback=self._feedback)

    def _declaring(self, request: Request, answer: PlanningResponse) -> PlanningResponse:
        """The answer with what the next question must show: it says so itself, so that nothing has to be remembered."""
        location = request.observation.location
        stage, left = self._playbook.stage(location.current.stage_id), location.progress.stages
        step = stage.step(location.current.step_id) if stage is not None and answer.behavior is not None else None
        following = self._playbook.stage(left.remaining[0]) if left is not None and left.remaining else None
        stages = [each for each in (stage, following) if each is not None]
        return declaring(answer, self._playbook, stages, step, self._facts(request))

    def _start(self, request: Request) -> PlanningResponse:
        facts = self._facts(request)
        todo = [text for each in self._playbook.todo if (text := each.render(facts))]
        return PlanningResponse(
            context_update=ContextUpdate(
                workflow_update=first_plan(self._playbook, facts),
                todo_list_update=TodoUpdate(operation=TodoOperation.REPLACE, items=tuple(todo)) if todo else None,
            ),
            metadata=self._metadata(request, facts),
        )

    def _stage(self, request: Request) -> PlanningResponse:
        stage = self._current_stage(request)
        facts = self._facts(request)
        level = level_progress(request, Level.STEPS)
        update = with_progress(ContextUpdate(), stage_update(stage, request, facts, begins=True))
        done = bool(level.completed) and not level.remaining
        if not level.completed and not level.remaining:
            steps = steps_of_stage(stage, facts)
            done = not steps
            if steps:
                update = update.model_copy(
                    update={"stage_steps_update": StageStepsUpdate(stage_id=stage.id, steps=steps)}
                )
        return PlanningResponse(target_achieved=done, context_update=update, metadata=self._metadata(request, facts))

    def _step(self, request: Request) -> PlanningResponse:
        _, step = self._place(request)
        facts = self._facts(request)
        place = _passed_over(
            step, follow(step.shape, request, level_progress(request, Level.BEHAVIORS).completed), facts
        )
        if place.index >= len(step.behaviors):
            return self._achieved(step, facts)
        return self._begin(step, place, request, facts, step_begins=True)

    def _feedback(self, request: Request) -> PlanningResponse:
        _, step = self._place(request)
        if not step.behaviors:
            return PlanningResponse(target_achieved=True)
        facts = self._facts(request)
        ended = self._running(step, request)
        behavior = step.behaviors[ended.index]
        if behavior.ask is not None and not _is_answered(behavior, request):
            return _question(behavior, facts)
        problems = [] if step.accept_errors else _problems(behavior, request, facts)
        place = place_after(step.shape, ended, failed=bool(problems))
        if place == ended:
            # It failed and there is nothing else to try: the client decides, and a restart asks for it again.
            return PlanningResponse(metadata=ResponseMetadata(reason="; ".join(problems)))
        produced = None if problems else produced_update(behavior.produced, facts)
        if place.recovering:
            facts = {**facts, "errors": problems}
        else:
            place = _passed_over(step, place, facts)
        if place.index >= len(step.behaviors):
            return self._achieved(step, facts, produced)
        return with_place(self._begin(step, place, request, facts, produced=produced), place, step.shape, request)

    def _begin(
        self,
        step: PlaybookStep,
        place: Place,
        request: Request,
        facts: Facts,
        *,
        step_begins: bool = False,
        produced: ProgressUpdate | None = None,
    ) -> PlanningResponse:
        """The answer that starts the behavior at this place: its focus, what it promises, what it shall see.

        `produced` is what the one before has produced.
        """
        stage, behavior = self._current_stage(request), step.behaviors[place.index]
        goal = behavior.goal.render(facts)
        update = with_progress(
            ContextUpdate(variables={PROBLEMS: list(facts["errors"])} if place.recovering else {}),
            produced,
            stage_update(stage, request, facts, begins=False),
            step_update(step, request, facts, begins=step_begins),
            behavior_update(behavior, goal, request, facts),
        )
        return PlanningResponse(
            transition=TransitionAdvice(continue_behaviors=not step_begins),
            context_update=update,
            context_filter=filter_of(self._playbook, stage, behavior, place, facts),
            behavior=BehaviorInfo(id=place_name(place, step.id), target=goal or None),
            metadata=self._metadata(request, facts, left=(len(step.behaviors) - place.index, len(step.behaviors))),
        )

    def _running(self, step: PlaybookStep, request: Request) -> Place:
        """The behavior that is asked for or has ended. The first one of a step may have been passed over."""
        place = running_place(step.shape, request)
        if place != Place() or known_place(step.shape, request) is not None:
            return place
        place = _passed_over(step, place, self._facts(request))
        return place if place.index < len(step.behaviors) else Place(len(step.behaviors) - 1)

    def _achieved(self, step: PlaybookStep, facts: Facts, produced: ProgressUpdate | None = None) -> PlanningResponse:
        done = step.done.render(facts)
        todo = TodoUpdate(operation=TodoOperation.REMOVE, items=(done,)) if done else None
        update = with_progress(ContextUpdate(todo_list_update=todo), produced)
        return PlanningResponse(target_achieved=True, context_update=update)

    def _metadata(self, request: Request, facts: Facts, *, left: tuple[int, int] | None = None) -> ResponseMetadata:
        """What lies ahead. `left`: how many behaviors of the step are left, of how many."""
        behaviors, of = left if left is not None else (None, 1)
        reckoning = reckon(self._playbook, request, facts, step_left=1.0 if behaviors is None else behaviors / of)
        return ResponseMetadata(
            estimated_remaining_behaviors=behaviors,
            estimated_remaining_seconds=reckoning.left,
            estimated_done_seconds=reckoning.done,
        )

    def _facts(self, request: Request) -> Facts:
        playbook = self._playbook
        return facts_of(request, languages=playbook.languages, tasks=playbook.tasks, has_model=self._has_model)

    def _current_stage(self, request: Request) -> PlaybookStage:
        stage_id = request.observation.location.current.stage_id
        stage = self._playbook.stage(stage_id)
        if stage is None:
            raise PositionUnknown(planner=self._name, stage_id=stage_id, known=self._known)
        return stage

    def _place(self, request: Request) -> tuple[PlaybookStage, PlaybookStep]:
        stage = self._current_stage(request)
        step_id = request.observation.location.current.step_id
        step = stage.step(step_id)
        if step is None:
            raise PositionUnknown(planner=self._name, stage_id=stage.id, step_id=step_id or "", known=self._known)
        return stage, step

    @cached_property
    def _known(self) -> dict[str, tuple[str, ...]]:
        return {stage.id: tuple(step.id for step in stage.steps) for stage in self._playbook.stages}


def _passed_over(step: PlaybookStep, place: Place, facts: Facts) -> Place:
    """This place, or the next one whose behavior applies."""
    while place.index < len(step.behaviors) and not _applies(step.behaviors[place.index], facts):
        place = Place(place.index + 1)
    return place


def _applies(behavior: PlaybookBehavior, facts: Facts) -> bool:
    if not all(rule.holds(facts) for rule in behavior.when):
        return False
    return behavior.ask is None or facts["inputs"].get(behavior.ask.input) in (None, "")


def _is_answered(behavior: PlaybookBehavior, request: Request) -> bool:
    return behavior.ask is None or inputs_of(request).get(behavior.ask.input) not in (None, "")


def _question(behavior: PlaybookBehavior, facts: Facts) -> PlanningResponse:
    ask = behavior.ask
    assert ask is not None
    found = ask.options.value(facts) if ask.options is not None else None
    options = tuple(str(each) for each in found) if isinstance(found, list | tuple | dict) else ()
    asked = AskedPerson(text=_plain(ask.text, facts), options=options, input=ask.input)
    return PlanningResponse(metadata=ResponseMetadata(question=asked, reason=asked.text))


def _plain(text: Text, facts: Facts) -> str:
    return " ".join(text.render(facts).split())


def _problems(behavior: PlaybookBehavior, request: Request, facts: Facts) -> list[str]:
    """What is wrong with the behavior that ended. Its rules are asked only when nothing else is wrong."""
    feedback = request.behavior_feedback or BehaviorFeedback()
    found = [f"{each.action}: {each.error}" for each in feedback.errors]
    if feedback.missing_outputs:
        found.append(f"missing outputs: {', '.join(feedback.missing_outputs)}")
    if not found and feedback.last_action_result in _BAD_RESULTS:
        found.append("the last action failed")
    if found:
        return found
    return [_plain(rule.otherwise, facts) for rule in behavior.verify if not rule.that.holds(facts)]
