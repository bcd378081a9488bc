"""Take from an observation what the planner asked for. Pure; patterns from outside are bounded in time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from notebook_bcc.protocol.messages import INCLUDABLE, SUMMARY_STRATEGY, ContextFilter, EffectPatterns, EffectsConfig
from notebook_bcc.protocol.observation import (
    Context,
    CurrentEffects,
    Effects,
    FsmNow,
    FsmView,
    LevelProgress,
    Observation,
    Progress,
    UnfocusedLevel,
)
from notebook_bcc.protocol.tracking import condensed
from notebook_bcc.protocol.vocabulary import Level

if TYPE_CHECKING:
    import regex

# All patterns of one filter together; a pattern from the wire may be written to take for ever.
_PATTERN_SECONDS = 2.0


def asked_variables(context_filter: ContextFilter) -> tuple[str, ...]:
    """The names that a filter knows."""
    return (*(context_filter.variables_to_include or ()), *context_filter.variables_to_summarize)


def missing_variables(context_filter: ContextFilter, variables: Mapping[str, Any]) -> tuple[str, ...]:
    """Variables that were asked for and do not exist."""
    return tuple(name for name in dict.fromkeys(asked_variables(context_filter)) if name not in variables)


def filter_observation(
    observation: Observation, context_filter: ContextFilter, *, summaries: Mapping[str, Any]
) -> tuple[Observation, tuple[str, ...]]:
    """The filtered observation and the warnings that go with it; the warnings stand in its effects as well.

    `summaries` are what the kernel computed for `variables_to_summarize`.
    """
    context, include = observation.context, context_filter.include
    effects, wrong = _effects(context.effects, context_filter.effects_config)
    warnings = (*_misunderstood(context_filter, context, summaries), *wrong)
    marked = tuple(f"WARN: {text}" for text in warnings)
    filtered = context.model_copy(
        update={
            "variables": _variables(context, context_filter, summaries),
            # A planner that says what it wants knows what it did not ask for.
            "variables_left_out": context.variables_left_out if context_filter.variables_to_include is None else None,
            "effects": effects.model_copy(update={"current": (*effects.current, *marked)}),
            "notebook": context.notebook if "notebook" in include else None,
            "fsm": context.fsm if "fsm_history" in include else _without_history(context.fsm),
            "section_progress": context.section_progress if "sections" in include else None,
            "outputs_tracking": context_filter.outputs_tracking,
        }
    )
    location = observation.location
    if context_filter.focus_to_include is not None:
        progress = _progress(location.progress, context_filter.focus_to_include)
        location = location.model_copy(update={"progress": progress})
    return observation.model_copy(update={"location": location, "context": filtered}), warnings


def _misunderstood(context_filter: ContextFilter, context: Context, summaries: Mapping[str, Any]) -> Iterator[str]:
    """What a filter asks for that does not exist."""
    for name in missing_variables(context_filter, context.variables):
        if name not in summaries:
            yield f"variable {name!r} was requested but does not exist"
    for name, strategy in context_filter.variables_to_summarize.items():
        if not SUMMARY_STRATEGY.fullmatch(strategy):
            yield (
                f"variable {name!r} was to be summarized by {strategy!r}, which is not known: use shape_only, "
                "describe_only, head_only or last_N_only; its type is told"
            )
    for part in context_filter.include:
        if part not in INCLUDABLE:
            yield f"{part!r} was to be included and is not known: use {', '.join(INCLUDABLE)}"


def _variables(context: Context, context_filter: ContextFilter, summaries: Mapping[str, Any]) -> dict[str, Any]:
    wanted = context_filter.variables_to_include
    names: Iterable[str] = context.variables if wanted is None else wanted
    taken = {name: context.variables[name] for name in names if name in context.variables}
    return taken | dict(summaries)


def _without_history(fsm: FsmView | None) -> FsmView | None:
    if fsm is None:
        return None
    return FsmNow(state=fsm.state, last_transition=fsm.last_transition, timestamp=fsm.timestamp)


def _effects(effects: Effects, config: EffectsConfig | None) -> tuple[Effects, list[str]]:
    """The current effects, and the earlier ones where they are asked for."""
    if config is None:
        return CurrentEffects(current=effects.current), []
    current, warnings = _chosen(effects.current, config, config.current_limit if config.include_current else 0)
    if not config.wants_history:
        return CurrentEffects(current=current), warnings
    history, more = _chosen(effects.history, config, config.history_limit)
    return Effects(current=current, history=history), list(dict.fromkeys([*warnings, *more]))


def _chosen(effects: tuple[Any, ...], config: EffectsConfig, limit: int | None) -> tuple[tuple[Any, ...], list[str]]:
    if limit == 0:
        return (), []
    kept, warnings = _matching(effects, config.patterns)
    # A limit keeps the newest.
    return (kept if limit is None else kept[-limit:]), warnings


def _matching(effects: tuple[Any, ...], patterns: EffectPatterns | None) -> tuple[tuple[Any, ...], list[str]]:
    if patterns is None or not (patterns.include or patterns.exclude):
        return effects, []
    warnings: list[str] = []
    include, wrong = _compiled(patterns.include)
    exclude, wrong_too = _compiled(patterns.exclude)
    warnings += wrong + wrong_too
    # Each search gets its share, so that all of them together keep to the time.
    share = _PATTERN_SECONDS / max(1, len(effects) * (len(include) + len(exclude)))
    try:
        kept = tuple(
            effect
            for effect in effects
            if (not include or _any_matches(include, effect, share)) and not _any_matches(exclude, effect, share)
        )
    except TimeoutError:
        warnings.append("the effect patterns took too long and were not applied")
        return effects, warnings
    return kept, warnings


def _compiled(patterns: tuple[str, ...]) -> tuple[list[regex.Pattern[str]], list[str]]:
    # Few planners send patterns, and the library takes its time to load.
    import regex

    made: list[regex.Pattern[str]] = []
    wrong: list[str] = []
    for pattern in patterns[:50]:
        try:
            made.append(regex.compile(pattern[:1000], regex.MULTILINE))
        except regex.error as error:
            wrong.append(f"effect pattern {pattern[:80]!r} is not a regular expression: {error}")
    return made, wrong


def _any_matches(patterns: list[regex.Pattern[str]], effect: Any, seconds: float) -> bool:
    text = effect if isinstance(effect, str) else str(effect)
    return any(pattern.search(text, timeout=seconds) for pattern in patterns)


def _progress(progress: Progress, levels: tuple[Level, ...]) -> Progress:
    """The levels asked for with what is completed condensed; of the others what is under way and what remains."""

    def slim(name: Level, level: LevelProgress | None) -> LevelProgress | None:
        if level is None:
            return None
        if name in levels:
            return level.model_copy(update={"completed": tuple(map(condensed, level.completed))})
        return UnfocusedLevel(current=level.current, remaining=level.remaining)

    return Progress(
        stages=slim(Level.STAGES, progress.stages),
        steps=slim(Level.STEPS, progress.steps),
        behaviors=slim(Level.BEHAVIORS, progress.behaviors),
    )
