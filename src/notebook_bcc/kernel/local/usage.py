"""What a kernel and everything it has started take of the machine, and which limit that exceeds.

Standard library only, and nothing of ours: whoever looks after a kernel's process may use it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_UNITS = ((1_000_000_000, "GB"), (1_000_000, "MB"))
_PROCESSES = Path("/proc")


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """What a kernel and its processes may take together; zero is no limit. `disk_bytes`: in its working directory."""

    memory_bytes: int = 0
    processes: int = 0
    disk_bytes: int = 0

    def __bool__(self) -> bool:
        return bool(self.memory_bytes or self.processes or self.disk_bytes)


class ProcessFamily:
    """A process and all that came from it. One that has left its parents stays in the family once it was seen."""

    def __init__(self, pid: int) -> None:
        self._root = pid
        # By number, with the time each began: numbers are given again.
        self._known: dict[int, str] = {}

    def members(self) -> list[int]:
        """The processes that there are now."""
        here = {pid: began for pid in self._descendants() if (began := _began(pid))}
        left = {pid: began for pid, began in self._known.items() if pid not in here and _began(pid) == began}
        self._known = here | left
        return list(self._known)

    def kill(self) -> None:
        """End all of them. Those that start while this happens are found again until there are none."""
        for _ in range(100):
            members = self.members()
            for pid in members:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            if not members:
                return

    def _descendants(self) -> Iterator[int]:
        waiting = [self._root, *self._known]
        seen: set[int] = set()
        while waiting:
            pid = waiting.pop()
            if pid not in seen:
                seen.add(pid)
                waiting += _children(pid)
        yield from seen


def exceeded(limits: ResourceLimits, members: list[int]) -> str:
    """Which limit of memory or processes these exceed, in words; empty for none."""
    if limits.processes and len(members) > limits.processes:
        return f"it had {len(members)} processes, and --max-processes allows {limits.processes}"
    if limits.memory_bytes and (taken := memory(members, over=limits.memory_bytes)) > limits.memory_bytes:
        return f"it took {_size(taken)} of memory, and --max-memory allows {_size(limits.memory_bytes)}"
    return ""


def exceeded_on_disk(limits: ResourceLimits, folder: Path) -> str:
    """The same for what a folder holds. Takes a while where that is much."""
    if limits.disk_bytes and (held := disk(folder)) > limits.disk_bytes:
        return f"its working directory held {_size(held)}, and --max-disk allows {_size(limits.disk_bytes)}"
    return ""


def memory(members: list[int], *, over: int = 0) -> int:
    """What they have in memory together, in bytes. Where it seems to be more than `over`, what they share is counted
    once; that takes longer to find out."""
    page = os.sysconf("SC_PAGE_SIZE")
    resident = sum(int(parts[1]) * page for pid in members if len(parts := _read(pid, "statm").split()) > 1)
    return sum(map(_proportional, members)) if resident > over and len(members) > 1 else resident


def disk(folder: Path) -> int:
    """What the files below a folder take on the disk, in bytes. Links are not followed."""
    taken, waiting = 0, [os.fspath(folder)]
    while waiting:
        # Cells make and remove files while this looks.
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    taken += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    return taken


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(_PROCESSES / str(pid) / "task"):
            found += map(int, _read(pid, f"task/{thread}/children").split())
    return found


def _began(pid: int) -> str:
    """When a process began; empty for one that has ended, also if nobody has asked for its exit code yet."""
    # The name before the last bracket may hold anything.
    fields = _read(pid, "stat").rpartition(")")[2].split()
    return fields[19] if len(fields) > 19 and fields[0] not in ("Z", "X") else ""


def _proportional(pid: int) -> int:
    for line in _read(pid, "smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def _read(pid: int, name: str) -> str:
    try:
        return (_PROCESSES / str(pid) / name).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _size(count: int) -> str:
    for unit, name in _UNITS:
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count} bytes"
