"""All runs in a list, and two of them side by side."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from notebook_bcc.engine.inbox import UPDATE_PENDING
from notebook_bcc.engine.reduce import reduce
from notebook_bcc.engine.state import elapsed
from notebook_bcc.errors import BccError
from notebook_bcc.journal.lock import lock_holder
from notebook_bcc.lifecycle.folder import RunFolder, run_folders
from notebook_bcc.lifecycle.history import read_entries
from notebook_bcc.lifecycle.summary import RunSummary, summarize
from notebook_bcc.protocol.vocabulary import CellType
from notebook_bcc.views.headline import headline, short_headline
from notebook_bcc.views.narration import cost_of, one_line
from notebook_bcc.views.overview import about, lacks, result_of, step_counts, steps_done
from notebook_bcc.views.words import Words, clock_time
from notebook_bcc.web.files import journal_stamp
from notebook_bcc.web.sections import answers
from notebook_bcc.web.watch import RunWatch
from notebook_bcc.wiring import journals

Json = dict[str, Any]  # Any: JSON

_MOST_RUNS: Final = 500


class RunList:
    """The runs kept in a folder, newest first. What has not changed is not read again."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[str, tuple[tuple[int, ...], RunSummary]] = {}

    def folder(self, run_id: str) -> RunFolder | None:
        """The run of exactly that id: neither a path nor the beginning of one."""
        return next((one for one in run_folders(self._root) if one.run_id == run_id), None)

    async def rows(self, words: Words) -> list[Json]:
        return [row(one, words) for one in await self.summaries()]

    async def summaries(self) -> list[RunSummary]:
        return [await self._summary(folder) for folder in run_folders(self._root)[:_MOST_RUNS]]

    async def _summary(self, folder: RunFolder) -> RunSummary:
        stamp = journal_stamp(folder)
        known = self._known.get(folder.run_id)
        found = None
        if known is not None and known[0] == stamp and known[1].holder == lock_holder(folder.lock):
            return known[1]
        if known is not None and known[1].holder is not None:
            # It was under way: its journal is read on from there.
            found = await _gone_on(known[1])
        found = found or await summarize(folder, journals(), whole=False)
        self._known[folder.run_id] = (stamp, found)
        return found


async def _gone_on(known: RunSummary) -> RunSummary | None:
    """The run as it is by now; None where that cannot be told from what was known."""
    state = known.state
    if state is None:
        return None
    try:
        async with contextlib.aclosing(read_entries(known.folder, journals(), after=state.seq)) as entries:
            async for entry in entries:
                state = reduce(state, entry)
        return RunSummary(known.folder, state, lock_holder(known.folder.lock))
    except BccError:
        return None


def row(summary: RunSummary, words: Words) -> Json:
    """One run of the list."""
    known: Json = {"run": summary.folder.run_id, "status": summary.status, "problem": one_line(summary.problem)}
    state = summary.state
    if state is None:
        return known
    done, of = step_counts(state)
    result = result_of(summary)
    data, target = about(state, result)
    waits = "change" if state.fsm in UPDATE_PENDING else "question" if summary.status == "waiting" else ""
    return known | {
        "goal": one_line(state.goal, limit=160),
        "data": one_line(data, limit=80),
        "target": one_line(target, limit=80),
        "lacks": lacks(summary),
        "steps": steps_done(state),
        "share": done / of if of else 0.0,
        "waits": waits,
        "result": short_headline(result) if result is not None else "",
        "answer": next(iter(answers(summary)), ""),
        "cost": cost_of(state.spent, words) if state.spent.calls else "",
        "time": clock_time(elapsed(state)),
        "started": state.started_at,
        "detail": one_line(state.stopped.detail, limit=160) if state.stopped is not None else "",
    }


def compared(one: RunWatch, two: RunWatch, words: Words) -> Json:
    """Two runs side by side: facts, plan, findings, cells. Each row says whether both are the same."""
    pair = (one, two)
    return {
        "runs": [watch.folder.run_id for watch in pair],
        "facts": [
            {"name": name, "left": left, "right": right, "same": left == right}
            for (name, left), (_, right) in zip(_facts(one, words), _facts(two, words), strict=True)
        ],
        "plan": list(_aligned(*(_plan_lines(watch) for watch in pair))),
        "findings": list(_aligned(*([note.text for note in watch.projection.notes] for watch in pair))),
        "cells": list(_aligned(*(_sources(watch) for watch in pair))),
    }


def _facts(watch: RunWatch, words: Words) -> Iterator[tuple[str, str]]:
    summary, state = watch.summary, watch.projection.state
    result = result_of(summary)
    data, target = about(state, result)
    yield "goal", one_line(state.goal)
    yield "data", data
    yield "target", target
    yield "planner", str(state.planner or "")
    yield "status", ", ".join((summary.status, *lacks(summary)))
    yield "result", headline(result, words) if result is not None else "; ".join(answers(summary))
    yield "progress", steps_done(state)
    yield "time", clock_time(elapsed(state))
    yield "cost", cost_of(state.spent, words) if state.spent.calls else ""


def _plan_lines(watch: RunWatch) -> list[str]:
    plan = watch.projection.state.plan
    if plan is None:
        return []
    return [line for stage in plan.stages for line in (stage.title, *(f"  {step.title}" for step in stage.steps))]


def _sources(watch: RunWatch) -> list[str]:
    return [cell.source for cell in watch.projection.state.document.cells if cell.type is CellType.CODE]


def _aligned(left: list[str], right: list[str]) -> Iterator[Json]:
    """The two lists beside each other, equal ones in one row."""
    matcher = difflib.SequenceMatcher(a=left, b=right, autojunk=False)
    for kind, a, a_end, b, b_end in matcher.get_opcodes():
        for at in range(max(a_end - a, b_end - b)):
            mine = left[a + at] if a + at < a_end else None
            other = right[b + at] if b + at < b_end else None
            yield {"left": mine, "right": other, "same": kind == "equal"}
