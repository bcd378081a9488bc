"""The files of a playbook: from a folder, or from those that come with this package; and a copy to edit.

A stage has a folder with `stage.yaml`, `cells/` and `text/`; `shared/` holds the cells and texts of several stages.
Older playbooks are flat: `stages/NAME.yaml`, `cells/` and `text/` for all stages. Both are read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from notebook_bcc.errors import MessageInvalid

FRONT = "playbook.yaml"
STAGE = "stage.yaml"
SHARED = "shared"
_CONTENT = {"cells": ".py", "text": ".md"}
_FLAT = {"stages": ".yaml", **_CONTENT}
# No stage of the layout by stages can have these names: their folders mean something else.
RESERVED = frozenset({SHARED, *_FLAT})
_MOST_FILES = 2_000
_MOST_BYTES = 10_000_000


@dataclass(frozen=True, slots=True)
class PlaybookFiles:
    """Every file of a playbook by its name in the folder. `source` is what messages call the playbook."""

    source: str
    texts: Mapping[str, str]

    @property
    def flat(self) -> bool:
        """True for the old layout: one folder of stages, and one of cells and one of texts for all of them."""
        return not self._has_stage_folder and any(name.startswith("stages/") for name in self.texts)

    def stage_file(self, stage_id: str) -> str:
        """The name of the file that describes a stage."""
        return f"stages/{stage_id}.yaml" if self.flat else f"{stage_id}/{STAGE}"

    def is_stage_file(self, name: str) -> bool:
        """Whether a file with this name describes a stage."""
        return name.startswith("stages/") if self.flat else name.endswith(f"/{STAGE}")

    def locate(self, stage_id: str, names: Collection[str]) -> list[str]:
        """Where the files of one cell or text are, such as `cells/load.py`: in the stage's folder, else in the shared
        one. Names of the stage's folder where there are none."""
        if self.flat:
            return list(names)
        own, shared = ([f"{folder}/{name}" for name in names] for folder in (stage_id, SHARED))
        return shared if not self._any(own) and self._any(shared) else own

    def of_stages(self, name: str) -> list[str]:
        """Every stage's own file of a name such as `cells/load.py`."""
        return [each for each in self.texts if each.partition("/")[2] == name and not each.startswith(f"{SHARED}/")]

    @property
    def _has_stage_folder(self) -> bool:
        return any(name.endswith(f"/{STAGE}") and not name.startswith("stages/") for name in self.texts)

    def _any(self, names: Collection[str]) -> bool:
        return any(name in self.texts for name in names)


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
    stages = [each for each in _listed(folder) if each.is_dir() and each.name not in _FLAT]
    by_stage = [each for each in stages if each.joinpath(STAGE).is_file()]
    # Beside flat folders only a folder with a stage in it belongs to the playbook.
    if by_stage or not folder.joinpath("stages").is_dir():
        for stage in stages:
            if stage.joinpath(STAGE).is_file():
                yield f"{stage.name}/{STAGE}", stage.joinpath(STAGE)
            for name, suffix in _CONTENT.items():
                yield from _content(f"{stage.name}/{name}", stage.joinpath(name), suffix)
    for name, suffix in _FLAT.items():
        yield from _content(name, folder.joinpath(name), suffix)


def _content(name: str, folder: Traversable, suffix: str) -> Iterator[tuple[str, Traversable]]:
    listed = _listed(folder) if folder.is_dir() else []
    yield from ((f"{name}/{each.name}", each) for each in listed if each.is_file() and each.name.endswith(suffix))


def _listed(folder: Traversable) -> list[Traversable]:
    return sorted((each for each in folder.iterdir() if not each.name.startswith(".")), key=lambda each: each.name)


def _invalid(what: str, problem: str) -> MessageInvalid:
    return MessageInvalid(what=what, problems=[("", problem)])
