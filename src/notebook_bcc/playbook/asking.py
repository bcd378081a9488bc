"""What a request must hold so that a playbook can answer it, and nothing else. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from notebook_bcc.planners.script.position import Place
from notebook_bcc.playbook.book import Playbook, PlaybookBehavior, PlaybookStage
from notebook_bcc.playbook.content import templates_of_content
from notebook_bcc.playbook.facts import INPUTS, MOST_EFFECTS, OLDER_INPUTS, PROBLEMS
from notebook_bcc.playbook.goals.asked import VARIABLES
from notebook_bcc.playbook.needed import cells_of, names_in_cell
from notebook_bcc.playbook.templates.environment import Facts, Template
from notebook_bcc.protocol.messages import ContextFilter, EffectsConfig
from notebook_bcc.protocol.tracking import OutputsTrackingSpec
from notebook_bcc.protocol.vocabulary import Level

# What a language model is shown of a variable that no template reads: the first entries of a longer one.
_LONGEST_SHOWN: Final = 2_000
_HISTORY_FOR_MODEL: Final = 10


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
        expected_variables=behavior.expected, validation_required=behavior.validate, promotions=behavior.promotions
    )
    return given.model_copy(update={"outputs_tracking": tracking})


def _filter(
    playbook: Playbook, stage: PlaybookStage, behavior: PlaybookBehavior, place: Place, facts: Facts
) -> ContextFilter:
    asked = list(templates_of_content(playbook, stage, behavior, recovering=place.recovering))
    read = {fact for template in asked for fact in template.reads.facts}
    by_model = bool(facts["has_model"]) and behavior.written_by == "model"
    names = _names(asked)
    worked_with: set[str] = set()
    if behavior.written_by == "model":
        # Whoever writes in the place of these cells has to know what they work with.
        worked_with.update(*(names_in_cell(cell.source).read for cell in cells_of(behavior)))
    # A name that does not exist would be a warning in the notebook's effects.
    known = [name for name in sorted({*(names or ()), *worked_with}) if name in facts["v"]]
    long = {name for name in worked_with - (names or set()) if name in facts["v"] and _is_long(facts["v"][name])}
    shown = [name for name in known if name not in long]
    return ContextFilter(
        variables_to_include=None if names is None else (*shown, *([PROBLEMS] if place.recovering else [])),
        variables_to_summarize={} if names is None else dict.fromkeys(sorted(long), "head_only"),
        effects_config=_effects("effects" in read, by_model),
        focus_to_include=tuple(Level) if by_model else tuple(_levels(behavior, place, read)),
        include=("notebook",) if by_model else (),
    )


def _names(asked: list[Template]) -> set[str] | None:
    """The variables that these templates read; None: all of them may be."""
    if any(template.reads.whole for template in asked):
        return None
    # How the goal was understood is read anew from what the kernel told of the table.
    told = VARIABLES if any("asked" in template.reads.facts for template in asked) else ()
    return {INPUTS, *OLDER_INPUTS, *told}.union(*(template.reads.names for template in asked))


def _effects(read: bool, by_model: bool) -> EffectsConfig:
    if read:
        return EffectsConfig(include_history=True, history_limit=MOST_EFFECTS)
    if by_model:
        return EffectsConfig(include_history=True, history_limit=_HISTORY_FOR_MODEL)
    return EffectsConfig(include_current=False, include_history=False)


def _levels(behavior: PlaybookBehavior, place: Place, read: set[str]) -> Iterator[Level]:
    """The levels of which the content needs more than what remains: a change of the plan keeps what is completed."""
    actions = behavior.on_error if place.recovering else behavior.actions
    changed = {action.given for action in actions if action.head == "replan"}
    if "stages_done" in read or changed - {"stage"}:
        yield Level.STAGES
    if "steps_done" in read or "stage" in changed:
        yield Level.STEPS
    # The place in the step is told by its completed behaviors where the behavior's name does not tell it.
    yield Level.BEHAVIORS


def _is_long(value: Any) -> bool:  # Any: JSON, as a variable is shown
    return isinstance(value, list | dict) and len(json.dumps(value, ensure_ascii=False)) > _LONGEST_SHOWN
