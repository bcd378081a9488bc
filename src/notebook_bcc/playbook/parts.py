"""The YAML files of a playbook as they are written: which keys there are, and what each may hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from notebook_bcc.planners.marked_yaml import Marked
from notebook_bcc.planners.script.shorthand import Problem, unknown
from notebook_bcc.playbook.book import Author
from notebook_bcc.protocol.deliverables import DeliverableKind
from notebook_bcc.protocol.messages import ContextFilter
from notebook_bcc.protocol.problems import ValueProblem, value_problems

# One text for all languages, or one for each.
TextPart = str | dict[str, str]
# The first of several texts that the facts suffice for is said: those with more facts first, a plain one last.
TextsPart = TextPart | tuple[TextPart, ...]
RulePart = str | bool


class _PlaybookPart(BaseModel):
    """A mapping of a file. What it does not know is a mistake of the writer."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class DeliverablePart(_PlaybookPart):
    name: str = Field(min_length=1)
    kind: DeliverableKind = DeliverableKind.VALUE
    description: TextPart = ""
    when: RulePart | None = None


class TaskPart(_PlaybookPart):
    name: str = Field(min_length=1, max_length=40, pattern=r"^[a-z][a-z_]*$")
    words: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    beside: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    beyond: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    alone: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    asks: bool = False
    about: Literal["", "target"] = ""


class FrontPart(_PlaybookPart):
    name: TextPart
    goal: TextPart = ""
    description: TextPart = ""
    languages: tuple[str, ...] = Field(default=("en",), min_length=1)
    inputs: tuple[str, ...] = ("data",)
    requires: tuple[str, ...] = ()
    stages: tuple[str, ...] = Field(min_length=1)
    todo: tuple[TextPart, ...] = ()
    deliverables: tuple[DeliverablePart, ...] = ()
    tasks: tuple[TaskPart, ...] = ()


class VerifyPart(_PlaybookPart):
    that: RulePart
    # `else` is a word of Python.
    otherwise: TextPart = Field(alias="else")


class PromotionPart(_PlaybookPart):
    variable: str = Field(min_length=1)
    artifact_id: str = Field(pattern=r"^[^@]+@[^@]+$")
    description: TextsPart = ""
    keep_name: bool = False
    parent: str | None = None


class ProducedPart(_PlaybookPart):
    modified_features: RulePart | None = None
    validation: TextPart = ""
    findings: TextPart = ""


class BehaviorPart(_PlaybookPart):
    goal: TextsPart = ""
    focus: TextsPart = ""
    when: RulePart | None = None
    expected: tuple[str, ...] = ()
    # `validate` is a name pydantic keeps for itself.
    checked: tuple[str, ...] = Field(default=(), alias="validate")
    promotions: tuple[PromotionPart, ...] = ()
    context_filter: ContextFilter | None = None
    outputs_produced: ProducedPart = ProducedPart()
    verify: tuple[VerifyPart, ...] = ()
    written_by: Author | None = None
    actions: tuple[Any, ...] = ()  # Any: each is looked at by reading_actions, which names what is wrong with it
    on_error: tuple[Any, ...] = ()


class StepPart(_PlaybookPart):
    id: str = Field(min_length=1, max_length=100, pattern=r"^[\w-]+$")
    name: TextPart = ""
    goal: TextsPart = ""
    description: TextPart = ""
    expected_outputs: tuple[str, ...] = ()
    focus: TextsPart = ""
    todo: TextsPart = ""
    when: RulePart | None = None
    seconds: float | str = 0.0
    done: TextPart = ""
    accept_errors: bool = False
    written_by: Author | None = None
    behaviors: tuple[BehaviorPart, ...] = ()


class StagePart(_PlaybookPart):
    name: TextPart = ""
    goal: TextPart = ""
    description: TextPart = ""
    expected_outputs: tuple[str, ...] = ()
    focus: TextsPart = ""
    todo: TextsPart = ""
    conditions: dict[str, str] = Field(default_factory=dict)
    when: RulePart | None = None
    written_by: Author | None = None
    steps: tuple[StepPart, ...] = Field(min_length=1)


# Which part a path leads into, to name the keys that are known there.
_INSIDE: Mapping[str, type[_PlaybookPart]] = {
    "steps": StepPart,
    "behaviors": BehaviorPart,
    "verify": VerifyPart,
    "outputs_produced": ProducedPart,
    "promotions": PromotionPart,
    "deliverables": DeliverablePart,
    "tasks": TaskPart,
}


# What pydantic calls the members of the unions above.
_MEMBERS = frozenset({"str", "dict[str,str]", "bool", "float", "tuple[union[str,dict[str,str]], ...]"})


def front_part(marked: Marked) -> FrontPart | list[Problem]:
    """playbook.yaml, or everything that is wrong with it."""
    try:
        return FrontPart.model_validate(marked.value)
    except ValidationError as error:
        return _problems(error, FrontPart)


def stage_part(marked: Marked) -> StagePart | list[Problem]:
    """The file of a stage, or everything that is wrong with it."""
    try:
        return StagePart.model_validate(marked.value)
    except ValidationError as error:
        return _problems(error, StagePart)


def _problems(error: ValidationError, top: type[_PlaybookPart]) -> list[Problem]:
    errors = value_problems(error)
    inner = [each.location[:-1] for each in errors]
    # A list whose items are wrong counts as too short as well.
    real = [each for each in errors if each.kind != "too_short" or not _leads_to(each.location, inner)]
    found = [_problem(each, top) for each in real]
    # A union says for each of its members why it does not fit; once is enough.
    return list(dict(reversed(found)).items())[::-1]


def _leads_to(place: tuple[int | str, ...], places: list[tuple[int | str, ...]]) -> bool:
    return any(each[: len(place)] == place for each in places)


def _problem(found: ValueProblem, top: type[_PlaybookPart]) -> Problem:
    kind, location = found.kind, found.location
    # Behind the key pydantic names the member of a union that did not fit.
    end = next((at for at, part in enumerate(location) if part in _MEMBERS), None)
    path = ".".join(str(part) for part in location[:end])
    if kind == "extra_forbidden":
        inside = next((_INSIDE[str(part)] for part in reversed(location[:-1]) if str(part) in _INSIDE), top)
        return path, unknown(str(location[-1]), [field.alias or name for name, field in inside.model_fields.items()])
    if kind == "missing":
        return path, "is required; add this key"
    if kind in ("string_type", "dict_type"):
        return path, (
            "a text is needed here, or one for each language; put it in quotes if it looks like a number, or if it "
            "holds a comma and stands in {...}"
        )
    return path, found.problem.replace("an object", "a mapping")
