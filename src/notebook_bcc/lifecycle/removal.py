"""Runs that are no longer wanted: deleted whole, never one that is carried out, never anything but a run."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from notebook_bcc.errors import BccError, RunRefused
from notebook_bcc.journal.lock import RunLock
from notebook_bcc.lifecycle.factories import RunFactories
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.lifecycle.history import load_state
from notebook_bcc.lifecycle.leftover import end_left_kernel
from notebook_bcc.lifecycle.server_copy import read_copy_record
from notebook_bcc.lifecycle.summary import RunSummary

_log = logging.getLogger(__name__)

_GOING = ".deleted-"


@dataclass(frozen=True, slots=True)
class PruneOrder:
    """Which runs may go: all but the newest `keep`, of them those that began before `before`, of them those in one of
    these states. What is None, or empty, does not count."""

    keep: int | None = None
    before: datetime | None = None
    statuses: Collection[str] = ()


def pruned(summaries: Sequence[RunSummary], order: PruneOrder) -> list[RunSummary]:
    """The runs that may go, of those that are given newest first. None that somebody works on."""
    older = summaries[order.keep :] if order.keep is not None else summaries
    return [
        one
        for one in older
        if one.holder is None
        and (order.before is None or _is_before(one, order.before))
        and (not order.statuses or one.status in order.statuses)
    ]


def days_ago(days: float, *, now: datetime) -> datetime:
    """The moment so many days ago. Raises RunRefused for more days than there are."""
    try:
        return now - timedelta(days=days)
    except OverflowError as error:
        raise RunRefused(f"{days:g} days are more than a calendar has") from error


async def delete_run(folder: RunFolder, *, root: Path, factories: RunFactories) -> str:
    """Delete a run and everything in its folder; what was delivered elsewhere stays, and so does a copy of the notebook
    on a server: the place of that one is returned, or an empty text.

    A kernel that it left on a server is ended. Raises RunRefused for a folder outside of `root`, RunLocked for a run
    that is carried out.
    """
    _check_inside(folder, root)
    with RunLock(folder.lock, run=folder.run_id, typed=folder.typed, doing="deleted"):
        await _end_kernel(folder, factories)
        copy = _copy_of(folder)
        # First out of sight: what is half deleted when the power fails is no broken run.
        going = folder.path.with_name(f"{_GOING}{folder.run_id}")
        try:
            if going.exists():
                shutil.rmtree(going)
            folder.path.rename(going)
            shutil.rmtree(going)
        except OSError as error:
            raise RunRefused(f"run {folder.run_id!r} cannot be deleted: {error.strerror or error}") from error
    return copy


def _copy_of(folder: RunFolder) -> str:
    try:
        record = read_copy_record(folder)
    except RunRefused as error:
        # A run whose folder is damaged can still be deleted.
        _log.debug("%s", error)
        return ""
    return record.place if record is not None else ""


def _check_inside(folder: RunFolder, root: Path) -> None:
    if folder.path.is_symlink() or folder.path.resolve().parent != root.resolve():
        raise RunRefused(f"{folder.path} is not in the runs folder {root}; only runs kept there are deleted")


async def _end_kernel(folder: RunFolder, factories: RunFactories) -> None:
    try:
        state = await load_state(folder, factories.journals)
        left = await end_left_kernel(state, folder, reason="the run was deleted", factories=factories)
    except BccError as error:
        # A run whose journal is broken can still be deleted.
        _log.debug("%s", error)
        return
    if left is not None and not left.ended:
        _log.warning("kernel %s at %s: %s", left.session, state.kernel_spec, left.reason)


def _is_before(summary: RunSummary, moment: datetime) -> bool:
    """By what happened last in it. A run whose journal cannot be read tells no time."""
    at = summary.state.at if summary.state is not None else ""
    return bool(at) and datetime.fromisoformat(at) < moment
