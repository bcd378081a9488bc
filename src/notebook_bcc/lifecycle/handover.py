"""Files handed to a person: nothing of theirs is overwritten, and nothing of an earlier delivery is left behind.

A hidden manifest in the folder says what was delivered there, with digests. A file whose digest is another one was
edited: it is kept under another name before a new one takes its place.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MANIFEST: Final = ".nbcc-delivery.json"

_FILES: Final = "files"
_RUN: Final = "run"
# Stands for a digest where a link was placed.
_LINK: Final = "link"
# Stands before the digest of a file that somebody asked for by itself.
_ASKED_FOR: Final = "asked for: "


@dataclass(frozen=True, slots=True)
class Placed:
    """What was done to a folder: the edited files by name, each with the name it is kept under, and those that could
    not be placed, each with the reason."""

    kept: Mapping[str, str]
    failed: Mapping[str, str]


def place_files(
    folder: Path,
    files: Mapping[str, Path],
    *,
    links: Mapping[str, Path] | None = None,
    whole: bool = False,
    asked_for: bool = False,
    run_id: str = "",
) -> Placed:
    """Copy files into a folder of a person's, under their names there (paths with slashes); `links` point to theirs.

    `whole`: this is the whole delivery; unedited files of an earlier one that are not among these are removed, but not
    those that somebody has `asked_for` one by one. `run_id` is the run that the folder is a delivery of.
    """
    delivered = _read_manifest(folder)
    kept: dict[str, str] = {}
    failed: dict[str, str] = {}
    known = {name: value for name, value in delivered.items() if not whole or value.startswith(_ASKED_FOR)}
    for name, source in files.items():
        target = folder / name
        try:
            new = digest(source)
            old = "" if _is_our_link(target, delivered.get(name, "")) else digest(target)
            if old and old not in (new, delivered.get(name, "").removeprefix(_ASKED_FOR)):
                kept[name] = _set_aside(target)
            if old != new or target.is_symlink():
                copy_file(source, target)
            known[name] = f"{_ASKED_FOR}{new}" if asked_for else new
        except OSError as error:
            failed[name] = error.strerror or str(error)
    for name, source in (links or {}).items():
        try:
            value = delivered.get(name, "")
            old = "" if _is_our_link(folder / name, value) else digest(folder / name)
            if old and old != value.removeprefix(_ASKED_FOR):
                kept[name] = _set_aside(folder / name)
            _link(source, folder / name)
            known[name] = _LINK
        except OSError as error:
            failed[name] = error.strerror or str(error)
    if whole:
        _remove_earlier(folder, {name: value for name, value in delivered.items() if name not in known})
    if known != delivered or run_id not in ("", delivered_by(folder)):
        _write_manifest(folder, known, run_id=run_id)
    return Placed(kept, failed)


def note_delivered(*paths: Path) -> None:
    """These files of one folder were written by us: as they are now they count as unedited."""
    written = {path.name: digest(path) for path in paths}
    for folder in {path.parent for path in paths}:
        _write_manifest(folder, _read_manifest(folder) | {name: value for name, value in written.items() if value})


def is_unedited(path: Path) -> bool:
    """Whether the file is there as it was delivered."""
    return _read_manifest(path.parent).get(path.name, "").removeprefix(_ASKED_FOR) == digest(path) != ""


def delivered_by(folder: Path) -> str:
    """The id of the run that this folder is a delivery of; empty where it is none."""
    try:
        run_id = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))[_RUN]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return run_id if isinstance(run_id, str) else ""


def digest(path: Path) -> str:
    """The SHA-256 of a file's content; empty where there is no file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return ""


def _is_our_link(path: Path, value: str) -> bool:
    return value == _LINK and path.is_symlink()


def _set_aside(path: Path) -> str:
    """Give an edited file another name; the name."""
    number = 1
    while (free := path.with_stem(f"{path.stem}.edited{f'-{number}' if number > 1 else ''}")).exists():
        number += 1
    path.rename(free)
    return free.name


def copy_file(source: Path, target: Path) -> None:
    """The file at its new place, whole or not at all, with its times. Who may read it says the umask: what a run keeps
    is private, what it delivers is the user's to share."""
    target.parent.mkdir(parents=True, exist_ok=True)
    made = target.with_name(f".{target.name}.nbcc")
    made.unlink(missing_ok=True)
    try:
        shutil.copyfile(source, made)
        times = source.stat()
        os.utime(made, ns=(times.st_atime_ns, times.st_mtime_ns))
        made.replace(target)
    finally:
        made.unlink(missing_ok=True)


def _link(source: Path, target: Path) -> None:
    """A relative link: it holds when both are moved together."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    target.symlink_to(os.path.relpath(os.path.realpath(source), os.path.realpath(target.parent)))


def _remove_earlier(folder: Path, delivered: Mapping[str, str]) -> None:
    """Remove what an earlier delivery has left, unless somebody has edited it."""
    for name, value in delivered.items():
        path = folder / name
        if _is_our_link(path, value) or digest(path) == value:
            path.unlink(missing_ok=True)
            _remove_empty(folder, path.parent)


def _remove_empty(root: Path, folder: Path) -> None:
    while folder != root and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _read_manifest(folder: Path) -> dict[str, str]:
    try:
        files = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))[_FILES]
    except (OSError, ValueError, KeyError, TypeError):
        # None, or not ours: then every file counts as a person's own.
        return {}
    pairs = files.items() if isinstance(files, dict) else ()
    # Whoever wrote it: nothing outside of the folder is ours.
    return {name: value for name, value in pairs if isinstance(value, str) and _stays_inside(name)}


def _stays_inside(name: str) -> bool:
    return not Path(name).is_absolute() and ".." not in Path(name).parts


def _write_manifest(folder: Path, files: Mapping[str, str], *, run_id: str = "") -> None:
    made = folder / f"{MANIFEST}.new"
    run_id = run_id or delivered_by(folder)
    known = {**({_RUN: run_id} if run_id else {}), _FILES: dict(sorted(files.items()))}
    text = json.dumps(known, indent=1, ensure_ascii=False)
    made.write_text(text + "\n", encoding="utf-8")
    made.replace(folder / MANIFEST)
