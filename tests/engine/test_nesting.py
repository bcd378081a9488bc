"""Handlers that carry out further actions in a run, as the handlers of a script store do."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from engine.play import SKIP, Played, one_step, play
from notebook_bcc.engine.actions.context import ActionServices, ActionStart, ExecutionLimits
from notebook_bcc.engine.actions.nesting import NestingContext
from notebook_bcc.engine.actions.registry import ActionRegistry
from notebook_bcc.errors import ActionRefused
from notebook_bcc.journal.records import ActionCompleted, KernelLost
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.protocol.actions import Add, CustomAction

pytestmark = pytest.mark.anyio

PLAN = {"name": "plan", "stages": [{"id": "stage", "steps": [{"id": "step"}, {"id": "more"}]}]}


async def carried_out(registry: ActionRegistry, *actions: Any, **more: Any) -> Played:
    return await play(one_step(list(actions)), policies=SKIP, registry=registry, **more)


def count_rows(script_store: Any, step: Any) -> Any:
    """The handler that our pages and the documents show."""
    script_store.exec_action({"action": "add", "shot_type": "action", "content": f"count = len({step.table})"})
    result = script_store.exec_action({"action": "exec", "codecell_id": "lastAddedCellId"})
    return {"count": script_store.variables["count"], "success": result["success"], "id": result["action_id"]}


async def count_rows_async(script_store: Any, step: Any) -> Any:
    await script_store.exec_action_async(Add(content=f"count = len({step.table})", shot_type="action"))
    result = await script_store.exec_action_async({"action": "exec", "codecell_id": "lastAddedCellId"})
    return {"count": script_store.variables["count"], "success": result["success"], "id": result["action_id"]}


@pytest.mark.parametrize("handler", [count_rows, count_rows_async], ids=["plain", "async"])
async def test_a_handler_carries_out_further_actions_as_parts_of_its_own(handler: Any) -> None:
    registry = ActionRegistry({"count_rows": handler})
    played = await carried_out(registry, {"action": "count_rows", "table": "[3, 5, 8]"})
    (done,) = played.records(ActionCompleted)
    assert done.success
    assert done.result == {"count": 3, "success": True, "id": f"{done.action_id}.2"}
    assert played.sources == ["count = len([3, 5, 8])"]
    assert played.state.kernel.variables == {"count": 3}
    assert [cell.execution_count for cell in played.state.document.cells] == [1]


async def test_a_part_that_fails_is_told_in_its_result_and_the_handler_judges() -> None:
    registry = ActionRegistry()

    @registry.register("careful")
    def careful(script_store: Any, step: Any) -> list[Any]:
        told = [
            script_store.exec_action(one)
            for one in (
                {"action": "exec", "codecell_id": "ghost"},
                {"action": "dance"},
                {"content": "no type"},
                {"action": "add", "shot_type": "action", "content": "1/0"},
                {"action": "exec", "codecell_id": "lastAddedCellId"},
            )
        ]
        return [[one["success"], one.get("error_name"), "skipped" in one] for one in told]

    played = await carried_out(registry, {"action": "careful"})
    (done,) = played.records(ActionCompleted)
    assert done.success
    assert done.result == [
        [False, "CellUnknown", False],
        [True, None, True],
        [False, "ActionMalformed", False],
        [True, None, False],
        [False, "ZeroDivisionError", False],
    ]
    assert any("ZeroDivisionError" in effect for effect in done.effects)
    # A cell that failed is not run again when a kernel is rebuilt.
    assert done.ran == ()


async def test_every_kind_of_change_of_the_parts_reaches_the_run() -> None:
    registry = ActionRegistry()

    @registry.register("much")
    async def much(script_store: Any, step: Any) -> None:
        for one in (
            {"action": "update_title", "title": "Prices"},
            {"action": "new_chapter", "content": "Data"},
            {"action": "new_section", "content": "Rows"},
            {"action": "add", "shot_type": "action", "content": "x = 1\ny = 2"},
            {"action": "exec", "codecell_id": "lastAddedCellId"},
            {"action": "add", "shot_type": "action", "content": "del x"},
            {"action": "exec", "codecell_id": "lastAddedCellId"},
            {"action": "update_workflow", "updated_workflow": PLAN},
        ):
            assert (await script_store.exec_action_async(one))["success"]
        second = await script_store.exec_action_async({"action": "update_workflow", "updated_workflow": PLAN})
        assert "one change" in second["error"]

    played = await carried_out(registry, {"action": "much"})
    done = played.records(ActionCompleted)[0]
    assert done.success, done.error
    assert (done.title, done.chapter, done.section) == ("Prices", 1, 1)
    assert done.variables == {"y": 2}
    assert len(done.ran or ()) == 2
    assert done.proposal is not None
    assert played.state.kernel.variables == {"y": 2}
    assert [step.id for step in played.state.plan.stages[0].steps] == ["step", "more"]  # type: ignore[union-attr]


async def test_a_kernel_that_dies_in_a_part_ends_the_action() -> None:
    registry = ActionRegistry()
    told: list[dict[str, Any]] = []

    @registry.register("deadly")
    def deadly(script_store: Any, step: Any) -> None:
        script_store.exec_action({"action": "add", "shot_type": "action", "content": "x = 1"})
        told.extend(script_store.exec_action({"action": "exec", "codecell_id": "lastAddedCellId"}) for _ in range(2))

    played = await carried_out(registry, {"action": "deadly"}, kernel=ScriptedKernel(dies_at={1}))
    (done,) = played.records(ActionCompleted)
    assert (done.success, done.error_name, done.kernel_died) == (False, "KernelDied", True)
    assert [one["error_name"] for one in told] == ["KernelDied", "KernelDied"]
    assert len(played.records(KernelLost)) <= 1


async def test_actions_that_carry_themselves_out_without_end_are_stopped() -> None:
    registry, depth = ActionRegistry(), []

    @registry.register("again")
    async def again(script_store: Any, step: Any) -> str:
        depth.append(1)
        inner = await script_store.exec_action_async({"action": "again"})
        return str(inner.get("error") or inner["result"])

    played = await carried_out(registry, {"action": "again"})
    (done,) = played.records(ActionCompleted)
    assert "nested more than" in str(done.result)
    assert len(depth) == 51


async def test_waiting_on_the_event_loop_is_refused_instead_of_hanging() -> None:
    registry = ActionRegistry()

    @registry.register("stuck")
    async def stuck(script_store: Any, step: Any) -> None:
        script_store.exec_action({"action": "add", "content": "never"})

    played = await carried_out(registry, {"action": "stuck"})
    assert "exec_action_async" in (played.records(ActionCompleted)[0].error or "")


async def test_a_plain_handler_runs_beside_the_event_loop() -> None:
    threads: list[threading.Thread] = []
    registry = ActionRegistry({"where": lambda context, action: threads.append(threading.current_thread())})
    await carried_out(registry, {"action": "where"})
    assert threads[0] is not threading.current_thread()


async def test_a_handler_that_outlives_its_action_can_change_nothing() -> None:
    start = ActionStart(
        action_id="action-1",
        document=(await carried_out(ActionRegistry())).state.document,
        variables={},
        assigned={},
        services=ActionServices(
            kernel=ScriptedKernel(),
            limits=ExecutionLimits(),
            repair=_for_ever,
            problem_of=lambda proposal: "",
            on_output=lambda cell_id, output: None,
        ),
    )
    context = NestingContext(start, carry_out=_for_ever)
    waiting = asyncio.create_task(context.exec_action_async({"action": "add", "content": "x"}))
    await asyncio.sleep(0)
    await context.end()
    assert waiting.cancelled()
    with pytest.raises(ActionRefused, match="has ended"):
        await context.exec_action_async({"action": "add", "content": "x"})


async def _for_ever(*_: Any) -> None:
    await asyncio.Event().wait()


async def test_what_is_registered_for_all_reaches_runs_made_afterwards_and_can_be_taken_back() -> None:
    before = ActionRegistry()

    def shout(script_store: Any, step: CustomAction) -> str:
        return str((step.model_extra or {})["word"]).upper()

    ActionRegistry.register_for_all("shout", shout)
    try:
        after = ActionRegistry()
        played = await play(one_step([{"action": "shout", "word": "hi"}]), policies=SKIP)
    finally:
        ActionRegistry.unregister_for_all("shout")
    assert played.records(ActionCompleted)[0].result == "HI"
    assert [registry.knows("shout") for registry in (before, after, ActionRegistry())] == [False, True, False]
    assert after.own_handlers == {}
    ActionRegistry.unregister_for_all("shout")
