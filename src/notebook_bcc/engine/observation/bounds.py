"""What a Planning request shows of an observation: bounded, whatever the run has made. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from notebook_bcc.engine.fold.effects import shortened
from notebook_bcc.engine.state import RunState
from notebook_bcc.protocol.message import encoded
from notebook_bcc.protocol.messages import ContextFilter
from notebook_bcc.protocol.observation import Context, Effects, FsmView, Observation
from notebook_bcc.protocol.variables import summary_of

_MOVES_SHOWN: Final = 5
_EFFECTS_SHOWN: Final = 5
_LONGEST_EFFECT: Final = 500
# Bytes of JSON: of one value, and of all variables with their names.
_LARGEST_VALUE: Final = 1_000
_ALL_VARIABLES: Final = 4_000
# Below this a summary is hardly shorter than the value.
_SMALL: Final = 60


def declared_variables(state: RunState) -> frozenset[str]:
    """The variables whose values a planner can count on: those that its last answer asks for by name, those that it or
    a person has set, and those that the behavior promises."""
    wanted = state.planner_filter
    named: list[Iterable[str]] = [state.planner_context.variables, state.behaviors.outputs.expected]
    named.append(state.behavior.validate)
    if wanted is not None:
        named.append(wanted.variables_to_include or ())
    return frozenset(name for names in named for name in names)


def bounded_observation(
    observation: Observation, wanted: ContextFilter | None, *, whole: Collection[str]
) -> Observation:
    """The observation with the newest moves and effects, and large values as summaries, but for those of `whole`.

    `wanted` is the filter of the planner's last answer: where it asks for earlier effects or for the machine's history,
    they go along here too.
    """
    context = observation.context
    variables, summarized = _with_summaries(context.variables, whole)
    changes = {
        "variables": variables,
        "variables_summarized": summarized or None,
        "effects": _effects(context, wanted),
        "fsm": _fsm(context, wanted),
    }
    return observation.model_copy(update={"context": context.model_copy(update=changes)})


def _with_summaries(values: Mapping[str, Any], whole: Collection[str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The values as they are shown, and the names of those that are summaries: the largest, until the others fit."""
    sizes = {name: len(encoded(value)) for name, value in values.items()}
    total = sum(len(name.encode()) + size for name, size in sizes.items())
    shown = dict(values)
    cut: set[str] = set()
    # The sort is stable: of two that are equally large the older one goes first.
    for name in sorted(sizes, key=lambda each: -sizes[each]):
        value = values[name]
        if sizes[name] <= _SMALL or (sizes[name] <= _LARGEST_VALUE and total <= _ALL_VARIABLES):
            break
        if name in whole or not isinstance(value, list | tuple | dict | str):
            continue
        shown[name] = summary_of(value)
        cut.add(name)
        total -= sizes[name] - len(shown[name])
    return shown, tuple(name for name in values if name in cut)


def _effects(context: Context, wanted: ContextFilter | None) -> Effects:
    """All of what the behavior has shown, and the newest of what came before, each cut to a few lines."""
    config = wanted.effects_config if wanted is not None else None
    history = context.effects.history
    if config is not None and config.wants_history:
        history = history if config.history_limit is None else history[-config.history_limit :]
    else:
        history = tuple(shortened(str(one), _LONGEST_EFFECT) for one in history[-_EFFECTS_SHOWN:])
    return context.effects.model_copy(update={"history": history})


def _fsm(context: Context, wanted: ContextFilter | None) -> FsmView | None:
    machine = context.fsm
    if machine is None or (wanted is not None and "fsm_history" in wanted.include):
        return machine
    return machine.model_copy(update={"history": machine.history[-_MOVES_SHOWN:]})
