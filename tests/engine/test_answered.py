"""A run whose plan names deliverables is answered when they were made; without any the planner's word counts."""

from __future__ import annotations

from typing import Any

import pytest

from engine.play import AUTO, play, run_code, scripted, workflow
from notebook_bcc.engine.answering import answer_of
from notebook_bcc.engine.runner import Runner
from notebook_bcc.engine.state import KernelState, Machine, RunState
from notebook_bcc.errors import PlanInvalid
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import RunStopped
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.notebook.document import Document
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.vocabulary import CellType, State
from notebook_bcc.protocol.workflow import Workflow, check_workflow

pytestmark = pytest.mark.anyio

PICTURE = {"output_type": "display_data", "data": {"image/png": "iVBOR"}, "metadata": {}}


def plan_with(deliverables: Any) -> Workflow:
    plan = {"stages": [{"id": "stage", "steps": [{"id": "one"}]}], "deliverables": deliverables}
    return Workflow.parse({name: value for name, value in plan.items() if value is not None})


@pytest.mark.parametrize(
    ("deliverables", "stopped"),
    [
        (None, RunStopped(reason="completed")),
        ([], RunStopped(reason="completed")),
        (["a"], RunStopped(reason="completed", answered="yes")),
        (["a", "model"], RunStopped(reason="completed", answered="no", detail="not made: model")),
        ([{"name": "a", "kind": "TABLE"}], RunStopped(reason="completed", answered="yes")),
        (
            [{"name": "out.csv", "kind": "file"}],
            RunStopped(reason="completed", answered="no", detail="not made: out.csv"),
        ),
    ],
)
async def test_a_completed_run_says_whether_its_deliverables_were_made(deliverables: Any, stopped: RunStopped) -> None:
    played = await play(
        scripted(plan_with(deliverables), {"one": [Behavior(actions=run_code("a = 1"))]}), policies=AUTO
    )
    assert played.state.stopped == stopped


STATE = RunState(
    run_id="r",
    goal="g",
    kernel=KernelState(variables={"score": 0.8, "word": "yes", "flag": True, "fig": "Figure", "table": "DataFrame"}),
    document=Document()
    .with_cell(Cell("plot", CellType.CODE, "draw()", (PICTURE,), 1))
    .with_cell(Cell("plain", CellType.CODE, "x", (), 2))
    .with_cell(Cell("said", CellType.MARKDOWN, "So it is."))
    .with_cell(Cell("empty", CellType.MARKDOWN, " ")),
)


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ({"name": "score"}, ""),
        ({"name": "nothing"}, "not made: nothing"),
        ({"name": "table", "kind": "table"}, ""),
        ({"name": "a/b.csv", "kind": "file"}, ""),
        ({"name": "b.csv", "kind": "file"}, "not made: b.csv"),
        ({"name": "plot", "kind": "figure"}, ""),
        ({"name": "fig", "kind": "figure"}, ""),
        ({"name": "plain", "kind": "figure"}, "not made: plain"),
        ({"name": "said", "kind": "text"}, ""),
        ({"name": "word", "kind": "text"}, ""),
        ({"name": "empty", "kind": "text"}, "not made: empty"),
        ({"name": "score", "check": {"type": "number", "minimum": 0.5, "maximum": 0.9}}, ""),
        ({"name": "score", "check": {"minimum": 0.9}}, "score: 0.8 is below 0.9"),
        ({"name": "score", "check": {"maximum": 0.5}}, "score: 0.8 is above 0.5"),
        ({"name": "flag", "check": {"type": "number"}}, "flag: True is no number"),
        ({"name": "word", "check": {"minimum": 1}}, "word: 'yes' is no number"),
        ({"name": "word", "check": {"one_of": ["yes", "no"]}}, ""),
        ({"name": "word", "check": {"one_of": ["no"]}}, "word: 'yes' is not one of 'no'"),
        ({"name": "nothing", "check": {"minimum": 1}}, "not made: nothing"),
    ],
)
def test_each_kind_is_found_in_its_own_way(named: dict[str, Any], problem: str) -> None:
    state = RunState(**{**STATE.__dict__, "plan": plan_with([named])})
    answer = answer_of(state, lambda name: name == "a/b.csv")
    assert (answer.answered, answer.problem) == ("no" if problem else "yes", problem)


def test_the_answer_has_the_values_that_were_asked_for() -> None:
    state = RunState(**{**STATE.__dict__, "plan": plan_with(["score", "nothing", {"name": "table", "kind": "table"}])})
    assert answer_of(state, lambda name: False).to_dict() == {
        "run_id": "r",
        "goal": "g",
        "answered": "no",
        "deliverables": [
            {"name": "score", "kind": "value", "description": "", "produced": True, "value": 0.8},
            {"name": "nothing", "kind": "value", "description": "", "produced": False},
            {"name": "table", "kind": "table", "description": "", "produced": True},
        ],
    }


async def test_a_run_that_is_asked_to_stop_at_its_end_still_says_whether_it_is_answered() -> None:
    state = RunState(
        run_id="r",
        plan=plan_with(["model"]),
        machine=Machine(State.WORKFLOW_COMPLETED),
    )
    planner = scripted(workflow("one"), {})
    runner = Runner(planner=planner, kernel=ScriptedKernel(), journal=MemoryJournal(), state=state)
    runner.stop("enough")
    async for _ in runner.run():
        pass
    assert runner.state.stopped == RunStopped(reason="completed", answered="no", detail="not made: model")


def test_a_deliverable_is_named_once() -> None:
    with pytest.raises(PlanInvalid, match=r"deliverables.1.name.*used twice"):
        check_workflow(plan_with(["a", {"name": "a", "kind": "file"}]))
