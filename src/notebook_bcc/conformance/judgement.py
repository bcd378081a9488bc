"""Read an answer of /planning: what can be taken of it, and each thing that is wrong with it, by area. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from notebook_bcc.conformance.exchange import Exchange, Json
from notebook_bcc.conformance.transcript import Area
from notebook_bcc.errors import MessageInvalid, PlanInvalid
from notebook_bcc.protocol.messages import SUMMARY_STRATEGY, ContextFilter, PlanningResponse
from notebook_bcc.protocol.workflow import check_workflow

# The parts of a judgement that have a row of their own; without them the rest may still be understood.
_PARTS: tuple[tuple[str, Area], ...] = (
    ("context_filter", "filter"),
    ("context_update.workflow_update", "plan"),
    ("context_update.stage_steps_update", "plan"),
)


@dataclass(frozen=True, slots=True)
class ReadJudgement:
    """`answer` is None where there is no judgement at all."""

    answer: PlanningResponse | None
    problems: tuple[tuple[Area, str], ...] = ()


def read_judgement(exchange: Exchange) -> ReadJudgement:
    """What the exchange says. A part that is invalid is noted and left out, once for each part."""
    if exchange.problem:
        return ReadJudgement(None, (("judgement", exchange.problem),))
    data: Json = dict(exchange.object or {})
    problems: list[tuple[Area, str]] = []
    for _ in range(len(_PARTS) + 1):
        try:
            answer = PlanningResponse.parse(data)
        except MessageInvalid as error:
            found = _part_of(error)
            problems.append((found[1] if found else "judgement", str(error)))
            if found is None:
                return ReadJudgement(None, tuple(problems))
            data = _without(data, found[0])
            continue
        known = {name for names in PlanningResponse.spellings.values() for name in names}
        if data and not data.keys() & known:
            nothing = "it holds no field of a judgement, such as targetAchieved"
            return ReadJudgement(None, (*problems, ("judgement", nothing)))
        return _checked(answer, problems)
    return ReadJudgement(None, tuple(problems))


def verdict_faults(data: Json) -> Iterator[str]:
    """Verdicts that are not booleans: a reader that is strict cannot understand them, a lenient one guesses."""
    for place, part in (("", data), ("transition.", data.get("transition"))):
        if isinstance(part, dict):
            for name in ("targetAchieved", "target_achieved", "continue_behaviors"):
                value = part.get(name)
                if value is not None and not isinstance(value, bool):
                    yield f"{place}{name} is {value!r}, not true or false"


def filter_faults(wanted: ContextFilter) -> Iterator[str]:
    """What a well-typed filter can still have wrong."""
    for name, strategy in wanted.variables_to_summarize.items():
        if not SUMMARY_STRATEGY.fullmatch(strategy):
            yield f"context_filter.variables_to_summarize.{name}: no such summary: {strategy!r}"


def _checked(answer: PlanningResponse, problems: list[tuple[Area, str]]) -> ReadJudgement:
    plan = answer.context_update.workflow_update
    if plan is not None:
        try:
            check_workflow(plan)
        except PlanInvalid as error:
            problems.append(("plan", str(error)))
            update = answer.context_update.model_copy(update={"workflow_update": None})
            answer = answer.model_copy(update={"context_update": update})
    if answer.context_filter is not None:
        problems += [("filter", text) for text in filter_faults(answer.context_filter)]
    return ReadJudgement(answer, tuple(problems))


def _part_of(error: MessageInvalid) -> tuple[str, Area] | None:
    for path, _ in error.problems:
        for part, area in _PARTS:
            if path == part or path.startswith(f"{part}."):
                return part, area
    return None


def _without(data: Json, path: str) -> Json:
    """The data without the member at this path, itself unchanged."""
    name, _, rest = path.partition(".")
    inner: Any = data.get(name)  # Any: not validated yet
    left = {key: value for key, value in data.items() if key != name}
    return {**left, name: _without(inner, rest)} if rest and isinstance(inner, dict) else left
