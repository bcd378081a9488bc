"""What we ask a Python kernel to save and load of its namespace, and how its answers are read."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from notebook_bcc.kernel.interface import LoadedCheckpoint, SavedCheckpoint

_CHECKPOINT = "_notebook_bcc_checkpoint"
_SAMENESS = "_notebook_bcc_sameness"
_PROBE = "_notebook_bcc_probe"
# Runs in the kernel when its first checkpoint is saved or loaded: most kernels end without.
_INSTALL = """
import sys, types
for name, source in sources.items():
    module = types.ModuleType(name)
    exec(compile(source, "<" + name + ">", "exec"), module.__dict__)
    sys.modules[name] = module
probe, checkpoint = sys.modules["_notebook_bcc_probe"], sys.modules["_notebook_bcc_checkpoint"]
shell, own = get_ipython(), probe.namespace.is_own
probe.checkpoints = checkpoint.Checkpoints(
    shell.user_ns,
    module="_notebook_bcc_checkpoint",
    is_own=lambda name, value: own(name, value) or checkpoint.is_of_ipython(name),
    same=sys.modules["_notebook_bcc_sameness"].same,
    surroundings=probe.surroundings,
)
"""
_THERE = f"__import__('sys').modules[{_PROBE!r}]"


def install() -> str:
    """The expression that makes a kernel one whose namespace can be saved."""
    package = files("notebook_bcc.kernel.inside")
    sources = {
        name: package.joinpath(f"{name.removeprefix('_notebook_bcc_')}.py").read_text(encoding="utf-8")
        for name in (_CHECKPOINT, _SAMENESS)
    }
    done = f"exec({_INSTALL!r}, {{'sources': {sources!r}, 'get_ipython': get_ipython}})"
    return f"{_THERE}.ProbeReply(hasattr({_THERE}, 'checkpoints') or {done} is None)"


def save(path: str, *, seconds: float) -> str:
    """The expression that saves the namespace, in at most so many seconds."""
    return f"{_THERE}.ProbeReply({_THERE}.checkpoints.save({path!r}, {seconds!r}, get_ipython().execution_count))"


def load(path: str, *, digest: str, versions: Mapping[str, str]) -> str:
    """The expression that loads a namespace, with the variables that are there then."""
    loaded = f"{_THERE}.checkpoints.load({path!r}, {digest!r}, {dict(versions)!r})"
    counted = "setattr(get_ipython(), 'execution_count', found['count'])"
    answer = f"{{**found, 'variables': {_THERE}.namespace.changes()['updated']}}"
    return f"{_THERE}.ProbeReply((lambda found: ({counted}, {answer})[1] if found['loaded'] else found)({loaded}))"


def read_saved(found: Any | None) -> SavedCheckpoint:
    """Of an answer, None where there was none."""
    if found is None:
        return SavedCheckpoint(problem="the kernel did not answer")
    if not found["saved"]:
        return SavedCheckpoint(problem=found["reason"], seconds=found["seconds"], never=found.get("never", False))
    return SavedCheckpoint(
        digest=found["digest"],
        size=found["size"],
        unsaved=found["unsaved"],
        versions=found["versions"],
        seconds=found["seconds"],
    )


def read_loaded(found: Any | None) -> LoadedCheckpoint:
    """Of an answer, None where there was none."""
    if found is None:
        return LoadedCheckpoint(problem="the kernel did not answer", touched=True)
    if not found["loaded"]:
        return LoadedCheckpoint(problem=found["reason"], touched=found["touched"], seconds=found["seconds"])
    return LoadedCheckpoint(variables=found["variables"], execution_count=found["count"] - 1, seconds=found["seconds"])
