"""What every confined kernel has around it, whichever sandbox confines it: the system's files, an interpreter with its
packages, the harmless variables of the environment, and a home of its own."""

from __future__ import annotations

import functools
import os
import shutil
import site
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

SYSTEM: Final = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/nix/store", "/gnu/store")
# Of /etc only what libraries look up: it holds passwords, keys and tokens too.
SETTINGS: Final = (
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/timezone"),
    *("/etc/alternatives", "/etc/fonts", "/etc/mime.types", "/etc/locale.alias", "/etc/os-release"),
    *("/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/var/cache/fontconfig"),
    *("/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/fs/cgroup"),
)
# And what is needed to reach other machines.
NETWORK: Final = ("/etc/hosts", "/etc/host.conf", "/etc/resolv.conf", "/etc/ssl", "/etc/ca-certificates", "/etc/pki")

_VARIABLES: Final = (
    *("PATH", "LANG", "LANGUAGE", "LC_*", "TZ", "TERM", "COLUMNS", "LINES"),
    *("PYTHONHASHSEED", "PYTHONUTF8", "PYTHONIOENCODING", "PYTHONWARNINGS", "PYTHONUNBUFFERED"),
    *("OMP_*", "GOMP_*", "KMP_*", "OPENBLAS_*", "MKL_*", "BLIS_*", "VECLIB_*", "NUMEXPR_*", "POLARS_MAX_THREADS"),
    *("JOBLIB_MULTIPROCESSING", "LOKY_MAX_CPU_COUNT", "SOURCE_DATE_EPOCH", "CUDA_VISIBLE_DEVICES"),
)
_PROXIES: Final = ("http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_PREFIXES: Final = "import sys; print(sys.prefix); print(sys.base_prefix); print(sys.exec_prefix)"
_ASK_SECONDS: Final = 20.0


def allowed_variables(env: Mapping[str, str], *, network: bool) -> dict[str, str]:
    """The variables that a confined kernel gets: those of this list, and no others. A proxy's address may hold a
    password, so that it is passed on only where it is needed."""
    patterns = (*_VARIABLES, *(_PROXIES if network else ()))
    return {name: value for name, value in env.items() if any(fnmatchcase(name, one) for one in patterns)}


@dataclass(frozen=True, slots=True)
class OwnFolders:
    """A home and a folder for temporary files that belong to one kernel."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def temporary(self) -> Path:
        return self.root / "tmp"


def make_own_folders(env: Mapping[str, str]) -> OwnFolders:
    """Only the user may look into them. Raises OSError."""
    own = OwnFolders(Path(tempfile.mkdtemp(prefix="nbcc-own-")))
    cache = own.home / ".cache" / "matplotlib"
    cache.mkdir(parents=True)
    own.temporary.mkdir()
    for fonts in _font_lists(env):
        # Matplotlib takes seconds to make this list of installed fonts, and says so in the output of a cell.
        with suppress(OSError):
            shutil.copyfile(fonts, cache / fonts.name)
    return own


def home_variables(home: str, temporary: str) -> dict[str, str]:
    """Where programs find the folders of their own."""
    return {"HOME": home, "TMPDIR": temporary, "XDG_CACHE_HOME": f"{home}/.cache", "IPYTHONDIR": f"{home}/.ipython"}


def interpreter(command: str, env: Mapping[str, str]) -> tuple[Path, ...]:
    """What a kernel's interpreter is made of: its environment, what that is based on, its packages, every link that
    leads to it. No folder that the user's home is in."""
    found = [*_links(command), *_prefixes(command)]
    if _is_ours(command):
        written = {os.path.abspath(one) for one in env.get("PYTHONPATH", "").split(os.pathsep) if one}
        # The first entry is the folder of the program, or the folder we are in.
        found += [Path(one) for one in sys.path[1:] if one and os.path.abspath(one) not in written]
        if site.ENABLE_USER_SITE:
            found.append(Path(site.getusersitepackages()))
    homes = {Path(env["HOME"]), Path(os.path.realpath(env["HOME"]))} if env.get("HOME") else set()
    return tuple(
        dict.fromkeys(one for one in found if one.exists() and not any(home.is_relative_to(one) for home in homes))
    )


def _is_ours(command: str) -> bool:
    return os.path.abspath(command) == os.path.abspath(sys.executable)


def _links(command: str) -> Iterator[Path]:
    """The program and every link on the way to it: each must be there to be followed."""
    path = Path(shutil.which(command) or command).absolute()
    for _ in range(40):
        yield path
        if not path.is_symlink():
            return
        path = Path(os.path.normpath(path.parent / path.readlink()))


def _prefixes(command: str) -> tuple[Path, ...]:
    if _is_ours(command):
        return tuple(Path(one) for one in (sys.prefix, sys.base_prefix, sys.exec_prefix))
    return _asked_prefixes(command)


@functools.lru_cache(maxsize=8)
def _asked_prefixes(command: str) -> tuple[Path, ...]:
    """Of another interpreter than ours; nothing for a program that is no Python."""
    try:
        said = subprocess.run(
            [command, "-I", "-c", _PREFIXES], capture_output=True, text=True, timeout=_ASK_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(Path(line) for line in said.stdout.splitlines() if line.startswith("/"))


def _font_lists(env: Mapping[str, str]) -> list[Path]:
    home = env.get("HOME", "")
    cache = env.get("XDG_CACHE_HOME") or (f"{home}/.cache" if home else "")
    folder = env.get("MPLCONFIGDIR") or (f"{cache}/matplotlib" if cache else "")
    return sorted(Path(folder).glob("fontlist-*.json")) if folder else []
