"""A goal is not read with a summary of the table's columns."""

from __future__ import annotations

from typing import Any

import pytest

from notebook_bcc.errors import EvidenceMissing
from notebook_bcc.playbook.check import load_playbook
from notebook_bcc.playbook.folder import open_playbook
from notebook_bcc.playbook.planner import PlaybookPlanner
from notebook_bcc.protocol.messages import Request

pytestmark = pytest.mark.anyio

DSLC = PlaybookPlanner(load_playbook(open_playbook("dslc")))


def request(state: str = "step_completed", **inputs: str) -> Request:
    """A question in the first stage, with what is told of the columns sent as a summary."""
    variables: dict[str, Any] = {"inputs": {"data": "a.csv", **inputs}, "told_columns": "dict(79)", "told_values": {}}
    context = {"variables": variables, "variables_summarized": ["told_columns"], "FSM": {"state": state}}
    location = {
        "current": {"stage_id": "structure", "step_id": "target"},
        "progress": {
            "steps": {"remaining": ["x"] if state == "step_completed" else []},
            "stages": {"current": "structure", "remaining": ["integrity"]},
        },
    }
    return Request.parse({"observation": {"location": location, "context": context}})


async def test_a_goal_in_words_declares_the_columns_that_it_is_read_with() -> None:
    answer = await DSLC.plan(request(goal="How many rows are there for each neighborhood?"))
    assert answer.context_filter is not None
    assert "told_columns" in (answer.context_filter.variables_to_include or ())


async def test_a_rule_about_the_goal_is_not_judged_by_a_summary_of_the_columns() -> None:
    asked = request("stage_running", goal="How many rows are there for each neighborhood?")
    with pytest.raises(EvidenceMissing) as refused:
        await DSLC.plan(asked)
    assert refused.value.needs == ("told_columns",)


async def test_a_target_needs_no_columns() -> None:
    answer = await DSLC.plan(request(target="price"))
    wanted = answer.context_filter
    assert wanted is None or "told_columns" not in (wanted.variables_to_include or ())
