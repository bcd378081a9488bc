"""The files of a run that may be downloaded: what it has delivered, never what a link leads to."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
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
    """A descriptor of the file of that name, None where there is none. No link is followed on the way to it."""
    found = next((one for one in _files(folder) if one.name == name), None)
    places = [folder.path, *([wanted] if (wanted := folder.destination.folder) is not None else [])]
    place = next((one for one in places if found is not None and found.path.is_relative_to(one)), None)
    if found is None or place is None:
        return None
    try:
        return opened_beneath(place, found.path.relative_to(place).parts)
    except OSError:
        return None


def opened_beneath(place: Path, parts: Sequence[str]) -> int:
    """Folder by folder, so that a cell which exchanges one for a link meanwhile gains nothing. Raises OSError."""
    at = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = below
        descriptor = os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=at)
    finally:
        os.close(at)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise FileNotFoundError(parts[-1])


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
