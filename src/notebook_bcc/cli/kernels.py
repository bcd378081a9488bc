"""`nbcc kernels` and `nbcc logs`: the kernels that runs have left, and what a run's kernels said."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Literal

import typer

from notebook_bcc.api.run_names import typed
from notebook_bcc.cli.codes import Exit
from notebook_bcc.cli.options.run import JsonOption, RunArgument, RunsOption, complete_run, settings_of
from notebook_bcc.errors import RunRefused, SettingsInvalid
from notebook_bcc.kernel.supervisor.folders import LOG
from notebook_bcc.kernel.supervisor.left import KeptKernel, end_kernel, kept_kernels, read_end
from notebook_bcc.lifecycle.folder import RunFolder, find_run
from notebook_bcc.notebook.counting import Count

_ENDED = "ended by `nbcc kernels end`"


async def kernels_command(
    action: Annotated[
        Literal["list", "end"], typer.Argument(help="`end` ends what the other words name.", metavar="[end]")
    ] = "list",
    run: Annotated[str, typer.Argument(help="Whose kernel to end.", metavar="[RUN]", autocompletion=complete_run)] = "",
    everything: Annotated[bool, typer.Option("--all", help="With `end`: every kernel that was left.")] = False,
    runs: RunsOption = None,
    as_json: JsonOption = False,
) -> int:
    """List the kernels of this user's runs, or end those that were left.

    \b
      nbcc kernels               which there are, since when, and what their cells do
      nbcc kernels end RUN       end the kernel that a run has left; resume runs its cells again then
      nbcc kernels end --all     end all that were left

    A kernel that somebody uses is not ended: that is for `nbcc cancel`.
    """
    kernels = await kept_kernels()
    if action == "list":
        _show(kernels, as_json=as_json)
        return Exit.COMPLETED
    if bool(run) == everything:
        raise SettingsInvalid("say which kernels are to end: `nbcc kernels end RUN`, or `nbcc kernels end --all`")
    wanted = None if everything else str(find_run(settings_of(runs=runs).runs, run).path.resolve())
    found = [one for one in kernels if wanted in (None, one.run)]
    left = [one for one in found if one.left_at]
    if wanted is not None and not left:
        used = "is in use: `nbcc cancel` ends it with its run" if found else "has ended, or there was none"
        raise RunRefused(f"the kernel of run {run!r} {used}")
    ended = [one for one in left if await end_kernel(one.folder, why=_ENDED)]
    print(f"{Count(len(ended)):kernel|kernels} ended")
    return Exit.COMPLETED


async def logs_command(run: RunArgument, runs: RunsOption = None) -> None:
    """Show what the kernels of a run said on their own standard error, and why they ended.

    What cells printed is in the notebook: `nbcc show RUN`.
    """
    folder = find_run(settings_of(runs=runs).runs, run)
    logs = sorted(folder.kernel.glob(f"*{LOG}"), key=lambda path: path.stat().st_mtime)
    if not logs:
        print(f"no kernel of run {folder.run_id} has kept a log")
    for path in logs:
        print(f"--- kernel {path.stem}")
        print(path.read_text(encoding="utf-8", errors="replace").rstrip() or "(it said nothing)")
        if end := read_end(folder.kernel, path.stem):
            print(f"--- ended: {end}")


def _show(kernels: list[KeptKernel], *, as_json: bool) -> None:
    for one in kernels:
        if as_json:
            facts = {"run": one.run, "pid": one.pid, "left_at": one.left_at, "busy_seconds": one.busy}
            print(json.dumps({**facts, "idle_seconds": one.idle, "memory_bytes": one.memory_bytes}, ensure_ascii=False))
        else:
            print(_line(one, now=time.time()))
    if not kernels and not as_json:
        print("no kernels")


def _line(one: KeptKernel, *, now: float) -> str:
    since = f"left {_span(now - one.left_at)} ago" if one.left_at else "in use"
    cell = f"a cell has run for {_span(one.busy)}" if one.busy is not None else "no cell runs"
    return f"{typed(RunFolder(Path(one.run)))}: {since}, {cell}, {one.memory_bytes / 1e6:.0f} MB, process {one.pid}"


def _span(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"
