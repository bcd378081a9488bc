"""What lies ahead by the rules of a playbook: stages and steps of the plan, and how long they may take. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.planners.playbook.book import Playbook, Stage, Step
from notebook_bcc.planners.playbook.templates import Facts, Template
from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.observation import LevelProgress
from notebook_bcc.protocol.workflow import Stage as PlanStage
from notebook_bcc.protocol.workflow import Step as PlanStep
from notebook_bcc.protocol.workflow import Workflow


def first_plan(playbook: Playbook, facts: Facts) -> Workflow:
    """The stages whose rule holds now. Only the first has its steps: those of the others are known when they begin."""
    wanted = [stage for stage in playbook.stages if _holds(stage.when, facts)]
    stages = [
        _plan_stage(stage, facts, steps_of_stage(stage, facts) if at == 0 else ()) for at, stage in enumerate(wanted)
    ]
    return _workflow(playbook, facts, stages)


def steps_of_stage(
    stage: Stage, facts: Facts, *, kept: Collection[str] = (), only_kept: bool = False
) -> tuple[PlanStep, ...]:
    """The steps whose rule holds now; those that are kept stay whatever it says, with `only_kept` no others."""
    return tuple(
        _plan_step(step, facts)
        for step in stage.steps
        if step.id in kept or (not only_kept and _holds(step.when, facts))
    )


def known_steps(request: Request) -> tuple[list[str], list[str]]:
    """The steps of the stage that are completed or under way, and all that are planned."""
    return _known(request.observation.location.progress.steps)


def other_steps(stage: Stage, request: Request, facts: Facts) -> tuple[PlanStep, ...] | None:
    """The steps that the stage should have, or None where it has just these."""
    kept, planned = _known(request.observation.location.progress.steps)
    steps = steps_of_stage(stage, facts, kept=kept)
    return None if [step.id for step in steps] == planned else steps


def other_workflow(playbook: Playbook, request: Request, facts: Facts) -> Workflow | None:
    """The plan that the run should have, or None where it has these stages. Steps that are planned stay: a stage
    without any keeps those it has."""
    kept, planned = _known(request.observation.location.progress.stages)
    wanted = [stage for stage in playbook.stages if stage.id in kept or _holds(stage.when, facts)]
    if [stage.id for stage in wanted] == planned:
        return None
    return _workflow(playbook, facts, [_plan_stage(stage, facts, ()) for stage in wanted])


def seconds_left(playbook: Playbook, request: Request, facts: Facts) -> float | None:
    """About how long the rest takes, by the hints of its steps; None where there are no hints."""
    progress = request.observation.location.progress
    current = request.observation.location.current
    ahead = progress.stages.remaining if progress.stages is not None and current.stage_id is not None else None
    total = 0.0
    for stage in playbook.stages:
        if stage.id == current.stage_id:
            left = {*(progress.steps.remaining if progress.steps is not None else ()), current.step_id}
            begun = current.step_id is not None or len(left) > 1
            total += _seconds((step for step in stage.steps if not begun or step.id in left), facts, rules=not begun)
        elif (stage.id in ahead) if ahead is not None else _may_hold(stage.when, facts):
            total += _seconds(stage.steps, facts, rules=True)
    return round(total, 1) if total else None


def _seconds(steps: Iterable[Step], facts: Facts, *, rules: bool) -> float:
    return sum(_hint(step.seconds, facts) for step in steps if not rules or _may_hold(step.when, facts))


def _hint(rule: Template | None, facts: Facts) -> float:
    """What the hint says; one that cannot be told yet counts nothing."""
    try:
        value = rule.value(facts) if rule is not None else None
    except MessageInvalid:
        return 0.0
    return float(value) if isinstance(value, int | float) and value > 0 else 0.0


def _may_hold(rule: Template | None, facts: Facts) -> bool:
    """Whether a rule that is asked later may hold then: it does now, or it speaks of what does not exist yet."""
    if rule is None or not rule.reads.names <= facts["v"].keys():
        return True
    try:
        return rule.holds(facts)
    except MessageInvalid:
        return True


def _holds(rule: Template | None, facts: Facts) -> bool:
    return rule is None or rule.holds(facts)


def _known(level: LevelProgress | None) -> tuple[list[str], list[str]]:
    """What is completed or under way, and the whole plan of a level, in its order."""
    if level is None:
        return [], []
    done = [item.key for item in level.completed]
    current = [level.current] if level.current is not None and level.current not in done else []
    return [*done, *current], [*done, *current, *level.remaining]


def _workflow(playbook: Playbook, facts: Facts, stages: list[PlanStage]) -> Workflow:
    return Workflow(
        name=playbook.name.render(facts),
        goal=playbook.goal.render(facts),
        description=playbook.description.render(facts),
        stages=tuple(stages),
        deliverables=tuple(each.name for each in playbook.deliverables if _holds(each.when, facts)) or None,
    )


def _plan_stage(stage: Stage, facts: Facts, steps: tuple[PlanStep, ...]) -> PlanStage:
    return PlanStage(
        id=stage.id,
        name=stage.name.render(facts),
        goal=stage.goal.render(facts),
        description=stage.description.render(facts),
        expected_outputs=stage.expected_outputs,
        steps=steps,
    )


def _plan_step(step: Step, facts: Facts) -> PlanStep:
    return PlanStep(
        id=step.id,
        name=step.name.render(facts),
        goal=step.goal.render(facts),
        description=step.description.render(facts),
        expected_outputs=step.expected_outputs,
    )
