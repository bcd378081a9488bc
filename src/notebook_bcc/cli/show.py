"""`nbcc show`: what a run has done, read from its journal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated

import typer

from notebook_bcc.cli.ending import file_lines
from notebook_bcc.cli.options.run import JsonOption, LangOption, RunArgument, RunsOption, settings_of
from notebook_bcc.engine.reduce import reduce
from notebook_bcc.engine.state import RunState
from notebook_bcc.journal.interface import Entry
from notebook_bcc.lifecycle.deliverables import delivered_files
from notebook_bcc.lifecycle.folder import RunFolder, find_run
from notebook_bcc.lifecycle.history import load_state, read_entries
from notebook_bcc.notebook.counting import Count
from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.vocabulary import CellType
from notebook_bcc.protocol.workflow import Stage
from notebook_bcc.views.narration import first_line, local_time, narrate, one_line, safe
from notebook_bcc.views.overview import change_lines, question_line
from notebook_bcc.views.words import Words
from notebook_bcc.wiring import journals

_SIGNS = {CellType.CODE: "code", CellType.MARKDOWN: "text", CellType.THINKING: "think"}


async def show_command(
    run: RunArgument,
    plan: Annotated[bool, typer.Option("--plan", help="The plan, and what of it is done.")] = False,
    cells: Annotated[bool, typer.Option("--cells", help="The cells with their sources.")] = False,
    history: Annotated[bool, typer.Option("--history", help="The transitions of the state machine.")] = False,
    log: Annotated[bool, typer.Option("--log", help="The run told again, as `nbcc run` told it.")] = False,
    journal: Annotated[bool, typer.Option("--journal", help="The journal's entries as JSON, one a line.")] = False,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="With --log or --journal: wait for more, until the run ends.")
    ] = False,
    runs: RunsOption = None,
    as_json: JsonOption = False,
    lang: LangOption = None,
) -> None:
    """Show a run: its plan, cells and files in short, or more of what the options name. Works while the run goes on."""
    settings = settings_of(runs=runs, lang=lang)
    folder = find_run(settings.runs, run)
    if journal or (as_json and not log):
        async for entry in read_entries(folder, journals(), follow=follow):
            print(entry_json(entry), flush=follow)
        return
    if log:
        await _tell(folder, Words(settings.lang), follow=follow)
        return
    state = await load_state(folder, journals())
    short = not (plan or cells or history)
    parts: list[Iterator[str]] = []
    if plan or short:
        parts.append(plan_lines(state))
    if (plan or short) and (lines := change_lines(state)):
        parts.append(
            iter([f"change {state.machine.entered} of the plan waits for an answer", *(f"  {one}" for one in lines)])
        )
    if (plan or short) and (line := question_line(state)):
        parts.append(iter([f"question {line}"]))
    if cells or short:
        parts.append(_cell_lines(state, whole=cells))
    if history:
        parts.append(_history_lines(state))
    if short and (files := delivered_files(folder)):
        parts.append(iter(["files", *file_lines(files, Words(settings.lang))]))
    print("\n\n".join("\n".join(part) for part in parts))


def entry_json(entry: Entry) -> str:
    """An entry as one line of JSON."""
    record = entry.record.model_dump(mode="json", exclude_defaults=True)
    return json.dumps({"seq": entry.seq, "at": entry.at, "kind": entry.record.kind, **record}, ensure_ascii=False)


async def _tell(folder: RunFolder, words: Words, *, follow: bool) -> None:
    state = RunState()
    async for entry in read_entries(folder, journals(), follow=follow):
        state = reduce(state, entry)
        for line in narrate(entry, state, words):
            print(f"{local_time(entry.at)}  {'  ' * line.depth}{line.text}", flush=follow)


def plan_lines(state: RunState) -> Iterator[str]:
    """The plan, with what of it is done."""
    yield f"plan: {one_line(state.goal)}" if state.goal else "plan"
    if state.plan is None:
        yield "  none yet"
        return
    finished = {item.key for item in state.stages.completed}
    for stage in state.plan.stages:
        current = stage.id == state.position.stage_id
        yield f"  {_sign(stage.id in finished, current)} {stage.id}  {one_line(stage.name or stage.purpose)}".rstrip()
        yield from _step_lines(state, stage, over=stage.id in finished, current=current)


def _step_lines(state: RunState, stage: Stage, *, over: bool, current: bool) -> Iterator[str]:
    """The steps of a stage; a stage may be over without all of them."""
    for step in stage.steps:
        achieved = state.steps_ended.get((stage.id, step.id))
        remark = "  (without its goal)" if achieved is False else "  (not run)" if over and achieved is None else ""
        sign = _sign(achieved is not None, current and step.id == state.position.step_id)
        yield f"      {sign} {step.id}  {one_line(step.name or step.purpose)}".rstrip() + remark


def _sign(done: bool, current: bool) -> str:
    return "[x]" if done else "[>]" if current else "[ ]"


def _cell_lines(state: RunState, *, whole: bool) -> Iterator[str]:
    title = f": {one_line(state.document.title)}" if state.document.title else ""
    yield f"notebook{title} ({Count(len(state.document.cells)):cell|cells})"
    for cell in state.document.cells:
        yield f"  {_SIGNS[cell.type]:<5} {_count(cell):>5}  {cell.id:<16} {_result(cell):<6} {first_line(cell.source)}"
        if whole:
            yield from (f"        {line}" for line in safe(cell.source).expandtabs(4).split("\n"))


def _count(cell: Cell) -> str:
    return f"[{cell.execution_count}]" if cell.execution_count is not None else ""


def _result(cell: Cell) -> str:
    if cell.type is not CellType.CODE:
        return ""
    return "FAILED" if cell.has_failed else "ok" if cell.execution_count is not None else "unrun"


def _history_lines(state: RunState) -> Iterator[str]:
    left = state.machine.moves - len(state.machine.history)
    yield f"history: {state.machine.moves} transitions" + (f", the last {len(state.machine.history)}" if left else "")
    for move in state.machine.history:
        yield f"  {local_time(move.at)}  {move.source.value} --{move.event.value}--> {move.to.value}"
