"""`nbcc list` and `nbcc status`: which runs there are, and how far one is."""

from __future__ import annotations

import json
from typing import Annotated, Final

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from notebook_bcc.api.run_names import typed
from notebook_bcc.cli.options.run import JsonOption, LangOption, RunArgument, RunsOption, settings_of
from notebook_bcc.engine.state import elapsed
from notebook_bcc.errors import JournalFailed
from notebook_bcc.lifecycle.folder import find_run, run_folders
from notebook_bcc.lifecycle.history import load_state
from notebook_bcc.lifecycle.summary import RunSummary, summarize
from notebook_bcc.views.headline import short_headline
from notebook_bcc.views.narration import one_line
from notebook_bcc.views.overview import about, facts_of, in_words, lacks, result_of, rows_of, steps_done
from notebook_bcc.views.words import Words, clock_time
from notebook_bcc.wiring import journals

_STYLES = {"completed": "green", "running": "cyan", "failed": "red", "broken": "red", "killed": "yellow"}
# In the order in which they find room on the screen.
_COLUMNS: Final = ("run", "status", "score", "target", "data", "steps", "time", "goal")
_SHORTEST_GOAL: Final = 12
_GAP: Final = 2
_LONGEST_NAME: Final = 30


async def list_command(
    runs: RunsOption = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="Show so many; 0 shows all.")] = 20,
    as_json: JsonOption = False,
    lang: LangOption = None,
) -> None:
    """List the runs, newest first. A run whose journal cannot be read is listed as broken."""
    settings = settings_of(runs=runs, lang=lang)
    root, words = settings.runs, Words(settings.lang)
    folders = run_folders(root)
    shown = folders[:limit] if limit else folders
    summaries = [await summarize(folder, journals(), whole=False) for folder in shown]
    if as_json:
        for summary in summaries:
            print(json.dumps(facts_of(summary), ensure_ascii=False))
        return
    if not summaries:
        print(words("no_runs", root=root))
        return
    console = Console(highlight=False)
    console.print(_table(summaries, words, width=console.width))
    if len(shown) < len(folders):
        print(words("older_runs", count=len(folders) - len(shown)))


async def status_command(
    run: RunArgument, runs: RunsOption = None, as_json: JsonOption = False, lang: LangOption = None
) -> None:
    """Say how far a run is, what it waits for, and what to do next."""
    settings = settings_of(runs=runs, lang=lang)
    folder = find_run(settings.runs, run)
    summary = await summarize(folder, journals())
    if summary.state is None:
        # Asked for one run, its trouble is the answer: the error itself, with its exit code.
        await load_state(folder, journals())
        raise JournalFailed(summary.problem)
    if as_json:
        print(json.dumps(facts_of(summary), ensure_ascii=False))
        return
    words = Words(settings.lang)
    for name, value in rows_of(summary, summary.state, words, typed=typed(folder)):
        if value:
            shown = words(f"row_{name}") if name else ""
            print(f"{shown}{' ' * (10 - cell_len(shown))} {value}")


def _table(summaries: list[RunSummary], words: Words, *, width: int) -> Table:
    """The runs, with as many columns as the screen has room for. Ids are typed again, so they are never cut; a status
    is shortened before a column is left out, and the goal takes what is left."""
    rows = [_cells(summary, words) for summary in summaries]
    titles = {name: words(f"row_{name}") for name in _COLUMNS}
    filled = [name for name in _COLUMNS if any(row[name].plain for row in rows)]
    shown = _that_fit(filled, titles, rows, width)
    if shown != filled:
        pairs = zip(rows, summaries, strict=True)
        rows = [row | {"status": _status(summary, words, short=True)} for row, summary in pairs]
        shown = _that_fit(filled, titles, rows, width)
    table = Table(box=None, pad_edge=False, show_edge=False, expand=True)
    for name in shown:
        table.add_column(titles[name], no_wrap=True, overflow="ellipsis", ratio=1 if name == "goal" else None)
    for row in rows:
        table.add_row(*(row[name] for name in shown))
    return table


def _that_fit(names: list[str], titles: dict[str, str], rows: list[dict[str, Text]], width: int) -> list[str]:
    """The columns that find room, in their order."""
    shown: list[str] = []
    taken = -_GAP
    for name in names:
        widest = max(cell_len(titles[name]), *(cell_len(row[name].plain) for row in rows))
        wanted = _GAP + (_SHORTEST_GOAL if name == "goal" else widest)
        if name == "run" or taken + wanted <= width:
            shown.append(name)
            taken += wanted
    return shown


def _cells(summary: RunSummary, words: Words) -> dict[str, Text]:
    """What a run has in each column."""
    cells = {name: Text() for name in _COLUMNS} | {
        "run": Text(summary.folder.run_id),
        "status": _status(summary, words),
        "goal": Text(one_line(summary.problem)),
    }
    state = summary.state
    if state is None:
        return cells
    result = result_of(summary)
    data, target = about(state, result)
    return cells | {
        "score": Text(short_headline(result) if result is not None else ""),
        "target": Text(one_line(target, limit=_LONGEST_NAME)),
        "data": Text(one_line(data, limit=_LONGEST_NAME)),
        "steps": Text(steps_done(state)),
        "time": Text(clock_time(elapsed(state))),
        "goal": Text(one_line(state.goal, limit=120)),
    }


def _status(summary: RunSummary, words: Words, *, short: bool = False) -> Text:
    """`completed, not answered, not verified`; in short what weighs most: `not answered`."""
    missing = lacks(summary)
    style = "yellow" if missing else _STYLES.get(summary.status, "yellow")
    said = [one for one in missing if one != "answered"][:1] if short and missing else [summary.status, *missing]
    return Text(in_words(said, words), style=style)
