"""A plan is looked at whole before anything of it is applied."""

from __future__ import annotations

import pytest

from notebook_bcc.errors import PlanInvalid
from notebook_bcc.protocol.workflow import Step, Workflow, check_steps, check_workflow

PLAN = Workflow.parse(
    {
        "name": "Study",
        "stages": [
            {"stage_id": "load", "name": "Load", "steps": [{"step_id": "read", "description": "read the file"}]},
            {"id": "model", "goal": "a score"},
        ],
    }
)


def test_ids_are_read_under_both_names_and_written_as_id() -> None:
    assert PLAN.stages[0].to_dict()["id"] == "load"
    assert PLAN.stages[0].steps[0].to_dict()["id"] == "read"


def test_a_stage_and_a_step_are_found_by_id() -> None:
    stage = PLAN.stage("load")

    assert stage is not None
    assert stage.step("read") is stage.steps[0]
    assert stage.step("other") is None
    assert PLAN.stage("other") is None


def test_titles_and_purposes_fall_back_on_what_there_is() -> None:
    load, model = PLAN.stages

    assert (load.title, load.purpose) == ("Load", "")
    assert (model.title, model.purpose) == ("model", "a score")
    assert (load.steps[0].title, load.steps[0].purpose) == ("read", "read the file")


def test_other_steps_change_one_stage_and_nothing_else() -> None:
    changed = PLAN.with_steps("model", [Step(id="fit")])

    assert [step.id for step in changed.stages[1].steps] == ["fit"]
    assert changed.stages[0] is PLAN.stages[0]
    assert PLAN.stages[1].steps == ()


def test_a_sound_plan_passes() -> None:
    check_workflow(PLAN)
    check_steps(PLAN.stages[0].steps)


def test_every_contradiction_of_a_plan_is_named() -> None:
    step = {"id": "s"}
    plan = Workflow.parse({"stages": [{"id": "a", "steps": [step, step]}, {"id": "a"}]})

    with pytest.raises(PlanInvalid) as caught:
        check_workflow(plan)

    assert [path for path, _ in caught.value.problems] == ["stages.1.id", "stages.0.steps.1.id"]


def test_a_plan_without_stages_and_a_stage_without_steps_are_refused() -> None:
    with pytest.raises(PlanInvalid, match="at least one stage"):
        check_workflow(Workflow(stages=()))
    with pytest.raises(PlanInvalid, match="at least one step"):
        check_steps([])
    with pytest.raises(PlanInvalid, match=r"steps\.1\.id"):
        check_steps([Step(id="s"), Step(id="s")])
