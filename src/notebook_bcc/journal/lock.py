"""One writer per run, across processes: a lock that the operating system releases however its holder dies.

The lock is flock(2) on a file of its own. It belongs to the open descriptor: programs that this process starts (kernels
above all) do not inherit it, because the descriptor is closed when they are executed.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from notebook_bcc.errors import JournalFailed, RunLocked

# `lock_holder` holds the lock for an instant to see whether it is free; who wants it for good tries again after that.
_TRIES, _PAUSE_SECONDS = 5, 0.02

CARRIED_OUT = "carried out"


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock, and what is being done with the run. `pid` is 0 where it could not be read."""

    pid: int
    host: str
    since: str
    doing: str = CARRIED_OUT

    @property
    def carries_out(self) -> bool:
        """Whether the run is carried out, and not only verified or cancelled."""
        return self.doing == CARRIED_OUT

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host} since {self.since}" if self.pid else "another process"


_UNKNOWN = Holder(pid=0, host="", since="")


class RunLock:
    """The right to carry out a run, or (`doing`) to do something else with it that bears no company. `path` is the lock
    file in the run's folder; it stays there when released."""

    def __init__(self, path: Path, *, run: str = "", typed: str = "", doing: str = CARRIED_OUT) -> None:
        """`typed` is how the run is named in a command, where that is not `run`."""
        self._path = path
        self._run = run or path.absolute().parent.name
        self._typed = typed
        self._doing = doing
        self._descriptor = -1

    def acquire(self) -> None:
        """Take the lock or raise RunLocked, naming the holder. JournalFailed where there can be no lock."""
        if self._descriptor >= 0:
            raise RunLocked(run=self._run, typed=self._typed, holder="this process")
        descriptor = _open(self._path, os.O_RDWR | os.O_CREAT)
        try:
            for attempt in range(_TRIES):
                if _try_lock(descriptor, self._path, shared=False):
                    if not _is_at(descriptor, self._path):
                        # Its holder has deleted the run: what is locked is no file of a run any more.
                        raise RunLocked(run=self._run, typed=self._typed, holder="another process")
                    break
                if attempt < _TRIES - 1:
                    time.sleep(_PAUSE_SECONDS)
            else:
                other = _read_holder(descriptor)
                raise RunLocked(run=self._run, typed=self._typed, holder=str(other), doing=other.doing)
            holder = Holder(pid=os.getpid(), host=socket.gethostname(), since=_now(), doing=self._doing)
            # Only for the message that others get: a full disk must not keep a run from being taken up.
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, json.dumps(asdict(holder)).encode(), 0)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def release(self) -> None:
        """Give the lock back. May be called twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def lock_holder(path: Path) -> Holder | None:
    """Who holds the lock now; None if nobody does. Raises JournalFailed."""
    if not path.exists():
        return None
    descriptor = _open(path, os.O_RDONLY)
    try:
        return None if _try_lock(descriptor, path, shared=True) else _read_holder(descriptor)
    finally:
        os.close(descriptor)


def _open(path: Path, flags: int) -> int:
    try:
        return os.open(path, flags | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise JournalFailed(f"the lock file {path} cannot be opened: {error.strerror}") from error


def _try_lock(descriptor: int, path: Path, *, shared: bool) -> bool:
    try:
        # Here and not at the top: the module is missing on some platforms, and the message below is better than that.
        import fcntl
    except ImportError:
        raise JournalFailed("runs cannot be locked on this platform: it has no flock") from None
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise JournalFailed(f"the file system of {path} does not allow locks: {error.strerror}") from error
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False


def _read_holder(descriptor: int) -> Holder:
    # The holder may be about to write it, or may run another version.
    try:
        return Holder(**json.loads(os.pread(descriptor, 4096, 0)))
    except (ValueError, TypeError):
        return _UNKNOWN


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
