"""`nbcc list` and `nbcc status`: which runs there are, and how far one is."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from notebook_bcc.cli.narration import one_line
from notebook_bcc.cli.options import JsonOption, RunArgument, RunsOption, settings_of
from notebook_bcc.cli.picture import step_counts
from notebook_bcc.cli.words import clock_time
from notebook_bcc.engine.decide import elapsed
from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import JournalFailed
from notebook_bcc.notebook.counting import Count
from notebook_bcc.protocol.vocabulary import CellType, State
from notebook_bcc.runs.folder import find_run, run_folders
from notebook_bcc.runs.lifecycle import RunSummary, load_state, summarize
from notebook_bcc.runs.saver import has_failed, models_used

_STYLES = {"completed": "green", "running": "cyan", "failed": "red", "broken": "red", "killed": "yellow"}


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
    Console(highlight=False).print(_table(summaries))
    if len(shown) < len(folders):
        print(f"{Count(len(folders) - len(shown)):older run is|older runs are} not shown; --limit 0 shows all")


async def status_command(run: RunArgument, runs: RunsOption = None, as_json: JsonOption = False) -> None:
    """Say how far a run is, what it waits for, and what to do next."""
    folder = find_run(settings_of(runs=runs).runs, run)
    summary = await summarize(folder)
    if summary.state is None:
        # Asked for one run, its trouble is the answer: the error itself, with its exit code.
        await load_state(folder)
        raise JournalFailed(summary.problem)
    if as_json:
        print(json.dumps(_facts(summary), ensure_ascii=False))
        return
    for name, value in _rows(summary, summary.state):
        if value:
            print(f"{name:<10} {value}")


def _table(summaries: list[RunSummary]) -> Table:
    table = Table(box=None, pad_edge=False, show_edge=False, expand=True)
    for name in ("run", "status", "steps", "actions", "time", "goal"):
        # Ids are typed again, so they are never cut; the goal takes what room is left.
        table.add_column(name, no_wrap=True, overflow="ellipsis", ratio=1 if name == "goal" else None)
    for summary in summaries:
        status = Text(summary.status, style=_STYLES.get(summary.status, "yellow"))
        state = summary.state
        if state is None:
            table.add_row(summary.folder.run_id, status, "", "", "", Text(one_line(summary.problem)))
            continue
        done, of = step_counts(state)
        table.add_row(
            summary.folder.run_id,
            status,
            f"{done}/{of}" if of else "",
            str(state.actions_completed),
            clock_time(elapsed(state)),
            Text(one_line(state.goal, limit=120)),
        )
    return table


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
        "pid": summary.holder.pid if summary.holder is not None else None,
        "notebook": str(summary.folder.delivered),
        **({"models": models_used(state)} if state.spent.calls else {}),
    }


def _rows(summary: RunSummary, state: RunState) -> list[tuple[str, str]]:
    done, of = step_counts(state)
    code = [cell for cell in state.document.cells if cell.type is CellType.CODE]
    failed = sum(has_failed(cell) for cell in code)
    stopped = state.stopped
    return [
        ("run", summary.folder.run_id),
        ("status", summary.status + (f" ({summary.holder})" if summary.holder is not None else "")),
        ("reason", one_line(stopped.detail) if stopped is not None and summary.holder is None else ""),
        ("goal", one_line(state.goal)),
        ("state", state.fsm.value),
        ("stage", state.stage.title if state.stage is not None else ""),
        ("step", state.step.title if state.step is not None else ""),
        ("behavior", str(state.position.iteration or "")),
        ("steps", f"{done} of {of}" if of else ""),
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
    if summary.status == "completed":
        return f"nbcc export {run}, or nbcc verify {run}"
    if state.fsm in (State.WORKFLOW_UPDATE_PENDING, State.STEP_UPDATE_PENDING):
        return f"nbcc confirm {run} --resume, or nbcc reject {run} --resume"
    if state.question is not None:
        return f"nbcc resume {run} --set {state.question.input}=..."
    return f"nbcc resume {run}" + (" --restart reset" if summary.status == "cancelled" else "")


def _local(at: str) -> str:
    return f"{datetime.fromisoformat(at).astimezone():%Y-%m-%d %H:%M:%S}" if at else ""
