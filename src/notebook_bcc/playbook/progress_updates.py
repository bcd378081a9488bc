"""What an answer tells of the place that the run is at: focus, goals, outputs, and the list of what is to do. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from notebook_bcc.planners.planning_question import level_progress
from notebook_bcc.playbook.book import Playbook, PlaybookBehavior, PlaybookStage, PlaybookStep, Produced, Text
from notebook_bcc.playbook.outlook import planned_goal
from notebook_bcc.playbook.templates.environment import Facts
from notebook_bcc.protocol.messages import ContextUpdate, PlanningResponse, ProgressUpdate, Request, TodoUpdate
from notebook_bcc.protocol.observation import LevelProgress
from notebook_bcc.protocol.tracking import OutputsProduced
from notebook_bcc.protocol.vocabulary import Level, TodoOperation


def with_progress(update: ContextUpdate, *updates: ProgressUpdate | None) -> ContextUpdate:
    """The update with what is said of some levels; None has nothing to tell."""
    said = tuple(each for each in updates if each is not None)
    return update.model_copy(update={"progress_update": (*update.progress_updates, *said)}) if said else update


def stage_update(stage: PlaybookStage, request: Request, facts: Facts, *, begins: bool) -> ProgressUpdate | None:
    """The focus of a stage when it begins, and where facts have made another one of it."""
    focus = _focus(stage.focus, level_progress(request, Level.STAGES), facts, begins=begins)
    return ProgressUpdate(level=Level.STAGES, focus=focus) if focus else None


def step_update(step: PlaybookStep, request: Request, facts: Facts, *, begins: bool) -> ProgressUpdate | None:
    """The focus of a step as of a stage, and its goal when it begins.

    A goal that is not the playbook's is a person's, who has changed the plan.
    """
    focus = _focus(step.focus, level_progress(request, Level.STEPS), facts, begins=begins)
    planned, goal = planned_goal(step, facts), step.goal.render(facts)
    ours = begins and request.observation.location.goals.step in (None, planned)
    goal = goal if ours and goal != planned else ""
    return ProgressUpdate(level=Level.STEPS, focus=focus or None, goal=goal or None) if focus or goal else None


def _focus(text: Text, level: LevelProgress, facts: Facts, *, begins: bool) -> str:
    """What has to be said: a plain text does not change on the way."""
    focus = text.render(facts) if begins or text.plainer is not None else ""
    return focus if focus != level.focus else ""


def behavior_update(behavior: PlaybookBehavior, goal: str, request: Request, facts: Facts) -> ProgressUpdate | None:
    """Focus, goal and promises of a behavior. Without a focus it does not keep that of the one before."""
    focus = behavior.focus.render(facts)
    silent = not focus and not level_progress(request, Level.BEHAVIORS).focus
    if silent and not goal and not behavior.expected:
        return None
    return ProgressUpdate(
        level=Level.BEHAVIORS,
        focus=None if silent else focus,
        goal=goal or None,
        expected_outputs=behavior.expected or None,
    )


def produced_update(produced: Produced, facts: Facts) -> ProgressUpdate | None:
    """What is to be said of the outputs of the behavior that has ended well."""
    features = produced.modified_features.value(facts) if produced.modified_features is not None else None
    said: dict[str, Any] = {  # Any: fields of OutputsProduced
        "modified_features": tuple(map(str, features)) if isinstance(features, list | tuple) and features else None,
        "validation": produced.validation.render(facts) or None,
        "findings": produced.findings.render(facts) or None,
    }
    if not any(said.values()):
        return None
    return ProgressUpdate(level=Level.BEHAVIORS, outputs_produced=OutputsProduced(**said))


def with_todo(answer: PlanningResponse, playbook: Playbook, request: Request, facts: Facts) -> PlanningResponse:
    """The answer with the list of what is to do, where the plan has changed it: a task of a stage or step stands there
    as long as that is ahead or under way."""
    if not any(stage.todo or any(step.todo for step in stage.steps) for stage in playbook.stages):
        return answer
    before = request.observation.context.todo_list
    written = {text for each in playbook.todo if (text := each.render(facts))}
    others = [item for item in _updated(before, answer.context_update.todo_list_update) if item in written]
    wanted = tuple(dict.fromkeys([*others, *_open_tasks(answer, playbook, request, facts)]))
    if wanted == before:
        return answer
    update = answer.context_update.model_copy(
        update={"todo_list_update": TodoUpdate(operation=TodoOperation.REPLACE, items=wanted)}
    )
    return answer.model_copy(update={"context_update": update})


def _open_tasks(answer: PlanningResponse, playbook: Playbook, request: Request, facts: Facts) -> Iterator[str]:
    current = request.observation.location.current
    plan, steps_update = answer.context_update.workflow_update, answer.context_update.stage_steps_update
    stages = [each.id for each in plan.stages] if plan is not None else _open(level_progress(request, Level.STAGES))
    for stage in (each for each in playbook.stages if each.id in stages):
        if stage.id == current.stage_id:
            steps = _open(level_progress(request, Level.STEPS))
            steps += [each.id for each in steps_update.steps] if steps_update is not None else []
            ended = {current.step_id} if answer.target_achieved else set()
            yield from _tasks(stage.steps, set(steps) - ended, facts)
        if task := stage.todo.render(facts):
            yield task


def _tasks(steps: Sequence[PlaybookStep], wanted: Collection[str | None], facts: Facts) -> Iterator[str]:
    return (task for step in steps if step.id in wanted and (task := step.todo.render(facts)))


def _open(level: LevelProgress) -> list[str]:
    """What is under way or ahead."""
    done = {item.key for item in level.completed}
    return [each for each in (level.current, *level.remaining) if each is not None and each not in done]


def _updated(items: Sequence[str], update: TodoUpdate | None) -> Sequence[str]:
    match update:
        case TodoUpdate(operation=TodoOperation.REMOVE):
            return [item for item in items if item not in update.items]
        case TodoUpdate(operation=TodoOperation.ADD):
            return [*items, *update.items]
        case TodoUpdate():
            return update.items
        case None:
            return items
