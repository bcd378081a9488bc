"""What each of the eleven actions does, and what happens around them."""

from __future__ import annotations

from typing import Any

import pytest

from engine.play import SKIP, Played, one_step, play, run_code, workflow
from notebook_bcc.engine.actions.builtin import BUILTIN_HANDLERS
from notebook_bcc.engine.actions.context import ActionContext
from notebook_bcc.engine.actions.registry import ActionRegistry
from notebook_bcc.journal.records import ActionCompleted, KernelLost, RepairTried, Warned
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.actions import BUILTIN_ACTIONS, Action, CustomAction
from notebook_bcc.protocol.limits import Limits, Policies
from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.vocabulary import CellType, State

pytestmark = pytest.mark.anyio


async def carried_out(*actions: Any, **more: Any) -> Played:
    return await play(one_step(list(actions)), policies=more.pop("policies", SKIP), **more)


def completed(played: Played) -> list[ActionCompleted]:
    return played.records(ActionCompleted)


async def test_every_builtin_action_has_exactly_one_handler() -> None:
    assert set(BUILTIN_HANDLERS) == set(BUILTIN_ACTIONS)
    assert set(ActionRegistry().names) == set(BUILTIN_ACTIONS)
    assert all(BUILTIN_HANDLERS[name].takes is BUILTIN_ACTIONS[name] for name in BUILTIN_ACTIONS)


@pytest.mark.parametrize(
    ("shot_type", "cell_type"), [("dialogue", "markdown"), ("observation", "markdown"), ("action", "code")]
)
async def test_a_shot_type_decides_the_kind_of_cell(shot_type: str, cell_type: str) -> None:
    played = await carried_out({"action": "add", "shot_type": shot_type, "content": "x"})
    assert [cell.type.value for cell in played.state.document.cells] == [cell_type]


@pytest.mark.parametrize(
    ("shot_type", "content", "expected"),
    [
        ("action", "```python\nx = 1\n```", "x = 1"),
        ("action", "```\nx = 1\ny = 2\n```\n", "x = 1\ny = 2"),
        ("action", "python\nx = 1", "x = 1"),
        ("action", ">>> x = 1\n... y = 2", "x = 1\ny = 2"),
        ("action", "s = '''\n```\n'''", "s = '''\n```\n'''"),
        ("dialogue", "```markdown\n# Hi\n```", "# Hi"),
        ("dialogue", "```python\nx = 1\n```", "```python\nx = 1\n```"),
        ("dialogue", ">>> quoted", "quoted"),
        ("dialogue", "a\n\n```\nb\n```\n\nc", "a\n\n```\nb\n```\n\nc"),
    ],
)
async def test_content_is_cleaned_of_fences_tags_and_prompts(shot_type: str, content: str, expected: str) -> None:
    played = await carried_out({"action": "add", "shot_type": shot_type, "content": content})
    assert played.sources == [expected]


async def test_a_store_id_becomes_the_cells_id() -> None:
    played = await carried_out(
        {"action": "add", "shot_type": "action", "content": "x = 1", "store_id": "code-1"},
        {"action": "exec", "codecell_id": "code-1"},
    )
    assert played.state.document.cell("code-1").execution_count == 1


@pytest.mark.parametrize("bad", ["taken", "has space", "", "x" * 65])
async def test_a_taken_or_invalid_store_id_is_an_error_that_adds_nothing(bad: str) -> None:
    played = await carried_out(
        {"action": "add", "content": "first", "store_id": "taken"},
        {"action": "add", "content": "second", "store_id": bad},
        policies=Policies(on_error="continue", on_unachieved="skip"),
    )
    assert [one.success for one in completed(played)] == [True, False]
    assert played.sources == ["first"]


async def test_last_added_cell_is_the_last_code_cell_not_the_last_cell() -> None:
    played = await carried_out(
        {"action": "add", "shot_type": "action", "content": "x = 41 + 1"},
        {"action": "add", "shot_type": "dialogue", "content": "text in between"},
        {"action": "exec", "codecell_id": "lastAddedCellId"},
    )
    assert played.state.kernel.variables == {"x": 42}


@pytest.mark.parametrize("cell_id", ["nobody", "lastAddedCellId", "text"])
async def test_executing_what_is_no_code_cell_is_an_error_result(cell_id: str) -> None:
    played = await carried_out(
        {"action": "add", "content": "text", "store_id": "text"}, {"action": "exec", "codecell_id": cell_id}
    )
    last = completed(played)[-1]
    assert not last.success
    assert last.error is not None
    assert cell_id in last.error
    assert played.feedback[0].errors[0].action == "exec"


async def test_executing_again_clears_the_old_outputs() -> None:
    played = await carried_out(
        {"action": "add", "shot_type": "action", "content": "n = globals().get('n', 0) + 1\nprint(n)", "store_id": "c"},
        {"action": "exec", "codecell_id": "c"},
        {"action": "exec", "codecell_id": "c"},
    )
    outputs = played.state.document.cell("c").outputs
    assert [one["text"] for one in outputs] == ["2\n"]


async def test_thinking_is_a_cell_of_its_own_until_it_is_finished() -> None:
    played = await carried_out(
        {"action": "is_thinking", "thinking_text": "hm", "agent_name": "Analyst", "text_array": ["a", "b"]},
        {"action": "finish_thinking"},
    )
    cell = played.state.document.cells.last
    assert cell is not None
    assert cell.type is CellType.THINKING
    assert cell.metadata["finished_thinking"] is True
    assert cell.metadata["agent_name"] == "Analyst"
    assert cell.metadata["text_array"] == ["a", "b"]
    assert played.state.document.thinking_id is None


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"thinking_text": "hm", "text_array": ["a", "b"]}, "hm\n\na\n\nb"),
        ({"text_array": ["a", "b"], "custom_text": "Looking"}, "a\n\nb"),
        ({"custom_text": "Looking"}, ""),
    ],
)
async def test_a_thought_shows_its_pieces_and_does_not_repeat_its_label(said: dict[str, Any], text: str) -> None:
    # Seed 003, is_thinking: text_array are pieces of the thought, custom_text is what is shown instead of "Thinking".
    played = await carried_out({"action": "is_thinking", **said})
    cell = played.state.document.cells.last
    assert cell is not None
    assert cell.source == text


async def test_what_an_exec_says_of_debugging_stands_at_its_cell() -> None:
    # Seed 003, exec: auto_debug and keep_debug_button_visible.
    played = await carried_out(
        *run_code("x = 1", auto_debug=True, keep_debug_button_visible=True), *run_code("y = 1", auto_debug=False)
    )
    first, second = played.state.document.cells
    assert {name: first.metadata[name] for name in ("auto_debug", "keep_debug_button_visible")} == {
        "auto_debug": True,
        "keep_debug_button_visible": True,
    }
    assert "auto_debug" not in second.metadata


async def test_finishing_a_thought_nobody_had_is_an_error_result() -> None:
    played = await carried_out({"action": "finish_thinking"})
    assert "no thinking cell" in (completed(played)[0].error or "")


async def test_chapters_and_sections_number_themselves() -> None:
    played = await carried_out(
        {"action": "new_chapter", "content": "One"},
        {"action": "new_section", "content": "First"},
        {"action": "new_section", "content": "## Second"},
        {"action": "new_chapter", "content": "Two"},
    )
    cells = list(played.state.document.cells)
    assert [cell.id for cell in cells] == ["chapter-1", "section-1", "section-2", "chapter-2"]
    assert [cell.source for cell in cells] == ["## One", "### First", "### Second", "## Two"]
    assert cells[2].metadata["section_number"] == 2
    assert cells[3].metadata["chapter_id"] == "chapter-2"


async def test_the_title_is_in_the_metadata_and_in_the_first_heading() -> None:
    played = await carried_out(
        {"action": "add", "content": "intro"},
        {"action": "update_title", "title": "Sales"},
        {"action": "update_title", "title": "Sales 2026"},
    )
    assert played.state.document.title == "Sales 2026"
    assert played.sources == ["# Sales 2026", "intro"]


async def test_a_malformed_action_is_an_error_result_with_its_id() -> None:
    played = await carried_out({"action": "exec"}, policies=Policies(on_error="continue", on_unachieved="skip"))
    result = completed(played)[0]
    assert (result.success, result.action_id) == (False, "action-1")
    assert "codecell_id" in (result.error or "")


@pytest.mark.parametrize("data", [{"content": "no type"}, "text", None, 7, [], {"action": ""}, {"action": 3}])
async def test_what_is_no_action_at_all_is_an_error_result(data: Any) -> None:
    played = await carried_out(data)
    assert completed(played)[0].error_name == "ActionMalformed"


async def test_an_unregistered_type_is_a_warning_and_skipped() -> None:
    played = await carried_out({"action": "dance", "steps": 3}, *run_code("x = 1"))
    assert completed(played)[0].skipped
    assert completed(played)[0].success
    assert any("dance" in one.message for one in played.records(Warned))
    assert played.state.kernel.variables == {"x": 1}


async def test_strict_actions_make_an_unregistered_type_an_error() -> None:
    policies = Policies(strict_actions=True, on_unachieved="skip")
    played = await carried_out({"action": "dance"}, policies=policies)
    assert not completed(played)[0].success


async def test_a_custom_action_is_carried_out_by_its_handler_and_its_result_recorded() -> None:
    registry = ActionRegistry()

    @registry.register("greet")
    def greet(context: ActionContext, action: CustomAction) -> dict[str, Any]:
        context.add_cell(CellType.MARKDOWN, f"hello {(action.model_extra or {})['who']}")
        return {"greeted": True}

    async def count(context: ActionContext, action: CustomAction) -> int:
        cell_id = context.add_cell(CellType.CODE, "total = 6 * 7")
        await context.run_cell(cell_id)
        return 1

    registry.register_handler("count", count)
    played = await carried_out({"action": "greet", "who": "you"}, {"action": "count"}, registry=registry)
    assert played.sources == ["hello you", "total = 6 * 7"]
    assert completed(played)[0].result == {"greeted": True}
    assert played.state.kernel.variables == {"total": 42}


@pytest.mark.parametrize(("second", "back"), [("second = 2", {"first": 1, "second": 2}), ("1/0", {"first": 1})])
async def test_every_cell_that_a_handler_ran_without_an_error_comes_back_with_a_new_kernel(
    second: str, back: dict[str, int]
) -> None:
    registry = ActionRegistry()

    @registry.register("two")
    async def two(context: ActionContext, action: CustomAction) -> None:
        for source in ("first = 1", second):
            await context.run_cell(context.add_cell(CellType.CODE, source))

    behaviors = [[{"action": "two"}], run_code("crash = 1"), run_code("z = first")]
    planner = CallablePlanner(
        plan=lambda request: {
            "transition": {"continue_behaviors": request.observation.location.current.step_id is not None}
        },
        generate=lambda request: behaviors.pop(0),
    )
    kernel, limits = ScriptedKernel(dies_at={3}), Limits(behaviors_per_step=3)
    played = await play(planner, kernel=kernel, registry=registry, limits=limits, start={"workflow": workflow("step")})
    assert played.state.kernel.losses == 1
    assert played.state.kernel.variables == {**back, "z": 1}
    assert played.state.kernel.differences == ()


async def test_what_one_run_registers_no_other_run_sees() -> None:
    registry = ActionRegistry()
    registry.register_handler("mine", lambda context, action: None)
    assert not ActionRegistry().knows("mine")


async def test_a_handler_that_raises_is_an_error_result_and_the_run_lives_on() -> None:
    registry = ActionRegistry()

    @registry.register("explode")
    def explode(context: ActionContext, action: CustomAction) -> None:
        raise KeyError("boom")

    played = await carried_out({"action": "explode"}, registry=registry)
    assert completed(played)[0].error_name == "KeyError"
    assert played.state.fsm is State.WORKFLOW_COMPLETED


async def test_hooks_run_around_every_action_in_order() -> None:
    registry, calls = ActionRegistry(), []
    registry.add_pre_hook(lambda context, action: calls.append(f"pre {action.action}"))

    async def after(context: ActionContext, action: Action, result: Any) -> None:
        calls.append(f"post {action.action}")

    registry.add_post_hook(after)
    await carried_out(*run_code("x = 1"), registry=registry)
    assert calls == ["pre add", "post add", "pre exec", "post exec"]


@pytest.mark.parametrize("when", ["pre", "post"])
async def test_a_hook_that_raises_makes_the_action_an_error_result(when: str) -> None:
    registry = ActionRegistry()

    def refuse(*anything: Any) -> None:
        raise RuntimeError("not today")

    (registry.add_pre_hook if when == "pre" else registry.add_post_hook)(refuse)
    played = await carried_out({"action": "add", "content": "x"}, registry=registry)
    assert "not today" in (completed(played)[0].error or "")
    assert len(played.sources) == (0 if when == "pre" else 1)


async def test_auto_debug_repairs_a_cell_and_keeps_the_failed_attempts_in_the_journal_only() -> None:
    behavior = Behavior(
        [
            {"action": "add", "shot_type": "action", "content": "y = x + 1", "store_id": "c"},
            {"action": "exec", "codecell_id": "c", "auto_debug": True},
        ],
        repairs={"c": ["y = z + 1", "y = 2"]},
    )
    played = await play(one_step(behavior))
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert played.sources == ["y = 2"]
    assert [one.source for one in played.records(RepairTried)] == ["y = x + 1", "y = z + 1"]
    assert completed(played)[-1].success


async def test_every_question_for_a_repair_has_an_id_and_the_same_question_the_same_one() -> None:
    def behavior() -> Behavior:
        debugged = {"action": "exec", "codecell_id": "c", "auto_debug": True}
        made = {"action": "add", "shot_type": "action", "content": "y = x + 1", "store_id": "c"}
        return Behavior([made, debugged], repairs={"c": ["y = z + 1", "y = 2"]})

    first, again = [(await play(one_step(behavior()))).planner.repaired for _ in range(2)]
    options = [request.options for request in first]
    assert [(one.run_id, one.attempt) for one in options] == [("run", 1)] * 2
    ids = [one.request_id or "" for one in options]
    assert len(set(ids)) == 2
    assert all(one.startswith("run.") and ".repair.c." in one for one in ids)
    assert ids == [request.options.request_id for request in again]


@pytest.mark.parametrize("repairs", [[], ["1/0"], ["1/0 # a", "1/0 # b", "1/0 # c", "1/0 # d"]])
async def test_auto_debug_gives_up_without_a_better_idea_or_after_enough_attempts(
    repairs: list[str],
) -> None:
    behavior = Behavior(
        [
            {"action": "add", "shot_type": "action", "content": "1/0", "store_id": "c"},
            {"action": "exec", "codecell_id": "c", "auto_debug": True},
        ],
        repairs={"c": repairs},
    )
    played = await play(one_step(behavior), policies=SKIP)
    assert not completed(played)[-1].success
    assert len(played.records(RepairTried)) <= 4


async def test_a_cell_that_takes_the_kernel_with_it_is_told_to_the_planner_and_the_kernel_is_rebuilt() -> None:
    kernel = ScriptedKernel(dies_at={2})
    played = await play(
        one_step(run_code("x = 1", "crash = 1"), run_code("y = x + 1")),
        kernel=kernel,
        policies=Policies(on_unachieved="skip"),
    )
    told = played.feedback[0]
    assert "KernelDied" not in told.last_action_result
    assert "killed by signal 9" in told.last_action_result
    assert played.state.kernel.losses == 1
    died = completed(played)[3]
    assert died.kernel_died
    assert died.error_name == "KernelDied"


async def test_the_namespace_is_rebuilt_after_the_kernel_died_and_work_goes_on() -> None:
    behaviors = [Behavior(run_code("x = 1", "crash = 1"), on_error=run_code("y = x + 1"))]
    played = await play(one_step(*behaviors), kernel=ScriptedKernel(dies_at={2}))
    assert played.state.kernel.variables == {"x": 1, "y": 2}
    assert played.state.fsm is State.WORKFLOW_COMPLETED


@pytest.mark.parametrize("context_filter", [None, {"variables_to_summarize": {"x": "shape_only"}}])
async def test_a_kernel_that_dies_while_nothing_runs_is_rebuilt_and_no_cell_has_failed(context_filter: Any) -> None:
    kernel = ScriptedKernel()
    behaviors = [run_code("x = [1, 2]"), run_code("y = x")]

    async def judge(request: Request) -> dict[str, Any]:
        if request.behavior_feedback is None:
            return {}
        if not behaviors:
            return {"targetAchieved": True}
        await kernel.close()
        return {"transition": {"continue_behaviors": True}, "context_filter": context_filter}

    planner = CallablePlanner(plan=judge, generate=lambda request: behaviors.pop(0))
    played = await play(planner, kernel=kernel, start={"workflow": workflow("step")})
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert len(played.records(KernelLost)) == 1
    assert all(one.success for one in completed(played))
    assert played.state.kernel.variables == {"x": [1, 2], "y": [1, 2]}
