"""What a playbook asks a client to tell: what its templates read, and what a model needs where one writes."""

from __future__ import annotations

from typing import Any

import pytest

from notebook_bcc.playbook.check import load_playbook
from notebook_bcc.playbook.planner import PlaybookPlanner
from notebook_bcc.protocol.messages import ContextFilter
from notebook_bcc.protocol.vocabulary import Level, State
from playbook.books import SOUND, files, planner
from playbook.test_planner import ended, level, request

pytestmark = pytest.mark.anyio


async def asked_after(behavior: str, *, text: str = "", has_model: bool = False, **variables: Any) -> ContextFilter:
    """The filter of the answer; `text` stands in place of a text of the second behavior."""
    stage = SOUND["stages/load.yaml"].replace("en: Odd.", f"en: '{text or 'Odd.'}'")
    book = load_playbook(files(stages__load=stage))
    answer = await PlaybookPlanner(book, has_model=has_model).plan(ended(behavior, **variables))
    assert answer.context_filter is not None
    return answer.context_filter


async def test_without_a_model_neither_effects_nor_notebook_nor_other_levels_are_asked_for() -> None:
    asked = await asked_after("read.1", rows=3)
    assert asked.effects_config is not None
    assert (asked.effects_config.include_current, asked.effects_config.wants_history) == (False, False)
    assert asked.focus_to_include == (Level.BEHAVIORS,)
    assert asked.include == ()


async def test_effects_and_completed_steps_are_asked_for_where_a_template_reads_them() -> None:
    asked = await asked_after("read.1", rows=3, text="{{ effects | length }} and {{ steps_done | length }}")
    assert asked.effects_config is not None
    assert asked.effects_config.include_current
    assert asked.effects_config.wants_history
    assert asked.focus_to_include == (Level.STEPS, Level.BEHAVIORS)


async def test_a_change_of_the_plan_needs_the_level_that_it_changes() -> None:
    asked = request(State.STEP_RUNNING, step="change", steps=level(["read"], "change"), rows=3)
    answer = await planner().plan(asked)
    assert answer.context_filter is not None
    assert answer.context_filter.focus_to_include == tuple(Level)


async def test_a_model_is_shown_effects_levels_and_notebook() -> None:
    asked = await asked_after("read.1", has_model=True, rows=3)
    assert asked.effects_config is not None
    assert asked.effects_config.wants_history
    assert asked.focus_to_include == tuple(Level)
    assert asked.include == ("notebook",)


async def test_a_long_variable_that_only_cells_read_is_summarized_for_the_model() -> None:
    cell = SOUND["cells/read.py"] + "\nlen(notes)\n"
    book = load_playbook(files(cells__read=cell))
    asked = request(State.STEP_RUNNING, step="read", steps=level(current="read"), notes=["x" * 100] * 40)
    answer = await PlaybookPlanner(book, has_model=True).plan(asked)
    assert answer.context_filter is not None
    assert answer.context_filter.variables_to_summarize == {"notes": "head_only"}
    assert answer.context_filter.variables_to_include == ("inputs",)
