"""A kernel in namespaces of its own, by bubblewrap: what it may not use is not there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from notebook_bcc.sandbox.inside.confine import ConfinementFailed, write_filter
from notebook_bcc.sandbox.interface import Confined, Reach
from notebook_bcc.sandbox.surroundings import (
    NETWORK,
    SETTINGS,
    SYSTEM,
    allowed_variables,
    home_variables,
    interpreter,
    make_own_folders,
)

PROGRAM: Final = "bwrap"

_HOME: Final = "/home/nbcc"
_TEMPORARY: Final = "/tmp"  # the one inside, which is the kernel's own
_NAMESPACES: Final = (
    *("--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    # Root would keep its capabilities, and a kernel would outlive whoever looks after it.
    *("--cap-drop", "ALL", "--die-with-parent"),
)
# Set by whoever starts a kernel: the process that it names cannot be seen from inside, and ipykernel would give up.
_PARENT: Final = "JPY_PARENT_PID"


# Root may write to them without any capability; bubblewrap covers the folders only where they can be written to.
_SETTINGS_OF_THE_SYSTEM: Final = tuple(f"/proc/{one}" for one in ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi"))


class Bubblewrap:
    """Implements `Sandbox`."""

    def confine(self, command: Sequence[str], *, reach: Reach, env: Mapping[str, str]) -> Confined:
        own, filters = make_own_folders(env), _filters()
        readable = (*SYSTEM, *SETTINGS, *(NETWORK if reach.network else ()))
        argv = (
            shutil.which(PROGRAM) or PROGRAM,
            *_NAMESPACES,
            *(() if reach.network else ("--unshare-net",)),
            *_bound("--ro-bind-try", readable),
            *("--proc", "/proc", *_bound("--ro-bind-try", _SETTINGS_OF_THE_SYSTEM), "--dev", "/dev"),
            *("--bind", str(own.temporary), _TEMPORARY, "--bind", str(own.home), _HOME),
            *_bound("--ro-bind-try", map(str, interpreter(command[0], env))),
            *_bound("--ro-bind", map(str, reach.readable)),
            *_bound("--bind", map(str, (reach.work, reach.sockets, *reach.writable))),
            *("--remount-ro", "/", "--chdir", str(reach.work), "--unsetenv", _PARENT),
            *(part for number in filters for part in ("--seccomp", str(number))),
            "--",
            *command,
        )
        return Confined(
            argv=argv,
            env=allowed_variables(env, network=reach.network) | home_variables(_HOME, _TEMPORARY),
            folders=(own.root,),
            pass_fds=filters,
            in_pid_namespace=True,
        )


def _filters() -> tuple[int, ...]:
    """A filter of system calls, open to be read; none where libseccomp is not installed."""
    descriptor = os.memfd_create("nbcc-filter")
    try:
        write_filter(descriptor)
    except ConfinementFailed:
        os.close(descriptor)
        return ()
    os.lseek(descriptor, 0, os.SEEK_SET)
    return (descriptor,)


def _bound(option: str, paths: Iterable[str]) -> list[str]:
    """Each path where it is outside: nothing that a cell or an error says has another name inside."""
    return [part for path in paths for part in (option, path, path)]
