"""What rules and templates may know, taken from a request. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from notebook_bcc.playbook.goals.asked import asked_of, reads_table
from notebook_bcc.playbook.goals.names import VARIABLES
from notebook_bcc.playbook.goals.tasks import TaskWords
from notebook_bcc.playbook.templates.environment import SUMMARIZED, Facts
from notebook_bcc.playbook.templates.tracing import TracedRoot, traced
from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.observation import LevelProgress

INPUTS = "inputs"
# What clients of the first document call them, each as a variable of its own.
OLDER_INPUTS = {"csv_file_path": "data", "problem_description": "goal"}
# Told to the client when something went wrong, so that the content of `on_error` can name it: the request for content
# has no feedback.
PROBLEMS = "playbook_problems"
MOST_EFFECTS = 50


def facts_of(
    request: Request,
    *,
    languages: Sequence[str],
    tasks: Sequence[TaskWords] = (),
    has_model: bool = False,
    problems: Sequence[str] | None = None,
) -> Facts:
    """The facts of a request. `problems` are what the planner itself found wrong with the behavior that ended."""
    context, location = request.observation.context, request.observation.location
    given = inputs_of(request)
    effects = [_text(each) for each in (*context.effects.history, *context.effects.current)]
    feedback = request.behavior_feedback
    known = context.variables.get(PROBLEMS)
    errors = [each.error for each in feedback.errors] if feedback is not None else known
    return {
        "v": {name: value for name, value in context.variables.items() if name != PROBLEMS},
        INPUTS: given,
        "goal": location.goals.workflow or "",
        "asked": asked_of(given, context.variables, tasks, lang=language(given, languages)).plain(),
        "lang": language(given, languages),
        "effects": effects[-MOST_EFFECTS:],
        "errors": [*(errors if isinstance(errors, list) else []), *(problems or ())],
        "missing": list(feedback.missing_outputs) if feedback is not None else [],
        "steps_done": _done(location.progress.steps),
        "stages_done": _done(location.progress.stages),
        "has_model": has_model,
        SUMMARIZED: _summarized(context.variables_summarized or (), by_table=reads_table(given, tasks)),
    }


def traced_facts(facts: Facts) -> Facts:
    """The same facts, whose values know where they came from."""
    roots = {name: TracedRoot(facts[name], name) for name in ("v", INPUTS, "asked") if name in facts}
    return {**facts, **roots, "goal": traced(facts.get("goal", ""), "goal")}


def _summarized(names: Sequence[str], *, by_table: bool) -> Mapping[str, frozenset[str]]:
    """The variables that are known by a summary only, for each fact that is made of them."""
    return {"v": frozenset(names), "asked": frozenset(names).intersection(VARIABLES) if by_table else frozenset()}


def inputs_of(request: Request) -> Mapping[str, Any]:  # Any: what a run was started with
    """What the run was given, also where a client says it in the words of the first document."""
    variables = request.observation.context.variables
    given = variables.get(INPUTS)
    older = {name: variables[old] for old, name in OLDER_INPUTS.items() if variables.get(old) not in (None, "")}
    return {**older, **(given if isinstance(given, dict) else {})}


def language(inputs: Mapping[str, Any], languages: Sequence[str]) -> str:  # Any: see inputs_of
    """The language of the run, where the playbook has it; else its first."""
    wanted = inputs.get("lang")
    return wanted if isinstance(wanted, str) and wanted in languages else languages[0]


def _text(effect: Any) -> str:  # Any: effects are whatever code has shown
    return effect if isinstance(effect, str) else str(effect)


def _done(level: LevelProgress | None) -> list[str]:
    return [item.key for item in level.completed] if level is not None else []
