"""Custom actions from elsewhere: what installed packages offer, and a file that a run was given.

Both register what they have in the registry of a run: `register(registry)`. They are other people's code, and run in
this process, not in a kernel.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Final

from notebook_bcc.engine.actions.registry import ActionRegistry
from notebook_bcc.errors import SettingsInvalid

# Packages name a function in this group that takes a registry.
GROUP: Final = "notebook_bcc.actions"
_REGISTER: Final = "register"

Register = Callable[[ActionRegistry], object]


def registry_with(actions: Path | None) -> ActionRegistry:
    """The handlers of a run: the protocol's, those of installed packages, and those of its own file, if it has one.

    A later registration counts: the file's over a package's. Raises SettingsInvalid, naming what cannot be used.
    """
    # A file may also register for the class, as the documents show: it is loaded before the registry is made.
    own = _load(actions) if actions is not None else None
    registry = ActionRegistry()
    for entry in entry_points(group=GROUP):
        _register(_loaded_entry(entry), registry, where=_named(entry))
    if own is not None and actions is not None:
        _register(own, registry, where=f"actions {actions}")
    return registry


def _load(path: Path) -> Register:
    """The file's way to register. Raises SettingsInvalid."""
    where = f"actions {path}"
    before = ActionRegistry.for_all()
    module = _executed(path, where)
    register = getattr(module, _REGISTER, None)
    if callable(register):
        found: Register = register
        return found
    if ActionRegistry.for_all() is before:
        raise SettingsInvalid(f"{where} registers nothing: define `def {_REGISTER}(registry)` in it")
    return lambda registry: None


def _executed(path: Path, where: str) -> ModuleType:
    try:
        source = path.read_bytes()
    except OSError as error:
        raise SettingsInvalid(f"{where} cannot be read: {error.strerror or error}") from error
    # By its content: two runs of this process may have files of the same name.
    name = f"notebook_bcc_actions_{hashlib.sha256(source).hexdigest()[:16]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SettingsInvalid(f"{where} is not a Python file: its name ends in .py")
    module = importlib.util.module_from_spec(spec)
    # Classes look their module up there.
    sys.modules[name] = module
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)
    except Exception as error:
        del sys.modules[name]
        raise SettingsInvalid(f"{where} cannot be used: {_describe(error)}") from error
    return module


def _loaded_entry(entry: EntryPoint) -> Register:
    try:
        found = entry.load()
    except Exception as error:
        raise SettingsInvalid(f"{_named(entry)} cannot be loaded: {_describe(error)}") from error
    if not callable(found):
        raise SettingsInvalid(f"{_named(entry)} is not a function that takes a registry")
    register: Register = found
    return register


def _register(register: Register, registry: ActionRegistry, *, where: str) -> None:
    try:
        register(registry)
    except Exception as error:
        raise SettingsInvalid(f"{where} cannot be used: {_describe(error)}") from error


def _named(entry: EntryPoint) -> str:
    package = f" of {entry.dist.name}" if entry.dist is not None else ""
    return f"custom actions {entry.name!r}{package} ({entry.value})"


def _describe(error: Exception) -> str:
    """The error, and where in other people's code it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({frames[-1].filename}, line {frames[-1].lineno})" if len(frames) > 1 else ""
    return f"{type(error).__name__}: {error}{place}"
