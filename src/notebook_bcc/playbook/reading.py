"""Files into a playbook. Everything that is wrong is collected, so that a writer sees all of it at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.planners.marked_yaml import Marked, load_marked
from notebook_bcc.planners.script.shorthand import unknown_fields
from notebook_bcc.planners.script.values import Behavior as ShapeOfBehavior
from notebook_bcc.planners.script.values import StepScript
from notebook_bcc.playbook.actions import PlaybookActionReader
from notebook_bcc.playbook.book import (
    Author,
    Playbook,
    PlaybookBehavior,
    PlaybookDeliverable,
    PlaybookPromotion,
    PlaybookStage,
    PlaybookStep,
    Produced,
    Rule,
)
from notebook_bcc.playbook.folder import FRONT, RESERVED, PlaybookFiles
from notebook_bcc.playbook.goals.tasks import TaskWords
from notebook_bcc.playbook.parts import (
    BehaviorPart,
    FrontPart,
    ProducedPart,
    PromotionPart,
    StagePart,
    StepPart,
    TaskPart,
    front_part,
    stage_part,
)
from notebook_bcc.playbook.templates.environment import Kind, Template, Templates
from notebook_bcc.playbook.templates.grammar import FACTS
from notebook_bcc.playbook.texts import Found, Places, TextReader, place_of
from notebook_bcc.protocol.tracking import Promotion
from notebook_bcc.protocol.workflow import Step as PlanStep


@dataclass(frozen=True, slots=True)
class Reading:
    """A playbook as far as it could be read, and every mistake on the way as (file:line, problem)."""

    playbook: Playbook | None
    problems: Found = field(default_factory=list)


def read_playbook(files: PlaybookFiles) -> Reading:
    """Read all files of a playbook. Never raises: what is wrong stands in the answer."""
    problems: Found = []
    marked = _load(files, FRONT, problems)
    if marked is None:
        return Reading(None, problems)
    places = Places(FRONT, marked, problems)
    front = front_part(marked)
    if not isinstance(front, FrontPart):
        _say_all(places, front)
        return Reading(None, problems)
    _say_all(places, _repeated("stages", front.stages))
    _say_all(places, _repeated("languages", front.languages))
    _say_all(places, _unlisted(front))
    _say_all(
        places, ((f"{path}.name", problem) for path, problem in _repeated("tasks", [one.name for one in front.tasks]))
    )
    if not files.flat:
        _say_all(places, _reserved(front.stages))
    texts = TextReader(Templates(), front.languages, problems)
    stages = [_StageReader(files, texts, problems, stage_id).read() for stage_id in dict.fromkeys(front.stages)]
    playbook = Playbook(
        source=files.source,
        name=texts.text(front.name, places, "name"),
        goal=texts.text(front.goal, places, "goal"),
        description=texts.text(front.description, places, "description"),
        languages=front.languages,
        inputs=front.inputs,
        requires=front.requires,
        todo=tuple(texts.text(each, places, f"todo.{index}") for index, each in enumerate(front.todo)),
        deliverables=tuple(
            PlaybookDeliverable(
                name=each.name,
                kind=each.kind,
                description=texts.text(each.description, places, f"deliverables.{index}.description"),
                line=places.line(f"deliverables.{index}"),
                when=texts.rule(each.when, places, f"deliverables.{index}.when"),
            )
            for index, each in enumerate(front.deliverables)
        ),
        tasks=tuple(_task(each) for each in front.tasks),
        stages=tuple(stage for stage in stages if stage is not None),
    )
    return Reading(playbook, problems)


def _task(part: TaskPart) -> TaskWords:
    """The words of all languages together: a goal may be in another language than the notebook."""
    lines = (part.words, part.beside, part.beyond, part.alone)
    words, beside, beyond, alone = (tuple(one for line in each.values() for one in line) for each in lines)
    return TaskWords(part.name, words, beside, beyond, alone, part.asks, part.about)


@dataclass(frozen=True, slots=True)
class _StageReader:
    """Reads one stage."""

    files: PlaybookFiles
    texts: TextReader
    problems: Found
    stage_id: str

    def read(self) -> PlaybookStage | None:
        name = self.files.stage_file(self.stage_id)
        if name not in self.files.texts:
            self.problems.append((FRONT, f"there is no file {name} for the stage {self.stage_id!r}"))
            return None
        marked = _load(self.files, name, self.problems)
        if marked is None:
            return None
        places = Places(name, marked, self.problems)
        part = stage_part(marked)
        if not isinstance(part, StagePart):
            _say_all(places, part)
            return None
        _say_all(places, unknown_fields(part))
        _say_all(places, ((f"{path}.id", problem) for path, problem in _repeated("steps", [s.id for s in part.steps])))
        conditions = dict(self._conditions(part, places))
        texts = replace(self.texts, conditions=conditions)
        return replace(self, texts=texts)._stage(part, places)

    def _conditions(self, part: StagePart, places: Places) -> Iterator[tuple[str, Template]]:
        for name, source in part.conditions.items():
            path = f"conditions.{name}"
            if not name.isidentifier() or name.startswith("_") or name in FACTS:
                places.say(path, f"{name!r} cannot be the name of a condition: letters, digits and '_', no known name")
            elif (rule := self.texts.rule(source, places, path)) is not None:
                yield name, rule

    def _stage(self, part: StagePart, places: Places) -> PlaybookStage:
        steps = {self.stage_id: {step.id: PlanStep(id=step.id) for step in part.steps}}
        actions = PlaybookActionReader(self.texts, self.files, places, steps, self.stage_id)
        return PlaybookStage(
            id=self.stage_id,
            file=places.file,
            name=self.texts.text(part.name, places, "name"),
            goal=self.texts.text(part.goal, places, "goal"),
            description=self.texts.text(part.description, places, "description"),
            expected_outputs=part.expected_outputs,
            focus=self.texts.texts(part.focus, places, "focus"),
            todo=self.texts.texts(part.todo, places, "todo"),
            conditions=self.texts.conditions,
            when=self.texts.rule(part.when, places, "when"),
            steps=tuple(
                self._step(step, places, f"steps.{at}", actions, author=part.written_by or "model")
                for at, step in enumerate(part.steps)
            ),
        )

    def _step(
        self, part: StepPart, places: Places, path: str, actions: PlaybookActionReader, *, author: Author
    ) -> PlaybookStep:
        behaviors = [
            behavior
            for index, each in enumerate(part.behaviors)
            for behavior in self._behaviors(
                each, places, f"{path}.behaviors.{index}", actions, author=part.written_by or author
            )
        ]
        shape = [ShapeOfBehavior(on_error=behavior.on_error) for behavior in behaviors]
        seconds = part.seconds if isinstance(part.seconds, str) else f"{part.seconds:g}"
        return PlaybookStep(
            id=part.id,
            line=places.line(path),
            name=self.texts.text(part.name, places, f"{path}.name"),
            goal=self.texts.texts(part.goal, places, f"{path}.goal"),
            description=self.texts.text(part.description, places, f"{path}.description"),
            expected_outputs=part.expected_outputs,
            focus=self.texts.texts(part.focus, places, f"{path}.focus"),
            todo=self.texts.texts(part.todo, places, f"{path}.todo"),
            when=self.texts.rule(part.when, places, f"{path}.when"),
            seconds=self.texts.inline(seconds, Kind.RULE, places, f"{path}.seconds"),
            done=self.texts.text(part.done, places, f"{path}.done"),
            accept_errors=part.accept_errors,
            behaviors=tuple(behaviors),
            shape=StepScript(behaviors=tuple(shape), accept_errors=part.accept_errors),
        )

    def _behaviors(
        self, part: BehaviorPart, places: Places, path: str, actions: PlaybookActionReader, *, author: Author
    ) -> list[PlaybookBehavior]:
        """One behavior, or several where it asks something: what stands before a question is done before it is asked,
        and what stands after it is written when the answer is known."""
        when = self.texts.rule(part.when, places, f"{path}.when")
        common = PlaybookBehavior(
            file=places.file,
            line=places.line(path),
            goal=self.texts.texts(part.goal, places, f"{path}.goal"),
            focus=self.texts.texts(part.focus, places, f"{path}.focus"),
            when=(when,) if when is not None else (),
            written_by=part.written_by or author,
        )
        verify = [
            Rule(that, self.texts.text(each.otherwise, places, f"{path}.verify.{index}.else"))
            for index, each in enumerate(part.verify)
            if (that := self.texts.rule(each.that, places, f"{path}.verify.{index}.that")) is not None
        ]
        *before, last = actions.groups(part.actions, f"{path}.actions")
        parts = [
            replace(
                common,
                actions=group.actions,
                ask=group.ask,
                # A question to a person, and what the promises of the last part do not cover, is not a model's.
                written_by="playbook",
                when=(*common.when, *([group.when] if group.when is not None else [])),
            )
            for group in before
        ]
        final = replace(
            common,
            expected=part.expected,
            validate=part.checked,
            promotions=tuple(
                self._promotion(each, places, f"{path}.promotions.{index}")
                for index, each in enumerate(part.promotions)
            ),
            context_filter=part.context_filter,
            produced=self._produced(part.outputs_produced, places, f"{path}.outputs_produced"),
            verify=tuple(verify),
            actions=last.actions,
            on_error=actions.plain(part.on_error, f"{path}.on_error"),
        )
        return [*parts, final]

    def _promotion(self, part: PromotionPart, places: Places, path: str) -> PlaybookPromotion:
        promotion = Promotion(
            variable=part.variable, artifact_id=part.artifact_id, keep_name=part.keep_name or None, parent=part.parent
        )
        return PlaybookPromotion(promotion, self.texts.texts(part.description, places, f"{path}.description"))

    def _produced(self, part: ProducedPart, places: Places, path: str) -> Produced:
        return Produced(
            modified_features=self.texts.rule(part.modified_features, places, f"{path}.modified_features"),
            validation=self.texts.text(part.validation, places, f"{path}.validation"),
            findings=self.texts.text(part.findings, places, f"{path}.findings"),
        )


def _load(files: PlaybookFiles, name: str, problems: Found) -> Marked | None:
    try:
        marked = load_marked(files.texts[name], source=name)
    except MessageInvalid as error:
        problems.extend((place_of(name, where), problem) for where, problem in error.problems)
        return None
    if not isinstance(marked.value, dict):
        problems.append((f"{name}:1", "the file is a mapping of keys and values"))
        return None
    return marked


def _say_all(places: Places, found: Iterable[tuple[str, str]]) -> None:
    for path, problem in found:
        places.say(path, problem)


def _reserved(stages: Iterable[str]) -> Iterable[tuple[str, str]]:
    for index, stage_id in enumerate(stages):
        if stage_id in RESERVED:
            yield f"stages.{index}", f"a stage cannot be called {stage_id!r}: the folder of this name is no stage's"


def _unlisted(front: FrontPart) -> Iterable[tuple[str, str]]:
    for index, name in enumerate(front.requires):
        if name not in front.inputs:
            yield f"requires.{index}", f"{name!r} is not one of the inputs"


def _repeated(path: str, names: Iterable[str]) -> Iterable[tuple[str, str]]:
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            yield f"{path}.{index}", f"{name!r} is used twice"
        seen.add(name)
