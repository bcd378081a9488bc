"""What a playbook asks a client to tell: what its templates read, and what a model needs where one writes."""

from __future__ import annotations

from typing import Any

import pytest

from notebook_bcc.errors import EvidenceMissing
from notebook_bcc.playbook.check import load_playbook
from notebook_bcc.playbook.planner import PlaybookPlanner
from notebook_bcc.protocol.messages import ContextFilter, Request
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


async def test_without_a_model_the_focus_of_step_and_behavior_goes_along_and_neither_history_nor_notebook() -> None:
    asked = await asked_after("read.1", rows=3)
    assert asked.effects_config is not None
    assert (asked.effects_config.current_limit, asked.effects_config.wants_history) == (3, False)
    assert asked.focus_to_include == (Level.STEPS, Level.BEHAVIORS)
    assert asked.include == ()


async def test_the_tables_that_cells_work_with_are_told_by_their_shape() -> None:
    book = load_playbook(files(cells__read=SOUND["cells/read.py"] + "\nlen(raw) + len(other) + small\n"))
    asked = request(
        State.STEP_RUNNING,
        step="read",
        steps=level(current="read"),
        raw="DataFrame(1460×81)",
        small=1,
        unused="DataFrame(2×2)",
    )
    for has_model in (False, True):
        answer = await PlaybookPlanner(book, has_model=has_model).plan(asked)
        assert answer.context_filter is not None
        assert answer.context_filter.variables_to_summarize == {"raw": "shape_only"}


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


LONG = ["x" * 20] * 10


async def test_a_judgement_declares_what_the_next_one_reads_and_nothing_small_or_missing() -> None:
    book = verifying("v.rows > 0 and v.found | length and v.absent is not defined")
    begins = await book.plan(request(State.STEP_RUNNING, step="read", steps=level(current="read"), rows=3, found=LONG))
    assert begins.context_filter is not None
    assert begins.context_filter.variables_to_include == ("inputs", "found")
    # Nothing is asked for where nothing is long.
    ends = await book.plan(request(State.STEP_COMPLETED, step="read", steps=level(["read"]), rows=3, found=[1]))
    assert ends.context_filter is None
    ends = await book.plan(request(State.STEP_COMPLETED, step="read", steps=level(["read"]), rows=3, found=LONG))
    assert ends.context_filter == ContextFilter(variables_to_include=("found",))


async def test_a_rule_is_not_judged_by_a_summary() -> None:
    book = verifying("v.found | length > 3")
    with pytest.raises(EvidenceMissing) as refused:
        await book.plan(summarized(ended("read.1", rows=3, found="list(2)"), "found"))
    assert refused.value.needs == ("found",)
    judged = await book.plan(ended("read.1", rows=3, found=LONG))
    assert judged.behavior is not None
    assert judged.behavior.id == "read.2"


async def test_a_summary_is_asked_for_whole_by_the_number_of_its_entries() -> None:
    cell = SOUND["cells/read.py"] + "\nlen(notes)\nlen(few)\n"
    book = PlaybookPlanner(load_playbook(files(cells__read=cell)), has_model=True)
    asked = request(State.STEP_RUNNING, step="read", steps=level(current="read"), notes="list(41)", few="list(40)")
    answer = await book.plan(summarized(asked, "notes", "few"))
    assert answer.context_filter is not None
    assert answer.context_filter.variables_to_summarize == {"notes": "head_only"}
    assert answer.context_filter.variables_to_include == ("few", "inputs")


def verifying(rule: str) -> PlaybookPlanner:
    """The sound playbook with another rule for what its first behavior has made."""
    stage = SOUND["stages/load.yaml"].replace("v.rows > 0", rule)
    cell = SOUND["cells/read.py"] + "found = absent = table\n"
    return PlaybookPlanner(load_playbook(files(stages__load=stage, cells__read=cell)))


def summarized(asked: Request, *names: str) -> Request:
    """The request as a client sends it that found these too large."""
    context = asked.observation.context.model_copy(update={"variables_summarized": names})
    return asked.model_copy(update={"observation": asked.observation.model_copy(update={"context": context})})
