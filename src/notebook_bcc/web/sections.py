"""The parts of a run's page as JSON: pure readers of a projection, nothing for the browser to work out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from notebook_bcc.engine.inbox import UPDATE_PENDING
from notebook_bcc.engine.state import RunState, elapsed
from notebook_bcc.fsm.machine import allowed_events, next_state
from notebook_bcc.journal.records import PlanProposal
from notebook_bcc.lifecycle.summary import RunSummary
from notebook_bcc.lifecycle.whole_values import read_answer
from notebook_bcc.protocol.tracking import Artifact, OutputTracking
from notebook_bcc.protocol.vocabulary import State
from notebook_bcc.protocol.workflow import Stage, Step
from notebook_bcc.views.answers import answer_lines
from notebook_bcc.views.headline import headline
from notebook_bcc.views.narration import cost_of, one_line
from notebook_bcc.views.overview import change_lines, lacks, result_of, step_counts
from notebook_bcc.views.words import Words, clock_time
from notebook_bcc.web.projection import RunProjection, without_marks

Json = dict[str, Any]  # Any: JSON

_LONGEST_VALUE: Final = 90
_MOST_VARIABLES: Final = 300
_MOST_FINDINGS: Final = 200
_RESUMABLE: Final = frozenset({"paused", "limit", "interrupted", "killed", "failed", "waiting"})


def head(summary: RunSummary, projection: RunProjection, words: Words, *, now: float) -> Json:
    """What stands on top: what the run is, how far it is, and what may be done with it."""
    state, status = projection.state, summary.status
    done, of = step_counts(state)
    left = projection.seconds_left(now=now) if status == "running" else None
    result = result_of(summary)
    return {
        "title": one_line(state.document.title or state.goal or summary.folder.run_id, limit=120),
        "goal": one_line(state.goal),
        "status": status,
        "lacks": lacks(summary),
        "state": state.fsm.value,
        "done": min(done + (state.fsm is not State.WORKFLOW_COMPLETED), of),
        "of": of,
        "more": state.plan is not None and not all(stage.steps for stage in state.plan.stages),
        "share": done / of if of else 0.0,
        "left": words.left(left) if left is not None else "",
        "elapsed": clock_time(elapsed(state)),
        "kernel": state.kernel.up and status == "running",
        "cost": cost_of(state.spent, words) if state.spent.calls else "",
        "tokens": state.spent.tokens,
        "result": headline(result, words) if result is not None else "",
        "answer": answers(summary),
        "detail": one_line(state.stopped.detail) if state.stopped is not None and status != "running" else "",
        "can": _possible(summary, state),
    }


def answers(summary: RunSummary) -> list[str]:
    """What a completed run has answered, a line for each value."""
    found = read_answer(summary.folder) if summary.status == "completed" else None
    return list(answer_lines(found)) if found is not None else []


def _possible(summary: RunSummary, state: RunState) -> list[str]:
    """What a person may do with the run now."""
    status = summary.status
    if status == "running":
        return ["pause", "cancel"] if state.stopped is None else []
    if summary.holder is not None:
        return []
    can = ["resume"] if status in _RESUMABLE and state.question is None else []
    can += ["cancel"] if status in _RESUMABLE and not state.cancelled and state.fsm is not State.ERROR else []
    can += ["restart"] if status in ("cancelled", "failed") else []
    return [*can, "delete"]


def plan(projection: RunProjection) -> list[Json]:
    """Stages, steps, and the behaviors of the step under way."""
    state = projection.state
    waits = state.fsm in UPDATE_PENDING
    return [_stage(stage, projection, waits=waits) for stage in (state.plan.stages if state.plan is not None else ())]


def _stage(stage: Stage, projection: RunProjection, *, waits: bool) -> Json:
    state = projection.state
    done = state.stages.is_completed(stage.id)
    here = stage.id == state.position.stage_id and not done
    seconds = sum(projection.step_seconds.get((stage.id, step.id), 0.0) for step in stage.steps)
    return {
        "id": stage.id,
        "title": stage.title,
        "goal": stage.purpose,
        "status": "done" if done else "now" if here else "todo",
        "waits": here and waits,
        "seconds": seconds if done else None,
        "steps": [_step(stage, step, projection, done=done, waits=waits) for step in stage.steps] if here else [],
        "count": len(stage.steps),
    }


def _step(stage: Stage, step: Step, projection: RunProjection, *, done: bool, waits: bool) -> Json:
    state = projection.state
    ended = state.steps_ended.get((stage.id, step.id))
    here = (stage.id, step.id) == (state.position.stage_id, state.position.step_id) and not done
    here = here and not state.steps.is_completed(step.id)
    finished = done or ended is not None or state.steps.is_completed(step.id)
    return {
        "id": step.id,
        "title": step.title,
        "goal": step.purpose,
        "status": "now" if here else ("missed" if ended is False else "done") if finished else "todo",
        "waits": here and waits,
        "seconds": projection.step_seconds.get((stage.id, step.id)) if finished and not here else None,
        "behaviors": list(_behaviors(state)) if here else [],
    }


def _behaviors(state: RunState) -> Iterator[Json]:
    for item in state.behaviors.completed:
        yield {"title": one_line(without_marks(item.goal or item.key), limit=120), "status": "done"}
    if state.fsm in (State.BEHAVIOR_RUNNING, State.ACTION_RUNNING, State.ACTION_COMPLETED) or (
        state.fsm in UPDATE_PENDING and not state.on_detour
    ):
        title = state.behaviors.focus or state.behaviors.goal or state.position.behavior_id or ""
        yield {
            "title": one_line(without_marks(title), limit=120),
            "status": "now",
            "waits": state.fsm in UPDATE_PENDING,
        }


def outputs(state: RunState) -> list[list[str]]:
    """The variables that the step promises, each with what became of it."""
    return [[name, status] for name, status in _known_outputs(state.steps.outputs).items()]


def _known_outputs(tracked: OutputTracking) -> dict[str, str]:
    known: dict[str, str] = dict.fromkeys(tracked.expected, "expected")
    known |= dict.fromkeys(tracked.in_progress, "in_progress")
    return known | dict.fromkeys(tracked.produced, "produced")


def tracking(projection: RunProjection) -> Json:
    """What each level promises and has produced, and the named products with what they were made of."""
    state = projection.state
    levels = {"stage": state.stages, "step": state.steps, "behavior": state.behaviors}
    shown = {
        name: [[one, status] for one, status in _known_outputs(level.outputs).items()] for name, level in levels.items()
    }
    return {
        "levels": shown,
        "missing": list(state.behavior.missing),
        "artifacts": [_artifact(one, projection) for one in reversed(projection.artifacts.values())],
    }


def _artifact(one: Artifact, projection: RunProjection) -> Json:
    return {
        "id": one.artifact_id,
        "variable": one.variable_name,
        "description": one_line(without_marks(one.description)),
        "source": one.source or "",
        "parent": one.parent or "",
        "at": one.created_at or "",
        "cell": projection.state.kernel.assigned.get(one.variable_name, ""),
    }


def ask(summary: RunSummary, projection: RunProjection) -> Json | None:
    """What waits for a person: a change of the plan, or a question; its `answers` is what an answer names."""
    state = projection.state
    if state.fsm in UPDATE_PENDING and state.proposals:
        proposal = state.proposals[0]
        return {
            "kind": "change",
            "answers": state.machine.entered,
            "steps_only": state.fsm is State.STEP_UPDATE_PENDING,
            "lines": changed_lines(change_lines(state)),
            **_evidence(projection),
            "editable": editable(proposal),
            "goes_on": summary.holder is not None and summary.holder.carries_out,
        }
    if state.question is not None and state.stopped is not None:
        asked = state.question
        return {
            "kind": "question",
            "answers": state.judged,
            "text": asked.text,
            "options": list(asked.options),
            "input": asked.input,
        }
    return None


def changed_lines(lines: list[str]) -> list[list[str]]:
    """The lines that change, each with its mark, and their neighbours: where in the plan they stand."""
    near = {at + by for at, line in enumerate(lines) if line[:1] != " " for by in (-1, 0, 1)}
    shown = [at for at in range(len(lines)) if at in near]
    marked: list[list[str]] = []
    for before, at in zip([-1, *shown], shown, strict=False):
        marked += [[" ", "…"]] if at > before + 1 else []
        marked.append([lines[at][:1], lines[at][2:]])
    return marked


def _evidence(projection: RunProjection) -> Json:
    """Why the planner wants the change: what it has found last, with the cell that says so; else its own words."""
    state = projection.state
    found = next((note for note in reversed(projection.notes) if note.kind == "finding"), None)
    if found is not None:
        return {"reason": found.text, "cell": found.cell}
    said = state.verdict.response.metadata.reason if state.verdict is not None else ""
    return {
        "reason": one_line(without_marks(said or state.behaviors.focus or state.behaviors.goal), limit=600),
        "cell": "",
    }


def editable(proposal: PlanProposal) -> list[Json]:
    """The proposed steps (or stages) that a person may edit: what makes one, and no more."""
    items: tuple[Stage | Step, ...] = proposal.workflow.stages if proposal.workflow is not None else proposal.steps
    return [{"id": one.id, "name": one.name, "goal": one.goal or one.description} for one in items]


def variables(projection: RunProjection) -> list[Json]:
    """What there is in the kernel, new ones first."""
    found = projection.state.variables
    fresh = projection.fresh
    names = sorted(found, key=lambda name: (name not in fresh, name))[:_MOST_VARIABLES]
    cells = projection.state.kernel.assigned
    return [
        {"name": name, "text": value_text(found[name]), "new": name in fresh, "cell": cells.get(name, "")}
        for name in names
    ]


def value_text(value: Any) -> str:  # Any: JSON, as the kernel has shown it
    """A value on one short line."""
    if isinstance(value, dict) and isinstance(value.get("type"), str):
        shape = value.get("shape")
        size = "×".join(str(one) for one in shape) if isinstance(shape, list) else value.get("length", "")
        return f"{value['type']}({size})" if size != "" else str(value["type"])
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return one_line(text, limit=_LONGEST_VALUE)


def findings(projection: RunProjection) -> list[Json]:
    """What was found, repaired and warned of, newest last, each with its cell."""
    shown = projection.notes[-_MOST_FINDINGS:]
    return [{"kind": one.kind, "text": one.text, "cell": one.cell, "seq": one.seq} for one in shown]


def machine(state: RunState) -> Json:
    """Where the state machine is, what may happen from there, and its last moves."""
    allowed = [[event.value, to.value] for event in allowed_events(state.fsm) if (to := next_state(state.fsm, event))]
    moves = [[move.source.value, move.event.value, move.to.value, move.at] for move in state.machine.history]
    return {"state": state.fsm.value, "allowed": allowed, "history": moves[::-1], "moves": state.machine.moves}
