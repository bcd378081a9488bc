"""`nbcc delete` and `nbcc prune`: runs that are no longer wanted."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated

import typer

from notebook_bcc.cli.codes import Exit
from notebook_bcc.cli.console import read_line
from notebook_bcc.cli.options.run import RunsOption, complete_run, settings_of
from notebook_bcc.cli.view.choice import is_terminal
from notebook_bcc.errors import RunLocked, SettingsInvalid
from notebook_bcc.lifecycle.folder import RunFolder, find_run
from notebook_bcc.lifecycle.removal import PruneOrder, days_ago, delete_run, pruned
from notebook_bcc.lifecycle.summary import STATUSES, list_runs
from notebook_bcc.notebook.counting import Count
from notebook_bcc.settings import Settings
from notebook_bcc.views.narration import safe
from notebook_bcc.wiring import journals, run_factories

YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


async def delete_command(
    run: Annotated[
        list[str],
        typer.Argument(help="Runs: ids, the start of one, or `last`.", metavar="RUN...", autocompletion=complete_run),
    ],
    yes: YesOption = False,
    runs: RunsOption = None,
) -> int:
    """Delete runs: the journal, the notebook and everything else in their folders. What --out delivered stays,
    and so does a copy on a Jupyter Server: where it is, is said.

    A run that is being carried out is not deleted, nor anything outside the folder where runs are kept.
    """
    settings = settings_of(runs=runs)
    # Each once, and all found before the first is gone.
    folders = list(dict.fromkeys(find_run(settings.runs, word) for word in run))
    return await _delete(folders, settings, yes=yes)


async def prune_command(
    keep: Annotated[int | None, typer.Option("--keep", min=0, help="Keep the newest so many.", metavar="N")] = None,
    older_than: Annotated[
        float | None,
        typer.Option("--older-than", min=0, help="Only runs that ended so many days ago.", metavar="DAYS"),
    ] = None,
    status: Annotated[
        list[str] | None,
        typer.Option("--status", help="Only runs in this state, such as failed; may be given again."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be deleted, and delete nothing.")] = False,
    yes: YesOption = False,
    runs: RunsOption = None,
) -> int:
    """Delete the runs that all of these describe. A run that is being carried out stays.

    \b
      nbcc prune --keep 20                          all but the newest 20
      nbcc prune --older-than 30 --status failed    failed ones of more than a month ago
      nbcc prune --keep 5 --dry-run                 only say which
    """
    if keep is None and older_than is None and not status:
        raise SettingsInvalid("say which runs may go: --keep N, --older-than DAYS, --status STATUS")
    for word in status or ():
        if word not in STATUSES:
            close = get_close_matches(word, STATUSES, 1)
            meant = f"; did you mean {close[0]!r}?" if close else "."
            raise SettingsInvalid(f"--status {word!r}: no run is ever that{meant} There are: {', '.join(STATUSES)}")
    settings = settings_of(runs=runs)
    before = days_ago(older_than, now=run_factories().now()) if older_than is not None else None
    order = PruneOrder(keep=keep, before=before, statuses=status or ())
    found = [summary.folder for summary in pruned([one async for one in list_runs(settings.runs, journals())], order)]
    if dry_run or not found:
        for folder in found:
            print(folder.run_id)
        print(f"{Count(len(found)):run|runs} would be deleted" if found else "no run is to be deleted")
        return Exit.COMPLETED
    return await _delete(found, settings, yes=yes)


async def _delete(folders: list[RunFolder], settings: Settings, *, yes: bool) -> Exit:
    for folder in folders:
        print(folder.run_id)
    if not yes and not await _is_sure(len(folders)):
        print("nothing was deleted")
        return Exit.CANCELLED
    locked = None
    for folder in folders:
        try:
            copy = await delete_run(folder, root=settings.runs, factories=run_factories(settings))
        except RunLocked as error:
            # Taken up since it was listed; the others can go.
            locked = error
        else:
            if copy:
                print(f"a copy of the notebook of run {folder.run_id} stays on the server: {safe(copy)}")
    if locked is not None:
        raise locked
    print(f"{Count(len(folders)):run|runs} deleted")
    return Exit.COMPLETED


async def _is_sure(count: int) -> bool:
    if not is_terminal():
        raise SettingsInvalid("nobody is here to ask; give --yes to delete them")
    print(f"Delete {Count(count):run|runs} for good? [y/N] ", end="", flush=True)
    answer = await read_line()
    return answer is not None and answer.strip().casefold() in ("y", "yes")
