"""A double for kernels that outlive the process that uses them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from notebook_bcc.errors import KernelGone, KernelStartFailed
from notebook_bcc.kernel.interface import Execution, KernelIdentity, LoadedCheckpoint, SavedCheckpoint
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.protocol.cells import Output


class House:
    """Where kernels live that outlive those who use them. `trouble` is what an attempt to attach meets; `leaves`: a run
    that stops in order leaves its kernel there."""

    def __init__(self) -> None:
        self.kernels: dict[str, ScriptedKernel] = {}
        self.results: dict[str, list[Execution]] = {}
        self.ran: list[str] = []
        self.trouble: KernelStartFailed | None = None
        self.leaves = False


class Lasting:
    """Implements `LastingKernel`: one process's hold on a kernel of the house."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._session = ""
        self._left: Execution | None = None

    @property
    def identity(self) -> KernelIdentity:
        return replace(ScriptedKernel().identity, session=self._session)

    @property
    def is_alive(self) -> bool:
        return self._session in self._house.kernels

    async def start(self) -> None:
        self._session = f"k{len(self._house.results)}/s"
        self._house.kernels[self._session], self._house.results[self._session] = ScriptedKernel(), []
        await self._house.kernels[self._session].start()

    async def execute(
        self, source: str, *, time_limit: float | None = None, on_output: Callable[[Output], None] | None = None
    ) -> Execution:
        left, self._left = self._left, None
        if left is not None:
            return left
        self._house.ran.append(source)
        execution = await self._house.kernels[self._session].execute(source)
        self._house.results[self._session].append(execution)
        return execution

    async def summarize(self, wanted: Mapping[str, str]) -> dict[str, Any]:
        return await self._house.kernels[self._session].summarize(wanted)

    async def interrupt(self) -> None:
        pass

    async def restart(self) -> None:
        await self.close()
        await self.start()

    async def close(self) -> None:
        self._house.kernels.pop(self._session, None)

    async def attach(self, session: str, *, known: int, due: str | None) -> bool:
        if self._house.trouble is not None:
            raise self._house.trouble
        if session not in self._house.kernels:
            raise KernelGone(kernel="scripted", reason="there is none")
        executed = self._house.kernels[session].executed
        if executed[known:] not in ([], [due]):
            raise KernelGone(kernel="scripted", reason="it has run other cells")
        self._session = session
        self._left = self._house.results[session][-1] if len(executed) > known else None
        return self._left is not None

    @property
    def can_be_left(self) -> bool:
        return self._house.leaves

    async def detach(self) -> None:
        self._session = ""

    async def discard(self, session: str) -> bool:
        return self._house.kernels.pop(session, None) is not None


class LastingWithCheckpoints(Lasting):
    """The same for a kernel whose namespace can be saved."""

    async def save_checkpoint(self, path: str, *, seconds: float) -> SavedCheckpoint:
        return await self._house.kernels[self._session].save_checkpoint(path, seconds=seconds)

    async def load_checkpoint(self, path: str, *, digest: str, versions: Mapping[str, str]) -> LoadedCheckpoint:
        return await self._house.kernels[self._session].load_checkpoint(path, digest=digest, versions=versions)
