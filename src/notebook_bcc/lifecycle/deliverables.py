"""What a run has made besides its notebook: the files in its working directory, handed over at the end."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from notebook_bcc.errors import MessageInvalid, NotebookFailed
from notebook_bcc.lifecycle.folder import ACTIONS, NOTEBOOK, REPORT, SERVER_COPY, RunFolder
from notebook_bcc.lifecycle.handover import Placed, copy_file, place_files
from notebook_bcc.lifecycle.whole_values import with_whole_values
from notebook_bcc.notebook.atomic import replace_file
from notebook_bcc.protocol.deliverables import ANSWER_FILE, RunAnswer
from notebook_bcc.protocol.summary import SUMMARY_FILE, Summary

# Files with names of our own in a run's folder: nothing is delivered over them.
_OWN: Final = frozenset(
    {"inputs", "work", "playbook", "script.yaml", "run.lock", NOTEBOOK, "notebook.html", REPORT, "destination.json"}
    | {SERVER_COPY, ACTIONS}
)
_JOURNAL: Final = "journal.sqlite"
_NOT_DELIVERED: Final = frozenset({"__pycache__", "nbcc-runs", "catboost_info", "lightning_logs", "node_modules"})
_COMPILED: Final = (".pyc", ".pyo")
# What a reader looks for first; the rest follows by name.
_FIRST: Final = ("summary.md", "model.pkl", "predictions.csv", SUMMARY_FILE, "prepare.py")
_MOST_FILES: Final = 1000
_LARGEST_SUMMARY: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class DeliveredFile:
    """A file of the run where the user finds it. `name` is its path in the run's folder, with slashes."""

    name: str
    path: Path
    size: int


@dataclass(frozen=True, slots=True)
class Handover:
    """What was delivered, and what was not and why."""

    files: tuple[DeliveredFile, ...] = ()
    problems: tuple[str, ...] = ()


def products(folder: RunFolder) -> list[str]:
    """What the run wrote into its working directory, by name: no inputs, no caches, nothing hidden, no links."""
    found = [
        name
        for name, facts in _files(folder.work)
        if stat.S_ISREG(facts.st_mode) and not _is_input(folder, name, facts)
    ]
    return sorted(found, key=_rank)


def hand_over(folder: RunFolder, *, answer: RunAnswer | None = None) -> Handover:
    """Put the products into the run's folder, and the answer where the plan names deliverables; `hand_out` puts
    everything where the user wants it. Tells what it could not do."""
    files: list[DeliveredFile] = []
    problems: list[str] = []
    names = products(folder)
    place = folder.destination.folder or folder.path
    if answer is not None and answer.deliverables:
        if ANSWER_FILE in names:
            names.remove(ANSWER_FILE)
            problems.append(f"{ANSWER_FILE} stays in {folder.work}: the run's answer has that name")
        try:
            replace_file(folder.path / ANSWER_FILE, [with_whole_values(answer, folder).to_json(), b"\n"])
            files.append(DeliveredFile(ANSWER_FILE, place / ANSWER_FILE, (folder.path / ANSWER_FILE).stat().st_size))
        except (NotebookFailed, OSError) as error:
            problems.append(f"{ANSWER_FILE} was not written: {error}")
    for name in names[:_MOST_FILES]:
        source = folder.work / name
        if is_own(name):
            problems.append(f"{name} stays in {folder.work}: the run has a file of its own by that name")
            continue
        try:
            # Not a second name of the file: what is changed in one place stays as it was in the other.
            copy_file(source, folder.path / name)
            files.append(DeliveredFile(name, place / name, source.stat().st_size))
        except OSError as error:
            problems.append(f"{name} was not delivered and stays in {folder.work}: {error.strerror or error}")
    if len(names) > _MOST_FILES:
        problems.append(f"{len(names) - _MOST_FILES} more files stay in {folder.work}")
    return Handover(tuple(files), tuple(problems))


def hand_out(folder: RunFolder, files: Sequence[DeliveredFile] = (), *, whole: bool = False) -> list[str]:
    """Copy the notebook, its pages and these files to where the user wants them. `whole`: this is all of a completed
    run, its inputs too, so that the notebook runs there. Tells what was kept of the user's, and what could not be done.
    """
    wanted = folder.destination
    if wanted.file is not None:
        pages = {wanted.file.name: folder.notebook, wanted.file.with_suffix(".html").name: folder.html}
        return _said(place_files(wanted.file.parent, _existing(pages)), wanted.file.parent)
    if wanted.folder is None:
        return []
    own = {NOTEBOOK: folder.notebook, REPORT: folder.report} if whole else {NOTEBOOK: folder.notebook}
    made = {one.name: folder.path / one.name for one in files}
    inputs = input_files(folder) if whole else {}
    links = {name: source for name, source in wanted.large.items() if name in inputs and _is_same(source, inputs[name])}
    copied = {name: source for name, source in inputs.items() if name not in links}
    placed = place_files(
        wanted.folder, {**copied, **_existing(own | made)}, links=links, whole=whole, run_id=folder.run_id
    )
    return _said(placed, wanted.folder)


def input_files(folder: RunFolder) -> dict[str, Path]:
    """What the run was given, by the paths in its working directory."""
    found = sorted(path for path in folder.inputs.rglob("*") if path.is_file())
    return {(folder.inputs_place / path.relative_to(folder.inputs)).as_posix(): path for path in found}


def _existing(files: Mapping[str, Path]) -> dict[str, Path]:
    return {name: path for name, path in files.items() if path.is_file()}


def _is_same(one: Path, other: Path) -> bool:
    """Whether the user's file is still the one that was copied."""
    try:
        facts = [(path.stat().st_size, path.stat().st_mtime_ns) for path in (one, other)]
    except OSError:
        return False
    return facts[0] == facts[1]


def _said(placed: Placed, folder: Path) -> list[str]:
    kept = [
        f"{folder / name} was changed since it was delivered: that version is now {new}"
        for name, new in placed.kept.items()
    ]
    return kept + [f"{folder / name} was not written: {reason}" for name, reason in placed.failed.items()]


def delivered_files(folder: RunFolder) -> tuple[DeliveredFile, ...]:
    """The products that were delivered and are still there."""
    out = folder.destination.folder
    files = []
    for name in products(folder):
        for place in (out, folder.path):
            if place is not None and not is_own(name) and (place / name).is_file():
                files.append(DeliveredFile(name, place / name, (place / name).stat().st_size))
                break
    return tuple(files)


def read_summary(folder: RunFolder) -> Summary | None:
    """What the run says about how good its result is; None where it has written nothing that says so. Quick."""
    try:
        with (folder.work / SUMMARY_FILE).open("rb") as file:
            written = file.read(_LARGEST_SUMMARY + 1)
            if len(written) > _LARGEST_SUMMARY or _is_input(folder, SUMMARY_FILE, os.fstat(file.fileno())):
                return None
        return Summary.parse(written)
    except (OSError, MessageInvalid):
        return None


def is_own(name: str) -> bool:
    """Whether a run keeps something of its own under this name."""
    first = PurePosixPath(name).parts[0].casefold()
    return first in _OWN or first.startswith(_JOURNAL)


def _files(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    for place, folders, names in os.walk(root):
        folders[:] = sorted(one for one in folders if not one.startswith(".") and one not in _NOT_DELIVERED)
        for name in names:
            path = Path(place) / name
            if name.startswith(".") or name.endswith(_COMPILED):
                continue
            try:
                yield path.relative_to(root).as_posix(), path.lstat()
            except OSError:
                # Gone since it was listed: a process that the notebook left behind may still be tidying up.
                continue


def _is_input(folder: RunFolder, name: str, facts: os.stat_result) -> bool:
    """Whether this is a file the run was given, and unchanged: copies keep the time of the original."""
    try:
        given = (folder.inputs / PurePosixPath(name).relative_to(folder.inputs_place)).stat()
    except (OSError, ValueError):
        return False
    return (given.st_size, given.st_mtime_ns) == (facts.st_size, facts.st_mtime_ns)


def _rank(name: str) -> tuple[int, int, str]:
    first = _FIRST.index(name) if name in _FIRST else len(_FIRST)
    return first, name.count("/"), name
