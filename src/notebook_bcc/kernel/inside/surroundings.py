"""What of a kernel's process belongs to its namespace: random states, folder, paths, options. Its source is sent there.

Only what differs from how the process began is put back: a new process may have another home and another path of its
own. Private names of pandas are used, as its public ones do not list its options. Python 3.9 or later.
"""

from __future__ import annotations

import contextlib
import decimal
import os
import random
import sys
import warnings
from collections.abc import Callable
from typing import Any


class Surroundings:
    """To be made while the process is new."""

    def __init__(self, shell: Any) -> None:
        self._shell, self._began = shell, _process()
        self._filters: list[Any] = []

    def process(self) -> dict[str, Any]:
        """What cells have changed of the process itself: folder, path and environment. Plain values."""
        now, began = _process(), self._began
        kept = began["environment"]
        return {
            "cwd": now["cwd"] if now["cwd"] != began["cwd"] else None,
            "path": now["path"] if now["path"] != began["path"] else None,
            "environment": {name: value for name, value in now["environment"].items() if kept.get(name) != value},
            "unset": [name for name in kept if name not in now["environment"]],
        }

    def put_process(self, saved: dict[str, Any]) -> None:
        """Set what `process` has said in another one."""
        os.environ.update(saved["environment"])
        for name in saved["unset"]:
            os.environ.pop(name, None)
        if saved["path"] is not None:
            sys.path[:] = saved["path"]
        if saved["cwd"] is not None:
            os.chdir(saved["cwd"])

    def note_filters(self) -> None:
        """Keep the filters of warnings: who saves changes them meanwhile."""
        self._filters = list(warnings.filters)

    def put_filters(self) -> None:
        """Set the filters of warnings to those that were loaded."""
        if self._filters:
            warnings.filters[:] = self._filters  # type: ignore[index]
            warnings._filters_mutated()  # type: ignore[attr-defined]

    def options(self) -> dict[str, Any]:
        """Random states, and what cells have set in libraries. May hold functions of cells."""
        return {
            "random": random.getstate(),
            "decimal": decimal.getcontext().copy(),
            "recursion": sys.getrecursionlimit(),
            "filters": self._filters,
            "extensions": sorted(self._shell.extension_manager.loaded),
            **{name: read(module) for name, (read, _) in _LIBRARIES.items() if (module := sys.modules.get(name))},
        }

    def put_options(self, saved: dict[str, Any]) -> None:
        """Set what `options` has said in another process."""
        decimal.setcontext(saved["decimal"])
        sys.setrecursionlimit(saved["recursion"])
        self._filters = saved["filters"]
        for name in saved["extensions"]:
            self._shell.extension_manager.load_extension(name)
        for name, (_, write) in _LIBRARIES.items():
            if name in saved:
                write(__import__(name), saved[name])
        random.setstate(saved["random"])


def _process() -> dict[str, Any]:
    try:
        cwd = os.getcwd()
    except OSError:
        cwd = ""
    return {"environment": dict(os.environ), "path": list(sys.path), "cwd": cwd}


def _numpy(numpy: Any) -> dict[str, Any]:
    return {"random": numpy.random.get_state(), "print": numpy.get_printoptions(), "errors": numpy.geterr()}


def _set_numpy(numpy: Any, saved: dict[str, Any]) -> None:
    options = {name: value for name, value in saved["print"].items() if name != "override_repr"}
    numpy.set_printoptions(**options)
    numpy.seterr(**saved["errors"])
    numpy.random.set_state(saved["random"])


def _pandas(pandas: Any) -> dict[str, Any]:
    known = pandas._config.config._registered_options
    now = {name: pandas.get_option(name) for name in known}
    return {name: value for name, value in now.items() if value is not known[name].defval}


def _set_pandas(pandas: Any, saved: dict[str, Any]) -> None:
    for name, value in saved.items():
        if pandas.get_option(name) != value:
            # Some options refuse their own value once a backend is chosen.
            with contextlib.suppress(ValueError, ImportError):
                pandas.set_option(name, value)


def _matplotlib(matplotlib: Any) -> dict[str, Any]:
    # A copy: asking for the backend by its name would choose one.
    return dict(matplotlib.rcParams.copy())


def _set_matplotlib(matplotlib: Any, saved: dict[str, Any]) -> None:
    now = matplotlib.rcParams.copy()
    for name, value in saved.items():
        if name in now and repr(now[name]) != repr(value):
            matplotlib.rcParams[name] = value


def _sklearn(sklearn: Any) -> dict[str, Any]:
    return dict(sklearn.get_config())


def _set_sklearn(sklearn: Any, saved: dict[str, Any]) -> None:
    sklearn.set_config(**saved)


_Library = tuple[Callable[[Any], dict[str, Any]], Callable[[Any, dict[str, Any]], None]]
_LIBRARIES: dict[str, _Library] = {
    "numpy": (_numpy, _set_numpy),
    "pandas": (_pandas, _set_pandas),
    "matplotlib": (_matplotlib, _set_matplotlib),
    "sklearn": (_sklearn, _set_sklearn),
}
