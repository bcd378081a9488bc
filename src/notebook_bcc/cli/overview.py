"""`nbcc list` and `nbcc status`: which runs there are, and how far one is."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Any, Final

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from notebook_bcc.cli.ending import result_facts
from notebook_bcc.cli.headline import headline, short_headline
from notebook_bcc.cli.narration import one_line
from notebook_bcc.cli.options import JsonOption, RunArgument, RunsOption, settings_of
from notebook_bcc.cli.picture import step_counts
from notebook_bcc.cli.words import Words, clock_time
from notebook_bcc.engine.decide import elapsed
from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import JournalFailed
from notebook_bcc.journal.records import INPUTS
from notebook_bcc.notebook.counting import Count
from notebook_bcc.protocol.summary import Summary
from notebook_bcc.protocol.vocabulary import CellType, State
from notebook_bcc.runs.deliverables import read_summary
from notebook_bcc.runs.folder import find_run, run_folders
from notebook_bcc.runs.lifecycle import RunSummary, load_state, only_delivery_is_left, summarize
from notebook_bcc.runs.saver import models_used
from notebook_bcc.runs.verify import verified_stamp

_STYLES = {"completed": "green", "running": "cyan", "failed": "red", "broken": "red", "killed": "yellow"}
# In the order in which they find room on the screen.
_COLUMNS: Final = ("run", "status", "score (naive)", "target", "data", "steps", "time", "goal")
_SHORTEST_GOAL: Final = 12
_GAP: Final = 2
_LONGEST_NAME: Final = 30


async def list_command(
    runs: RunsOption = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="Show so many; 0 shows all.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """List the runs, newest first. A run whose journal cannot be read is listed as broken."""
    root = settings_of(runs=runs).runs
    folders = run_folders(root)
    shown = folders[:limit] if limit else folders
    summaries = [await summarize(folder, whole=False) for folder in shown]
    if as_json:
        for summary in summaries:
            print(json.dumps(_facts(summary), ensure_ascii=False))
        return
    if not summaries:
        print(f"no runs in {root}; `nbcc run DATA.csv` or `nbcc run SCRIPT.yaml` makes one")
        return
    console = Console(highlight=False)
    console.print(_table(summaries, width=console.width))
    if len(shown) < len(folders):
        print(f"{Count(len(folders) - len(shown)):older run is|older runs are} not shown; --limit 0 shows all")


async def status_command(run: RunArgument, runs: RunsOption = None, as_json: JsonOption = False) -> None:
    """Say how far a run is, what it waits for, and what to do next."""
    settings = settings_of(runs=runs)
    folder = find_run(settings.runs, run)
    summary = await summarize(folder)
    if summary.state is None:
        # Asked for one run, its trouble is the answer: the error itself, with its exit code.
        await load_state(folder)
        raise JournalFailed(summary.problem)
    if as_json:
        print(json.dumps(_facts(summary), ensure_ascii=False))
        return
    for name, value in _rows(summary, summary.state, Words(settings.lang)):
        if value:
            print(f"{name:<10} {value}")


def _table(summaries: list[RunSummary], *, width: int) -> Table:
    """The runs, with as many columns as the screen has room for. Ids are typed again, so they are never cut; the goal
    takes what is left."""
    rows = [_cells(summary) for summary in summaries]
    widest = {name: max(len(name), *(cell_len(row[name].plain) for row in rows)) for name in _COLUMNS}
    shown = ["run"]
    taken = widest["run"]
    for name in _COLUMNS[1:]:
        wanted = _SHORTEST_GOAL if name == "goal" else widest[name]
        if any(row[name].plain for row in rows) and taken + _GAP + wanted <= width:
            shown.append(name)
            taken += _GAP + wanted
    table = Table(box=None, pad_edge=False, show_edge=False, expand=True)
    for name in shown:
        table.add_column(name, no_wrap=True, overflow="ellipsis", ratio=1 if name == "goal" else None)
    for row in rows:
        table.add_row(*(row[name] for name in shown))
    return table


def _cells(summary: RunSummary) -> dict[str, Text]:
    """What a run has in each column."""
    cells = {name: Text() for name in _COLUMNS} | {
        "run": Text(summary.folder.run_id),
        "status": _status_cell(summary),
        "goal": Text(one_line(summary.problem)),
    }
    state = summary.state
    if state is None:
        return cells
    result = _result(summary)
    data, target = _about(state, result)
    return cells | {
        "score (naive)": Text(short_headline(result) if result is not None else ""),
        "target": Text(one_line(target, limit=_LONGEST_NAME)),
        "data": Text(one_line(data, limit=_LONGEST_NAME)),
        "steps": Text(_steps(state)),
        "time": Text(clock_time(elapsed(state))),
        "goal": Text(one_line(state.goal, limit=120)),
    }


def _status_cell(summary: RunSummary) -> Text:
    lacks = _lacks(summary)
    style = "yellow" if lacks else _STYLES.get(summary.status, "yellow")
    return Text(", ".join((summary.status, *lacks)), style=style)


def _lacks(summary: RunSummary) -> list[str]:
    """What a completed run has not done: reached its end is not yet answered, and not yet verified."""
    if summary.status != "completed" or summary.state is None:
        return []
    stopped = summary.state.stopped
    unanswered = stopped is not None and stopped.answered == "no"
    unverified = verified_stamp(summary.folder) is not True
    return [word for word, holds in (("not answered", unanswered), ("not verified", unverified)) if holds]


def _result(summary: RunSummary) -> Summary | None:
    """How good the result is; a run that has not reached its end has none, whatever it has written."""
    return read_summary(summary.folder) if summary.status == "completed" else None


def _about(state: RunState, result: Summary | None) -> tuple[str, str]:
    """The data file and the target: as they were named, or as the run has found them."""
    inputs = state.told.variables.get(INPUTS)
    known = inputs if isinstance(inputs, dict) else {}
    targets = known.get("targets") or [known.get("target") or (result.target if result is not None else None) or ""]
    return str(known.get("data", "")), ", ".join(str(one) for one in targets)


def _steps(state: RunState) -> str:
    """`3/7`, with a plus while there are stages whose steps are not known yet."""
    done, of = step_counts(state)
    more = state.plan is not None and not all(stage.steps for stage in state.plan.stages)
    return f"{done}/{of}{'+' if more else ''}" if of else ""


def _facts(summary: RunSummary) -> dict[str, Any]:
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
    result = _result(summary)
    data, target = _about(state, result)
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
        **({"verified": verified_stamp(summary.folder)} if summary.status == "completed" else {}),
        "pid": summary.holder.pid if summary.holder is not None else None,
        "notebook": str(summary.folder.delivered),
        **({"models": models_used(state)} if state.spent.calls else {}),
        **({"data": data} if data else {}),
        **({"target": target} if target else {}),
        **({"result": result_facts(result)} if result is not None else {}),
    }


def _rows(summary: RunSummary, state: RunState, words: Words) -> list[tuple[str, str]]:
    result = _result(summary)
    data, target = _about(state, result)
    code = [cell for cell in state.document.cells if cell.type is CellType.CODE]
    failed = sum(cell.has_failed for cell in code)
    stopped = state.stopped
    return [
        ("run", summary.folder.run_id),
        ("status", _status_cell(summary).plain + (f" ({summary.holder})" if summary.holder is not None else "")),
        ("reason", one_line(stopped.detail) if stopped is not None and summary.holder is None else ""),
        ("result", headline(result, words) if result is not None else ""),
        ("goal", one_line(state.goal)),
        ("data", one_line(data)),
        ("target", one_line(target)),
        ("state", state.fsm.value),
        ("stage", state.stage.title if state.stage is not None else ""),
        ("step", state.step.title if state.step is not None else ""),
        ("behavior", str(state.position.iteration or "")),
        ("steps", _steps(state)),
        ("actions", str(state.actions_completed)),
        ("cells", f"{len(state.document.cells)}, {len(code)} with code" + (f", {failed} failed" if failed else "")),
        ("time", clock_time(elapsed(state))),
        ("models", _models(state)),
        ("started", _local(state.started_at)),
        ("last", _local(state.at)),
        ("notebook", str(summary.folder.delivered) if summary.folder.delivered.exists() else ""),
        ("next", _next_command(summary, state)),
    ]


def _models(state: RunState) -> str:
    spent = state.spent
    if not spent.calls:
        return ""
    names = ", ".join(one_line(name, limit=80) for name in state.models)
    return f"{names}: {spent.calls} calls, {spent.tokens:,} tokens, cost {spent.cost}, {spent.seconds:.0f} s"


def _next_command(summary: RunSummary, state: RunState) -> str:
    run = summary.folder.run_id
    if summary.status == "running":
        return f"nbcc pause {run}, or nbcc cancel {run}"
    if summary.status == "completed" and only_delivery_is_left(state, summary.folder):
        # Its process died in the verification, or right after its last action.
        return f"nbcc resume {run}, which delivers what the run has made"
    if summary.status == "completed":
        return f"nbcc export {run}, or nbcc verify {run}"
    if state.fsm in (State.WORKFLOW_UPDATE_PENDING, State.STEP_UPDATE_PENDING):
        return f"nbcc confirm {run} --resume, or nbcc reject {run} --resume"
    if state.question is not None:
        return f"nbcc resume {run} --set {state.question.input}=..."
    return f"nbcc resume {run}" + (" --restart reset" if summary.status == "cancelled" else "")


def _local(at: str) -> str:
    return f"{datetime.fromisoformat(at).astimezone():%Y-%m-%d %H:%M:%S}" if at else ""
