"""Scripts as YAML files: read one, or say where it is wrong and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from notebook_bcc.errors import MessageInvalid, PlanInvalid
from notebook_bcc.planners.marked_yaml import MOST_BYTES, Marked, load_marked
from notebook_bcc.planners.script.shorthand import Problem, StepsOf, expand, unknown, unknown_fields
from notebook_bcc.planners.script.values import (
    Behavior,
    Break,
    Fail,
    Script,
    StageScript,
    StepKey,
    StepScript,
    check_script,
)
from notebook_bcc.protocol.deliverables import Deliverable
from notebook_bcc.protocol.messages import ContextFilter, ContextUpdate, PlanningResponse
from notebook_bcc.protocol.problems import ValueProblem, value_problems
from notebook_bcc.protocol.tracking import Promotion
from notebook_bcc.protocol.workflow import Stage, Step, Workflow, check_workflow


class _ScriptPart(BaseModel):
    """A mapping of the file. What it does not know is a mistake of the writer."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class _Fail(_ScriptPart):
    times: int = Field(default=1, ge=1)
    fallback: bool = Field(default=False, validation_alias=AliasChoices("fallback", "spare"))
    tries: int = Field(default=1, ge=1)
    reason: str = "the script says so"
    retry_after: float | None = Field(default=None, ge=0)


class _Break(_ScriptPart):
    actions: int = Field(ge=0)
    tries: int = Field(default=1, ge=1)


class _Behavior(_ScriptPart):
    goal: str = ""
    focus: str = ""
    expected: tuple[str, ...] = ()
    # `validate` is a name pydantic keeps for itself.
    checked: tuple[str, ...] = Field(default=(), alias="validate")
    promotions: tuple[Promotion, ...] = ()
    context_filter: ContextFilter | None = None
    context_update: ContextUpdate = Field(default_factory=ContextUpdate)
    repairs: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    actions: tuple[Any, ...] = ()  # Any: expanded by short_forms, which names what is wrong with each
    on_error: tuple[Any, ...] = ()
    verdict: PlanningResponse | None = None
    fail: _Fail | None = None
    fail_feedback: _Fail | None = None
    break_after: int | _Break | None = None


class _Step(_ScriptPart):
    id: str = Field(min_length=1, max_length=200)
    name: str = ""
    goal: str = ""
    description: str = ""
    expected_outputs: tuple[str, ...] = ()
    focus: str = ""
    later: bool = False
    accept_errors: bool = False
    completed_update: ContextUpdate = Field(default_factory=ContextUpdate)
    fail: _Fail | None = None
    behaviors: tuple[_Behavior, ...] = ()


class _Stage(_ScriptPart):
    id: str = Field(min_length=1, max_length=200)
    name: str = ""
    goal: str = ""
    description: str = ""
    expected_outputs: tuple[str, ...] = ()
    focus: str = ""
    deferred: bool = False
    context_update: ContextUpdate = Field(default_factory=ContextUpdate)
    fail: _Fail | None = None
    steps: tuple[_Step, ...] = ()


class _File(_ScriptPart):
    name: str = ""
    goal: str = ""
    description: str = ""
    sections: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    deliverables: tuple[Deliverable, ...] | None = None
    context_update: ContextUpdate = Field(default_factory=ContextUpdate)
    fail: _Fail | None = None
    stages: tuple[_Stage, ...]


# Which part a path leads into, to name the keys that are known there.
_PARTS: Mapping[str, type[_ScriptPart]] = {
    "stages": _Stage,
    "steps": _Step,
    "behaviors": _Behavior,
    "fail": _Fail,
    "fail_feedback": _Fail,
    "break_after": _Break,
}


def read_script(path: Path, *, files_in: Path | None = None) -> Script:
    """Read a script and check it whole. Raises MessageInvalid or PlanInvalid, naming file, line, field and remedy.

    `files_in` is where the script's `files` lie when that is not its own folder: a run keeps copies of both.
    """
    source = str(path)
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise MessageInvalid(what=source, problems=[("", f"it cannot be read: {reason}")]) from error
    return parse_script(content, source=source, folder=path.parent if files_in is None else files_in)


def parse_script(content: str | bytes, *, source: str = "script", folder: Path | None = None) -> Script:
    """Make a script of YAML text. `folder` is where its `files` lie; without one they are not looked for."""
    marked = load_marked(content, source=source)
    if not isinstance(marked.value, dict):
        raise MessageInvalid(what=source, problems=[("", "a script is a mapping with a list of `stages`")])
    file = _validated(marked, source)
    problems = [*_file_problems(file, folder), *unknown_fields(file)]
    contents = dict(_contents(file, problems))
    if problems:
        raise MessageInvalid(what=source, problems=[(marked.at(path), problem) for path, problem in problems])
    script = Script(
        workflow=_workflow(file, planned_only=True),
        steps=contents,
        stages={stage.id: _stage_script(stage) for stage in file.stages},
        context_update=file.context_update,
        fail=_fail(file.fail),
        files=file.files,
        folder=str(folder) if folder is not None else "",
    )
    try:
        check_workflow(_workflow(file, planned_only=False))
        check_script(script)
    except PlanInvalid as error:
        places = _places(file)
        problems = [(marked.at(places.get(path, path)), problem) for path, problem in error.problems]
        raise PlanInvalid(problems, what=source) from error
    return script


def _validated(marked: Marked, source: str) -> _File:
    try:
        return _File.model_validate(marked.value)
    except ValidationError as error:
        problems = [_problem(each) for each in value_problems(error)]
        raise MessageInvalid(
            what=source, problems=[(marked.at(path), problem) for path, problem in problems]
        ) from error


def _problem(found: ValueProblem) -> Problem:
    kind, location = found.kind, found.location
    path = ".".join(str(part) for part in location)
    if kind == "extra_forbidden":
        inside = next((_PARTS[str(part)] for part in reversed(location[:-1]) if str(part) in _PARTS), _File)
        known = [field.alias or name for name, field in inside.model_fields.items()]
        return path, unknown(str(location[-1]), known)
    if kind == "missing":
        return path, "is required; add this key"
    if kind == "string_type":
        return path, "a text is needed here; put it in quotes if it looks like a number"
    return path, found.problem.replace("an object", "a mapping")


def _file_problems(file: _File, folder: Path | None) -> Iterator[Problem]:
    for index, name in enumerate(file.files):
        path = PurePosixPath(name)
        if not name.strip() or "\0" in name or "\\" in name or path.is_absolute() or ".." in path.parts:
            yield f"files.{index}", f"{name!r} must be a path inside the script's folder, such as data.csv"
        elif folder is not None and not (folder / name).is_file():
            yield f"files.{index}", f"there is no file {name!r} beside the script"


def _steps_of(file: _File) -> StepsOf:
    return {stage.id: {step.id: _plan_step(step) for step in stage.steps} for stage in file.stages}


def _places(file: _File) -> dict[str, str]:
    """Where in the file the steps stand that a check calls by their ids."""
    return {
        f"behaviors.{stage.id}.{step.id}": f"stages.{stage_at}.steps.{step_at}"
        for stage_at, stage in enumerate(file.stages)
        for step_at, step in enumerate(stage.steps)
    }


def _contents(file: _File, problems: list[Problem]) -> Iterator[tuple[StepKey, StepScript]]:
    """What each step does; what is wrong with its actions is added to `problems`."""
    steps = _steps_of(file)
    for stage_at, stage in enumerate(file.stages):
        for step_at, step in enumerate(stage.steps):
            path = f"stages.{stage_at}.steps.{step_at}.behaviors"
            behaviors = [
                _behavior(each, steps, stage.id, f"{path}.{index}", problems)
                for index, each in enumerate(step.behaviors)
            ]
            yield (stage.id, step.id), _step_script(step, behaviors)


def _workflow(file: _File, *, planned_only: bool) -> Workflow:
    return Workflow(
        name=file.name,
        goal=file.goal,
        description=file.description,
        sections=file.sections,
        deliverables=file.deliverables,
        stages=tuple(
            Stage(
                id=stage.id,
                name=stage.name,
                goal=stage.goal,
                description=stage.description,
                expected_outputs=stage.expected_outputs,
                steps=tuple(_plan_step(step) for step in stage.steps if not (planned_only and step.later)),
            )
            for stage in file.stages
        ),
    )


def _plan_step(step: _Step) -> Step:
    return Step(
        id=step.id,
        name=step.name,
        goal=step.goal,
        description=step.description,
        expected_outputs=step.expected_outputs,
    )


def _stage_script(stage: _Stage) -> StageScript:
    return StageScript(
        focus=stage.focus, context_update=stage.context_update, deferred=stage.deferred, fail=_fail(stage.fail)
    )


def _step_script(step: _Step, behaviors: list[Behavior]) -> StepScript:
    return StepScript(
        behaviors=tuple(behaviors),
        focus=step.focus,
        accept_errors=step.accept_errors,
        completed_update=step.completed_update,
        fail=_fail(step.fail),
    )


def _behavior(part: _Behavior, steps: StepsOf, stage_id: str, path: str, problems: list[Problem]) -> Behavior:
    """The behavior of one mapping; what is wrong with its actions is added to `problems`."""
    expanded = {}
    for name, items in (("actions", part.actions), ("on_error", part.on_error)):
        try:
            expanded[name] = expand(items, steps=steps, stage_id=stage_id)
        except MessageInvalid as error:
            problems += [(f"{path}.{name}.{where}", problem) for where, problem in error.problems]
            return Behavior()
    return Behavior(
        actions=expanded["actions"].actions,
        on_error=expanded["on_error"].actions,
        goal=part.goal,
        focus=part.focus,
        expected=part.expected,
        validate=part.checked,
        promotions=part.promotions,
        context_filter=part.context_filter,
        context_update=part.context_update,
        repairs={**part.repairs, **expanded["actions"].repairs, **expanded["on_error"].repairs},
        verdict=part.verdict,
        fail=_fail(part.fail),
        fail_feedback=_fail(part.fail_feedback),
        break_after=_break(part.break_after),
    )


def _fail(part: _Fail | None) -> Fail | None:
    return Fail(**part.model_dump()) if part is not None else None


def _break(part: int | _Break | None) -> Break | None:
    if part is None:
        return None
    return Break(part) if isinstance(part, int) else Break(part.actions, part.tries)
