"""What the documents show of the Python API, carried out: the same calls, on stories of our own, in a real kernel."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from notebook_bcc import (
    ActionMetadata,
    ActionRegistry,
    ApiClient,
    CallablePlanner,
    LocalKernel,
    MemoryJournal,
    Runner,
    RunStarted,
    ScriptStore,
    SectionProgress,
    StateMachine,
    Workflow,
    WorkflowContext,
    WorkflowEvent,
    prepare_generating_payload,
    visualize_state_machine,
)
from notebook_bcc.errors import PlannerUnreachable
from notebook_bcc.protocol.messages import Request

LOADING: list[dict[str, Any]] = [
    {"action": "new_chapter", "content": "Prices"},
    {"action": "add", "shot_type": "dialogue", "content": "First the rows are read."},
    {"action": "add", "shot_type": "action", "content": "rows = [3, 5, 8]\nprint(len(rows), 'rows')"},
    {"action": "exec", "codecell_id": "lastAddedCellId", "need_output": True},
    {"action": "is_thinking", "thinking_text": "Which of them are too high?", "agent_name": "Analyst"},
    {"action": "finish_thinking"},
    {"action": "add", "shot_type": "observation", "content": "There are three rows."},
    {"action": "end_phase", "step_id": "load"},
]


@pytest.fixture(scope="module")
def shared_store() -> Iterator[ScriptStore]:
    with ScriptStore() as store:
        yield store


def judge(request: Request) -> dict[str, Any]:
    """The step is reached once its variable exists; a behavior that failed is followed by another."""
    reached = "rows" in request.observation.context.variables
    return {"targetAchieved": reached, "transition": {"continue_behaviors": not reached, "target_achieved": reached}}


def test_001_the_core_values_are_made_by_keyword() -> None:
    context = WorkflowContext(
        current_stage_id="chapter_0_planning",
        current_step_id="section_1_design",
        current_behavior_id="behavior_001",
        current_behavior_actions=list(LOADING),
        current_action_index=0,
    )
    context.current_action_index += 1
    assert context.current_behavior_actions[context.current_action_index]["action"] == "add"

    sections = SectionProgress(
        current_section_id="data_loading",
        current_section_number=2,
        completed_sections=["introduction"],
        all=["introduction", "data_loading", "modeling"],
    )
    assert [name for name in sections.all if name not in sections.completed_sections] == ["data_loading", "modeling"]

    metadata = ActionMetadata(
        is_step=False, is_chapter=False, is_section=True, section_id="data_assessment", section_number=2
    )
    assert (metadata.is_section, metadata.section_id, metadata.section_number) == (True, "data_assessment", 2)
    assert ActionMetadata().section_id is None


def test_002_a_step_goes_from_planning_over_actions_and_feedback_to_its_end(state: dict[str, Any]) -> None:
    machine = StateMachine(state="step_running")
    planner = CallablePlanner(plan=judge, generate=lambda request: LOADING)
    with ApiClient(planner=planner) as api_client, ScriptStore() as script_store:
        response = api_client.send_feedback_sync(stage_id="prices", step_id="load", state={**state, "variables": {}})
        assert not response["targetAchieved"]
        machine.transition(WorkflowEvent.START_BEHAVIOR)
        actions = api_client.fetch_behavior_actions_sync(stage_id="prices", step_id="load", state=state, stream=True)
        machine.transition(WorkflowEvent.START_ACTION)
        results = []
        for number, action in enumerate(actions):
            results.append(script_store.exec_action(action))
            machine.transition(WorkflowEvent.COMPLETE_ACTION)
            if number < len(actions) - 1:
                machine.transition(WorkflowEvent.NEXT_ACTION)
        machine.transition(WorkflowEvent.COMPLETE_BEHAVIOR)
        feedback = api_client.send_feedback_sync(
            stage_id="prices",
            step_id="load",
            state={"progress_info": state["progress_info"], **script_store.get_context()},
            behavior_feedback={
                "behavior_id": "behavior_001",
                "actions_executed": len(actions),
                "actions_succeeded": sum(result["success"] for result in results),
                "sections_added": 0,
                "last_action_result": "success",
            },
        )
        assert not feedback["transition"]["continue_behaviors"]
        assert feedback["transition"]["target_achieved"]
        assert machine.transition(WorkflowEvent.COMPLETE_STEP)
        assert script_store.variables == {"rows": [3, 5, 8]}
    assert machine.get_state() == "step_completed"
    assert machine.refused == []
    assert all(result["success"] for result in results)


@pytest.mark.anyio
async def test_002_both_ways_of_fetching_give_the_same_actions(state: dict[str, Any]) -> None:
    api_client = ApiClient(planner=CallablePlanner(plan=judge, generate=lambda request: LOADING))
    streamed = [action async for action in api_client.fetch_behavior_actions("prices", "load", state, stream=True)]
    response = api_client.fetch_behavior_actions_sync("prices", "load", state, stream=False)
    assert streamed == response["actions"] == LOADING


def test_003_a_typical_sequence_of_actions_builds_and_runs_a_notebook(shared_store: ScriptStore) -> None:
    results = [shared_store.exec_action(action) for action in LOADING]
    assert all(result["success"] for result in results)
    assert results[3]["outputs"] == [{"output_type": "stream", "name": "stdout", "text": "3 rows\n"}]
    assert results[-1]["end_phase"]
    types = [cell.type.value for cell in shared_store.document.cells]
    assert types == ["markdown", "markdown", "code", "thinking", "markdown"]


def test_003_code_that_fails_is_told_with_the_id_of_its_action(shared_store: ScriptStore) -> None:
    shared_store.exec_action({"action": "add", "shot_type": "action", "content": "undefined_name", "store_id": "wrong"})
    result = shared_store.exec_action({"action": "exec", "codecell_id": "wrong"})
    assert result["success"] is False
    assert "NameError" in result["error"]
    assert result["action_id"].startswith("action-")


def test_003_missing_fields_are_errors_and_unknown_types_are_skipped(shared_store: ScriptStore) -> None:
    assert "codecell_id" in shared_store.exec_action({"action": "exec"})["error"]
    assert shared_store.exec_action({"action": "custom_action"})["skipped"]


def test_003_an_update_of_the_workflow_tells_the_state_machine_to_wait(shared_store: ScriptStore) -> None:
    machine = StateMachine(state="action_running")
    plan = {"name": "Updated", "stages": [{"id": "stage1", "name": "Stage 1", "steps": [{"id": "step1"}]}]}
    result = shared_store.exec_action({"action": "update_workflow", "updated_workflow": plan})
    if result["workflow_update_pending"]:
        machine.transition("UPDATE_WORKFLOW")
    assert machine.get_state() == "workflow_update_pending"
    shared_store.confirm_update()
    machine.transition("UPDATE_WORKFLOW_CONFIRMED")
    assert machine.get_state() == "action_completed"
    assert shared_store.workflow == Workflow.parse(plan)


def test_003_custom_actions_are_registered_in_three_ways() -> None:
    def my_handler(script_store: ScriptStore, step: Any) -> str:
        script_store.exec_action({"action": "add", "shot_type": "action", "content": f"answer = {step.value} * 2"})
        script_store.exec_action({"action": "exec", "codecell_id": "lastAddedCellId"})
        return f"{step.action}: {script_store.variables['answer']}"

    ScriptStore.register_custom_action("for_all", my_handler)
    registry = ActionRegistry()

    @registry.register("decorated")
    def decorated(script_store: Any, step: Any) -> Any:
        return my_handler(script_store, step)

    try:
        with ScriptStore(registry=registry) as store:
            store._registry.register_handler("for_one", my_handler)
            told = [
                store.exec_action({"action": name, "value": value})["result"]
                for name, value in [("for_all", 1), ("for_one", 2), ("decorated", 3)]
            ]
    finally:
        ScriptStore.unregister_custom_action("for_all")
    assert told == ["for_all: 2", "for_one: 4", "decorated: 6"]


def test_004_the_machine_answers_where_it_is_and_whether_it_runs(caplog: pytest.LogCaptureFixture) -> None:
    state_machine = StateMachine()
    assert (state_machine.get_state(), state_machine.is_running()) == ("idle", False)
    assert state_machine.transition("START_WORKFLOW") is True
    assert (state_machine.get_state(), state_machine.is_running()) == ("stage_running", True)
    with caplog.at_level(logging.WARNING):
        assert state_machine.transition("NEXT_ACTION") is False
    assert "stage_running --NEXT_ACTION--> ?" in caplog.text
    assert state_machine.get_state() == "stage_running"
    assert "Current State: stage_running" in visualize_state_machine(state_machine)


@pytest.mark.parametrize(
    ("recoverable", "state"), [(True, "behavior_running"), (False, "idle")], ids=["restarted", "reset"]
)
def test_004_an_error_is_left_by_a_restart_or_a_reset(recoverable: bool, state: str) -> None:
    state_machine = StateMachine(state="action_running")
    state_machine.transition("FAIL")
    assert not state_machine.is_running()
    assert state_machine.transition("START_BEHAVIOR" if recoverable else "RESET")
    assert state_machine.get_state() == state


def test_004_planning_is_tried_again_by_whoever_calls_it(state: dict[str, Any]) -> None:
    asked: list[Request] = []

    def busy_twice(request: Request) -> dict[str, Any]:
        asked.append(request)
        if len(asked) < 3:
            raise PlannerUnreachable(planner="busy", reason="come back")
        return {"targetAchieved": True}

    def with_retry(client: ApiClient, retries: int) -> dict[str, Any]:
        for _ in range(retries):
            try:
                return client.send_feedback_sync("prices", "load", state)
            except PlannerUnreachable:
                continue
        return {"targetAchieved": False, "transition": {"continue_behaviors": False, "target_achieved": False}}

    with ApiClient(planner=CallablePlanner(plan=busy_twice, generate=lambda request: [])) as client:
        assert with_retry(client, 2)["targetAchieved"] is False
        assert with_retry(client, 2)["targetAchieved"] is True


def test_000_a_filtered_payload_is_made_of_what_really_is_in_the_kernel(state: dict[str, Any]) -> None:
    with ScriptStore() as store:
        source = "missing = {'PoolQC': 1453}\nbig = list(range(5000))\nprint('counted')"
        store.exec_action({"action": "add", "shot_type": "action", "content": source})
        store.exec_action({"action": "exec", "codecell_id": "lastAddedCellId"})
        observation = {"location": state["progress_info"], "context": store.get_context()}
    payload = prepare_generating_payload(
        observation, {"variables_to_include": ["missing", "df"], "variables_to_summarize": {"big": "shape_only"}}
    )
    context = payload["observation"]["context"]
    assert context["variables"] == {"missing": {"PoolQC": 1453}, "big": "list(5000)"}
    assert context["effects"]["current"][0] == "counted"
    assert "'df'" in context["effects"]["current"][1]


@pytest.mark.anyio
async def test_a_whole_run_is_made_of_the_front_doors_names() -> None:
    plan = Workflow.parse({"name": "prices", "stages": [{"id": "prices", "steps": [{"id": "load"}]}]})
    kernel, journal = LocalKernel(), MemoryJournal()
    planner = CallablePlanner(plan=judge, generate=lambda request: LOADING[:4])
    runner = Runner(planner=planner, kernel=kernel, journal=journal)
    try:
        await runner.begin(RunStarted(run_id="run-1", workflow=plan))
        events = [entry.record.kind async for entry in runner.run()]
    finally:
        await kernel.close()
    assert events[-1] == "run_stopped"
    assert runner.state.fsm == "workflow_completed"
    assert runner.state.variables == {"rows": [3, 5, 8]}
