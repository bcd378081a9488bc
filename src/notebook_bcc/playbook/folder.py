"""The files of a playbook: from a folder, or from those that come with this package; and a copy to edit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from notebook_bcc.errors import MessageInvalid

FRONT = "playbook.yaml"
_FOLDERS = {"stages": ".yaml", "cells": ".py", "text": ".md"}
_MOST_FILES = 2_000
_MOST_BYTES = 10_000_000


@dataclass(frozen=True, slots=True)
class PlaybookFiles:
    """Every file of a playbook by its name in the folder. `source` is what messages call the playbook."""

    source: str
    texts: Mapping[str, str]

    def under(self, folder: str) -> list[str]:
        """The names of the files in one of the folders."""
        return [name for name in self.texts if name.startswith(f"{folder}/")]


def builtin_playbooks() -> list[str]:
    """The names of the playbooks that come with this package."""
    found = [each for each in _builtin().iterdir() if each.is_dir() and each.joinpath(FRONT).is_file()]
    return sorted(each.name for each in found)


def open_playbook(name: str) -> PlaybookFiles:
    """The files of a playbook: a folder, or the name of a built-in one. Raises MessageInvalid."""
    folder = Path(name)
    if (folder / FRONT).is_file():
        return _read(folder, source=f"playbook {name}")
    if name in builtin_playbooks():
        return _read(_builtin().joinpath(name), source=f"playbook {name}")
    if folder.is_dir():
        raise _invalid(name, f"the folder has no file {FRONT}")
    known = ", ".join(builtin_playbooks()) or "none"
    raise _invalid(name, f"there is no such folder and no built-in playbook of that name; built in: {known}")


def copy_playbook(files_of: PlaybookFiles, folder: Path) -> list[str]:
    """Write the files into a new folder and name them. Raises MessageInvalid when something is there already."""
    if folder.exists():
        raise _invalid(str(folder), "it exists already; choose another name, or remove it first")
    try:
        for name, text in files_of.texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise _invalid(str(folder), f"it cannot be written: {error.strerror or error}") from error
    return list(files_of.texts)


def _builtin() -> Traversable:
    return files("notebook_bcc").joinpath("playbooks")


def _read(folder: Traversable, *, source: str) -> PlaybookFiles:
    texts: dict[str, str] = {}
    left = _MOST_BYTES
    try:
        for name, file in _files(folder):
            content = file.read_bytes()
            left -= len(content)
            if left < 0 or len(texts) >= _MOST_FILES:
                raise _invalid(source, f"it has more than {_MOST_FILES} files or {_MOST_BYTES} bytes")
            texts[name] = content.decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise _invalid(source, f"it cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise _invalid(source, f"{name} is not UTF-8 text ({error}); save it as UTF-8") from error
    return PlaybookFiles(source, texts)


def _files(folder: Traversable) -> Iterator[tuple[str, Traversable]]:
    yield FRONT, folder.joinpath(FRONT)
    for name, suffix in _FOLDERS.items():
        inner = folder.joinpath(name)
        listed = sorted(inner.iterdir(), key=lambda each: each.name) if inner.is_dir() else []
        yield from ((f"{name}/{each.name}", each) for each in listed if each.is_file() and each.name.endswith(suffix))


def _invalid(what: str, problem: str) -> MessageInvalid:
    return MessageInvalid(what=what, problems=[("", problem)])
