"""The kinds of sandbox there are, and which of them work on this machine. That is found out by using them: a version
number or a setting proves nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from notebook_bcc.sandbox.bubblewrap import PROGRAM, Bubblewrap
from notebook_bcc.sandbox.inside.confine import ConfinementFailed, landlock_abi, seccomp_library
from notebook_bcc.sandbox.interface import Confined, Reach, Rung, Sandbox
from notebook_bcc.sandbox.landlock import Landlock

_SECONDS: Final = 20.0
_SEALED: Final = "confined"
# In the sandbox: what lies outside cannot be read, what lies inside can be written, and nobody is reached.
_TRY: Final = """\
import _socket as socket, sys
outside, inside, seal = sys.argv[1:]
try:
    open(outside).close()
    sys.exit("a file outside could be read")
except OSError:
    open(inside, "w").close()
if seal and not eval(seal):
    sys.exit("the system calls could not be filtered")
try:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("192.0.2.1", 9))
    sys.exit("the network could be reached")
except OSError:
    print("confined")
"""
# Signals and abstract sockets of other processes are out of reach from this version of Landlock on.
_SCOPES_ABI: Final = 6
_LANDLOCK_GAPS: Final = ("whether a file outside exists, and its size and times, can be asked for by its path",)
_HELP: Final[Mapping[Rung, str]] = {
    "bubblewrap": "sudo apt-get install bubblewrap",
    "landlock": "sudo apt-get install libseccomp2",
}


@dataclass(frozen=True, slots=True)
class RungReport:
    """Whether one kind of sandbox works here. `why` says by what, or why not; `gaps` are what it leaves open; `help` is
    the command that would make it work, empty where there is none."""

    rung: Rung
    works: bool
    why: str
    gaps: tuple[str, ...] = ()
    help: str = ""


def make_sandbox(rung: Rung) -> Sandbox:
    """The sandbox of this kind."""
    return Bubblewrap() if rung == "bubblewrap" else Landlock()


def try_rung(rung: Rung) -> RungReport:
    """Use this kind of sandbox once, for a program that tries to get out. Takes some ten milliseconds."""
    return _try_bubblewrap() if rung == "bubblewrap" else _try_landlock()


def _try_bubblewrap() -> RungReport:
    if shutil.which(PROGRAM) is None:
        return RungReport("bubblewrap", False, f"{PROGRAM} is not installed", help=_HELP["bubblewrap"])
    problem = _attempt(Bubblewrap())
    if problem:
        hint = "; user namespaces may be forbidden here" if "ermission" in problem or "permitted" in problem else ""
        return RungReport("bubblewrap", False, f"{problem}{hint}")
    gaps = () if _has_seccomp() else ("system calls are not filtered: libseccomp is not installed",)
    return RungReport("bubblewrap", True, "namespaces of its own", gaps)


def _try_landlock() -> RungReport:
    if sys.platform != "linux":
        return RungReport("landlock", False, "it is a part of Linux")
    abi = landlock_abi()
    if not abi:
        return RungReport("landlock", False, "this system has no Landlock, or it is switched off")
    if not _has_seccomp():
        return RungReport("landlock", False, "libseccomp is not installed", help=_HELP["landlock"])
    problem = _attempt(Landlock())
    if problem:
        return RungReport("landlock", False, problem)
    signals = ("other processes can be signalled",) if abi < _SCOPES_ABI else ()
    return RungReport("landlock", True, f"Landlock version {abi} with libseccomp", (*_LANDLOCK_GAPS, *signals))


def _has_seccomp() -> bool:
    try:
        seccomp_library()
    except ConfinementFailed:
        return False
    return True


def _attempt(sandbox: Sandbox) -> str:
    """Why it does not work; empty when it does."""
    with tempfile.TemporaryDirectory(prefix="nbcc-try-") as place:
        work, outside = Path(place) / "work", Path(place) / "outside"
        work.mkdir()
        outside.write_text("seen", encoding="ascii")
        confined: Confined | None = None
        try:
            program = (sys.executable, "-I", "-S", "-c", _TRY)
            confined = sandbox.confine(program, reach=Reach(work=work, sockets=work), env={"PATH": "/usr/bin:/bin"})
            done = subprocess.run(
                [*confined.argv, str(outside), str(work / "inside"), confined.seal],
                env=dict(confined.env),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_SECONDS,
                check=False,
                pass_fds=confined.pass_fds,
            )
        except (OSError, subprocess.SubprocessError) as error:
            return str(error)
        finally:
            if confined is not None:
                for descriptor in confined.pass_fds:
                    os.close(descriptor)
                for folder in confined.folders:
                    shutil.rmtree(folder, ignore_errors=True)
    if done.returncode == 0 and done.stdout.strip() == _SEALED:
        return ""
    said = done.stderr.strip().splitlines()
    return said[-1] if said else f"it ended with exit code {done.returncode}"
