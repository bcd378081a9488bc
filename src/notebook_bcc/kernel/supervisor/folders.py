"""Where kernels keep what is needed to speak to them: private folders, those of kernels that last under one root."""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

LOG, END = ".log", ".json"


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How a kernel lives on without the process that started it. With an idle time of zero it ends with that process.

    `idle` are the seconds until it ends when nobody is there and no cell runs. `folder` keeps what it says and why it
    ended; `run` is the folder of the run that it belongs to.
    """

    idle: float = 0.0
    folder: Path | None = None
    run: str = ""


def runtime_root() -> Path:
    """Where the folders of this user's lasting kernels are. Not in XDG_RUNTIME_DIR, which a logout empties."""
    return Path(tempfile.gettempdir()) / f"nbcc-{os.geteuid()}"


def make_folder(lifetime: Lifetime) -> Path:
    """A new folder that only this user can look into. Raises OSError."""
    if lifetime.idle <= 0:
        return Path(tempfile.mkdtemp(prefix="nbcc-"))
    root = runtime_root()
    root.mkdir(mode=0o700, exist_ok=True)
    if not is_private(root):
        raise PermissionError(f"{root} belongs to somebody else, or others may look into it")
    folder = root / secrets.token_hex(6)
    folder.mkdir(mode=0o700)
    return folder


def is_private(folder: Path) -> bool:
    """Whether it is a folder of this user's that nobody else may look into."""
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & 0o077


def open_log(lifetime: Lifetime, folder: Path) -> int:
    """The file that gets what a kernel says on its own standard error, open for both. Raises OSError."""
    if lifetime.folder is not None:
        lifetime.folder.mkdir(mode=0o700, exist_ok=True)
    path = (lifetime.folder or folder) / f"{folder.name}{LOG}"
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
