"""What the page may be asked to do, read from JSON, and as the arguments of the command that does it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from notebook_bcc.engine.state import RunState
from notebook_bcc.journal.records import PlanProposal
from notebook_bcc.protocol.workflow import Stage, Step
from notebook_bcc.server.problems import Problem

Json = Mapping[str, Any]  # Any: JSON

_Item = TypeVar("_Item", Step, Stage)

_LONGEST = 4_000
_MOST_STEPS = 200


def text_of(body: Json, name: str) -> str:
    """A text of the body, without the white space around it; empty where there is none. Raises Problem."""
    value = body.get(name, "")
    if not isinstance(value, str) or len(value) > _LONGEST or "\0" in value:
        raise _invalid(name, f"a text of at most {_LONGEST} characters is wanted")
    return value.strip()


def number_of(body: Json, name: str) -> int:
    """The sequence number that an answer names. Raises Problem: an answer to nothing in particular is none."""
    value = body.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise _invalid(name, "the sequence number of what is answered is wanted")
    return value


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run that somebody wants."""

    path: Path | None
    options: Mapping[str, str]
    asks: bool

    @classmethod
    def read(cls, body: Json) -> NewRun:
        """Raises Problem."""
        given = text_of(body, "path")
        path = Path(given).expanduser() if given else None
        if path is not None and not path.is_file():
            raise _invalid("path", f"there is no file {given!r} on the machine of this page")
        planner = text_of(body, "planner")
        if path is None and not planner:
            raise _invalid("path", "a data file or a script is wanted")
        named = {name: text_of(body, name) for name in ("target", "goal", "model", "name")}
        budget = text_of(body, "budget")
        options = {**named, "planner": planner, "budget-cost": budget}
        return cls(path, {name: value for name, value in options.items() if value}, body.get("ask") is not False)

    @property
    def name(self) -> str:
        """What the run's id is made of."""
        return self.options.get("name") or (self.path.stem if self.path is not None else "run")

    def arguments(self, run_id: str) -> Iterator[str]:
        """For `nbcc run`. Each option with its value in one word: no value can be taken for an option."""
        yield from ("run", "--quiet", f"--id={run_id}")
        if self.asks:
            yield "--confirm=ask"
        for name, value in self.options.items():
            yield f"--{name}={value}"
        if self.path is not None:
            yield from ("--", str(self.path.absolute()))


def resume_arguments(run_id: str, *, restart: str, inputs: Mapping[str, str], answers: int = 0) -> list[str]:
    """For `nbcc resume`."""
    said = [f"--restart={restart}"] if restart else []
    said += [f"--answers={answers}"] if answers else []
    return ["resume", "--quiet", *said, *(f"--set={name}={value}" for name, value in inputs.items()), "--", run_id]


def edited_proposal(state: RunState, items: Any) -> PlanProposal | None:  # Any: JSON
    """The change that waits, as a person wants it; None where nothing was edited. Raises Problem.

    What was proposed beside id, name and goal stays with the step of the same id.
    """
    if items is None:
        return None
    if not isinstance(items, list) or not 0 < len(items) <= _MOST_STEPS or not state.proposals:
        raise _invalid("edited", f"a list of 1 to {_MOST_STEPS} steps is wanted")
    proposal = state.proposals[0]
    rows = [_row(one) for one in items]
    if proposal.workflow is None:
        steps = {step.id: step for step in proposal.steps}
        return proposal.model_copy(update={"steps": tuple(_edited(steps.get(one["id"]), one, Step) for one in rows)})
    stages = {stage.id: stage for stage in proposal.workflow.stages}
    new = tuple(_edited(stages.get(one["id"]), one, Stage) for one in rows)
    return proposal.model_copy(update={"workflow": proposal.workflow.model_copy(update={"stages": new})})


def _edited(before: _Item | None, row: Mapping[str, str], kind: type[_Item]) -> _Item:
    if before is None:
        return kind(id=row["id"], name=row["name"], goal=row["goal"])
    shown = before.goal or before.description
    goal = {} if row["goal"] == shown else {"goal": row["goal"]}
    return before.model_copy(update={"name": row["name"], **goal})


def _row(item: Any) -> dict[str, str]:  # Any: JSON
    if not isinstance(item, Mapping):
        raise _invalid("edited", "each step is an object with id, name and goal")
    row = {name: text_of(item, name) for name in ("id", "name", "goal")}
    if not row["id"] or len(row["id"]) > 200:
        raise _invalid("edited", "each step needs an id of at most 200 characters")
    return row


def _invalid(name: str, problem: str) -> Problem:
    return Problem(422, "invalid", f"{name}: {problem}.", problems=[(name, problem)])
