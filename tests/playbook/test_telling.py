"""What a playbook tells of the place a run is at: texts with facts once they exist, outputs, and what is to do."""

from __future__ import annotations

from typing import Any

import pytest

from engine.play import AUTO, play
from notebook_bcc.playbook.check import check_playbook, load_playbook
from notebook_bcc.playbook.planner import PlaybookPlanner
from notebook_bcc.protocol.messages import PlanningResponse, ProgressUpdate, Request
from notebook_bcc.protocol.observation import Goals, LevelProgress
from notebook_bcc.protocol.vocabulary import Level, State, TodoOperation
from playbook.books import SOUND, files
from playbook.test_planner import INPUTS, ended, level, request

pytestmark = pytest.mark.anyio

TOLD = """\
name: {en: Load, zh: 读取}
goal: {en: Have the table., zh: 得到表。}
focus:
  - {en: "Of {{ v.rows }} rows.", zh: "{{ v.rows }} 行。"}
  - {en: Look first., zh: 先看。}
todo: {en: Load the table, zh: 读取表}
steps:
  - id: read
    goal: {en: Read it., zh: 读取它。}
    todo: {en: "Read {{ inputs.data }}", zh: "读取 {{ inputs.data }}"}
    focus:
      - {en: "{{ v.rows }} rows are here.", zh: "{{ v.rows }} 行。"}
      - {en: Nothing is known., zh: 一无所知。}
    behaviors:
      - goal: {en: Read the file., zh: 读取文件。}
        focus: {en: Every line., zh: 每一行。}
        expected: [table, rows]
        outputs_produced:
          modified_features: "v.table[:2]"
          validation: {en: "{{ v.rows }} rows read", zh: "读取了 {{ v.rows }} 行"}
          findings: {en: "{{ 'many' if v.rows > 2 else '' }}", zh: "{{ '多' if v.rows > 2 else '' }}"}
        actions: [{say: intro}, {cell: read}]
      - goal: {en: "Look at {{ v.rows }} rows.", zh: "看 {{ v.rows }} 行。"}
        actions: [{text: {en: Seen., zh: 看过。}}]
  - id: check
    goal:
      - {en: "Check {{ v.rows }} rows.", zh: "检查 {{ v.rows }} 行。"}
      - {en: Check the rows., zh: 检查数据行。}
    when: "v.rows is not defined or v.rows > 2"
    todo:
      - {en: "Check {{ v.rows }} rows", zh: "检查 {{ v.rows }} 行"}
      - {en: Check the rows, zh: 检查数据行}
    behaviors:
      - actions: [{text: {en: Checked., zh: 检查过。}}]
"""
MODEL = (
    SOUND["stages/model.yaml"]
    .replace("steps:", "todo: {en: Fit a model, zh: 拟合模型}\nsteps:")
    .replace("v.target", "v.rows")
)
BOOK = load_playbook(files(stages__load=TOLD, stages__model=MODEL))
PLANNER = PlaybookPlanner(BOOK)


def told(answer: PlanningResponse, at: Level) -> ProgressUpdate:
    (update,) = [each for each in answer.context_update.progress_updates if each.level is at]
    return update


def after(asked: Request, **levels: LevelProgress | Goals) -> Request:
    """The request with other levels of progress, or other goals."""
    location = asked.observation.location
    goals = levels.pop("goals", location.goals)
    progress = location.progress.model_copy(update=levels)
    location = location.model_copy(update={"progress": progress, "goals": goals})
    return asked.model_copy(update={"observation": asked.observation.model_copy(update={"location": location})})


async def test_a_focus_is_plain_until_its_variables_exist_and_told_again_when_they_do() -> None:
    begun = await PLANNER.plan(request(State.STAGE_RUNNING, steps=level(remaining=["read", "check"])))
    assert told(begun, Level.STAGES).focus == "Look first."
    first = await PLANNER.plan(request(State.STEP_RUNNING, step="read", steps=level(current="read")))
    assert told(first, Level.STEPS).focus == "Nothing is known."
    known = await PLANNER.plan(ended("read.1", rows=3, table=["a", "b", "c"]))
    assert told(known, Level.STAGES).focus == "Of 3 rows."
    assert told(known, Level.STEPS).focus == "3 rows are here."
    stages, steps = LevelProgress(current="load", focus="Of 3 rows."), LevelProgress(focus="3 rows are here.")
    again = await PLANNER.plan(after(ended("read.1", rows=3, table=["a"]), stages=stages, steps=steps))
    assert {each.level for each in again.context_update.progress_updates} == {Level.BEHAVIORS}


async def test_a_text_that_the_facts_do_not_suffice_for_gives_way_to_a_plainer_one() -> None:
    stage = TOLD.replace('"Of {{ v.rows }} rows."', '"Of {{ v.rows | num }} rows."')
    picky = PlaybookPlanner(load_playbook(files(stages__load=stage, stages__model=MODEL)))
    asked = request(State.STAGE_RUNNING, steps=level(remaining=["read"]), rows="list(3)")
    assert told(await picky.plan(asked), Level.STAGES).focus == "Look first."


async def test_a_behavior_without_a_focus_does_not_keep_that_of_the_one_before() -> None:
    before = LevelProgress(focus="Every line.")
    answer = await PLANNER.plan(after(ended("read.1", rows=3, table=["a"]), behaviors=before))
    behaviors = [each for each in answer.context_update.progress_updates if each.level is Level.BEHAVIORS]
    assert [(each.focus, each.goal) for each in behaviors if each.outputs_produced is None] == [("", "Look at 3 rows.")]


async def test_the_plan_has_the_plain_goal_of_a_step_and_the_step_begins_with_the_facts() -> None:
    plan = (await PLANNER.plan(request(State.IDLE, stage=None, rows=5))).context_update.workflow_update
    assert plan is not None
    assert plan.stages[0].steps[1].goal == "Check the rows."
    asked = request(State.STEP_RUNNING, step="check", steps=level(["read"], "check"), rows=3)
    planned = await PLANNER.plan(after(asked, goals=Goals(step="Check the rows.")))
    assert told(planned, Level.STEPS).goal == "Check 3 rows."
    changed = await PLANNER.plan(after(asked, goals=Goals(step="What a person has written.")))
    assert Level.STEPS not in {each.level for each in changed.context_update.progress_updates}


async def test_what_a_behavior_has_produced_is_said_when_it_has_ended_well() -> None:
    answer = await PLANNER.plan(ended("read.1", rows=3, table=["a", "b", "c"]))
    (outputs,) = [each.outputs_produced for each in answer.context_update.progress_updates if each.outputs_produced]
    assert outputs.modified_features == ("a", "b")
    assert (outputs.validation, outputs.findings) == ("3 rows read", "many")
    few = await PLANNER.plan(ended("read.1", rows=1, table=[]))
    (outputs,) = [each.outputs_produced for each in few.context_update.progress_updates if each.outputs_produced]
    assert (outputs.modified_features, outputs.findings) == (None, None)


def todo(answer: PlanningResponse) -> tuple[str, ...] | None:
    update = answer.context_update.todo_list_update
    assert update is None or update.operation is TodoOperation.REPLACE
    return None if update is None else update.items


def listed(asked: Request, *items: str) -> Request:
    context = asked.observation.context.model_copy(update={"todo_list": items})
    return asked.model_copy(update={"observation": asked.observation.model_copy(update={"context": context})})


async def test_the_to_do_list_follows_the_plan() -> None:
    first = await PLANNER.plan(request(State.IDLE, stage=None))
    assert todo(first) == ("Load it", "Load the table", "Fit a model")
    steps = level(remaining=["read", "check"])
    begun = await PLANNER.plan(listed(request(State.STAGE_RUNNING, steps=steps), "Load the table", "Fit a model"))
    assert todo(begun) == ("Read a b c", "Check the rows", "Load the table", "Fit a model")
    # What is known now, and what has left the plan.
    open_now = ("Check the rows", "Load the table", "Fit a model")
    known = request(State.STEP_RUNNING, step="check", steps=level(["read"], "check"), rows=3)
    assert todo(await PLANNER.plan(listed(known, *open_now))) == ("Check 3 rows", "Load the table", "Fit a model")
    done = request(State.STAGE_COMPLETED, stages=level(["load"], "load", ["model"]), steps=level(["read"]), rows=3)
    assert todo(await PLANNER.plan(listed(done, *open_now))) == ("Fit a model",)
    assert todo(await PLANNER.plan(listed(done, "Fit a model"))) is None


async def test_a_whole_run_ends_with_nothing_to_do_and_its_facts_in_the_observation() -> None:
    played = await play(PLANNER, start={"variables": {"inputs": {**INPUTS, "target": "b"}}}, policies=AUTO)
    lists = [each.observation.context.todo_list for each in played.planner.planned]
    assert any("Check 3 rows" in each for each in lists)
    assert played.state.planner_context.todo == ("Load it",)  # the first list of the playbook; no step has it as done
    stage = played.state.stages.completed[0].outputs_produced
    assert (stage.modified_features, stage.validation, stage.findings) == (("a", "b"), "3 rows read", "many")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("- {en: Check the rows., zh: 检查数据行。}", "- {en: '{{ v.rows }}', zh: 行}", "the last one plain"),
        ("- {en: Look first., zh: 先看。}", "- {en: Look first.}", "the text is missing in: zh"),
        ('"Look at {{ v.rows }} rows."', '"Look at {{ v.model_fit }}."', "v.model_fit is made later"),
        ('"Of {{ v.rows }} rows."', '"Of {{ v.model_fit }} rows."', "v.model_fit is made later"),
        ('"v.table[:2]"', '"v.tabel[:2]"', "did you mean v.table?"),
        ("focus: {en: Every line., zh: 每一行。}", "focus: []", "a list of texts needs one"),
        ("validation: {en", "validated: {en", "did you mean 'validation'?"),
    ],
)
def test_a_mistake_in_such_a_text_is_named(old: str, new: str, said: str) -> None:
    assert old in TOLD
    problems: list[Any] = check_playbook(files(stages__load=TOLD.replace(old, new), stages__model=MODEL))
    assert any(said in problem for _, problem in problems), problems
