"""The context filter: what the planner asked for, and nothing silently dropped."""

from __future__ import annotations

import time
from typing import Any

import pytest

from engine.play import one_step, play, run_code
from notebook_bcc.engine.observation.context_filter import filter_observation
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.limits import Limits
from notebook_bcc.protocol.messages import ContextFilter
from notebook_bcc.protocol.observation import Context, Current, Effects, LevelProgress, Location, Observation, Progress
from notebook_bcc.protocol.tracking import CompletedItem

pytestmark = pytest.mark.anyio


def observation(**context: Any) -> Observation:
    level = LevelProgress(focus="f", completed=(CompletedItem(step_id="s", goal="g", actions_taken=("a",)),))
    progress = Progress(stages=level, steps=level, behaviors=level)
    return Observation(location=Location(current=Current(), progress=progress), context=Context(**context))


def filtered(seen: Observation, **wanted: Any) -> tuple[Observation, tuple[str, ...]]:
    summaries = wanted.pop("summaries", {})
    return filter_observation(seen, ContextFilter.parse(wanted), summaries=summaries)


def test_only_the_variables_asked_for_go_out() -> None:
    got, warnings = filtered(observation(variables={"a": 1, "b": 2}), variables_to_include=["b"])
    assert got.context.variables == {"b": 2}
    assert warnings == ()


def test_a_missing_variable_is_a_warning_in_the_effects_and_never_silent() -> None:
    got, warnings = filtered(observation(variables={"a": 1}), variables_to_include=["a", "ghost"])
    assert "ghost" in warnings[0]
    assert "ghost" in got.context.effects.current[-1]


def test_a_summary_stands_in_for_the_variable() -> None:
    got, _ = filtered(
        observation(variables={"df": "DataFrame(9×9)"}),
        variables_to_include=[],
        variables_to_summarize={"df": "shape_only"},
        summaries={"df": "9×9"},
    )
    assert got.context.variables == {"df": "9×9"}


def test_effect_limits_keep_the_newest() -> None:
    seen = observation(effects=Effects(current=("1", "2", "3"), history=("a", "b")))
    got, _ = filtered(seen, effects_config={"current_limit": 2, "include_history": True, "history_limit": 1})
    assert got.context.effects.current == ("2", "3")
    assert got.context.effects.history == ("b",)
    none, _ = filtered(seen, effects_config={"include_current": False, "history_limit": 0})
    assert (none.context.effects.current, none.context.effects.history) == ((), ())


def test_patterns_include_and_exclude() -> None:
    seen = observation(effects=Effects(current=("✓ done", "DEBUG x", "Error: y", "plain")))
    got, _ = filtered(seen, effects_config={"patterns": {"include": ["^✓", "^Error"], "exclude": ["y$"]}})
    assert got.context.effects.current == ("✓ done",)


def test_a_pattern_that_is_none_is_a_warning() -> None:
    seen = observation(effects=Effects(current=("a",)))
    got, warnings = filtered(seen, effects_config={"patterns": {"include": ["("]}})
    assert "not a regular expression" in warnings[0]
    assert got.context.effects.current[0] == "a"


def test_a_pattern_that_would_take_for_ever_is_given_up() -> None:
    effects = tuple("a" * 5000 + f"!{number}" for number in range(40))
    started = time.monotonic()
    hostile = {"include": ["^(a|aa|a?)+$"] * 20, "exclude": ["^(a+)+$"] * 20}
    got, warnings = filtered(observation(effects=Effects(current=effects)), effects_config={"patterns": hostile})
    assert time.monotonic() - started < 30
    assert any("took too long" in text for text in warnings)
    assert got.context.effects.current[:40] == effects, "nothing is dropped for want of time"


def test_only_the_levels_asked_for_keep_their_focus() -> None:
    got, _ = filtered(observation(), focus_to_include=["behaviors", "steps"])
    progress = got.location.progress
    assert progress.stages is None
    assert progress.steps is not None
    assert progress.steps.focus == "f"
    assert progress.steps.completed[0].key == "s"
    assert progress.steps.completed[0].actions_taken == ()


@pytest.mark.parametrize("wanted", [[], ["stages"], ["steps"], ["behaviors"], ["stages", "steps", "behaviors"]])
def test_levels_that_were_not_asked_for_are_left_out(wanted: list[str]) -> None:
    progress = filtered(observation(), focus_to_include=wanted)[0].location.progress
    there = {name for name in ("stages", "steps", "behaviors") if getattr(progress, name) is not None}
    assert there == set(wanted)


def test_without_a_filter_nothing_is_taken() -> None:
    seen = observation(variables={"a": 1}, effects=Effects(current=("1",)))
    got, warnings = filtered(seen)
    assert (got, warnings) == (seen, ())


async def test_a_filter_applies_to_the_next_generating_request_only_and_planning_sees_everything() -> None:
    only_x = ContextFilter.parse({"variables_to_include": ["x"], "variables_to_summarize": {"xs": "last_2_only"}})
    played = await play(
        one_step(run_code("x = 1\ny = 2\nxs = [1, 2, 3]"), Behavior(run_code("z = 3"), context_filter=only_x), [])
    )
    second, third = (request.observation.context.variables for request, _ in played.planner.generated[1:3])
    assert set(second) == {"x", "xs"}
    assert second["xs"] == [2, 3]
    assert set(third) == {"x", "y", "xs", "z"}
    assert all("y" in one.observation.context.variables for one in played.planner.planned[4:])


async def test_observations_do_not_grow_with_the_length_of_the_run() -> None:
    def size(count: int) -> Any:
        return one_step(*[Behavior(run_code(f"print({number})")) for number in range(count)])

    sizes = []
    for count in (100, 200):
        played = await play(size(count), limits=Limits(behaviors_per_step=0))
        context = played.planner.planned[-3].observation.context
        sizes.append(len(context.to_json()))
    assert sizes[1] <= sizes[0] * 1.05
