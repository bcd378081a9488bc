"""What lies ahead by the rules of a playbook: stages and steps of the plan, and how long they may take. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.playbook.book import Playbook, PlaybookDeliverable, PlaybookStage, PlaybookStep
from notebook_bcc.playbook.templates.environment import Facts, Template
from notebook_bcc.protocol.deliverables import Deliverable
from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.observation import LevelProgress
from notebook_bcc.protocol.workflow import Stage as PlanStage
from notebook_bcc.protocol.workflow import Step as PlanStep
from notebook_bcc.protocol.workflow import Workflow


@dataclass(frozen=True, slots=True)
class Reckoning:
    """How long the rest takes, and how long what is done should have taken, by the hints of the steps.

    None: nobody has hinted, or a hint speaks of what is not known yet.
    """

    left: float | None
    done: float | None


def first_plan(playbook: Playbook, facts: Facts) -> Workflow:
    """The stages whose rule holds now. Only the first has its steps: those of the others are known when they begin."""
    wanted = [stage for stage in playbook.stages if _holds(stage.when, facts)]
    stages = [
        _plan_stage(stage, facts, steps_of_stage(stage, facts) if at == 0 else ()) for at, stage in enumerate(wanted)
    ]
    return _workflow(playbook, facts, stages)


def steps_of_stage(
    stage: PlaybookStage, facts: Facts, *, kept: Collection[str] = (), only_kept: bool = False
) -> tuple[PlanStep, ...]:
    """The steps whose rule holds now; those that are kept stay whatever it says, with `only_kept` no others."""
    return tuple(
        _plan_step(step, facts)
        for step in stage.steps
        if step.id in kept or (not only_kept and _holds(step.when, facts))
    )


def planned_goal(step: PlaybookStep, facts: Facts) -> str:
    """The goal of a step as a plan has it: the same whenever the plan is made, so that it is no change of it."""
    return step.goal.render({**facts, "v": {}})


def known_steps(request: Request) -> tuple[list[str], list[str]]:
    """The steps of the stage that are completed or under way, and all that are planned."""
    return _known(request.observation.location.progress.steps)


def other_steps(stage: PlaybookStage, request: Request, facts: Facts) -> tuple[PlanStep, ...] | None:
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


def reckon(playbook: Playbook, request: Request, facts: Facts, *, step_left: float = 1.0) -> Reckoning:
    """How long the run takes by the hints of its steps. `step_left` is the part of the current step that is left."""
    progress = request.observation.location.progress
    current = request.observation.location.current
    stages = progress.stages
    finished = {item.key for item in stages.completed} if stages is not None else set()
    ahead = stages.remaining if stages is not None and current.stage_id is not None else None
    done: list[float | None] = []
    left: list[float | None] = []
    for stage in playbook.stages:
        if stage.id == current.stage_id:
            done_now, left_now = _current_stage(stage, request, facts, step_left=step_left)
            done += done_now
            left += left_now
        elif stage.id in finished:
            done += _hints(stage.steps, facts)
        elif (stage.id in ahead) if ahead is not None else _may_hold(stage.when, facts):
            left += _hints(stage.steps, facts)
    return Reckoning(left=_total(left) or None, done=_total(done))


def _current_stage(
    stage: PlaybookStage, request: Request, facts: Facts, *, step_left: float
) -> tuple[list[float | None], list[float | None]]:
    """The hints of what is done of a stage and of what is left of it."""
    step_id = request.observation.location.current.step_id
    level = request.observation.location.progress.steps
    finished, planned = _known(level)
    if step_id is None and not planned:
        return [], _hints(stage.steps, facts)
    done: list[float | None] = []
    left: list[float | None] = []
    for step in stage.steps:
        if step.id == step_id:
            hint = _hint(step.seconds, facts)
            done.append(None if hint is None else hint * (1 - step_left))
            left.append(None if hint is None else hint * step_left)
        elif step.id in finished:
            done.append(_hint(step.seconds, facts))
        elif step.id in planned:
            left.append(_hint(step.seconds, facts))
    return done, left


def _hints(steps: Iterable[PlaybookStep], facts: Facts) -> list[float | None]:
    """The hints of the steps that may have their turn."""
    return [_hint(step.seconds, facts) for step in steps if _may_hold(step.when, facts)]


def _hint(rule: Template | None, facts: Facts) -> float | None:
    """What the hint says; None where it speaks of what is not known yet."""
    if rule is None:
        return 0.0
    # A comparison with something unknown is false, and its other branch would be taken for an estimate.
    if not rule.reads.required <= facts["v"].keys():
        return None
    try:
        value = rule.value(facts)
    except MessageInvalid:
        return None
    return max(0.0, float(value)) if isinstance(value, int | float) else None


def _total(hints: Iterable[float | None]) -> float | None:
    total = 0.0
    for hint in hints:
        if hint is None:
            return None
        total += hint
    return round(total, 1)


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
        deliverables=tuple(_deliverable(each, facts) for each in playbook.deliverables if _holds(each.when, facts))
        or None,
    )


def _deliverable(each: PlaybookDeliverable, facts: Facts) -> Deliverable:
    return Deliverable(name=each.name, kind=each.kind, description=each.description.render(facts))


def _plan_stage(stage: PlaybookStage, facts: Facts, steps: tuple[PlanStep, ...]) -> PlanStage:
    return PlanStage(
        id=stage.id,
        name=stage.name.render(facts),
        goal=stage.goal.render(facts),
        description=stage.description.render(facts),
        expected_outputs=stage.expected_outputs,
        steps=steps,
    )


def _plan_step(step: PlaybookStep, facts: Facts) -> PlanStep:
    return PlanStep(
        id=step.id,
        name=step.name.render(facts),
        goal=planned_goal(step, facts),
        description=step.description.render(facts),
        expected_outputs=step.expected_outputs,
    )
