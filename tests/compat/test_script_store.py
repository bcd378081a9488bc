"""ScriptStore on the shipped double: results, registration, hooks, nesting, and who sees what of whom."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from engine.play import SKIP, one_step, play
from notebook_bcc import ActionRegistry, ScriptStore
from notebook_bcc.errors import ActionRefused, PlanInvalid
from notebook_bcc.journal.records import ActionCompleted
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.protocol.actions import Add, CustomAction

PLAN = {"name": "plan", "stages": [{"id": "one", "steps": [{"id": "a"}]}]}
LONGER = {"name": "plan", "stages": [{"id": "one", "steps": [{"id": "a"}, {"id": "b"}]}]}


@pytest.fixture
def store() -> Iterator[ScriptStore]:
    with ScriptStore(kernel=ScriptedKernel()) as made:
        yield made


@pytest.fixture
def shout() -> Iterator[str]:
    """An action that every store made in this test knows."""

    def handler(script_store: ScriptStore, step: CustomAction) -> str:
        return str((step.model_extra or {})["word"]).upper()

    ScriptStore.register_custom_action("shout", handler)
    yield "shout"
    ScriptStore.unregister_custom_action("shout")


def run_code(store: ScriptStore, source: str, **more: Any) -> dict[str, Any]:
    store.exec_action({"action": "add", "shot_type": "action", "content": source})
    return store.exec_action({"action": "exec", "codecell_id": "lastAddedCellId", **more})


def steps_of(store: ScriptStore) -> list[str]:
    """The steps of the plan; none without a plan."""
    plan = store.workflow
    return [] if plan is None else [step.id for stage in plan.stages for step in stage.steps]


def test_actions_build_a_notebook_and_every_result_has_its_id(store: ScriptStore) -> None:
    results = [
        store.exec_action({"action": "update_title", "title": "Prices"}),
        store.exec_action({"action": "new_chapter", "content": "Data"}),
        store.exec_action({"action": "add", "shot_type": "dialogue", "content": "Three rows."}),
        store.exec_action(Add(content="as a value")),
    ]
    assert [one["success"] for one in results] == [True] * 4
    assert [one["action_id"] for one in results] == ["action-1", "action-2", "action-3", "action-4"]
    assert [cell.source for cell in store.document.cells] == ["# Prices", "## Data", "Three rows.", "as a value"]
    assert results[1]["cell_id"] == "chapter-1"


def test_code_runs_and_its_outputs_effects_and_variables_are_told(store: ScriptStore) -> None:
    result = run_code(store, "x = 6 * 7\nprint('x is', x)")
    assert result["success"]
    assert result["outputs"] == [{"output_type": "stream", "name": "stdout", "text": "x is 42\n"}]
    assert result["effects"] == ["x is 42"]
    assert store.variables == {"x": 42}
    assert store.get_context()["effects"]["current"] == ["x is 42"]
    assert store.get_context()["notebook"]["cell_count"] == 1


def test_output_that_is_not_needed_stays_out_of_the_effects(store: ScriptStore) -> None:
    result = run_code(store, "print(1)", need_output=False)
    assert result["outputs"]
    assert "effects" not in result


def test_failing_code_is_an_error_result_and_the_store_goes_on(store: ScriptStore) -> None:
    result = run_code(store, "nobody")
    assert (result["success"], result["error_name"]) == (False, "NameError")
    assert "NameError" in result["error"]
    assert "NameError" in store.get_context()["effects"]["current"][-1]
    assert run_code(store, "y = 1")["success"]


@pytest.mark.parametrize(
    "action", [{"action": "exec"}, {"content": "no type"}, {"action": ""}, "text", None, [], {"action": "new_chapter"}]
)
def test_a_malformed_action_is_an_error_result_that_changes_nothing(store: ScriptStore, action: Any) -> None:
    result = store.exec_action(action)
    assert set(result) >= {"success", "error", "action_id"}
    assert not result["success"]
    assert len(store.document.cells) == 0


def test_an_unknown_cell_is_an_error_result_and_starts_no_kernel() -> None:
    kernel = ScriptedKernel()
    with ScriptStore(kernel=kernel) as store:
        result = store.exec_action({"action": "exec", "codecell_id": "ghost"})
        assert "ghost" in result["error"]
        assert not kernel.is_alive


def test_a_type_without_a_handler_is_skipped_with_a_warning_or_refused_when_strict(store: ScriptStore) -> None:
    result = store.exec_action({"action": "dance"})
    assert (result["success"], result["skipped"]) == (True, True)
    assert "dance" in result["warning"]
    assert "WARN" in store.get_context()["effects"]["current"][-1]
    with ScriptStore(kernel=ScriptedKernel(), strict_actions=True) as strict:
        assert "dance" in strict.exec_action({"action": "dance"})["error"]


def test_a_new_plan_is_pending_until_it_is_confirmed(store: ScriptStore) -> None:
    result = store.exec_action({"action": "update_workflow", "updated_workflow": PLAN})
    assert result["workflow_update_pending"] is True
    assert steps_of(store) == []
    assert "+ one" in (store.pending_update or "")
    store.confirm_update()
    assert steps_of(store) == ["a"]
    assert store.pending_update is None
    with pytest.raises(ActionRefused, match="waits"):
        store.confirm_update()


def test_other_steps_are_pending_too_and_can_be_rejected() -> None:
    with ScriptStore(kernel=ScriptedKernel(), workflow=PLAN) as store:
        action = {"action": "update_stage_steps", "stage_id": "one", "updated_steps": [{"id": "b"}]}
        assert store.exec_action(action)["step_update_pending"] is True
        store.reject_update()
        assert steps_of(store) == ["a"]
        assert "two" in store.exec_action({**action, "stage_id": "two"})["error"]
        store.exec_action({"action": "update_workflow", "updated_workflow": LONGER})
        store.confirm_update()
        assert steps_of(store) == ["a", "b"]


def test_a_plan_that_contradicts_itself_is_refused(store: ScriptStore) -> None:
    twice = {"name": "plan", "stages": [{"id": "one"}, {"id": "one"}]}
    assert not store.exec_action({"action": "update_workflow", "updated_workflow": twice})["success"]
    with pytest.raises(PlanInvalid):
        ScriptStore(workflow=twice)


def test_ends_of_phases_and_events_are_told_to_the_caller(store: ScriptStore) -> None:
    assert store.exec_action({"action": "end_phase", "step_id": "a"})["end_phase"] is True
    assert (
        store.exec_action({"action": "next_event", "event_type": "COMPLETE_BEHAVIOR"})["event"] == "COMPLETE_BEHAVIOR"
    )


def test_an_action_registered_for_the_class_is_known_to_stores_made_afterwards(store: ScriptStore, shout: str) -> None:
    with ScriptStore(kernel=ScriptedKernel()) as later:
        assert later.exec_action({"action": shout, "word": "hi"})["result"] == "HI"
    assert store.exec_action({"action": shout, "word": "hi"})["skipped"]


@pytest.mark.anyio
async def test_an_action_registered_for_the_class_reaches_a_run_that_is_made_afterwards() -> None:
    def add_twice(script_store: Any, step: Any) -> int:
        results = [script_store.exec_action({"action": "add", "content": step.word}) for _ in range(2)]
        return sum(result["success"] for result in results)

    ScriptStore.register_custom_action("add_twice", add_twice)
    try:
        played = await play(one_step([{"action": "add_twice", "word": "hi"}]), policies=SKIP)
    finally:
        ScriptStore.unregister_custom_action("add_twice")
    assert played.sources == ["hi", "hi"]
    assert played.records(ActionCompleted)[0].result == 2
    assert not ActionRegistry().knows("add_twice")


def test_what_a_subclass_registers_reaches_no_run() -> None:
    class Special(ScriptStore):
        pass

    Special.register_custom_action("special", lambda script_store, step: 1)
    assert not ActionRegistry().knows("special")


def test_what_is_registered_for_all_later_reaches_the_stores_of_a_subclass_with_their_store() -> None:
    class Special(ScriptStore):
        pass

    Special.register_custom_action("special", lambda script_store, step: 1)
    ScriptStore.register_custom_action("late", lambda script_store, step: script_store)
    try:
        with Special(kernel=ScriptedKernel()) as store:
            assert store.exec_action({"action": "late"})["result"] is store
    finally:
        ScriptStore.unregister_custom_action("late")


def test_a_class_registration_is_copied_and_no_store_reaches_another(shout: str) -> None:
    with ScriptStore(kernel=ScriptedKernel()) as one, ScriptStore(kernel=ScriptedKernel()) as other:
        one._registry.register_handler(shout, lambda script_store, step: "whisper")
        one._registry.register_handler("mine", lambda script_store, step: script_store)
        ScriptStore.register_custom_action(shout, lambda script_store, step: "later")
        assert one.exec_action({"action": shout, "word": "hi"})["result"] == "whisper"
        assert other.exec_action({"action": shout, "word": "hi"})["result"] == "HI"
        assert one.exec_action({"action": "mine"})["result"] is one
        assert other.exec_action({"action": "mine"})["skipped"]


def test_a_subclass_that_registers_does_not_register_for_its_base(shout: str) -> None:
    class Special(ScriptStore):
        pass

    Special.register_custom_action("special", lambda script_store, step: 1)
    with Special(kernel=ScriptedKernel()) as special, ScriptStore(kernel=ScriptedKernel()) as plain:
        assert special.exec_action({"action": "special"})["result"] == 1
        assert special.exec_action({"action": shout, "word": "a"})["result"] == "A"
        assert plain.exec_action({"action": "special"})["skipped"]


@pytest.mark.parametrize(("name", "handler", "error"), [("", print, ValueError), ("x", "no function", TypeError)])
def test_what_cannot_be_registered_is_refused_at_once(
    store: ScriptStore, name: str, handler: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        ScriptStore.register_custom_action(name, handler)
    with pytest.raises(error):
        store._registry.register_handler(name, handler)


def test_a_registry_is_taken_over_with_its_handlers_and_hooks_and_stays_apart() -> None:
    registry, seen = ActionRegistry(), []

    @registry.register("count")
    def count(script_store: Any, step: Any) -> int:
        return len(script_store.document.cells)

    registry.add_pre_hook(lambda script_store, step: seen.append(step.action))
    with ScriptStore(kernel=ScriptedKernel(), registry=registry) as store:
        store.exec_action({"action": "add", "content": "text"})
        assert store.exec_action({"action": "count"})["result"] == 1
        with ScriptStore(kernel=ScriptedKernel(), registry=store.registry) as second:
            assert second.exec_action({"action": "count"})["result"] == 0
        store.registry.register_handler("own", lambda script_store, step: None)
    assert seen == ["add", "count", "count"]
    assert not registry.knows("own")


def test_hooks_come_before_and_after_every_action_with_store_and_result(store: ScriptStore) -> None:
    seen: list[Any] = []

    async def after(script_store: ScriptStore, step: Any, result: Any) -> None:
        seen.append(("after", script_store is store, step.action, result))

    store._registry.add_pre_hook(lambda script_store, step: seen.append(("before", script_store is store, step.action)))
    store._registry.add_post_hook(after)
    store._registry.register_handler("answer", lambda script_store, step: 42)
    store.exec_action({"action": "answer"})
    assert seen == [("before", True, "answer"), ("after", True, "answer", 42)]


def test_a_handler_or_hook_that_raises_is_an_error_result(store: ScriptStore) -> None:
    def explode(script_store: ScriptStore, step: Any) -> None:
        raise KeyError("boom")

    store._registry.register_handler("explode", explode)
    assert store.exec_action({"action": "explode"})["error_name"] == "KeyError"
    store._registry.add_pre_hook(explode)
    assert not store.exec_action({"action": "add", "content": "x"})["success"]
    assert len(store.document.cells) == 0


def test_a_handler_may_carry_out_actions_itself(store: ScriptStore) -> None:
    def report(script_store: ScriptStore, step: CustomAction) -> Any:
        script_store.exec_action({"action": "new_section", "content": "Report"})
        return run_code(script_store, "total = 1 + 1")["success"]

    async def twice(script_store: ScriptStore, step: CustomAction) -> list[bool]:
        results = await asyncio.gather(*[script_store.exec_action_async({"action": "report"}) for _ in range(2)])
        return [one["result"] for one in results]

    store._registry.register_handler("report", report)
    store._registry.register_handler("twice", twice)
    result = store.exec_action({"action": "twice"})
    assert result["result"] == [True, True]
    sources = [cell.source for cell in store.document.cells]
    assert sources == ["### Report", "total = 1 + 1"] * 2
    assert len({cell.id for cell in store.document.cells}) == 4


def test_an_async_handler_that_would_wait_for_itself_gets_an_error_not_a_deadlock(store: ScriptStore) -> None:
    async def wrong(script_store: ScriptStore, step: Any) -> Any:
        return script_store.exec_action({"action": "add", "content": "x"})

    store._registry.register_handler("wrong", wrong)
    assert "asynchronous form" in store.exec_action({"action": "wrong"})["error"]


def test_an_action_that_carries_itself_out_without_end_is_stopped(store: ScriptStore) -> None:
    depths = []

    def again(script_store: ScriptStore, step: Any) -> Any:
        inner = script_store.exec_action({"action": "again"})
        depths.append(inner["success"])
        return inner.get("error") or inner.get("result")

    store._registry.register_handler("again", again)
    assert "nested" in store.exec_action({"action": "again"})["result"]
    assert depths.count(False) == 1


def test_calls_of_many_threads_take_turns(store: ScriptStore) -> None:
    def one(number: int) -> bool:
        return bool(store.exec_action({"action": "new_section", "content": f"part {number}"})["success"])

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(one, range(40)))
    assert [cell.id for cell in store.document.cells] == [f"section-{number}" for number in range(1, 41)]


@pytest.mark.anyio
async def test_a_store_works_inside_a_running_loop_and_awaited_by_it(store: ScriptStore) -> None:
    assert run_code(store, "x = 1")["success"]
    assert (await store.exec_action_async({"action": "add", "content": "text"}))["success"]


def test_a_kernel_that_does_not_start_is_an_error_result() -> None:
    with ScriptStore(kernel=ScriptedKernel(start_failure="no room")) as store:
        result = run_code(store, "x = 1")
        assert "no room" in result["error"]
        assert not result["success"]


def test_a_kernel_that_died_is_rebuilt_from_the_cells_that_had_succeeded() -> None:
    with ScriptStore(kernel=ScriptedKernel(dies_at={2})) as store:
        run_code(store, "x = 41")
        died = run_code(store, "crash = True")
        assert died["error_name"] == "KernelDied"
        assert run_code(store, "y = x + 1")["success"]
        assert store.variables == {"x": 41, "y": 42}


def test_a_closed_store_can_be_read_and_saved_and_carries_nothing_out(store: ScriptStore, tmp_path: Path) -> None:
    store.exec_action({"action": "update_title", "title": "Kept"})
    run_code(store, "1 + 1")
    store.close()
    store.close()
    store.save(tmp_path / "kept.ipynb")
    notebook = json.loads((tmp_path / "kept.ipynb").read_bytes())
    assert [cell["source"] for cell in notebook["cells"]] == [["# Kept"], ["1 + 1"]]
    assert notebook["cells"][1]["outputs"]
    with pytest.raises(ActionRefused, match="closed"):
        store.exec_action({"action": "add", "content": "late"})


def test_a_forgotten_store_takes_its_thread_and_kernel_with_it() -> None:
    before, kernel = set(threading.enumerate()), ScriptedKernel()

    def use_and_forget() -> weakref.ref[ScriptStore]:
        store = ScriptStore(kernel=kernel)
        assert run_code(store, "x = 1")["success"]
        assert kernel.is_alive
        return weakref.ref(store)

    gone = use_and_forget()
    gc.collect()
    assert gone() is None
    assert not kernel.is_alive
    assert not [thread for thread in set(threading.enumerate()) - before if thread.name == "script store"]
