"""A kernel under Landlock and seccomp, for machines that forbid user namespaces: it sees much and may open little."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Final

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

NEWEST_ABI: Final = 99

_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# Of /proc what libraries count processors and memory by.
_MACHINE: Final = tuple(f"/proc/{one}" for one in ("cpuinfo", "meminfo", "stat", "filesystems", "sys/kernel", "sys/vm"))
_SEAL: Final = "(lambda scope: (exec({source!r}, scope), scope['seal']({network}))[1])({{'__name__': 'nbcc_seal'}})"


class Landlock:
    """Implements `Sandbox`. `abi`: at most this version of Landlock is used, whatever the system has."""

    def __init__(self, *, abi: int = NEWEST_ABI) -> None:
        self._abi = abi

    def confine(self, command: Sequence[str], *, reach: Reach, env: Mapping[str, str]) -> Confined:
        own = make_own_folders(env)
        system = (*SYSTEM, *SETTINGS, *(NETWORK if reach.network else ()), *_MACHINE)
        wanted = {
            "cwd": str(reach.work),
            "writable": [str(one) for one in (reach.work, reach.sockets, *reach.writable, own.home, own.temporary)],
            "readable": [*system, *(str(one) for one in (*interpreter(command[0], env), *reach.readable))],
            "devices": _DEVICES,
            "abi": self._abi,
        }
        starter = str(files("notebook_bcc.sandbox.inside") / "confine.py")
        return Confined(
            argv=(sys.executable, "-I", "-S", starter, json.dumps(wanted), *command),
            env={
                **allowed_variables(env, network=reach.network),
                **home_variables(str(own.home), str(own.temporary)),
                # Its semaphores are files in a folder that all processes of the machine share.
                "JOBLIB_MULTIPROCESSING": "0",
            },
            folders=(own.root,),
            seal=_SEAL.format(source=_source(), network=reach.network),
        )


def _source() -> str:
    return (files("notebook_bcc.sandbox.inside") / "confine.py").read_text(encoding="utf-8")
