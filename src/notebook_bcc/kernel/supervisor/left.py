"""The kernels that were left: found, ended, and what became of them."""

from __future__ import annotations

import asyncio
import json
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from notebook_bcc.errors import KernelFailed
from notebook_bcc.kernel.supervisor.folders import END, is_private, runtime_root
from notebook_bcc.kernel.supervisor.link import reach_supervisor
from notebook_bcc.kernel.supervisor.supervise import STATE, is_running

_END_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class KeptKernel:
    """A kernel of this user's that outlives the process that uses it.

    `left_at` is when nobody was there any more (seconds since 1970), 0 while somebody is. `busy` are the seconds that
    its cell has run, None while none runs.
    """

    folder: Path
    run: str
    pid: int
    left_at: float
    busy: float | None
    idle: float
    memory_bytes: int


async def kept_kernels() -> list[KeptKernel]:
    """All that there are, the oldest first. What a supervisor that was killed has left lying about is removed."""
    root = runtime_root()
    if not root.exists() or not is_private(root):
        return []
    looked = [await _look(folder) for folder in sorted(root.iterdir()) if folder.is_dir()]
    return sorted((one for one in looked if one is not None), key=lambda one: one.left_at)


async def end_kernel(folder: Path, *, why: str) -> bool:
    """End the kernel of a folder; False when there is none any more. Raises KernelFailed when it does not end."""
    try:
        link = await reach_supervisor(folder)
    except OSError:
        return False
    try:
        link.send(end=why)
        await asyncio.wait([link.ended], timeout=_END_SECONDS)
        if not link.ended.done():
            raise KernelFailed(f"it did not end within {_END_SECONDS:g} s")
        return True
    finally:
        link.close()


def read_end(kept: Path, name: str) -> str:
    """Why a kernel ended that nobody used, from what its supervisor wrote into the run's folder; "" if it did not."""
    with suppress(OSError, ValueError, KeyError):
        end = json.loads((kept / f"{name}{END}").read_text(encoding="utf-8"))
        return str(end["why"]) or f"its process ended while nobody was there (exit code {end['code']})"
    return ""


async def _look(folder: Path) -> KeptKernel | None:
    try:
        link = await reach_supervisor(folder)
    except OSError:
        _remove_if_stale(folder)
        return None
    try:
        state = await link.ask(ask="state")
    except KernelFailed:
        return None
    finally:
        link.close()
    return KeptKernel(
        folder=folder,
        run=state["run"],
        pid=state["kernel"],
        left_at=state["left_at"],
        busy=state["busy"],
        idle=state["idle"],
        memory_bytes=state["memory"],
    )


def _remove_if_stale(folder: Path) -> None:
    """One without a state is being made just now."""
    with suppress(OSError, ValueError, KeyError):
        state = json.loads((folder / STATE).read_text(encoding="utf-8"))
        if not is_running(state["pid"], state["started"]):
            shutil.rmtree(folder, ignore_errors=True)
