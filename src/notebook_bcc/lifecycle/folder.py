"""One run on disk: which files it has, how it is named, and how it is found again."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from notebook_bcc.errors import NotebookFailed, RunNotFound, RunRefused
from notebook_bcc.lifecycle.handover import delivered_by
from notebook_bcc.lifecycle.run_names import runs_option, typed
from notebook_bcc.playbook.folder import PlaybookFiles, copy_playbook
from notebook_bcc.protocol.specs import JournalSpec, SqliteJournalSpec

if TYPE_CHECKING:
    from notebook_bcc.llm.choice import ChoiceFiles

LAST = "last"
INPUTS_FOLDER = "inputs"
NOTEBOOK = "notebook.ipynb"
REPORT = "report.html"
ACTIONS = "custom_actions.py"
SERVER_COPY = "server-copy.json"

_NAME_LENGTH = 40
_STAMP = "%Y%m%d-%H%M%S"
_STAMP_LENGTH = len("20261115-204712")
# What a person may call a run: no path parts, nothing hidden, and short enough for a file name in any letters.
_GIVEN_ID = re.compile(r"\w[\w.-]{0,79}")
_SEPARATORS = re.compile(r"[\W_]+")
_TRIES = 1000

# Files from this size on are not copied where a link does.
LARGE_FILE = 200_000_000
# Data, outputs and prompts are nobody's business but the user's.
PRIVATE_FOLDER = 0o700
_PRIVATE_FILE = 0o600
_UNCHANGEABLE_FILE = 0o400
# Inputs up to this size are copied into the folder that the user wants everything in.
LARGEST_COPY = 50_000_000

_DESTINATION = "destination.json"
_STARTED = ".started"


@dataclass(frozen=True, slots=True)
class Destination:
    """Where the user wants the notebook, or everything, and whether it is verified before. `large` are inputs that are
    not copied there, by their paths in the working directory, with the user's own files."""

    file: Path | None = None
    folder: Path | None = None
    large: Mapping[str, Path] = field(default_factory=dict)
    verify: bool = True

    def text(self) -> str:
        """As JSON, paths as texts."""
        named = {"file": self.file, "folder": self.folder}
        paths = {name: str(path) for name, path in named.items() if path is not None}
        large = {name: str(path) for name, path in self.large.items()}
        return json.dumps({**paths, "large": large, "verify": self.verify}, indent=1)

    @classmethod
    def of_text(cls, text: str) -> Destination:
        """What `text` has written. Raises ValueError for anything else."""
        try:
            found = json.loads(text)
            file, folder = (Path(found[name]) if name in found else None for name in ("file", "folder"))
            large = {name: Path(path) for name, path in found["large"].items()}
            # Earlier versions did not keep whether a run is verified.
            return cls(file, folder, large, verify=found.get("verify", True) is not False)
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError("it does not say where files are wanted") from error


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The files of one run. The journal is the truth; the notebook and the page are made from it."""

    path: Path

    @property
    def run_id(self) -> str:
        return self.path.name

    @property
    def typed(self) -> str:
        """The run as it is typed in a command: its id, with `--runs` where it is not in `nbcc-runs` here."""
        return typed(self.path)

    @property
    def journal(self) -> Path:
        return self.path / "journal.sqlite"

    @property
    def journal_spec(self) -> JournalSpec:
        """Where the run is recorded."""
        return SqliteJournalSpec(path=str(self.journal))

    @property
    def kernel(self) -> Path:
        """What its kernels said on their own standard error, and why they ended."""
        return self.path / "kernel"

    @property
    def lock(self) -> Path:
        return self.path / "run.lock"

    @property
    def notebook(self) -> Path:
        """The run's own notebook. A copy goes to where the user wants it."""
        return self.path / NOTEBOOK

    @property
    def html(self) -> Path:
        return self.path / "notebook.html"

    @property
    def report(self) -> Path:
        """The reader's report."""
        return self.path / REPORT

    @property
    def work(self) -> Path:
        """The kernel's working directory."""
        return self.path / "work"

    @property
    def inputs(self) -> Path:
        """The files the run was given, as they were: `work` may change its copies, verification starts from these."""
        return self.path / INPUTS_FOLDER

    @property
    def inputs_place(self) -> str:
        """Where the files of `inputs` lie in the working directory: in a folder of the same name, so that the notebook
        can be run beside `inputs`. The files of a script lie at the paths that its cells use."""
        kept = [path.relative_to(self.inputs) for path in self.inputs.rglob("*") if path.is_file()]
        nested = any((self.work / INPUTS_FOLDER / one).exists() and not (self.work / one).exists() for one in kept)
        return INPUTS_FOLDER if nested else ""

    @property
    def script(self) -> Path:
        """The script as it was when the run began: the original may change or move."""
        return self.path / "script.yaml"

    @property
    def playbook(self) -> Path:
        """The playbook as it was when the run began."""
        return self.path / "playbook"

    @property
    def models(self) -> Path:
        """Which language models plan the run and what they may be told. Holds no key."""
        return self.path / "models.json"

    @property
    def prices(self) -> Path:
        """The user's own price table, as it was when the run began."""
        return self.path / "prices.json"

    @property
    def prompts(self) -> Path:
        """The user's own prompts, as they were when the run began."""
        return self.path / "prompts"

    @property
    def destination(self) -> Destination:
        """Where the user wants things, and which of the inputs are too large to be copied there."""
        try:
            return Destination.of_text((self.path / _DESTINATION).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return Destination()
        except (OSError, ValueError) as error:
            raise RunRefused(f"{self.path / _DESTINATION} cannot be read: {error}") from error

    @property
    def actions(self) -> Path:
        """The run's own custom actions, as they were when it began. There only where it was given some."""
        return self.path / ACTIONS

    @property
    def server_copy(self) -> Path:
        """What is known about the copy of the notebook that a Jupyter Server keeps. There only where one does."""
        return self.path / SERVER_COPY

    def has_product(self, name: str) -> bool:
        """Whether the run has written this file; `name` is a path in its working directory, with slashes."""
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            return False
        try:
            return (self.work / path).is_file()
        except (OSError, ValueError):
            return False

    @property
    def delivered(self) -> Path:
        """Where the user finds the notebook."""
        wanted = self.destination
        return wanted.file or (wanted.folder / NOTEBOOK if wanted.folder is not None else self.notebook)

    @property
    def delivered_html(self) -> Path:
        wanted = self.destination
        return wanted.file.with_suffix(".html") if wanted.file is not None else self.html

    @property
    def delivered_report(self) -> Path:
        wanted = self.destination
        return wanted.folder / REPORT if wanted.folder is not None else self.report


@dataclass(frozen=True, slots=True)
class Input:
    """A file for the run: where it lies now, and its path in the working directory."""

    source: Path
    name: str


def create_folder(root: Path, *, name: str, at: datetime, given_id: str = "") -> RunFolder:
    """A new, empty folder that no other run has, or the one of `given_id`, which may exist. Raises RunRefused."""
    wanted = check_run_id(given_id) if given_id else run_id(name, at)
    try:
        root.mkdir(parents=True, exist_ok=True)
        for attempt in range(1, _TRIES):
            path = root / (wanted if attempt == 1 else f"{wanted}-{attempt}")
            try:
                path.mkdir(mode=PRIVATE_FOLDER, exist_ok=bool(given_id))
            except FileExistsError:
                if given_id:
                    raise
                continue
            if not given_id:
                note_start(RunFolder(path), at)
            return RunFolder(path.absolute())
    except OSError as error:
        raise RunRefused(
            f"no run can be kept in {root}: {error.strerror or error}; choose a folder with --runs"
        ) from error
    raise RunRefused(f"{root} holds too many runs called {wanted}; give this one another --name")


def check_run_id(given: str) -> str:
    """The id as it is used. Raises RunRefused for one that could not be a folder's name, or means something else."""
    wanted = unicodedata.normalize("NFC", given)
    if wanted == LAST or wanted.endswith(".") or not _GIVEN_ID.fullmatch(wanted):
        raise RunRefused(
            f"{given!r} cannot be the id of a run: use letters, digits, '.', '_' and '-', beginning with a letter or a "
            f"digit, at most 80 of them, and not {LAST!r}"
        )
    return wanted


def note_start(folder: RunFolder, at: datetime) -> None:
    """Keep when the run began: ids that people give say nothing of it."""
    (folder.path / _STARTED).write_text(f"{at:{_STAMP}.%f}\n", encoding="ascii")


def clear_folder(folder: RunFolder) -> None:
    """Remove what a process left that died before its run had begun. The caller holds the lock, which stays."""
    for path in folder.path.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path != folder.lock:
            path.unlink()


def run_id(name: str, at: datetime) -> str:
    """Readable and sortable: `20261115-204712-bike-demo`."""
    words = _SEPARATORS.sub("-", unicodedata.normalize("NFC", name).casefold())[:_NAME_LENGTH].strip("-")
    return f"{at:{_STAMP}}-{words or 'run'}"


def fill_folder(
    folder: RunFolder,
    *,
    inputs: Sequence[Input] = (),
    script: Path | None = None,
    playbook: PlaybookFiles | None = None,
    models: ChoiceFiles | None = None,
    actions: Path | None = None,
    out: Path | None = None,
    out_folder: Path | None = None,
    verify: bool = True,
    confined: bool = False,
    large: int = LARGE_FILE,
    largest_copy: int = LARGEST_COPY,
) -> None:
    """Copy in what the run needs, and link the notebook to where it is wanted. `confined`: cells cannot write to the
    inputs, and get no other name of the same file. Raises RunRefused."""
    try:
        folder.inputs.mkdir(mode=PRIVATE_FOLDER)
        folder.work.mkdir(mode=PRIVATE_FOLDER)
        nested = all(PurePosixPath(one.name).parts[0] == INPUTS_FOLDER for one in inputs)
        for one in inputs:
            keep = folder.path if nested else folder.inputs
            _place(one, keep, folder.work, large=large, link=_point_to if confined else link_file)
        if script is not None:
            shutil.copyfile(script, folder.script)
        if playbook is not None:
            copy_playbook(playbook, folder.playbook)
        if models is not None:
            _keep_models(models, folder)
        if actions is not None:
            shutil.copyfile(actions, folder.actions)
        if out is not None or out_folder is not None or not verify:
            keep_destination(folder, inputs, out, out_folder, verify=verify, largest_copy=largest_copy)
    except OSError as error:
        raise RunRefused(f"run folder {folder.path} cannot be filled: {error.strerror or error}") from error


def keep_actions(folder: RunFolder, actions: Path) -> None:
    """From here on these are the run's custom actions. Raises RunRefused."""
    try:
        if not (folder.actions.exists() and actions.samefile(folder.actions)):
            shutil.copyfile(actions, folder.actions)
    except OSError as error:
        raise RunRefused(f"actions {actions} cannot be kept: {error.strerror or error}") from error


def keep_destination(
    folder: RunFolder,
    inputs: Sequence[Input],
    out: Path | None,
    out_folder: Path | None,
    *,
    verify: bool = True,
    largest_copy: int = LARGEST_COPY,
) -> None:
    """Note where the user wants the notebook, or everything, and whether it is verified; a folder is made. Raises
    OSError."""
    if out_folder is not None:
        out_folder.mkdir(parents=True, exist_ok=True)
    wanted = Destination(
        file=out.absolute() if out is not None else None,
        folder=out_folder.absolute() if out_folder is not None else None,
        large={one.name: one.source.absolute() for one in inputs if one.source.stat().st_size > largest_copy},
        verify=verify,
    )
    (folder.path / _DESTINATION).write_text(wanted.text() + "\n", encoding="utf-8")


def _keep_models(models: ChoiceFiles, folder: RunFolder) -> None:
    folder.models.write_text(models.choice.model_dump_json(indent=1) + "\n", encoding="utf-8")
    if models.prices is not None:
        shutil.copyfile(models.prices, folder.prices)
    if models.prompts is not None:
        folder.prompts.mkdir()
        for file in models.prompts.glob("*.md"):
            shutil.copyfile(file, folder.prompts / file.name)


def _place(one: Input, keep: Path, work: Path, *, large: int, link: Callable[[Path, Path], bool]) -> None:
    """The file twice: as it was, and to work with. Of a large one there is a single copy, which nobody may change."""
    kept, used = keep / one.name, work / one.name
    for path in (kept, used):
        path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(one.source, kept)
    kept.chmod(_PRIVATE_FILE)
    if kept.stat().st_size < large or not link(kept, used):
        shutil.copy2(one.source, used)
        used.chmod(_PRIVATE_FILE)
    else:
        kept.chmod(_UNCHANGEABLE_FILE)


def _point_to(source: Path, target: Path) -> bool:
    target.symlink_to(os.path.relpath(source, target.parent))
    return True


def link_file(source: Path, target: Path) -> bool:
    """Whether the file could be given a second name: not every file system can, and none across its border."""
    try:
        os.link(source, target)
    except OSError:
        return False
    return True


def check_inputs(inputs: Sequence[Input]) -> None:
    """Raises RunRefused unless every file is there, can be read, and stays inside the working directory."""
    for one in inputs:
        if Path(one.name).is_absolute() or ".." in Path(one.name).parts:
            raise RunRefused(f"data file {one.name!r} would lie outside the run's working directory")
        if not one.source.is_file() or not os.access(one.source, os.R_OK):
            raise RunRefused(f"data file {str(one.source)!r} does not exist or cannot be read")


def check_writable(path: Path) -> None:
    """Raises NotebookFailed unless a file can be made at this path. Leaves nothing behind."""
    if path.suffix != ".ipynb":
        raise NotebookFailed(path=str(path), reason="give a path that ends in .ipynb, or a folder that ends in /")
    if path.is_dir():
        raise NotebookFailed(path=str(path), reason="this is a folder; give the path of a file")
    folder = Path(os.path.realpath(path)).parent
    if not folder.exists():
        raise NotebookFailed(
            path=str(path), reason=f"the folder {folder} does not exist; create it, or choose another path"
        )
    _check_folder(folder, path)


def check_writable_folder(path: Path) -> None:
    """Raises NotebookFailed unless there is, or can be, a folder at this path to write in. Leaves nothing behind."""
    place = Path(os.path.realpath(path))
    while not place.exists():
        place = place.parent
    if not place.is_dir():
        raise NotebookFailed(path=str(path), reason=f"{place} is a file, not a folder; choose another path")
    _check_folder(place, path)


def _check_folder(folder: Path, path: Path) -> None:
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = f"nothing can be written in {folder} ({error.strerror or error}); choose another path"
        raise NotebookFailed(path=str(path), reason=reason) from error


def run_folders(root: Path) -> list[RunFolder]:
    """The runs kept in `root`, newest first. Folders that were never a run are not listed."""
    if not root.is_dir():
        return []
    # A hidden folder is a run that is being deleted.
    folders = (RunFolder(path.absolute()) for path in root.iterdir() if path.is_dir() and path.name[0] != ".")
    found = [folder for folder in folders if _is_run(folder)]
    return sorted(found, key=_age, reverse=True)


def _age(folder: RunFolder) -> tuple[str, int, str]:
    """Sorts by when the run began, then by when its folder was filled. Those of earlier versions say the former in
    their ids alone."""
    try:
        started = (folder.path / _STARTED).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        started = folder.run_id[:_STAMP_LENGTH]
    try:
        filled = folder.inputs.stat().st_mtime_ns
    except OSError:
        filled = 0
    return started, filled, folder.run_id


def find_run(root: Path, word: str) -> RunFolder:
    """The run that `word` names: `last`, an id, the start of one, or a path, also one that it has delivered to.
    Raises RunNotFound, RunRefused."""
    folders = run_folders(root)
    if word == LAST and folders:
        return folders[0]
    for folder in folders:
        if folder.run_id == word:
            return folder
    by_path = _run_at(Path(word)) if word else None
    if by_path is not None:
        return by_path
    matching = [folder for folder in folders if word and folder.run_id.startswith(word)]
    if len(matching) > 1:
        some = ", ".join(folder.run_id for folder in matching[:3]) + (", ..." if len(matching) > 3 else "")
        raise RunRefused(f"{word!r} is the start of {len(matching)} runs ({some}); give more of the id")
    if matching:
        return matching[0]
    run_id = _deliverer(Path(word)) if word else ""
    for folder in folders:
        if folder.run_id == run_id:
            return folder
    if run_id:
        raise RunNotFound(run=run_id, where=str(root), delivered=word)
    raise RunNotFound(run=word, where=str(root), option=runs_option(root))


def _deliverer(path: Path) -> str:
    """The id of the run that has delivered a folder, or a file that lies in it."""
    return next((run_id for one in (path, path.parent) if path.exists() and (run_id := delivered_by(one))), "")


def _run_at(path: Path) -> RunFolder | None:
    """The run of a folder, or of a file in it such as the notebook."""
    for candidate in (path, path.parent):
        if candidate.is_dir() and _is_run(RunFolder(candidate)) and (candidate == path or path.exists()):
            return RunFolder(candidate.absolute())
    return None


def _is_run(folder: RunFolder) -> bool:
    # A run that lost its journal, or never got one, is broken; it is still a run and must not vanish from the list.
    return folder.journal.exists() or folder.lock.exists()
