"""What is known of a run at a glance: its status, how far it is, how good its result."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from notebook_bcc.engine.inbox import UPDATE_PENDING
from notebook_bcc.engine.plan_changes import plan_diff
from notebook_bcc.engine.state import RunState, elapsed
from notebook_bcc.journal.records import INPUTS
from notebook_bcc.lifecycle.deliverables import read_summary
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.lifecycle.outline import was_verified
from notebook_bcc.lifecycle.saver import models_used
from notebook_bcc.lifecycle.summary import RunSummary, only_delivery_is_left
from notebook_bcc.protocol.summary import Summary
from notebook_bcc.protocol.vocabulary import CellType
from notebook_bcc.views.headline import headline
from notebook_bcc.views.narration import one_line, safe
from notebook_bcc.views.words import Words, clock_time


def result_of(summary: RunSummary) -> Summary | None:
    """How good the result is; a run that has not reached its end has none, whatever it has written."""
    return read_summary(summary.folder) if summary.status == "completed" else None


def lacks(summary: RunSummary) -> list[str]:
    """What a completed run has not done: reached its end is not yet answered, and not yet verified. One that has made
    all that was named is answered, whether it was verified or not."""
    if summary.status != "completed" or summary.state is None:
        return []
    stopped = summary.state.stopped
    answered = stopped.answered if stopped is not None else "unknown"
    verified = was_verified(summary.folder)
    said = ["not answered"] if answered == "no" else []
    if verified is True:
        return said
    if verified is None and answered == "yes":
        return ["answered", "not verified yet"]
    return [*said, "not verified"]


def in_words(statuses: Sequence[str], words: Words) -> str:
    """A status, and what a completed run has not done, in the reader's language."""
    keys = [f"status_{one.replace(' ', '_')}" for one in statuses]
    return words("status_between").join(words(key) for key in keys)


def about(state: RunState, result: Summary | None) -> tuple[str, str]:
    """The data file and the target: as they were named, or as the run has found them."""
    inputs = state.planner_context.variables.get(INPUTS)
    known = inputs if isinstance(inputs, dict) else {}
    targets = known.get("targets") or [known.get("target") or (result.target if result is not None else None) or ""]
    return str(known.get("data", "")), ", ".join(str(one) for one in targets)


def steps_done(state: RunState) -> str:
    """`3/7`, with a plus while there are stages whose steps are not known yet."""
    done, of = step_counts(state)
    more = state.plan is not None and not all(stage.steps for stage in state.plan.stages)
    return f"{done}/{of}{'+' if more else ''}" if of else ""


def change_lines(state: RunState) -> list[str]:
    """The change of the plan that waits for an answer, as a person reads it; none where nothing waits."""
    if state.fsm not in UPDATE_PENDING or not state.proposals:
        return []
    return [safe(line) for line in plan_diff(state.plan, state.proposals[0]).splitlines()]


def _waiting(state: RunState) -> dict[str, Any]:  # Any: JSON
    """What waits for a person, for machines: its number, which an answer names, and the change or the question."""
    lines = change_lines(state)
    if lines:
        return {"waiting": {"answers": state.machine.entered, "change": lines}}
    return {"waiting": {"answers": state.judged, **question_facts(state)}} if state.question is not None else {}


def question_facts(state: RunState) -> dict[str, Any]:  # Any: JSON
    """The planner's question that waits, with its number; nothing where none waits."""
    return {"question": state.question.to_dict() | {"answers": state.judged}} if state.question is not None else {}


def question_line(state: RunState) -> str:
    """The question that waits and its number, which an answer names; empty where none waits."""
    return f"{state.judged} waits for an answer: {one_line(state.question.text)}" if state.question is not None else ""


def facts_of(summary: RunSummary) -> dict[str, Any]:  # Any: JSON
    """Everything about a run, for machines."""
    facts: dict[str, Any] = {
        "run_id": summary.folder.run_id,
        "status": summary.status,
        "folder": str(summary.folder.path),
        "problem": summary.problem,
    }
    state = summary.state
    if state is None:
        return facts
    done, of = step_counts(state)
    stopped = state.stopped
    result = result_of(summary)
    data, target = about(state, result)
    return facts | {
        "goal": state.goal,
        "state": state.fsm.value,
        "stage": state.position.stage_id,
        "step": state.position.step_id,
        "steps_completed": done,
        "steps_planned": of,
        "actions": state.actions_completed,
        "seconds": round(elapsed(state), 3),
        "started_at": state.started_at,
        "last_at": state.at,
        "stopped": stopped.reason if stopped is not None else None,
        "detail": stopped.detail if stopped is not None else "",
        **({"answered": stopped.answered} if stopped is not None and stopped.reason == "completed" else {}),
        **({"verified": was_verified(summary.folder)} if summary.status == "completed" else {}),
        "pid": summary.holder.pid if summary.holder is not None else None,
        "notebook": _notebook(summary.folder) or str(summary.folder.delivered),
        "delivery": _delivery(summary.folder) or None,
        **({"models": models_used(state)} if state.spent.calls else {}),
        **({"data": data} if data else {}),
        **({"target": target} if target else {}),
        **({"result": result_facts(result)} if result is not None else {}),
        **_waiting(state),
    }


def rows_of(summary: RunSummary, state: RunState, words: Words, *, typed: str) -> list[tuple[str, str]]:
    """Everything about a run, for people: a name and a text each. `typed` is the run as commands name it."""
    result = result_of(summary)
    data, target = about(state, result)
    code = [cell for cell in state.document.cells if cell.type is CellType.CODE]
    failed = sum(cell.has_failed for cell in code)
    stopped = state.stopped
    holder = f" ({summary.holder})" if summary.holder is not None else ""
    return [
        ("run", summary.folder.run_id),
        ("status", in_words((summary.status, *lacks(summary)), words) + holder),
        ("reason", one_line(stopped.detail) if stopped is not None and summary.holder is None else ""),
        ("result", headline(result, words) if result is not None else ""),
        ("goal", one_line(state.goal)),
        ("data", one_line(data)),
        ("target", one_line(target)),
        ("state", state.fsm.value),
        ("stage", state.stage.title if state.stage is not None else ""),
        ("step", state.step.title if state.step is not None else ""),
        ("behavior", str(state.position.iteration or "")),
        ("steps", steps_done(state)),
        ("actions", str(state.actions_completed)),
        ("cells", f"{len(state.document.cells)}, {len(code)} with code" + (f", {failed} failed" if failed else "")),
        ("time", clock_time(elapsed(state))),
        ("models", _models(state)),
        ("started", _local(state.started_at)),
        ("last", _local(state.at)),
        ("notebook", _notebook(summary.folder)),
        ("delivery", _delivery(summary.folder) + _whether_moved(summary.folder)),
        *_change_rows(state),
        ("question", question_line(state)),
        ("next", _next_command(summary, state, typed)),
    ]


def _change_rows(state: RunState) -> list[tuple[str, str]]:
    """The change that waits: its number, then its lines. What stays as it is, is not shown."""
    lines = [line for line in change_lines(state) if not line.startswith(" ")]
    return (
        [("change", f"{state.machine.entered} waits for an answer"), *(("", line) for line in lines)] if lines else []
    )


def _notebook(folder: RunFolder) -> str:
    """Where the notebook is: the run keeps one of its own when what was delivered is moved away."""
    return next((str(path) for path in (folder.delivered, folder.notebook) if path.exists()), "")


def _delivery(folder: RunFolder) -> str:
    """The file or folder of `--out`, which gets everything when the run ends."""
    wanted = folder.destination
    return str(wanted.folder or wanted.file or "")


def _whether_moved(folder: RunFolder) -> str:
    has_gone = folder.notebook.exists() and not folder.delivered.exists()
    return " (moved or deleted since)" if has_gone else ""


def _models(state: RunState) -> str:
    spent = state.spent
    if not spent.calls:
        return ""
    names = ", ".join(one_line(name, limit=80) for name in state.models)
    return f"{names}: {spent.calls} calls, {spent.tokens:,} tokens, cost {spent.cost}, {spent.seconds:.0f} s"


def _next_command(summary: RunSummary, state: RunState, run: str) -> str:
    if summary.status == "running":
        return f"nbcc pause {run}, or nbcc cancel {run}"
    if summary.status == "completed" and only_delivery_is_left(state, summary.folder):
        # Its process died in the verification, or right after its last action.
        return f"nbcc resume {run}, which delivers what the run has made"
    if summary.status == "completed":
        return f"nbcc export {run}, or nbcc verify {run}"
    if state.fsm in UPDATE_PENDING:
        return f"nbcc confirm {run} --resume, or nbcc reject {run} --resume"
    if state.question is not None:
        return f"nbcc resume {run} --set {state.question.input}=..."
    return f"nbcc resume {run}" + (" --restart reset" if summary.status == "cancelled" else "")


def _local(at: str) -> str:
    return f"{datetime.fromisoformat(at).astimezone():%Y-%m-%d %H:%M:%S}" if at else ""


def step_counts(state: RunState) -> tuple[int, int]:
    """Steps completed and steps planned, over all stages whose steps are known."""
    if state.plan is None:
        return 0, 0
    finished = {item.key for item in state.stages.completed}
    done = sum(len(stage.steps) for stage in state.plan.stages if stage.id in finished)
    if state.position.stage_id not in finished:
        done += len(state.steps.completed)
    return done, sum(len(stage.steps) for stage in state.plan.stages)


def result_facts(summary: Summary) -> dict[str, Any]:  # Any: JSON
    """How good the result is, for machines: what the summary is read for, under the names it has there."""
    return {name: value for name in Summary.model_fields if (value := getattr(summary, name)) is not None}
