"""What kernels have in common that outlive the process that uses them: a ledger inside, and a cell under way."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import TypeVar

from notebook_bcc.errors import KernelDied, KernelGone
from notebook_bcc.kernel import inspection
from notebook_bcc.kernel.conversation import PendingRequest
from notebook_bcc.kernel.interface import CellError, Execution
from notebook_bcc.kernel.local.wire import Content
from notebook_bcc.kernel.outputs import OutputCollector, OutputLimits
from notebook_bcc.kernel.running import Running, StartableKernel
from notebook_bcc.protocol.cells import Output

RunningT = TypeVar("RunningT", bound=Running)

_LEDGER = "_notebook_bcc_ledger"
# Runs in the kernel after the probe is there: a module made from source, and the object that stays.
_INSTALL = """
import sys, types
module = types.ModuleType(name)
exec(compile(source, "<" + name + ">", "exec"), module.__dict__)
sys.modules[name] = module
module.Ledger(get_ipython().kernel, client, room, sink).start()
"""


@dataclass(frozen=True, slots=True)
class LeftCell:
    """A cell that another process has sent, and what has come of it so far.

    `began` is when, by this process's clock, where that is known; `overdue` says the time limit that it was stopped at
    while nobody was there.
    """

    source: str
    request: PendingRequest
    collector: OutputCollector
    began: float = field(default_factory=time.monotonic)
    overdue: float | None = None


class LastingStartable(StartableKernel[RunningT]):
    """A `StartableKernel` that may have been taken up with a cell under way, which the next `execute` follows."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._left: LeftCell | None = None

    async def execute(
        self, source: str, *, time_limit: float | None = None, on_output: Callable[[Output], None] | None = None
    ) -> Execution:
        left, self._left = self._left, None
        if left is None:
            return await super().execute(source, time_limit=time_limit, on_output=on_output)
        running = await self._ready()
        if left.source != source:
            await self.close()
            raise KernelDied(cause="it was left with another cell than the one to be run now, and was ended")
        if on_output is not None:
            for output in left.collector.outputs():
                on_output(output)
        left.request.on_output = on_output
        before = time.monotonic() - left.began
        # Its time has run while nobody was there.
        rest = max(0.1, time_limit - before) if time_limit is not None else None
        execution = await running.finish(left.request, left.collector, time_limit=rest)
        execution = replace(execution, seconds=execution.seconds + before)
        return execution if left.overdue is None else _as_timeout(execution, left, left.overdue)


def _as_timeout(execution: Execution, left: LeftCell, limit: float) -> Execution:
    """What stopped the cell was its time limit, whatever it raised when it was interrupted."""
    if execution.error is None:
        return execution
    message = f"the cell ran longer than {limit:g} s and was interrupted"
    error = CellError("CellTimeout", message, execution.error.traceback)
    left.collector.replace_error(error)
    return replace(execution, error=error, outputs=left.collector.outputs())


def install_ledger(client: str, limits: OutputLimits, *, sink: int | None = None) -> str:
    """The expression that installs the ledger for a client's session. `sink` is a descriptor that hears of cells."""
    source = files("notebook_bcc.kernel.inside").joinpath("ledger.py").read_text(encoding="utf-8")
    room = 2 * limits.cell + 1_000_000
    scope = f"'name': {_LEDGER!r}, 'source': {source!r}, 'client': {client!r}, 'room': {room}, 'sink': {sink}"
    return inspection.evaluate(f"(exec({_INSTALL!r}, {{{scope}, 'get_ipython': get_ipython}}), True)[1]")


def follows(found: Content, *, known: int, due: str | None) -> bool:
    """Whether a kernel that was left has been sent the cell `due` after `known` cells, from what its ledger says.
    Raises KernelGone when it has run other cells."""
    count = found.get("count", -1)
    if count not in (known, known + 1):
        raise KernelGone(kernel="", reason=f"it has run {count} cells, and {known} are known of here")
    if count > known and (not found["cell"] or found["source"] != due):
        raise KernelGone(kernel="", reason="it has run a cell that is not known of here")
    return bool(count > known)
