"""The folder that a run's checkpoints lie in."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class CheckpointFiles:
    """Checkpoints are files that a kernel writes and reads; here they are only named, counted and removed.

    The code of cells can write to the folder too, also from a sandbox: a link in it is not followed."""

    folder: Path

    def path_of(self, file: str) -> str:
        return str(self.folder / file)

    def make_folder(self) -> None:
        """Only the user may look into it. Raises OSError."""
        self.folder.mkdir(mode=0o700, exist_ok=True)

    def keep(self, files: Collection[str]) -> None:
        """Remove all others. One that cannot be removed stays until the next time."""
        for path in self.folder.iterdir() if self.folder.is_dir() else ():
            if path.name not in files:
                with contextlib.suppress(OSError):
                    path.unlink()

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def size(self) -> int:
        """Bytes on disk."""
        return sum(path.lstat().st_size for path in self.folder.iterdir()) if self.folder.is_dir() else 0


def checkpoints_of(run: Path) -> CheckpointFiles:
    """Those of the run in that folder. They are there only while it is not over."""
    return CheckpointFiles(run / "checkpoints")
