"""One started kernel of any kind: cells and questions put to it, each with its time limit."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from notebook_bcc.errors import KernelDied, KernelStartFailed
from notebook_bcc.kernel import inspection
from notebook_bcc.kernel.conversation import Conversation, PendingRequest
from notebook_bcc.kernel.inspection import VariableLimits
from notebook_bcc.kernel.interface import CellError, Execution, KernelIdentity, VariableChanges
from notebook_bcc.kernel.local.wire import Content
from notebook_bcc.kernel.outputs import OutputCollector, OutputLimits, read_error
from notebook_bcc.protocol.cells import Output

_ANSWER_SECONDS = 60.0


class Running(ABC):
    """What kinds of kernels differ in is abstract: how one is interrupted, ended and left, and why it is gone."""

    def __init__(
        self, name: str, conversation: Conversation, *, output_limits: OutputLimits, interrupt_grace: float
    ) -> None:
        self._name = name
        self._send = conversation.send
        self._output_limits = output_limits
        self._interrupt_grace = interrupt_grace
        self._stopping: asyncio.Task[None] | None = None
        # A cell whose `execute` was cancelled, and that goes on because the kernel may be left with it.
        self._unattended: PendingRequest | None = None
        self.can_be_left = False
        # Whether it has our probe, and can be asked about its variables.
        self.inspects = False

    @property
    @abstractmethod
    def is_gone(self) -> bool:
        """Whether it can never be spoken to again."""

    @abstractmethod
    async def interrupt(self) -> None:
        """Ask the running cell to stop. Never fails."""

    @abstractmethod
    async def end(self) -> str:
        """End the kernel by force. Returns how, as the end of a sentence. Never fails."""

    @abstractmethod
    def death(self, cause: str | None = None, request: PendingRequest | None = None) -> KernelDied:
        """The error that says why the kernel is gone; `cause` where the caller knows better."""

    @abstractmethod
    async def close(self) -> None:
        """End the kernel and release everything here. Never fails."""

    async def install_probe(self, limits: VariableLimits, *, unattended: bool) -> None:
        """Make a Python kernel one that `inspects`. Raises KernelStartFailed, KernelDied."""
        expression = inspection.install(limits, unattended=unattended)
        request = self._send("execute_request", inspection.ask(expression))
        await asyncio.shield(request.done)
        reply = self.reply(request)
        if inspection.answer(reply) is None:
            raise KernelStartFailed(kernel=self._name, reason=f"it refused our probe: {inspection.failure(reply)}")
        self.inspects = True

    async def execute(
        self, source: str, *, time_limit: float | None, on_output: Callable[[Output], None] | None
    ) -> Execution:
        content = {"code": source, "silent": False, "store_history": True, "allow_stdin": False, "stop_on_error": False}
        collector = OutputCollector(self._output_limits)
        try:
            source.encode("utf-8")
        except UnicodeEncodeError as problem:
            # Half of a pair of surrogates: no Python runs it, and ipykernel would never reply.
            error = CellError("UnicodeEncodeError", str(problem))
            collector.replace_error(error)
            return Execution(outputs=collector.outputs(), error=error)
        request = self._send("execute_request", content, collector=collector, on_output=on_output)
        return await self.finish(request, collector, time_limit=time_limit)

    async def finish(
        self, request: PendingRequest, collector: OutputCollector, *, time_limit: float | None
    ) -> Execution:
        """Wait for a cell that is under way. Raises KernelDied."""
        started = time.monotonic()
        overdue: CellError | None = None
        try:
            async with asyncio.timeout(time_limit):
                await asyncio.shield(request.done)
        except TimeoutError:
            overdue = CellError("CellTimeout", f"the cell ran longer than {time_limit:g} s and was interrupted")
            await self._stop(request, f"a cell ran longer than {time_limit:g} s")
        except asyncio.CancelledError:
            if self.can_be_left:
                self._unattended = request
                raise
            # The kernel must be usable afterwards: whoever calls next waits for this first.
            self._stopping = asyncio.create_task(self._stop(request, "a cell was cancelled"))
            # Whether that cost the kernel its life is for the next caller to see.
            self._stopping.add_done_callback(lambda task: task.cancelled() or task.exception())
            await asyncio.wait([self._stopping])
            raise
        reply = self.reply(request)
        error = overdue if reply.get("status") == "ok" else self._error(reply, overdue)
        if overdue is not None and error is not None:
            collector.replace_error(error)
        variables = await self._changes(reply)
        return Execution(
            outputs=collector.outputs(),
            error=error,
            execution_count=reply.get("execution_count"),
            variables=variables,
            seconds=time.monotonic() - started,
            dropped_bytes=collector.dropped_bytes + request.lost_bytes,
        )

    async def summarize(self, wanted: Mapping[str, str]) -> dict[str, Any]:
        if not self.inspects or not wanted:
            return {}
        found = await self.ask(inspection.summarize(wanted))
        return {} if found is None else dict(found)

    async def ask(self, expression: str, *, within: float = _ANSWER_SECONDS) -> Any | None:
        """What an expression gives in the kernel, None when it cannot be evaluated. Raises KernelDied."""
        request = self._send("execute_request", inspection.ask(expression))
        try:
            async with asyncio.timeout(within):
                await asyncio.shield(request.done)
        except TimeoutError:
            await self._stop(request, "looking at the variables took too long")
        return inspection.answer(self.reply(request))

    def reply(self, request: PendingRequest) -> Content:
        """Raises KernelDied when there is none and will be none."""
        if request.reply is None:
            raise self.death(request=request)
        return request.reply

    async def stop_unattended(self) -> None:
        """Stop the cell that the kernel could have been left with: it is used again. Raises KernelDied."""
        request, self._unattended = self._unattended, None
        if request is not None and not request.done.done():
            await self._stop(request, "a cell was cancelled")

    async def wait_idle(self) -> None:
        """Wait until a cell that was cancelled has really ended."""
        if self._stopping is not None:
            await asyncio.wait([self._stopping])

    async def _stop(self, request: PendingRequest, why: str) -> None:
        """Interrupt until the cell ends; end the kernel if it does not. Raises KernelDied."""
        deadline = time.monotonic() + self._interrupt_grace
        while (left := deadline - time.monotonic()) > 0:
            # A kernel ignores an interrupt that comes before the cell has begun: that one is soon tried again.
            patience = self._interrupt_grace / 2 if request.is_busy else 0.1
            await self.interrupt()
            await asyncio.wait([request.done], timeout=min(left, patience))
            if request.done.done():
                return
            if request.is_idle:
                # The interrupt hit the kernel between the cell and its reply: there will be none.
                request.take_reply({"status": "error", "ename": "KeyboardInterrupt", "evalue": ""})
                return
        how = await self.end()
        raise self.death(f"{why}, did not stop when it was interrupted{how}", request)

    def _error(self, reply: Content, overdue: CellError | None) -> CellError:
        error = read_error(reply, self._output_limits)
        if overdue is not None:
            return CellError(overdue.name, overdue.message, error.traceback)
        return error

    async def _changes(self, reply: Content) -> VariableChanges:
        if not self.inspects:
            return VariableChanges()
        attached = inspection.attached_changes(reply)
        if attached is not None:
            return attached
        found = await self.ask(inspection.list_changes())
        return VariableChanges() if found is None else inspection.read_changes(found)


RunningT = TypeVar("RunningT", bound=Running)


class StartableKernel(ABC, Generic[RunningT]):
    """What every `Kernel` does in the same way once `start` has set `_running`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._identity = KernelIdentity(name=name, display_name=name, language="")
        self._running: RunningT | None = None

    @property
    def identity(self) -> KernelIdentity:
        return self._identity

    @property
    def is_alive(self) -> bool:
        return self._running is not None and not self._running.is_gone

    @abstractmethod
    async def start(self) -> None: ...

    async def execute(
        self, source: str, *, time_limit: float | None = None, on_output: Callable[[Output], None] | None = None
    ) -> Execution:
        return await (await self._ready()).execute(source, time_limit=time_limit, on_output=on_output)

    async def summarize(self, wanted: Mapping[str, str]) -> dict[str, Any]:
        return await (await self._ready()).summarize(wanted)

    async def interrupt(self) -> None:
        if self._running is not None:
            await self._running.interrupt()

    async def restart(self) -> None:
        await self.close()
        await self.start()

    async def close(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            await running.close()

    async def _ready(self) -> RunningT:
        """Raises KernelDied."""
        running = self._running
        if running is None:
            raise KernelDied(cause="it has not been started, or was closed")
        await running.wait_idle()
        if running.is_gone:
            raise running.death()
        await running.stop_unattended()
        return running


def read_identity(name: str, info: Content, *, display_name: str, language: str) -> KernelIdentity:
    """Of a kernel_info_reply; `language` where that does not name one."""
    found = info.get("language_info", {})
    return KernelIdentity(
        name=name,
        display_name=display_name,
        language=found.get("name", language),
        language_version=found.get("version", ""),
        file_extension=found.get("file_extension", ""),
    )
