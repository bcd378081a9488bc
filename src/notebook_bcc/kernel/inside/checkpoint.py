"""Saves the namespace of a Python kernel to a file and loads it again, from inside. Its source is sent there.

One pickler writes all names, so that what two of them share stays shared. Functions and classes of cells are saved by
value and modules by name, which is cloudpickle's work; added to it are two things that a notebook needs: a function of
a cell looks its globals up in the namespace itself, so that it sees what later cells assign, and a view of an array
stays a view. What was saved is loaded once more at once and compared: a name that cannot be saved, or comes back as
something else, is known before it is needed.

Private names of cloudpickle are used where its public ones know no way. Python 3.9 or later.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import io
import os
import pickle
import platform
import sys
import time
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

FORMAT = 1
# No names that a namespace has: what libraries were set to, and the end.
_OPTIONS, _END = " options", " end"
_LONGEST_REASON = 200
_HISTORY = frozenset(["In", "Out", "_", "__", "___", "_i", "_ii", "_iii", "_ih", "_oh", "_dh", "_exit_code"])


class _GaveUp(Exception):
    """The checkpoint would cost more than it may, or cannot be made: nothing is saved."""


class _Unsaved(Exception):
    """One name cannot be saved."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name, self.reason = name, reason


class _Refused(Exception):
    """A checkpoint is not the one that was asked for, or was made by other versions."""


class _Globals:
    """Stands for the namespace in a pickle: what is loaded has the namespace it is loaded into."""

    def __init__(self, place: str) -> None:
        self._place = place

    def __reduce__(self) -> Any:
        return (getattr, (_ModuleOf(self._place), "globals_of_cells"))


class _ModuleOf:
    def __init__(self, name: str) -> None:
        self._name = name

    def __reduce__(self) -> Any:
        return (importlib.import_module, (self._name,))


class _Sink:
    """The file that is written, with its digest and its deadline."""

    def __init__(self, file: Any, deadline: float, room: int) -> None:
        self._file, self._deadline, self._room = file, deadline, room
        self.digest = hashlib.sha256()
        self.size = 0

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self.size += len(view)
        if time.monotonic() > self._deadline:
            raise _GaveUp("it takes longer than it may")
        if self.size > self._room:
            raise _GaveUp("there is not enough memory or disk for it")
        self.digest.update(view)
        self._file.write(view)
        return len(view)


class Checkpoints:
    """The namespace of one kernel. `is_own` tells names that are not the user's; `surroundings` is what of the process
    belongs to a checkpoint, None for a namespace that is not the process's own; `same` compares two objects."""

    def __init__(
        self,
        names: dict[str, Any],
        *,
        module: str,
        is_own: Callable[[str, Any], bool],
        same: Callable[[Any, Any], bool],
        surroundings: Any = None,
    ) -> None:
        self._names, self._module = names, module
        self._is_own, self._same, self._surroundings = is_own, same, surroundings
        # Names that could not be saved, which are tried apart the next time.
        self._bad: set[str] = set()

    def save(self, path: str, seconds: float, count: int) -> dict[str, Any]:
        """Write the namespace to `path`, within so many seconds; what was saved, or why nothing was."""
        started = time.monotonic()
        if self._surroundings is not None:
            self._surroundings.note_filters()
        try:
            with _undisturbed():
                found = self._save(path, started + seconds, count)
        except _GaveUp as reason:
            found = {"saved": False, "reason": str(reason)}
        except ImportError:
            found = {"saved": False, "reason": "the kernel's Python has no cloudpickle", "never": True}
        except Exception as error:  # noqa: BLE001  whatever an object does when it is saved
            found = {"saved": False, "reason": _said(error)}
        return {**found, "seconds": time.monotonic() - started}

    def load(self, path: str, digest: str, versions: dict[str, str]) -> dict[str, Any]:
        """Fill an empty namespace from `path`; what was loaded, or why nothing was. `touched`: something of it was."""
        started, touched = time.monotonic(), False
        try:
            with _undisturbed(), open(path, "rb") as file:
                if _digest(file) != digest:
                    raise _Refused("the file is not the one that was saved")
                header = pickle.load(file)
                if header["format"] != FORMAT:
                    raise _Refused("another version of Notebook-BCC has made it")
                touched = True
                if self._surroundings is not None:
                    self._surroundings.put_process(header["process"])
                _check_versions(versions)
                _import(header["modules"])
                self._fill(file)
        except Exception as error:  # noqa: BLE001  whatever an object does when it is loaded
            reason = str(error) if isinstance(error, _Refused) else _said(error)
            return {"loaded": False, "reason": reason, "touched": touched, "seconds": time.monotonic() - started}
        if self._surroundings is not None:
            self._surroundings.put_filters()
        return {"loaded": True, "count": header["count"], "seconds": time.monotonic() - started}

    def _save(self, path: str, deadline: float, count: int) -> dict[str, Any]:
        values = {name: value for name, value in list(self._names.items()) if not self._is_own(name, value)}
        unsaved = {name: reason for name in self._bad & values.keys() if (reason := self._problem(values[name]))}
        temporary = f"{path}.{os.getpid()}.tmp"
        try:
            while True:
                try:
                    found = self._written(temporary, values, unsaved, deadline, count)
                    break
                except _Unsaved as problem:
                    unsaved[problem.name] = problem.reason
            os.replace(temporary, path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
        self._bad = set(unsaved)
        return {"saved": True, "unsaved": dict(sorted(unsaved.items())), **found}

    def _written(
        self, path: str, values: dict[str, Any], unsaved: dict[str, str], deadline: float, count: int
    ) -> dict[str, Any]:
        process = None if self._surroundings is None else self._surroundings.process()
        header = {"format": FORMAT, "count": count, "modules": _modules_below(values), "process": process}
        with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w+b") as file:
            sink = _Sink(file, deadline, _room(os.path.dirname(path)))
            pickle.dump(header, sink, protocol=5)
            begin = file.tell()
            pickler = _pickler(sink, self._names, self._module)
            if self._surroundings is not None:
                pickler.dump((_OPTIONS, self._surroundings.options()))
            saved = {name: value for name, value in values.items() if name not in unsaved}
            for name, value in saved.items():
                _dump(pickler, name, value)
            self._compare(file, begin, saved, unsaved, deadline)
            _note_users(pickler.uses, values, unsaved)
            pickler.dump((_END, sorted(unsaved)))
            versions = {"python": platform.python_version(), **_versions({"cloudpickle", *pickler.packages})}
            return {"digest": sink.digest.hexdigest(), "size": sink.size, "versions": versions}

    def _problem(self, value: Any) -> str:
        """Why a value cannot be saved, tried alone; nothing if it can."""
        try:
            _pickler(_Sink(io.BytesIO(), float("inf"), sys.maxsize), self._names, self._module).dump(value)
        except Exception as error:  # noqa: BLE001  whatever an object does when it is saved
            return _said(error)
        return ""

    def _compare(self, file: Any, begin: int, saved: dict[str, Any], unsaved: dict[str, str], deadline: float) -> None:
        """Load what was written beside the namespace, and find what is not the same."""
        end = file.tell()
        file.seek(begin)
        scratch: dict[str, Any] = {"__name__": self._names.get("__name__", "__main__")}
        with _apart(), self._globals(scratch):
            unpickler = pickle.Unpickler(file)
            if self._surroundings is not None:
                unpickler.load()
            for name, value in saved.items():
                try:
                    # At once: what is loaded after it may look it up.
                    scratch[name] = unpickler.load()[1]
                except Exception as error:
                    raise _Unsaved(name, _said(error)) from error
                if time.monotonic() > deadline:
                    raise _GaveUp("it takes longer than it may")
                if not self._is_same(value, scratch[name]):
                    unsaved[name] = "it comes back as something else"
        file.seek(end)

    def _is_same(self, value: Any, again: Any) -> bool:
        try:
            return self._same(value, again)
        except Exception:  # noqa: BLE001  equality cannot be asked
            return True

    def _fill(self, file: Any) -> None:
        with self._globals(self._names):
            unpickler = pickle.Unpickler(file)
            while True:
                name, value = unpickler.load()
                if name == _END:
                    break
                if name == _OPTIONS:
                    self._surroundings.put_options(value)
                else:
                    self._names[name] = value
        for name in value:
            self._names.pop(name, None)

    @contextlib.contextmanager
    def _globals(self, names: dict[str, Any]) -> Iterator[None]:
        """Functions of cells that are loaded meanwhile have these globals."""
        module: Any = sys.modules[self._module]
        module.globals_of_cells = names
        try:
            yield
        finally:
            del module.globals_of_cells


def _pickler(sink: Any, names: dict[str, Any], module: str) -> Any:
    from cloudpickle import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc, name-defined, unused-ignore]
        """Sees every function, class and module on its way: what they use, and whose they are."""

        def __init__(self) -> None:
            super().__init__(sink, protocol=5)
            self.globals_ref[id(names)] = _Globals(module)
            self.current = ""
            self.uses: dict[str, set[str]] = {}
            self.packages: set[str] = set()

        def reducer_override(self, obj: Any) -> Any:
            kind = type(obj)
            if kind.__module__ == "numpy" and kind.__name__ == "ndarray" and (view := _view(obj)) is not None:
                return view
            if kind is weakref.ref:
                return (weakref.ref, (obj(),)) if obj() is not None else (_dead_reference, ())
            if kind is types.CellType:
                # Empty at first: it may hold the function that holds it.
                return types.CellType, (), _contents(obj), None, None, _fill_cell
            if kind is functools._lru_cache_wrapper and obj.__module__ == "__main__":
                # What it has kept is what it would compute again.
                return _cached, (obj.__wrapped__, obj.cache_parameters())
            home = obj.__name__ if kind is types.ModuleType else getattr(obj, "__module__", None)
            if type(home) is str and isinstance(
                obj, (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)
            ):
                self.packages.add(home.partition(".")[0])
            return super().reducer_override(obj)

        def _dynamic_function_reduce(self, func: Any) -> Any:
            make, (*made_of, _), (state, slots), *rest = super()._dynamic_function_reduce(func)
            # cloudpickle copies what a closure holds; here functions that share a variable go on sharing it.
            slots = {**slots, "__closure__": None}
            if func.__globals__ is names:
                self.uses.setdefault(self.current, set()).update(slots["__globals__"])
                # They are in the namespace, and saved or missing there under their own names.
                slots["__globals__"] = {}
            return (make, (*made_of, func.__closure__), (state, slots), *rest)

    return Pickler()


def _dump(pickler: Any, name: str, value: Any) -> None:
    pickler.current = name
    try:
        pickler.dump((name, value))
    except (_GaveUp, OSError):
        raise
    except Exception as error:
        raise _Unsaved(name, _said(error)) from error


def _view(array: Any) -> Any:
    """How a view of another array is made again from that array; None of one that has its own data."""
    base = array.base
    if type(base) is not type(array) or array.dtype.hasobject or base.dtype.hasobject:
        return None
    flat = base if base.flags.c_contiguous else base.T
    if not flat.flags.c_contiguous:
        return None
    offset = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return _view_of, (base, array.shape, array.dtype, offset, array.strides, array.flags.writeable)


def _view_of(base: Any, shape: Any, dtype: Any, offset: int, strides: Any, writeable: bool) -> Any:
    flat = base if base.flags.c_contiguous else base.T
    array = type(base)(shape, dtype, flat, offset, strides)
    if array.flags.writeable and not writeable:
        array.flags.writeable = False
    return array


def _contents(cell: Any) -> tuple[Any, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def _fill_cell(cell: Any, contents: tuple[Any, ...]) -> None:
    if contents:
        cell.cell_contents = contents[0]


def _cached(function: Any, parameters: dict[str, Any]) -> Any:
    return functools.lru_cache(**parameters)(function)


def _dead_reference() -> Any:
    class Gone:
        pass

    return weakref.ref(Gone())


def _note_users(uses: dict[str, set[str]], values: dict[str, Any], unsaved: dict[str, str]) -> None:
    """A function that uses what cannot be saved is of no use without it; nor is an object of such a class."""
    while found := [(name, used & unsaved.keys()) for name, used in uses.items() if name not in unsaved]:
        before = len(unsaved)
        for name, missing in found:
            if missing:
                unsaved[name] = f"it uses {min(missing)!r}, which is not saved"
        for name, value in values.items():
            kind = type(value)
            if name not in unsaved and kind.__module__ == "__main__" and kind.__name__ in unsaved:
                unsaved[name] = f"its class {kind.__name__!r} is not saved"
        if len(unsaved) == before:
            return


def _digest(file: Any) -> str:
    digest = hashlib.sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    file.seek(0)
    return digest.hexdigest()


def _versions(packages: set[str]) -> dict[str, str]:
    found = {name: getattr(sys.modules.get(name), "__version__", None) for name in packages}
    return {name: version for name, version in sorted(found.items()) if type(version) is str}


def _check_versions(versions: dict[str, str]) -> None:
    _import([name for name in versions if name != "python"])
    now = {"python": platform.python_version(), **_versions(set(versions))}
    for name, version in versions.items():
        if now.get(name) != version:
            raise _Refused(f"it was made with {name} {version}, and here is {now.get(name, 'none')}")


def _modules_below(values: dict[str, Any]) -> list[str]:
    """The modules that were imported below those that the namespace names: `a.b` is there only once it is imported."""
    packages = {value.__name__.partition(".")[0] for value in values.values() if type(value) is types.ModuleType}
    return [name for name in list(sys.modules) if name.partition(".")[0] in packages and "." in name]


def _import(names: list[str]) -> None:
    for name in names:
        # One that is not there any more is missed by what needs it.
        with contextlib.suppress(Exception):
            importlib.import_module(name)


def _room(folder: str) -> int:
    """How many bytes may be written: what is saved is once more in memory while it is compared."""
    status = os.statvfs(folder or ".")
    disk = status.f_bavail * status.f_frsize // 2
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            memory = {line.split(":")[0]: int(line.split()[1]) for line in file}["MemAvailable"] * 1024 // 3
    except (OSError, KeyError, ValueError, IndexError):
        memory = 1 << 30
    return min(disk, memory)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Nothing that an object prints or warns of while it is saved is any cell's output."""
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _apart() -> Iterator[None]:
    """What is loaded here touches neither the classes of the namespace nor the figures that are open."""
    from cloudpickle import cloudpickle

    tracker = cloudpickle._DYNAMIC_CLASS_TRACKER_BY_ID
    cloudpickle._DYNAMIC_CLASS_TRACKER_BY_ID = weakref.WeakValueDictionary()
    figures = getattr(sys.modules.get("matplotlib._pylab_helpers"), "Gcf", None)
    opened = None if figures is None else figures.figs.copy()
    try:
        yield
    finally:
        cloudpickle._DYNAMIC_CLASS_TRACKER_BY_ID = tracker
        if figures is not None:
            figures.figs = opened


def is_of_ipython(name: str) -> bool:
    """Whether IPython binds a name to what cells were and gave."""
    return name in _HISTORY or (name.startswith("_") and name[1:].removeprefix("i").isdigit())


def _said(error: BaseException) -> str:
    text = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return text if len(text) <= _LONGEST_REASON else f"{text[: _LONGEST_REASON - 1]}…"
