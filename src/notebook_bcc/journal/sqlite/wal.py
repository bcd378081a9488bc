"""The file that SQLite writes commits to first, and how it is made to survive a power loss.

Why an fsync of this one file is enough: in WAL mode a commit is a run of checksummed frames in `<journal>-wal`, and
nothing else is written until a checkpoint. With synchronous=NORMAL SQLite leaves those frames to the operating system
(so they survive the death of the process, not of the machine), but it does fsync the WAL before a checkpoint copies
frames into the database, and fsyncs the database before the WAL is used again from its start. So every committed page
is either in a database that is on disk, or in the WAL; and after a power loss SQLite replays the WAL up to the last
whole commit. An fsync of the WAL therefore makes everything committed before it durable, without a checkpoint, without
SQLite's locks, and while the next commits are being written.

Only the WAL may be opened beside SQLite: POSIX drops all locks of a process on a file when any descriptor of that file
is closed, so a second descriptor of the database would silently unlock it. SQLite does not lock the WAL.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path


class WalFile:
    """A descriptor of the WAL, opened at the first flush. Any thread may call."""

    def __init__(self, journal: Path) -> None:
        self.path = journal.with_name(journal.name + "-wal")
        self._descriptor = -1
        # A flush runs on in its thread when whoever awaits it is cancelled: closing must wait for it.
        self._lock = threading.Lock()
        self._closed = False

    def flush(self) -> None:
        """On return every frame written before the call survives a power loss. Nothing once closed. Raises OSError."""
        with self._lock:
            if self._closed:
                return
            if self._is_stale():
                self._drop()
                self._descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
                fsync_folder(self.path.parent)
            os.fsync(self._descriptor)

    def size(self) -> int:
        """Bytes in the file; 0 when there is none."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def close(self) -> None:
        """Release the descriptor. May be called twice."""
        with self._lock:
            self._closed = True
            self._drop()

    def _drop(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _is_stale(self) -> bool:
        # A checkpoint keeps the file; SQLite deletes it when the last connection goes and makes another one later.
        if self._descriptor < 0:
            return True
        ours, current = os.fstat(self._descriptor), self.path.stat()
        return (ours.st_dev, ours.st_ino) != (current.st_dev, current.st_ino)


def fsync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power loss. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
