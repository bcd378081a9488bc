"""What a prompt is made of: the parts of a request that may be told, each with its budget of tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from notebook_bcc.llm.frame import Frame
from notebook_bcc.llm.limits import Share
from notebook_bcc.llm.prompt.parts import Part
from notebook_bcc.llm.prompt.sharing import INPUTS, Sharing, sharing
from notebook_bcc.llm.prompt.sharing_text import WITHHELD, is_error
from notebook_bcc.planners.model_exchange import ChatImage
from notebook_bcc.protocol.messages import RepairWanted, Request
from notebook_bcc.protocol.observation import FigureView
from notebook_bcc.protocol.vocabulary import Language

ATTEMPT: Final = "model_attempt"
"""The variable by which a verdict tells the next request which attempt it is, and what was wrong with the last one."""

REFUSED: Final = "model_refused"
"""The variable by which a verdict tells the next judgement which of its proposals were refused."""

OURS: Final = frozenset({ATTEMPT, REFUSED})
"""Variables that are only between us and ourselves."""

_CHINESE = re.compile(r"[\u4e00-\u9fff]")
# What stands before an error in a feedback: the action that failed.
ACTION_PREFIX: Final = re.compile(r"\A[a-z_]+: (?=[A-Za-z_.]*[A-Z])")
_GAP = re.compile(r"\[(?:[\w ]+ )?withheld\]")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+")
_LATIN = re.compile(r"[A-Za-z]")
# From so many letters on a text is written in some language.
_TELLING: Final = 30
_SHARES: Final[Mapping[str, float]] = {
    "variables": 0.25,
    "effects": 0.12,
    "problems": 0.15,
    "suggestion": 0.35,
    "code": 0.3,
}
_LOADED: Final[Mapping[Language, str]] = {
    "en": "The data are loaded: start from the variables above, read no file. pd, np and plt are imported.",
    "zh": "数据已经读入：从上面的变量开始，不要再读文件。pd、np、plt 已经导入。",
}
# What is asked for in the end, by language and whether only texts are wanted.
_FORMS: Final[Mapping[tuple[Language, bool], str]] = {
    ("en", False): "Write the text and the code of this part now, as JSON.",
    ("en", True): "Write this part now, as JSON: one text of one to three sentences, no code.",
    ("zh", False): "现在用 JSON 写出这个部分的文字和代码。",
    ("zh", True): "现在用 JSON 写出这个部分：一段一到三句的文字，不写代码。",
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """Which attempt at a behavior this is, counted from 1, and what went wrong before."""

    number: int = 1
    problems: tuple[str, ...] = ()

    def as_variable(self, behavior_id: str) -> dict[str, Any]:  # Any: JSON
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
    """The language of the goal is the language of the notebook; the language that the run was given stands above it."""
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


def figures_of(request: Request) -> tuple[FigureView, ...]:
    """The newest figures of the notebook, as far as the request tells of them."""
    notebook = request.observation.context.notebook
    return (notebook.figures or ()) if notebook is not None else ()


def images_of(request: Request, *, share: Share) -> tuple[ChatImage, ...]:
    """The figures as pictures: only where all values may be told, and the client was told to send them."""
    if share != "values":
        return ()
    shared = sharing(request, level=share)
    kinds: dict[str, Literal["image/png", "image/jpeg"]] = {"image/png": "image/png", "image/jpeg": "image/jpeg"}
    return tuple(
        ChatImage(kinds[one.media_type], one.data, caption=shared.figure(one))
        for one in figures_of(request)
        if one.data and one.media_type in kinds
    )


def parts_of(
    request: Request,
    *,
    share: Share,
    tokens: int,
    problems: Sequence[str] = (),
    frame: Frame | None = None,
    suggest: bool = True,
    language: Language = "en",
    steps: Mapping[str, str] | None = None,
    repair: RepairWanted | None = None,
) -> dict[str, Part]:
    """Every part there is. `tokens` is what the whole prompt may have; the goal and the promises are never cut away.

    `frame` is what the base planner would write. With `suggest` it is shown, unless nothing may be told of the data,
    which its templates are filled in with. Where no file is to be read, none is named: the model would read it again.
    """
    shared = sharing(_without_ours(request), level=share)
    files = frame.files if frame is not None else ()
    prose = frame is not None and frame.is_prose
    reads_files = frame is None or not frame.contents or any("read_" in cell for cell in frame.cells)
    frame = frame if frame is not None and suggest and share != "none" else Frame()
    goals, progress = request.observation.location.goals, request.observation.location.progress
    levels = [level.focus for level in (progress.stages, progress.steps, progress.behaviors) if level is not None]
    effects = request.observation.context.effects
    shown = [text for text in map(_text, (*effects.history, *effects.current)) if "<Figure" not in text]
    printed = [without_gaps(shared.effect(text)) for text in shown]
    small = max(60, tokens // 12)

    def ours(*texts: str | None) -> Part:
        return Part([shared.words(text) for text in texts if text], tokens=small, data=False)

    def data(name: str, entries: Sequence[str]) -> Part:
        return Part(entries, tokens=max(80, int(tokens * _SHARES[name])))

    parts = {
        "goal": Part([goals.workflow or ""], tokens=small, data=False),
        "stage": ours(goals.stage),
        "step": ours(goals.step),
        "behavior": ours(goals.behavior or goals.step),
        "focus": ours(*levels),
        "expected": Part([", ".join(expected_of(request))], tokens=small, data=False),
        "files": Part([", ".join(files)], tokens=small, data=False),
        "steps": ours(*(f"{name}: {goal}" for name, goal in (steps or {}).items())),
        "form": Part(
            [_LOADED[language] if not reads_files and not prose else "", _FORMS[language, prose]],
            tokens=small,
            data=False,
        ),
        "variables": data(
            "variables", [one for one in shared.variables() if reads_files or not one.startswith(f"{INPUTS}")]
        ),
        "effects": data("effects", printed),
        "figures": data("effects", [shared.figure(one) for one in figures_of(request)]),
        "problems": data("problems", [_problem(shared, one) for one in problems]),
        "suggestion": data("suggestion", [] if frame.is_prose else _draft(frame, shared)),
        "facts": data("suggestion", facts_of(frame, shared) if frame.is_prose else []),
    }
    if repair is not None:
        trace = "\n".join([*repair.traceback, f"{repair.error_name}: {repair.error}"])
        parts["code"] = data("code", [shared.code(repair.source)])
        parts["error"] = Part([shared.error(trace, source=repair.source)], tokens=max(80, tokens // 6))
    return parts


def _problem(shared: Sharing, text: str) -> str:
    """What was wrong, as it may be told: an error may quote data, a sentence of the plan may name what it holds."""
    said = ACTION_PREFIX.sub("", text)
    return shared.error(said) if is_error(said) else shared.words(text)


def _without_ours(request: Request) -> Request:
    """The request without the variable that is only between us and ourselves."""
    context = request.observation.context
    if not OURS & context.variables.keys():
        return request
    kept = {name: value for name, value in context.variables.items() if name not in OURS}
    observation = request.observation.model_copy(update={"context": context.model_copy(update={"variables": kept})})
    return request.model_copy(update={"observation": observation})


def facts_of(frame: Frame, shared: Sharing) -> list[str]:
    """The sentences of a base planner's texts that may be told whole."""
    sentences = [one for text in frame.contents for one in _SENTENCE_END.split(shared.code(text))]
    return [one for one in sentences if one.strip() and WITHHELD not in one]


def without_gaps(text: str) -> str:
    """The lines of a printed text of which nothing is withheld: the others only take room, and are copied."""
    return "\n".join(line for line in text.split("\n") if not _GAP.search(line))


def _draft(frame: Frame, shared: Sharing) -> list[str]:
    """What the base planner would write, in the form in which the model answers."""
    pieces: list[tuple[str, str]] = []
    for content in frame.contents:
        if content in frame.cells:
            pieces.append(("code", shared.code(content)))
        elif said := " ".join(facts_of(Frame(contents=(content,)), shared)):
            pieces.append(("text", said))
    return [json.dumps({"kind": kind, "content": content}, ensure_ascii=False) for kind, content in pieces]


def _text(effect: Any) -> str:  # Any: effects are whatever code has shown
    return effect if isinstance(effect, str) else json.dumps(effect, ensure_ascii=False, default=str)
