"""The calls of the front door: `run`, `arun`, `start`, `open` and `runs`."""

from __future__ import annotations

import asyncio
import functools
import inspect
import tempfile
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, Unpack

from notebook_bcc.api.frames import digest_of, is_frame, write_frame
from notebook_bcc.api.keywords import check_keywords, check_names, check_path, check_table, keyword_errors
from notebook_bcc.api.model_lines import model_lines
from notebook_bcc.api.opening import opened
from notebook_bcc.api.options import FilePath, RunKeywords, RunOptions, Table, settings_of
from notebook_bcc.api.prepare import prepare
from notebook_bcc.api.progress import NoProgress, RunProgress, progress_of
from notebook_bcc.api.run import Run, begun
from notebook_bcc.api.worker import Worker
from notebook_bcc.lifecycle.folder import LAST, find_run, run_folders
from notebook_bcc.settings import Settings
from notebook_bcc.views.words import Words

_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")

_DRAW_EVERY = 0.2


def _with_every_option(call: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
    """Let `help()` and Tab show each option: they are keywords of all three calls, written down once."""
    first = next(iter(inspect.signature(call).parameters.values()))
    named = [
        inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=one.type)
        for one in fields(RunOptions)
    ]
    shown = inspect.signature(call).replace(parameters=[first, *named])
    call.__signature__ = shown  # type: ignore[attr-defined]  # inspect reads it; functions do not declare it
    return call


@_with_every_option
def run(data: Table = None, **options: Unpack[RunKeywords]) -> Run:
    """Analyse a table, or carry out a script, and wait for the result.

    `data` is a DataFrame, a data file, or a script in YAML. Works in scripts and in Jupyter; async code awaits `arun`.
    How the run ended is in `Run.status`: only what keeps it from beginning is raised, as a BccError.

    With `run_id` the call starts the run of that id or goes on with it: a completed one is returned at once, one that
    stopped is resumed, and if somebody else carries it out the call waits (`wait=False`: raises RunLocked). The id
    stands for the order, that is the content of the data, target, goal and planner: with another one it is refused.

    Ctrl-C, and Jupyter's stop button, pause the run; nothing is lost.

    >>> import notebook_bcc as nb
    >>> run = nb.run("words.yaml", run_id="words-1")
    >>> run.status
    'completed'
    >>> run.notebook.name
    'notebook.ipynb'
    >>> nb.run("words.yaml", run_id="words-1")
    <Run words-1: completed>
    """
    with keyword_errors():
        return run_as_typed(data, **options)


def run_as_typed(data: Table = None, **options: Unpack[RunKeywords]) -> Run:
    """The same for options that were typed: errors name them as the command line does."""
    chosen = _chosen(options)
    progress = progress_of(chosen.progress, Words(chosen.settings().lang))
    return _begin(data, chosen, progress=progress).wait()


@_with_every_option
def start(data: Table = None, **options: Unpack[RunKeywords]) -> Run:
    """The same as `run`, in the background: the call returns as soon as the run has begun.

    Iterating over the run gives what happens until it stops; `wait()` waits. A run that nobody waits for ends with the
    program, and can be resumed.

    >>> import notebook_bcc as nb
    >>> run = nb.start("words.yaml")
    >>> for event in run:
    ...     if event.kind == "run_stopped":
    ...         print(event.record.reason)
    completed
    """
    with keyword_errors():
        return _begin(data, _chosen(options), progress=NoProgress())


@_with_every_option
async def arun(data: Table = None, **options: Unpack[RunKeywords]) -> Run:
    """The same as `run`, for async code. Cancelling it stops the run, which can be resumed."""
    chosen = _chosen(options)
    with keyword_errors():
        progress = progress_of(chosen.progress, Words(chosen.settings().lang))
    with keyword_errors(), tempfile.TemporaryDirectory(prefix="nbcc-data-") as scratch:
        worker, settings = await asyncio.to_thread(_worker, data, chosen, progress, scratch=Path(scratch))
        await _awaited(worker.begun, worker)
    await _awaited(worker.done, worker)
    return Run(worker.begun.result().folder, settings, worker=worker)


def open(run: FilePath = LAST, *, runs: FilePath | None = None) -> Run:
    """A run that there is: by its id, the start of one, a path, or the newest one. Raises RunNotFound, RunRefused.

    >>> import notebook_bcc as nb
    >>> nb.open("last").id == nb.runs()[0].id
    True
    """
    check_path(run, name="run")
    check_path(runs, name="runs")
    settings = settings_of(runs=Path(runs) if runs is not None else None)
    return Run(find_run(settings.runs, str(run)), settings)


def runs(folder: FilePath | None = None) -> list[Run]:
    """The runs kept in a folder, newest first; without one, where runs are kept."""
    check_path(folder, name="folder")
    settings = settings_of(runs=Path(folder) if folder is not None else None)
    return [Run(folder, settings) for folder in run_folders(settings.runs)]


def _chosen(options: RunKeywords) -> RunOptions:
    """The options, each of a type and a value that make sense. Raises SettingsInvalid, TypeError for an unknown one."""
    check_names(options, (one.name for one in fields(RunOptions)), call="run")
    chosen = RunOptions(**options)
    check_keywords(chosen)
    return chosen


def _begin(data: Table, options: RunOptions, *, progress: RunProgress) -> Run:
    # What was written for this call is in the run's folder as soon as the run has begun.
    with tempfile.TemporaryDirectory(prefix="nbcc-data-") as scratch:
        worker, settings = _worker(data, options, progress, scratch=Path(scratch))
        found = begun(worker)
    return Run(found.folder, settings, worker=worker)


def _worker(data: Table, options: RunOptions, progress: RunProgress, *, scratch: Path) -> tuple[Worker, Settings]:
    """The worker of the run, begun. Raises what is wrong with the order."""
    check_table(data, name="data")
    check_table(options.test, name="test")
    digests: dict[str, str] = {}
    if is_frame(options.test):
        digests |= {"test": digest_of(options.test)} if options.run_id else {}
        options = replace(options, test=write_frame(options.test, scratch, name="test"))
    if is_frame(data):
        digests |= {"data": digest_of(data)} if options.run_id else {}
        data = write_frame(data, scratch, name=options.name or "frame")
    prepared = prepare(Path(data) if data is not None else None, options, digests=digests)
    if prepared.order.models is not None:
        for line, _ in model_lines(prepared.order.models, Words(prepared.settings.lang)):
            progress.say(line)
    opening = functools.partial(opened, prepared)
    return Worker(opening, verify=options.verify, progress=progress), prepared.settings


async def _awaited(future: Future[Any], worker: Worker) -> None:
    """Wait for the future, showing progress. If this is cancelled the run is stopped first, and can be resumed."""
    waiting = asyncio.wrap_future(future)
    try:
        while not waiting.done():
            # Not awaited itself: whoever cancels this must not tear the run.
            await asyncio.wait([waiting], timeout=_DRAW_EVERY)
            worker.progress.draw()
    except asyncio.CancelledError:
        worker.stop("its caller was cancelled")
        await asyncio.wait([asyncio.wrap_future(worker.done)])
        raise
    waiting.result()
