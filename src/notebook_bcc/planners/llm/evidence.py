"""What a prompt is made of: the parts of a request that may be told, each with its budget of tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from notebook_bcc.planners.llm.prompt import Part
from notebook_bcc.planners.llm.prompt_files import Language
from notebook_bcc.planners.llm.share import INPUTS, Share, Sharing, sharing
from notebook_bcc.planners.llm.sharing_text import is_error
from notebook_bcc.protocol.messages import RepairWanted, Request

ATTEMPT: Final = "model_attempt"
"""The variable by which a verdict tells the next request which attempt it is, and what was wrong with the last one."""

_CHINESE = re.compile(r"[\u4e00-\u9fff]")
# What stands before an error in a feedback: the action that failed.
ACTION_PREFIX: Final = re.compile(r"\A[a-z_]+: (?=[A-Za-z_.]*[A-Z])")
_LATIN = re.compile(r"[A-Za-z]")
# From so many letters on a text is written in some language.
_TELLING: Final = 30
_SHARES: Final[Mapping[str, float]] = {
    "variables": 0.25,
    "effects": 0.2,
    "problems": 0.15,
    "suggestion": 0.3,
    "code": 0.3,
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """Which attempt at a behavior this is, counted from 1, and what went wrong before."""

    number: int = 1
    problems: tuple[str, ...] = ()

    def told(self, behavior_id: str) -> dict[str, Any]:  # Any: JSON
        """As the variable that comes back with the next request."""
        return {ATTEMPT: {"behavior": behavior_id, "number": self.number, "problems": list(self.problems)}}


def attempt_of(request: Request) -> Attempt:
    """The attempt a request is about. One that belongs to another behavior is none."""
    value = request.observation.context.variables.get(ATTEMPT)
    current = request.observation.location.current.behavior_id
    feedback = request.behavior_feedback
    asked = (feedback.behavior_id if feedback is not None else None) or current
    if not isinstance(value, dict) or value.get("behavior") != asked:
        return Attempt()
    number, problems = value.get("number"), value.get("problems")
    return Attempt(
        number=number if isinstance(number, int) and number > 0 else 1,
        problems=tuple(str(one) for one in problems) if isinstance(problems, list) else (),
    )


def language_of(request: Request, default: Language) -> Language:
    """The language of the goal is the language of the notebook; an explicit wish of the run stands above it."""
    given = request.observation.context.variables.get(INPUTS)
    wanted = given.get("lang") if isinstance(given, dict) else None
    if wanted == "en" or wanted == "zh":
        return "zh" if wanted == "zh" else "en"
    goal = request.observation.location.goals.workflow or ""
    return "zh" if _CHINESE.search(goal) else default


def is_written_in(text: str, language: Language) -> bool:
    """Whether a text may stand in a notebook of that language. Names and numbers belong to none: short texts always."""
    chinese = len(_CHINESE.findall(text))
    latin = len(_LATIN.findall(text))
    if language == "zh":
        return chinese > 0 or latin < _TELLING
    return chinese < _TELLING or chinese < latin


def expected_of(request: Request) -> tuple[str, ...]:
    """The variables that the behavior has promised."""
    level = request.observation.location.progress.behaviors
    return level.current_outputs.expected if level is not None else ()


def parts_of(
    request: Request,
    *,
    share: Share,
    tokens: int,
    problems: Sequence[str] = (),
    suggestion: Sequence[str] = (),
    repair: RepairWanted | None = None,
) -> dict[str, Part]:
    """Every part there is. `tokens` is what the whole prompt may have; the goal and the promises are never cut away."""
    told = sharing(_without_ours(request), level=share)
    goals, progress = request.observation.location.goals, request.observation.location.progress
    levels = [level.focus for level in (progress.stages, progress.steps, progress.behaviors) if level is not None]
    effects = request.observation.context.effects
    small = max(60, tokens // 12)

    def ours(*texts: str | None) -> Part:
        return Part([told.words(text) for text in texts if text], tokens=small, data=False)

    def data(name: str, entries: Sequence[str]) -> Part:
        return Part(entries, tokens=max(80, int(tokens * _SHARES[name])))

    parts = {
        "goal": Part([goals.workflow or ""], tokens=small, data=False),
        "stage": ours(goals.stage),
        "step": ours(goals.step),
        "behavior": ours(goals.behavior or goals.step),
        "focus": ours(*levels),
        "expected": Part([", ".join(expected_of(request))], tokens=small, data=False),
        "variables": data("variables", told.variables()),
        "effects": data("effects", [told.effect(_text(one)) for one in (*effects.history, *effects.current)]),
        "problems": data("problems", [_problem(told, one) for one in problems]),
        "suggestion": data("suggestion", [told.code(one) for one in suggestion]),
    }
    if repair is not None:
        trace = "\n".join([*repair.traceback, f"{repair.error_name}: {repair.error}"])
        parts["code"] = data("code", [told.code(repair.source)])
        parts["error"] = Part([told.error(trace, source=repair.source)], tokens=max(80, tokens // 6))
    return parts


def _problem(told: Sharing, text: str) -> str:
    """What was wrong, as it may be told: an error may quote data, a sentence of the plan may name what it holds."""
    said = ACTION_PREFIX.sub("", text)
    return told.error(said) if is_error(said) else told.words(text)


def _without_ours(request: Request) -> Request:
    """The request without the variable that is only between us and ourselves."""
    context = request.observation.context
    if ATTEMPT not in context.variables:
        return request
    kept = {name: value for name, value in context.variables.items() if name != ATTEMPT}
    observation = request.observation.model_copy(update={"context": context.model_copy(update={"variables": kept})})
    return request.model_copy(update={"observation": observation})


def _text(effect: Any) -> str:  # Any: effects are whatever code has shown
    return effect if isinstance(effect, str) else json.dumps(effect, ensure_ascii=False, default=str)
