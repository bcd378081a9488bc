"""What a request must hold so that a playbook can answer it, and nothing else. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from notebook_bcc.planners.script.position import Place
from notebook_bcc.playbook.book import (
    Playbook,
    PlaybookBehavior,
    PlaybookStage,
    PlaybookStep,
    templates_of,
    templates_of_produced,
)
from notebook_bcc.playbook.content import templates_of_content
from notebook_bcc.playbook.facts import INPUTS, MOST_EFFECTS, OLDER_INPUTS, PROBLEMS
from notebook_bcc.playbook.goals.asked import reads_table
from notebook_bcc.playbook.goals.names import VARIABLES
from notebook_bcc.playbook.needed import cells_of, names_in_cell
from notebook_bcc.playbook.templates.environment import SUMMARIZED, Facts, Template
from notebook_bcc.protocol.messages import ContextFilter, EffectsConfig, PlanningResponse
from notebook_bcc.protocol.tracking import OutputsTrackingSpec
from notebook_bcc.protocol.vocabulary import Level

# What a language model is shown of a variable that no template reads: the first entries of a longer one.
_LONGEST_SHOWN: Final = 2_000
_HISTORY_FOR_MODEL: Final = 10
_CURRENT_SHOWN: Final = 3
# How the value of a table is shown; its name and size are all that a writer of cells needs of it.
_TABLES: Final = ("DataFrame(", "Series(", "ndarray(")
# A summary tells the number of entries, or of characters.
_SUMMARY: Final = re.compile(r"(list|dict|str)\((\d{1,12})\)")
_MOST_ENTRIES: Final = 40
# Bytes of JSON that a request shows in any case.
_SMALL: Final = 60


def filter_of(
    playbook: Playbook, stage: PlaybookStage, behavior: PlaybookBehavior, place: Place, facts: Facts
) -> ContextFilter:
    """What the request for the content shall hold: what its templates read, the promises, and what a model needs."""
    given = behavior.context_filter
    if given is None:
        given = _filter(playbook, stage, behavior, place, facts)
    if given.outputs_tracking is not None or not (behavior.expected or behavior.validate or behavior.promotions):
        return given
    tracking = OutputsTrackingSpec(
        expected_variables=behavior.expected,
        validation_required=behavior.validate,
        promotions=tuple(each.render(facts) for each in behavior.promotions),
    )
    return given.model_copy(update={"outputs_tracking": tracking})


def _filter(
    playbook: Playbook, stage: PlaybookStage, behavior: PlaybookBehavior, place: Place, facts: Facts
) -> ContextFilter:
    asked = list(templates_of_content(playbook, stage, behavior, recovering=place.recovering))
    read = {fact for template in asked for fact in template.reads.facts}
    by_model = bool(facts["has_model"]) and behavior.written_by == "model"
    names = _names(asked)
    # Whoever writes in the place of these cells has to know what they work with. A name that does not exist would be a
    # warning in the notebook's effects.
    read_by_cells = set[str]().union(*(names_in_cell(cell.source).read for cell in cells_of(behavior)))
    others = {name for name in read_by_cells - (names or set()) if name in facts["v"]}
    tables = {name for name in others if _is_table(facts["v"][name])}
    others = others - tables if behavior.written_by == "model" else set()
    long = {name for name in others if _is_long(name, facts)}
    shown = sorted((others - long).union(name for name in names or () if name in facts["v"]))
    summaries = {**dict.fromkeys(sorted(tables), "shape_only"), **dict.fromkeys(sorted(long), "head_only")}
    return ContextFilter(
        variables_to_include=None if names is None else (*shown, *([PROBLEMS] if place.recovering else [])),
        variables_to_summarize={} if names is None else summaries,
        effects_config=_effects("effects" in read, by_model),
        focus_to_include=tuple(Level) if by_model else tuple(_levels(behavior, place, read)),
        include=("notebook",) if by_model else (),
    )


def declaring(
    answer: PlanningResponse,
    playbook: Playbook,
    stages: Sequence[PlaybookStage],
    step: PlaybookStep | None,
    facts: Facts,
) -> PlanningResponse:
    """The answer, so that the next question shows the values that its judgement reads. `step` is the one that goes on;
    without it the next question is about one of the `stages`."""
    asked = list(_templates_of_judgement(playbook, stages, step))
    names = {name for template in asked for name in template.reads.names}
    if any("asked" in template.reads.facts for template in asked) and reads_table(facts[INPUTS], playbook.tasks):
        names |= set(VARIABLES)
    read = sorted(name for name in names if name in facts["v"] and len(_written(facts["v"][name])) > _SMALL)
    hidden = sorted(names & facts[SUMMARIZED]["v"])
    wanted = answer.context_filter or ContextFilter(variables_to_include=())
    changes: dict[str, Any] = {}  # Any: fields of the filter
    more = [name for name in dict.fromkeys([*read, *hidden]) if name not in (wanted.variables_to_include or ())]
    if more and wanted.variables_to_include is not None:
        changes["variables_to_include"] = (*wanted.variables_to_include, *more)
    if any("effects" in template.reads.facts for template in asked):
        config = wanted.effects_config or EffectsConfig()
        if not config.wants_history:
            history = {"include_history": True, "history_limit": MOST_EFFECTS}
            changes["effects_config"] = config.model_copy(update=history)
    return answer.model_copy(update={"context_filter": wanted.model_copy(update=changes)}) if changes else answer


def _templates_of_judgement(
    playbook: Playbook, stages: Sequence[PlaybookStage], step: PlaybookStep | None
) -> Iterator[Template]:
    """Every rule and text that the next judgement may ask."""
    for stage in playbook.stages:
        yield from _given(stage.when, *(rule for each in stage.steps for rule in (each.when, each.seconds)))
        yield from templates_of(stage.todo)
    yield from _given(*(each.when for each in playbook.deliverables))
    steps = [step] if step is not None else [each for stage in stages for each in stage.steps]
    for stage in stages:
        yield from templates_of(stage.name, stage.goal, stage.description, stage.focus)
        yield from (template for each in stage.steps for template in templates_of(each.todo))
    for each in steps:
        yield from templates_of(each.name, each.goal, each.description, each.focus, each.done)
        for behavior in each.behaviors:
            yield from templates_of(behavior.goal, behavior.focus, *(one.description for one in behavior.promotions))
            yield from behavior.when
            yield from templates_of_produced(behavior.produced)
            for rule in behavior.verify:
                yield from (rule.that, *templates_of(rule.otherwise))
            if behavior.ask is not None:
                yield from (*templates_of(behavior.ask.text), *_given(behavior.ask.options))


def _given(*templates: Template | None) -> Iterator[Template]:
    return (each for each in templates if each is not None)


def _names(asked: list[Template]) -> set[str] | None:
    """The variables that these templates read; None: all of them may be."""
    if any(template.reads.whole for template in asked):
        return None
    # How the goal was understood is read anew from what the kernel told of the table.
    goal_names = VARIABLES if any("asked" in template.reads.facts for template in asked) else ()
    return {INPUTS, *OLDER_INPUTS, *goal_names}.union(*(template.reads.names for template in asked))


def _effects(read: bool, by_model: bool) -> EffectsConfig:
    if read:
        return EffectsConfig(include_history=True, history_limit=MOST_EFFECTS)
    if by_model:
        return EffectsConfig(include_history=True, history_limit=_HISTORY_FOR_MODEL)
    return EffectsConfig(current_limit=_CURRENT_SHOWN, include_history=False)


def _levels(behavior: PlaybookBehavior, place: Place, read: set[str]) -> Iterator[Level]:
    """The levels whose focus goes along: those of the step and the behavior; that of the stages where the content asks
    what is completed, or changes the plan."""
    actions = behavior.on_error if place.recovering else behavior.actions
    changed = {action.given for action in actions if action.head == "replan"}
    if "stages_done" in read or changed - {"stage"}:
        yield Level.STAGES
    # What the step is about; and the place in it is told by its completed behaviors where the behavior's name does not.
    yield from (Level.STEPS, Level.BEHAVIORS)


def _is_table(value: Any) -> bool:  # Any: JSON, as a variable is shown
    return isinstance(value, str) and value.startswith(_TABLES)


def _is_long(name: str, facts: Facts) -> bool:
    value = facts["v"][name]
    if name in facts[SUMMARIZED]["v"]:
        found = _SUMMARY.fullmatch(str(value))
        return found is None or int(found[2]) > (_LONGEST_SHOWN if found[1] == "str" else _MOST_ENTRIES)
    return isinstance(value, list | dict) and len(_written(value)) > _LONGEST_SHOWN


def _written(value: Any) -> str:  # Any: JSON, as a variable is shown
    return json.dumps(value, ensure_ascii=False)
