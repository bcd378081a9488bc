"""The plan: a workflow of stages of steps. Values only; who changes them is the engine."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import AliasChoices, Field

from notebook_bcc.errors import PlanInvalid
from notebook_bcc.protocol.deliverables import Deliverable
from notebook_bcc.protocol.message import Message


class Step(Message):
    """One step: a goal, and the variables it promises."""

    id: str = Field(validation_alias=AliasChoices("id", "step_id"), min_length=1, max_length=200)
    name: str = ""
    goal: str = ""
    description: str = ""
    expected_outputs: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return self.name or self.id

    @property
    def purpose(self) -> str:
        """The goal, or the description where the plan has only that."""
        return self.goal or self.description


class Stage(Message):
    """One stage: a goal and its steps. The steps may come later, from Planning."""

    id: str = Field(validation_alias=AliasChoices("id", "stage_id"), min_length=1, max_length=200)
    name: str = ""
    goal: str = ""
    description: str = ""
    expected_outputs: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()

    @property
    def title(self) -> str:
        return self.name or self.id

    @property
    def purpose(self) -> str:
        """The goal, or the description where the plan has only that."""
        return self.goal or self.description

    def step(self, step_id: str) -> Step | None:
        return next((step for step in self.steps if step.id == step_id), None)


class Workflow(Message):
    """The whole plan of a run. `deliverables` are what its goal asks for; None where it names nothing."""

    name: str = ""
    goal: str = ""
    description: str = ""
    stages: tuple[Stage, ...]
    sections: tuple[str, ...] = ()
    deliverables: tuple[Deliverable, ...] | None = None

    def stage(self, stage_id: str) -> Stage | None:
        """The stage of this id, None where there is none."""
        return next((stage for stage in self.stages if stage.id == stage_id), None)

    def with_steps(self, stage_id: str, steps: Sequence[Step]) -> Workflow:
        """The same plan with other steps in one stage."""
        stages = tuple(
            stage.model_copy(update={"steps": tuple(steps)}) if stage.id == stage_id else stage for stage in self.stages
        )
        return self.model_copy(update={"stages": stages})


def check_workflow(workflow: Workflow) -> None:
    """Raises PlanInvalid with every problem found: a plan is looked at whole before anything of it is applied."""
    problems: list[tuple[str, str]] = []
    if not workflow.stages:
        problems.append(("stages", "a plan needs at least one stage"))
    problems += _repeated("stages", [stage.id for stage in workflow.stages])
    problems += _repeated("deliverables", [one.name for one in workflow.deliverables or ()], key="name")
    for index, stage in enumerate(workflow.stages):
        problems += _repeated(f"stages.{index}.steps", [step.id for step in stage.steps])
    if problems:
        raise PlanInvalid(problems)


def check_steps(steps: Sequence[Step]) -> None:
    """Raises PlanInvalid unless these steps can be the steps of a stage."""
    problems = _repeated("steps", [step.id for step in steps])
    if not steps:
        problems.append(("steps", "a stage needs at least one step"))
    if problems:
        raise PlanInvalid(problems)


def _repeated(path: str, ids: Sequence[str], *, key: str = "id") -> list[tuple[str, str]]:
    seen: set[str] = set()
    found: list[tuple[str, str]] = []
    for index, one in enumerate(ids):
        if one in seen:
            found.append((f"{path}.{index}.{key}", f"{one!r} is used twice"))
        seen.add(one)
    return found
