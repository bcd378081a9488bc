"""A playbook as it is used: stages, steps, behaviors and actions, every text and rule read. Values only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from notebook_bcc.errors import FactsMissing, MessageInvalid
from notebook_bcc.planners.script.values import StepScript
from notebook_bcc.playbook.goals.tasks import TaskWords
from notebook_bcc.playbook.templates.environment import Facts, Template
from notebook_bcc.playbook.templates.placing import Written
from notebook_bcc.protocol.deliverables import DeliverableKind
from notebook_bcc.protocol.messages import ContextFilter
from notebook_bcc.protocol.tracking import Promotion

Author = Literal["model", "playbook"]
"""Who writes the content of a behavior. `model`: a language model may, in a run that has one."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text in the languages it was written in, the first language of the playbook first. It may be empty.

    `plainer` is said in its place where the facts do not suffice for it.
    """

    versions: Mapping[str, Template] = field(default_factory=dict)
    plainer: Text | None = None

    def render(self, facts: Facts) -> str:
        """In the language of the run, else in the first. Raises MessageInvalid."""
        return self.written(facts).text

    def written(self, facts: Facts) -> Written:
        """The same, with where its numbers came from, as far as the facts are traced."""
        if not self.versions:
            return Written("")
        version = self.versions.get(facts["lang"], next(iter(self.versions.values())))
        if self.plainer is None:
            return version.written(facts)
        if not version.reads.required <= facts["v"].keys():
            return self.plainer.written(facts)
        try:
            return version.written(facts)
        except MessageInvalid as error:
            if isinstance(error, FactsMissing) and facts["v"].keys() >= set(error.names):
                # There is more to know: only a summary was sent.
                raise
            return self.plainer.written(facts)

    @property
    def plainest(self) -> Text:
        """What is said before anything is known."""
        return self if self.plainer is None else self.plainer.plainest

    def __bool__(self) -> bool:
        return bool(self.versions)


@dataclass(frozen=True, slots=True)
class Rule:
    """Something that must be true, and what is said where it is not."""

    that: Template
    otherwise: Text


@dataclass(frozen=True, slots=True)
class Ask:
    """A question that only a person can answer; the answer becomes an input."""

    text: Text
    input: str
    options: Template | None = None


@dataclass(frozen=True, slots=True)
class Action:
    """An action of the file: its word, its text, its options. `file` and `line` are where it stands.

    `each` is a list: the action is written once for every `item` of it. `bars` are drawn beside its text. `label`
    stands on a thought. A `joined` cell goes into the cell before it.
    """

    head: str
    file: str
    line: int
    text: Text = Text()
    given: Any = None  # Any: what stands behind a word that takes no text; short_forms checks it
    options: Mapping[str, Any] = field(default_factory=dict)
    when: Template | None = None
    because: Text = Text()
    label: Text = Text()
    each: Template | None = None
    bars: Template | None = None
    joined: bool = False


@dataclass(frozen=True, slots=True)
class PlaybookPromotion:
    """A variable that becomes an artifact, and what is said of it."""

    promotion: Promotion
    description: Text = Text()

    def render(self, facts: Facts) -> Promotion:
        return self.promotion.model_copy(update={"description": self.description.render(facts)})


@dataclass(frozen=True, slots=True)
class Produced:
    """What is said of the outputs of a behavior when it has ended well, in the protocol's words."""

    modified_features: Template | None = None
    validation: Text = Text()
    findings: Text = Text()


@dataclass(frozen=True, slots=True)
class PlaybookBehavior:
    """One behavior. A behavior of the file that asks something is several of these: `ask` stands alone."""

    file: str
    line: int
    goal: Text = Text()
    focus: Text = Text()
    when: tuple[Template, ...] = ()
    expected: tuple[str, ...] = ()
    validate: tuple[str, ...] = ()
    promotions: tuple[PlaybookPromotion, ...] = ()
    context_filter: ContextFilter | None = None
    produced: Produced = Produced()
    verify: tuple[Rule, ...] = ()
    actions: tuple[Action, ...] = ()
    on_error: tuple[Action, ...] = ()
    ask: Ask | None = None
    written_by: Author = "model"


@dataclass(frozen=True, slots=True)
class PlaybookStep:
    """One step. `shape` is what place.py goes by: how many behaviors there are, and which can recover."""

    id: str
    line: int
    name: Text = Text()
    goal: Text = Text()
    description: Text = Text()
    expected_outputs: tuple[str, ...] = ()
    focus: Text = Text()
    todo: Text = Text()
    when: Template | None = None
    seconds: Template | None = None
    done: Text = Text()
    accept_errors: bool = False
    behaviors: tuple[PlaybookBehavior, ...] = ()
    shape: StepScript = field(default_factory=StepScript)


@dataclass(frozen=True, slots=True)
class PlaybookStage:
    """One stage, from the file of its name."""

    id: str
    file: str
    name: Text = Text()
    goal: Text = Text()
    description: Text = Text()
    expected_outputs: tuple[str, ...] = ()
    focus: Text = Text()
    todo: Text = Text()
    conditions: Mapping[str, Template] = field(default_factory=dict)
    when: Template | None = None
    steps: tuple[PlaybookStep, ...] = ()

    def step(self, step_id: str | None) -> PlaybookStep | None:
        return next((step for step in self.steps if step.id == step_id), None)


@dataclass(frozen=True, slots=True)
class PlaybookDeliverable:
    """What the goal asks for, where the rule holds."""

    name: str
    line: int
    kind: DeliverableKind = DeliverableKind.VALUE
    description: Text = Text()
    when: Template | None = None


@dataclass(frozen=True, slots=True)
class Playbook:
    """A whole playbook. `sources` are the templates of its cells as they were written, by name of file."""

    source: str
    name: Text
    languages: tuple[str, ...]
    inputs: tuple[str, ...]
    stages: tuple[PlaybookStage, ...]
    requires: tuple[str, ...] = ()
    goal: Text = Text()
    description: Text = Text()
    todo: tuple[Text, ...] = ()
    deliverables: tuple[PlaybookDeliverable, ...] = ()
    tasks: tuple[TaskWords, ...] = ()

    def stage(self, stage_id: str | None) -> PlaybookStage | None:
        return next((stage for stage in self.stages if stage.id == stage_id), None)


def templates_of(*texts: Text) -> Iterator[Template]:
    """Every version of these texts."""
    for text in texts:
        yield from text.versions.values()
        if text.plainer is not None:
            yield from templates_of(text.plainer)


def templates_of_produced(produced: Produced) -> Iterator[Template]:
    """All that is read to speak of outputs."""
    if produced.modified_features is not None:
        yield produced.modified_features
    yield from templates_of(produced.validation, produced.findings)


def templates_of_action(action: Action) -> Iterator[Template]:
    """All that an action reads, its rule included."""
    yield from (rule for rule in (action.when, action.each, action.bars) if rule is not None)
    yield from templates_of(action.text, action.because, action.label)
