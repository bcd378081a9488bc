"""How the command of a kernel becomes a process: as it is, or inside a sandbox that somebody else brings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Launch:
    """What is started instead of the command, and what is different about the process that comes of it.

    `env` is the whole environment. `pass_fds` stay open in the new process; whoever starts it closes its own copies
    afterwards. `interrupt_by_message`: signals to the process do not reach the kernel alone, so it is interrupted as a
    kernel elsewhere is. `in_pid_namespace`: the kernel does not see its parent, and a signal that ended it is an exit
    code of 128 and more. `folders` belong to the process and are removed when it has ended. `seal`: a Python expression
    that the kernel evaluates once its sockets are up, before any cell; from then on it is confined, and it says True. A
    kernel that cannot evaluate it is not used.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str | None = None
    pass_fds: tuple[int, ...] = ()
    interrupt_by_message: bool = False
    in_pid_namespace: bool = False
    folders: tuple[Path, ...] = ()
    seal: str = ""


class Launcher(Protocol):
    """Decides how a kernel's process is started. Keeps nothing between two starts."""

    def prepare(self, command: Sequence[str], *, folder: Path, cwd: str | None, env: Mapping[str, str]) -> Launch:
        """What to start for a command. `folder` holds the kernel's connection file and gets its sockets. Raises
        KernelStartFailed."""
        ...


class PlainLauncher:
    """Implements `Launcher`: the command as it is, with the rights of the user."""

    def prepare(self, command: Sequence[str], *, folder: Path, cwd: str | None, env: Mapping[str, str]) -> Launch:
        return Launch(argv=tuple(command), env=env, cwd=cwd)
