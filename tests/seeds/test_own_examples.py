"""Promises of the documents that no other test holds, on examples of our own."""

from __future__ import annotations

from typing import Any

import pytest

from engine.play import one_step, play, run_code
from notebook_bcc import ScriptStore
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.messages import ContextUpdate


@pytest.mark.anyio
async def test_a_todo_list_grows_shrinks_and_is_replaced() -> None:
    """001 section 4 and 002 "context updates": the three operations, each seen by the request that follows it."""
    updates: list[dict[str, Any]] = [
        {"operation": "add", "items": ["load", "clean", "model"]},
        {"operation": "remove", "items": ["load", "not there"]},
        {"operation": "replace", "items": ["report"]},
    ]
    behaviors = [
        Behavior(run_code(f"x = {number}"), context_update=ContextUpdate.parse({"todo_list_update": update}))
        for number, update in enumerate(updates)
    ]
    played = await play(one_step(*behaviors))
    told = [request.observation.context.todo_list for request, _ in played.planner.generated]
    assert told == [("load", "clean", "model"), ("clean", "model"), ("report",)]


def test_the_notebook_is_told_by_title_count_last_kind_and_last_output() -> None:
    """000 "Notebook"."""
    with ScriptStore(kernel=ScriptedKernel()) as store:
        store.exec_action({"action": "update_title", "title": "Prices"})
        store.exec_action({"action": "add", "shot_type": "action", "content": "print('3 rows')"})
        store.exec_action({"action": "exec", "codecell_id": "lastAddedCellId"})
        told = store.get_context()["notebook"]
    assert told.items() >= {"title": "Prices", "cell_count": 2, "last_cell_type": "code"}.items()
    assert told["last_output"].strip() == "3 rows"
