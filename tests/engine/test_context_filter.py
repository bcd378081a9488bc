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
from notebook_bcc.protocol.observation import (
    Context,
    Current,
    Effects,
    FsmView,
    LevelProgress,
    Location,
    NotebookView,
    Observation,
    Progress,
)
from notebook_bcc.protocol.tracking import CompletedItem
from notebook_bcc.protocol.vocabulary import State

pytestmark = pytest.mark.anyio


def observation(**context: Any) -> Observation:
    level = LevelProgress(
        focus="f",
        completed=(CompletedItem(step_id="s", goal="g", actions_taken=("a",)),),
        current="now",
        remaining=("next",),
    )
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
    assert progress.steps is not None
    assert progress.steps.focus == "f"
    assert progress.steps.completed[0].key == "s"
    assert progress.steps.completed[0].actions_taken == ()
    assert progress.to_dict()["stages"] == {"current": "now", "remaining": ["next"]}


@pytest.mark.parametrize("wanted", [[], ["stages"], ["steps"], ["behaviors"], ["stages", "steps", "behaviors"]])
def test_a_level_tells_what_is_under_way_and_what_remains_whether_it_was_asked_for_or_not(wanted: list[str]) -> None:
    written = filtered(observation(), focus_to_include=wanted)[0].location.progress.to_dict()
    assert {name for name, level in written.items() if "focus" in level} == set(wanted)
    assert {name for name, level in written.items() if "completed" in level} == set(wanted)
    assert [(level["current"], level["remaining"]) for level in written.values()] == [("now", ["next"])] * 3


def test_history_notebook_and_sections_go_along_only_where_the_filter_asks() -> None:
    seen = observation(
        effects=Effects(current=("new",), history=("old",)),
        notebook=NotebookView(title="t"),
        fsm=FsmView(state=State.BEHAVIOR_RUNNING, last_transition="x", history=({"from": "idle"},)),
        section_progress="half",
        todo_list=("a task",),
    )
    slim = filtered(seen)[0].context.to_dict()
    assert slim["effects"] == {"current": ["new"]}
    assert slim["FSM"] == {"state": "behavior_running", "last_transition": "x"}
    assert slim["toDoList"] == ["a task"]
    assert not {"notebook", "section_progress"} & slim.keys()
    more = filtered(seen, include=["fsm_history", "notebook", "sections"], effects_config={"include_history": True})[
        0
    ].context
    assert (more.fsm, more.notebook, more.section_progress) == (
        seen.context.fsm,
        seen.context.notebook,
        seen.context.section_progress,
    )
    assert more.effects == seen.context.effects


@pytest.mark.parametrize(
    ("config", "history"),
    [
        ({}, ()),
        ({"current_limit": 3}, ()),
        ({"history_limit": 1}, ("b",)),
        ({"include_history": True}, ("a", "b")),
        ({"include_history": True, "history_limit": 0}, ()),
        ({"include_history": False, "history_limit": 2}, ()),
    ],
)
def test_effects_of_earlier_behaviors_are_asked_for_by_a_word_or_by_a_number(
    config: dict[str, Any], history: tuple[str, ...]
) -> None:
    seen = observation(effects=Effects(history=("a", "b")))
    assert filtered(seen, effects_config=config)[0].context.effects.history == history


@pytest.mark.parametrize("strategy", ["weird_strategy", "last_0_only", "last_few_only", "SHAPE_ONLY", ""])
def test_a_strategy_that_nobody_knows_is_a_warning_and_the_type_is_told(strategy: str) -> None:
    got, warnings = filtered(
        observation(variables={"df": [1]}),
        variables_to_include=[],
        variables_to_summarize={"df": strategy},
        summaries={"df": "list(1)"},
    )
    assert repr(strategy) in warnings[0]
    assert got.context.effects.current == (f"WARN: {warnings[0]}",)
    assert got.context.variables == {"df": "list(1)"}


@pytest.mark.parametrize("strategy", ["shape_only", "describe_only", "head_only", "last_5_only"])
def test_the_four_strategies_are_no_warning(strategy: str) -> None:
    seen = observation(variables={"df": [1]})
    assert filtered(seen, variables_to_summarize={"df": strategy})[1] == ()


def test_a_part_that_cannot_be_included_is_a_warning() -> None:
    got, warnings = filtered(observation(), include=["notebook", "kitchen"])
    assert "kitchen" in warnings[0]
    assert len(warnings) == 1
    assert got.context.effects.current == (f"WARN: {warnings[0]}",)


def test_what_the_behavior_promises_goes_out_whole() -> None:
    promised = {
        "expected_variables": ["filled"],
        "validation_required": ["gaps_checked"],
        "promotions": [{"variable": "tmp", "artifact_id": "table@clean", "description": "d"}],
    }
    got, _ = filtered(observation(), outputs_tracking=promised, focus_to_include=[])
    assert got.context.to_dict()["outputs_tracking"] == promised


async def test_promises_reach_the_request_for_the_behavior_that_makes_them() -> None:
    spec = {"expected_variables": ["x"], "validation_required": ["checked"]}
    wanted = ContextFilter.parse({"outputs_tracking": spec})
    played = await play(one_step(Behavior(run_code("x = checked = 1"), context_filter=wanted), []))
    first, second = (request.observation.context.outputs_tracking for request, _ in played.planner.generated[:2])
    assert first is not None
    assert (first.expected_variables, first.validation_required) == (("x",), ("checked",))
    assert second is None


async def test_a_filter_narrows_the_next_generating_request_only_and_no_planning_request() -> None:
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
