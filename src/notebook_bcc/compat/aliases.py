"""The import lines of the documents, such as `from config import Config`, for whoever asks for them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.util import find_spec
from types import MappingProxyType, ModuleType
from typing import Any, Final

from notebook_bcc.compat import config
from notebook_bcc.compat.script_store import ScriptStore
from notebook_bcc.engine.actions.registry import ActionRegistry
from notebook_bcc.errors import AliasTaken

# Module by module, what the documents import from it. A module without names is the package of the others.
ALIASES: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        # Names such as DSLC_BASE_URL are looked up when they are used: what is set at run time counts.
        "config": {"Config": config.Config, "__getattr__": config.setting},
        "stores": {"__path__": []},
        "stores.script_store": {"ScriptStore": ScriptStore},
        "stores.action_registry": {"ActionRegistry": ActionRegistry},
    }
)
# Says that a module is one of these; other people's modules have no such attribute.
_MARK: Final = "__notebook_bcc_alias__"


def install_aliases() -> None:
    """Make the documents' import lines work in this process, until it ends or `remove_aliases` is called.

    All of them or none: raises AliasTaken where a module of such a name is imported or could be. Nothing calls this by
    itself; other processes, kernels among them, are not touched. May be called twice.
    """
    missing = [name for name in ALIASES if not _is_ours(name)]
    for name in missing:
        _check_free(name)
    for name in missing:
        module = ModuleType(name, f"An alias made by {__name__}.install_aliases().")
        vars(module).update({**ALIASES[name], _MARK: True})
        sys.modules[name] = module
    for name in missing:
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], last, sys.modules[name])


def remove_aliases() -> None:
    """Forget the aliases; what was imported by them keeps working. No error when there are none."""
    for name in ALIASES:
        if _is_ours(name):
            del sys.modules[name]


def _is_ours(name: str) -> bool:
    return _MARK in vars(sys.modules.get(name, ModuleType(name)))


def _check_free(name: str) -> None:
    if name in sys.modules:
        raise AliasTaken(name=name, place=getattr(sys.modules[name], "__file__", None))
    # Of a submodule its package decides: looking for it would import that package.
    if "." not in name and (found := find_spec(name)) is not None:
        raise AliasTaken(name=name, place=found.origin or ", ".join(found.submodule_search_locations or ()))
