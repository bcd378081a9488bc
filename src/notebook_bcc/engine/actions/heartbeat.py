"""A cell that says nothing: how long it has run and what its kernel takes, now and then, for people alone."""

from __future__ import annotations

from collections.abc import Callable

from notebook_bcc.errors import KernelFailed
from notebook_bcc.kernel.interface import Kernel, KernelUsage, MeasuredKernel
from notebook_bcc.protocol.progress import WorkProgress

# Seconds without a word, and then between two messages.
_SILENT_SECONDS = 10.0


class Heartbeat:
    """Watches over one action. `tell` gets a message after every so many silent seconds."""

    def __init__(
        self, kernel: Kernel, what: str, *, timer: Callable[[], float], tell: Callable[[WorkProgress], None]
    ) -> None:
        self._kernel = kernel if isinstance(kernel, MeasuredKernel) else None
        self._what = what
        self._timer = timer
        self._tell = tell
        self._began = self._reported_at = timer()
        self._before: tuple[float, KernelUsage] | None = None

    async def look(self, heard_at: float) -> None:
        """Tell, if nothing was heard since `heard_at` for long enough."""
        now = self._timer()
        if now - max(heard_at, self._reported_at) < _SILENT_SECONDS:
            return
        self._reported_at = now
        usage = await self._usage()
        self._tell(
            WorkProgress(
                what=self._what,
                seconds=round(now - self._began, 1),
                memory_bytes=None if usage is None else usage.memory_bytes,
                cpu_percent=None if usage is None else self._share(now, usage),
            )
        )

    async def _usage(self) -> KernelUsage | None:
        try:
            return None if self._kernel is None else await self._kernel.usage()
        except KernelFailed:
            # A kernel that is gone is told by whoever waits for the cell.
            return None

    def _share(self, now: float, usage: KernelUsage) -> float | None:
        """Of one processor, since the message before; not known at the first one."""
        before, self._before = self._before, (now, usage)
        if before is None or now <= before[0]:
            return None
        return round(100 * max(0.0, usage.cpu_seconds - before[1].cpu_seconds) / (now - before[0]), 1)
