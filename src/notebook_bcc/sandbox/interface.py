"""What a sandbox is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol

Rung = Literal["bubblewrap", "landlock"]
"""The kinds of sandbox, the stronger one first."""

RUNGS: Final[tuple[Rung, ...]] = ("bubblewrap", "landlock")


@dataclass(frozen=True, slots=True)
class Reach:
    """What the code in a kernel may use: `work`, `sockets` and `writable`, all of them there, to read and write,
    `readable` to read; and whether it has the network of the machine. The system, the interpreter and its packages are
    always readable; nothing else is.
    """

    work: Path
    sockets: Path
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    network: bool = False


@dataclass(frozen=True, slots=True)
class Confined:
    """A command inside a sandbox. `folders` are its home and its temporary files, removed when it has ended.
    `pass_fds` are open, and stay so in the new process; whoever starts it closes them here.

    `in_pid_namespace`: it sees no process but its own, not even its parent. `seal`: a Python expression that the kernel
    evaluates once its sockets are up; it is not confined before that has given True.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    folders: tuple[Path, ...] = ()
    pass_fds: tuple[int, ...] = ()
    in_pid_namespace: bool = False
    seal: str = ""


class Sandbox(Protocol):
    """Puts a command into a sandbox. Starts nothing."""

    def confine(self, command: Sequence[str], *, reach: Reach, env: Mapping[str, str]) -> Confined:
        """What to start in place of the command. `env` is the whole environment that it would have outside. Raises
        OSError where the folders of its own cannot be made."""
        ...
