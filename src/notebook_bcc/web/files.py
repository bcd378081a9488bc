"""The files of a run that may be downloaded: what it has delivered, never what a link leads to."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from notebook_bcc.lifecycle.deliverables import delivered_files
from notebook_bcc.lifecycle.folder import RunFolder


@dataclass(frozen=True, slots=True)
class RunFile:
    """A file with the name it is asked for by."""

    name: str
    path: Path
    size: int


def run_files(folder: RunFolder) -> list[RunFile]:
    """The report, the notebook, and what the run has made."""
    return list(_files(folder))


def _files(folder: RunFolder) -> Iterator[RunFile]:
    own = [(path.name, path) for path in (folder.report, folder.notebook)]
    for name, path in [*own, *((one.name, one.path) for one in delivered_files(folder))]:
        try:
            facts = path.lstat()
        except OSError:
            continue
        if stat.S_ISREG(facts.st_mode):
            yield RunFile(name, path, facts.st_size)


def opened_file(folder: RunFolder, name: str) -> int | None:
    """A descriptor of the file of that name, None where there is none. A link in its place is not followed."""
    found = next((one for one in _files(folder) if one.name == name), None)
    if found is None:
        return None
    try:
        # Folders on the way may be links that a cell has made: what is opened lies where it says it does.
        if found.path.resolve() != found.path.parent.resolve() / found.path.name or not _is_within(found.path, folder):
            return None
        return os.open(found.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None


def _is_within(path: Path, folder: RunFolder) -> bool:
    places = [folder.path, *([wanted] if (wanted := folder.destination.folder) is not None else [])]
    return any(path.resolve().is_relative_to(place.resolve()) for place in places)


def journal_stamp(folder: RunFolder) -> tuple[int, ...]:
    """Changes with everything that is written to the journal, and with whoever takes the run up."""
    found: list[int] = []
    for path in (folder.journal, folder.journal.with_name(f"{folder.journal.name}-wal"), folder.lock):
        try:
            facts = path.stat()
            found += [facts.st_mtime_ns, facts.st_size]
        except OSError:
            found.append(0)
    return tuple(found)
