"""The planner of a playbook: what it answers follows from the request alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from engine.play import AUTO, play
from notebook_bcc.errors import EvidenceMissing, PlannerAnswerInvalid, PositionUnknown
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import PlanUpdateDecided, RunResumed, RunStopped
from notebook_bcc.planners.interface import ActionData
from notebook_bcc.playbook.check import load_playbook
from notebook_bcc.playbook.folder import open_playbook
from notebook_bcc.playbook.planner import PlaybookPlanner
from notebook_bcc.protocol.limits import Policies
from notebook_bcc.protocol.messages import ActionProblem, BehaviorFeedback, Request
from notebook_bcc.protocol.observation import (
    Context,
    Current,
    FsmView,
    Goals,
    LevelProgress,
    Location,
    Observation,
    Progress,
)
from notebook_bcc.protocol.tracking import CompletedItem
from notebook_bcc.protocol.vocabulary import Level, State, TodoOperation
from playbook.books import SOUND, files, planner

pytestmark = pytest.mark.anyio

INPUTS = {"data": "a b c"}
GOOD = BehaviorFeedback(actions_executed=1, actions_succeeded=1)


def level(done: Sequence[str] = (), current: str | None = None, remaining: Sequence[str] = ()) -> LevelProgress:
    completed = tuple(CompletedItem(id=each) for each in done)
    return LevelProgress(completed=completed, current=current, remaining=tuple(remaining))


def request(
    state: State,
    *,
    stage: str | None = "load",
    step: str | None = None,
    behavior: str | None = None,
    stages: LevelProgress | None = None,
    steps: LevelProgress | None = None,
    feedback: BehaviorFeedback | None = None,
    goal: str = "",
    **variables: Any,
) -> Request:
    location = Location(
        current=Current(stage_id=stage, step_id=step, behavior_id=behavior, behavior_iteration=1),
        progress=Progress(stages=stages or level(current=stage, remaining=["model"]), steps=steps or level()),
        goals=Goals(workflow=goal or None),
    )
    context = Context(variables={"inputs": INPUTS, **variables}, fsm=FsmView(state=state))
    return Request(observation=Observation(location=location, context=context), behavior_feedback=feedback)


def ended(behavior: str, *, feedback: BehaviorFeedback = GOOD, **variables: Any) -> Request:
    step = behavior.partition(".")[0]
    return request(State.BEHAVIOR_COMPLETED, step=step, behavior=behavior, feedback=feedback, **variables)


async def content(asked: Request) -> list[dict[str, Any]]:
    items = [each async for each in planner().generate(asked)]
    return [each.data for each in items if isinstance(each, ActionData)]


async def test_the_plan_has_the_stages_whose_rule_holds_and_the_steps_of_the_first() -> None:
    answer = await planner().plan(request(State.IDLE, stage=None))
    plan = answer.context_update.workflow_update
    assert plan is not None
    assert [stage.id for stage in plan.stages] == ["load", "model"]
    assert [step.id for step in plan.stages[0].steps] == ["read", "target", "change"]
    assert plan.stages[0].steps[0].expected_outputs == ("table", "rows")
    assert plan.stages[1].steps == ()
    assert plan.name == "Test"
    todo = answer.context_update.todo_list_update
    assert todo is not None
    assert (todo.operation, todo.items) == (TodoOperation.REPLACE, ("Load it",))


async def test_texts_are_in_the_language_of_the_run() -> None:
    answer = await planner().plan(request(State.IDLE, stage=None, inputs={"data": "x", "lang": "zh"}))
    plan = answer.context_update.workflow_update
    assert plan is not None
    assert (plan.name, plan.stages[0].goal) == ("测试", "得到表。")
    asked = request(State.BEHAVIOR_RUNNING, step="read", behavior="read.1", inputs={"data": "x", "lang": "zh"})
    assert (await content(asked))[1]["content"] == "关于 x。"


async def test_an_unknown_language_is_the_first_one() -> None:
    answer = await planner().plan(request(State.IDLE, stage=None, inputs={"data": "x", "lang": "fr"}))
    plan = answer.context_update.workflow_update
    assert plan is not None
    assert plan.name == "Test"


async def test_the_steps_of_a_stage_come_when_it_begins() -> None:
    asked = request(State.STAGE_RUNNING, stage="model", stages=level(["load"], "model"), rows=3, target="a")
    answer = await planner().plan(asked)
    steps = answer.context_update.stage_steps_update
    assert steps is not None
    assert (steps.stage_id, [step.id for step in steps.steps]) == ("model", ["fit"])
    assert not answer.target_achieved


async def test_a_stage_in_which_nothing_applies_is_achieved() -> None:
    asked = request(State.STAGE_RUNNING, stage="model", stages=level(["load"], "model"), rows=3)
    answer = await planner().plan(asked)
    assert answer.target_achieved
    assert answer.context_update.stage_steps_update is None


async def test_a_stage_that_has_steps_keeps_them() -> None:
    asked = request(State.STAGE_RUNNING, steps=level(remaining=["read"]))
    answer = await planner().plan(asked)
    assert answer.context_update.stage_steps_update is None
    assert answer.context_update.progress_updates[0].focus == "Look first."


async def test_a_step_begins_with_its_first_behavior_and_what_that_promises() -> None:
    answer = await planner().plan(request(State.STEP_RUNNING, step="read", steps=level(current="read")))
    assert answer.behavior is not None
    assert answer.behavior.id == "read.1"
    assert not answer.target_achieved
    (update,) = answer.context_update.progress_updates
    assert (update.level, update.goal, update.expected_outputs) == (
        Level.BEHAVIORS,
        "Read the file.",
        ("table", "rows"),
    )
    assert answer.context_filter is not None
    assert answer.context_filter.variables_to_include == ("inputs",)
    tracking = answer.context_filter.outputs_tracking
    assert tracking is not None
    assert tracking.expected_variables == ("table", "rows")
    assert answer.metadata.estimated_remaining_behaviors == 2


async def test_the_request_for_content_holds_what_its_templates_read() -> None:
    answer = await planner().plan(ended("read.1", rows=3, table=["a"], other=1))
    assert answer.transition.continue_behaviors
    assert answer.behavior is not None
    assert (answer.behavior.id, answer.behavior.target) == ("read.2", "Say that 3 rows are many.")
    assert answer.context_filter is not None
    assert answer.context_filter.variables_to_include == ("inputs", "rows")


async def test_a_behavior_whose_rule_does_not_hold_is_passed_over() -> None:
    answer = await planner().plan(ended("read.1", rows=2))
    assert answer.target_achieved
    todo = answer.context_update.todo_list_update
    assert todo is not None
    assert (todo.operation, todo.items) == (TodoOperation.REMOVE, ("Load it",))


async def test_cells_and_texts_are_written_with_what_is_known() -> None:
    asked = request(State.BEHAVIOR_RUNNING, step="read", behavior="read.1")
    assert await content(asked) == [
        {"action": "new_chapter", "content": "Load"},
        {"action": "add", "content": "About a b c.", "shot_type": "dialogue"},
        {"action": "add", "content": 'table = "a b c".split()\nrows = len(table)', "shot_type": "action"},
        {"action": "exec", "codecell_id": "lastAddedCellId"},
    ]
    for rows, texts in ((3, ["3 rows.", "Odd."]), (4, ["4 rows."])):
        asked = request(State.BEHAVIOR_RUNNING, step="read", behavior="read.2", rows=rows)
        assert [each["content"] for each in await content(asked)] == texts


@pytest.mark.parametrize(
    ("feedback", "variables", "reason"),
    [
        (GOOD, {"rows": 0}, "There are no rows in a b c."),
        (
            BehaviorFeedback(errors=(ActionProblem(action_id="a", action="exec", error="NameError: x"),)),
            {"rows": 3},
            "exec: NameError: x",
        ),
        (BehaviorFeedback(missing_outputs=("rows",)), {}, "missing outputs: rows"),
        (BehaviorFeedback(last_action_result="error"), {"rows": 3}, "the last action failed"),
    ],
)
async def test_what_went_wrong_leads_to_on_error_and_then_to_a_reason(
    feedback: BehaviorFeedback, variables: dict[str, Any], reason: str
) -> None:
    first = await planner().plan(ended("read.1", feedback=feedback, **variables))
    assert first.transition.continue_behaviors
    assert first.behavior is not None
    assert first.behavior.id == "read.1.recovery"
    assert first.context_filter is not None
    assert "playbook_problems" in (first.context_filter.variables_to_include or ())
    told = first.context_update.variables
    asked = request(State.BEHAVIOR_RUNNING, step="read", behavior="read.1.recovery", **told)
    (recovery,) = await content(asked)
    assert recovery["content"].replace("\\", "") == f"It failed: {reason}"
    again = await planner().plan(ended("read.1.recovery", feedback=feedback, **variables))
    assert not again.target_achieved
    assert not again.transition.continue_behaviors
    assert again.metadata.reason == reason


async def test_a_question_stands_alone_and_stops_the_run_until_it_is_answered() -> None:
    asks = await planner().plan(ended("target.1", rows=3))
    assert asks.behavior is not None
    assert asks.behavior.id == "target.2"
    (note,) = await content(request(State.BEHAVIOR_RUNNING, step="target", behavior="target.2", rows=3))
    assert note["content"] == "Which of the 3?"
    waits = await planner().plan(ended("target.2", rows=3))
    assert not waits.target_achieved
    assert not waits.transition.continue_behaviors
    question = waits.metadata.question
    assert question is not None
    assert (question.text, question.options, question.input) == ("Which of the 3?", ("a", "b"), "target")
    answered = await planner().plan(ended("target.2", rows=3, inputs={**INPUTS, "target": "b"}))
    assert answered.behavior is not None
    assert answered.behavior.id == "target.3"


@pytest.mark.parametrize("empty", ["", None])
async def test_an_empty_answer_is_none(empty: str | None) -> None:
    waits = await planner().plan(ended("target.2", rows=3, inputs={**INPUTS, "target": empty}))
    assert waits.metadata.question is not None
    assert waits.metadata.question.input == "target"


async def test_an_input_that_is_known_asks_nothing() -> None:
    answer = await planner().plan(ended("target.1", rows=3, inputs={**INPUTS, "target": "b"}))
    assert answer.behavior is not None
    assert answer.behavior.id == "target.3"


async def test_a_plan_is_changed_only_where_the_rules_ask_for_it() -> None:
    steps = level(["read", "target"], "change")
    same = request(State.BEHAVIOR_RUNNING, step="change", behavior="change.1", steps=steps, rows=2)
    assert await content(same) == []
    more = request(State.BEHAVIOR_RUNNING, step="change", behavior="change.1", steps=steps, rows=3)
    note, change = await content(more)
    assert note["content"] == "The rules say so."
    assert change["action"] == "update_stage_steps"
    assert [step["id"] for step in change["updated_steps"]] == ["read", "target", "extra", "change"]
    fewer = request(State.BEHAVIOR_RUNNING, step="change", behavior="change.1", steps=steps, rows=1)
    (change,) = await content(fewer)
    assert change["action"] == "update_workflow"
    assert [stage["id"] for stage in change["updated_workflow"]["stages"]] == ["load"]


async def test_the_rules_of_a_change_are_part_of_what_is_asked_for() -> None:
    asked = request(State.STEP_RUNNING, step="change", steps=level(["read"], "change"), rows=3, target="a", other=1)
    answer = await planner().plan(asked)
    assert answer.context_filter is not None
    assert answer.context_filter.variables_to_include == ("inputs", "rows")


async def test_the_time_that_is_left_shrinks_as_steps_are_done() -> None:
    found = []
    for steps in (level(remaining=["target"], current="read"), level(["read"], "target")):
        asked = request(State.STEP_RUNNING, step=steps.current, steps=steps, rows=3)
        found.append((await planner().plan(asked)).metadata)
    assert [one.estimated_remaining_seconds for one in found] == [2 + 6 + 10, 6 + 10]
    assert [one.estimated_done_seconds for one in found] == [0, 2]


async def test_of_a_finished_stage_all_is_done_and_of_a_running_step_its_behaviors() -> None:
    asked = request(State.STAGE_RUNNING, stage="model", stages=level(["load"], "model"), rows=3)
    metadata = (await planner().plan(asked)).metadata
    assert (metadata.estimated_done_seconds, metadata.estimated_remaining_seconds) == (2 + 6, 10)
    steps = level(current="read", remaining=["target"])
    asked = request(
        State.BEHAVIOR_COMPLETED, step="read", behavior="read.1", steps=steps, feedback=GOOD, rows=3, table=1
    )
    metadata = (await planner().plan(asked)).metadata
    assert metadata.estimated_remaining_behaviors == 1
    assert (metadata.estimated_done_seconds, metadata.estimated_remaining_seconds) == (1, 1 + 6 + 10)


@pytest.mark.parametrize("hint", ["v.rows * 2", "10 if v.rows < 5 else 400", "4 if v.rows else 2"])
async def test_there_is_no_estimate_while_a_hint_speaks_of_what_is_not_known(hint: str) -> None:
    book = load_playbook(files(stages__load=SOUND["stages/load.yaml"].replace("v.rows * 2", hint)))
    steps = level(current="read", remaining=["target"])
    unread = request(State.STEP_RUNNING, step="read", steps=steps)
    assert (await PlaybookPlanner(book).plan(unread)).metadata.estimated_remaining_seconds is None
    read = request(State.STEP_RUNNING, step="read", steps=steps, rows=3)
    assert (await PlaybookPlanner(book).plan(read)).metadata.estimated_remaining_seconds is not None
    assert (await planner().plan(request(State.IDLE, stage=None))).metadata.estimated_remaining_seconds is None


async def test_a_hint_with_a_default_is_an_estimate_at_once_and_a_better_one_later() -> None:
    hint = "v.rows * (1 + v.table | default([]) | length)"
    book = load_playbook(files(stages__load=SOUND["stages/load.yaml"].replace("v.rows * 2", hint)))
    steps = level(current="read", remaining=["target"])
    found = []
    for known in ({}, {"rows": 3}, {"rows": 3, "table": ["a", "b"]}):
        asked = request(State.STEP_RUNNING, step="read", steps=steps, **known)
        found.append((await PlaybookPlanner(book).plan(asked)).metadata.estimated_remaining_seconds)
    assert found == [None, 2 + 3 + 10, 2 + 9 + 10]


async def test_a_rule_that_fails_on_these_facts_is_an_error_with_its_line() -> None:
    with pytest.raises(PlannerAnswerInvalid, match=r"stages/load\.yaml, line 16"):
        await planner().plan(ended("read.1", rows="DataFrame(3x1)"))


async def test_a_place_the_playbook_does_not_know_is_an_error() -> None:
    with pytest.raises(PositionUnknown, match="no stage 'other'; it has: load, model"):
        await planner().plan(request(State.STAGE_RUNNING, stage="other"))
    with pytest.raises(PositionUnknown, match="no stage 'other'"):
        await planner().plan(request(State.STAGE_COMPLETED, stage="other"))
    with pytest.raises(PositionUnknown, match="no step 'other'"):
        await content(request(State.BEHAVIOR_RUNNING, step="other"))


@pytest.mark.parametrize("inputs", [None, {}, {"target": "price"}, {"data": ""}, "houses.csv"])
async def test_a_required_input_that_is_missing_is_asked_for_by_its_name(inputs: object) -> None:
    built_in = PlaybookPlanner(load_playbook(open_playbook("dslc")))
    asked = request(State.IDLE, stage=None, inputs=inputs)
    with pytest.raises(EvidenceMissing, match=r"inputs\.data must be given") as caught:
        await built_in.plan(asked)
    assert caught.value.needs == ("inputs",)


async def test_the_words_of_the_first_document_name_the_table_and_the_goal_too() -> None:
    built_in = PlaybookPlanner(load_playbook(open_playbook("dslc")))
    asked = request(
        State.IDLE, stage=None, inputs=None, csv_file_path="houses.csv", problem_description="Which are dear?"
    )
    answer = await built_in.plan(asked)
    assert answer.context_update.workflow_update is not None
    assert answer.context_update.workflow_update.stages[0].id == "structure"


async def test_a_text_without_its_variable_names_the_variable() -> None:
    with pytest.raises(EvidenceMissing, match=r"lacks variables: rows \(stages/load\.yaml, line") as caught:
        await content(request(State.BEHAVIOR_RUNNING, step="read", behavior="read.2"))
    assert caught.value.needs == ("rows",)


async def test_steps_and_stages_end_when_nothing_remains() -> None:
    asked = request(State.STEP_COMPLETED, step="read", steps=level(["read"], remaining=["target"]))
    assert not (await planner().plan(asked)).target_achieved
    asked = request(State.STAGE_COMPLETED, stages=level(["load", "model"]))
    assert (await planner().plan(asked)).target_achieved
    assert await planner().repair(asked) is None
    await planner().close()


async def test_a_whole_run_asks_is_answered_changes_its_plan_and_completes() -> None:
    journal = MemoryJournal()
    first = await play(planner(), journal=journal, start={"variables": {"inputs": INPUTS}})
    (stopped,) = first.records(RunStopped)
    assert (stopped.reason, "Which of the 3?" in stopped.detail) == ("waiting", True)
    resumed = RunResumed(policies=AUTO, inputs={"target": "b"})
    played = await play(planner(), journal=journal, kernel=first.kernel, resume=resumed)
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert played.sources[-1].startswith("# model@fit")
    assert 'model = ["b"]' in played.sources
    assert played.sources.count("Before.") == 1
    assert [record.confirmed for record in played.records(PlanUpdateDecided)] == [True]
    plan = played.state.plan
    assert plan is not None
    assert [[step.id for step in stage.steps] for stage in plan.stages] == [
        ["read", "target", "extra", "change"],
        ["fit"],
    ]


async def test_a_rule_that_does_not_hold_is_the_reason_the_run_stops_with() -> None:
    played = await play(planner(), start={"variables": {"inputs": {"data": ""}}}, policies=Policies(confirm="auto"))
    assert played.state.fsm is State.ERROR
    assert played.state.failure_reason == "step 'read' ended without its goal: There are no rows in ."
