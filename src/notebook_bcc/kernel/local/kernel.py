"""A kernel in a process of ours, started from a kernelspec and spoken to over its own sockets."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping

from notebook_bcc.errors import KernelDied, KernelStartFailed
from notebook_bcc.kernel.conversation import LateOutput, PendingRequest
from notebook_bcc.kernel.inspection import VariableLimits
from notebook_bcc.kernel.local.conversation import LocalConversation
from notebook_bcc.kernel.local.process import KernelProcess
from notebook_bcc.kernel.outputs import OutputLimits
from notebook_bcc.kernel.running import Running, StartableKernel, read_identity

_DEFAULT_OUTPUTS = OutputLimits()
_DEFAULT_VARIABLES = VariableLimits()
# Descriptors 1 and 2 are watched by `unattended` instead of by ipykernel.
_IPYKERNEL = ("--IPKernelApp.capture_fd_output=False",)
# No history database. `In`, `Out`, `_` and this session's %history are kept in memory as ever: what is lost is the
# history of other sessions.
_LEAN = ("--HistoryManager.enabled=False",)
_NOT_LEAN = ("--HistoryManager.hist_file=:memory:",)
_ASKED_AGAIN_SECONDS = 0.5


class LocalKernel(StartableKernel["_LocalRunning"]):
    """Implements `Kernel`. Needs an event loop that watches descriptors (every one on Linux and macOS).

    `on_late_output` gets what arrives for a cell after that cell has ended, with that cell's execution count: text of
    a thread that goes on, updates of a display that an earlier cell made. No Execution contains it.
    `sys.exit()`, `exit()` and `quit()` are errors of the cell (SystemExit); the kernel goes on.
    A kernel of another language than Python runs cells; it has no variables, summaries or promotions.
    """

    def __init__(
        self,
        *,
        name: str = "python3",
        start_timeout: float = 60.0,
        interrupt_grace: float = 5.0,
        terminate_grace: float = 1.0,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        lean: bool = True,
        output_limits: OutputLimits = _DEFAULT_OUTPUTS,
        variable_limits: VariableLimits = _DEFAULT_VARIABLES,
        on_late_output: LateOutput | None = None,
    ) -> None:
        super().__init__(name)
        self._start_timeout = start_timeout
        self._interrupt_grace = interrupt_grace
        self._terminate_grace = terminate_grace
        self._cwd = None if cwd is None else os.fspath(cwd)
        self._env = env
        self._lean = lean
        self._arguments = (*_IPYKERNEL, *(_LEAN if lean else _NOT_LEAN))
        self._output_limits = output_limits
        self._variable_limits = variable_limits
        self._on_late_output = on_late_output

    @property
    def pid(self) -> int | None:
        """The id of the kernel's process, None when there is none."""
        return None if self._running is None else self._running.process.pid

    async def start(self) -> None:
        if self.is_alive:
            raise KernelStartFailed(kernel=self._name, reason="it is running already")
        await self.close()
        self._running = running = _LocalRunning(
            self._name,
            KernelProcess(name=self._name, arguments=self._arguments, lean=self._lean, cwd=self._cwd, env=self._env),
            on_late_output=self._on_late_output,
            output_limits=self._output_limits,
            interrupt_grace=self._interrupt_grace,
            terminate_grace=self._terminate_grace,
        )
        try:
            async with asyncio.timeout(self._start_timeout):
                await self._greet(running)
        except TimeoutError as error:
            words = running.process.last_words
            await self.close()
            reason = f"no answer within {self._start_timeout:g} s" + (f"; its last words: {words}" if words else "")
            raise KernelStartFailed(kernel=self._name, reason=reason) from error
        except BaseException:
            await self.close()
            raise

    async def _greet(self, running: _LocalRunning) -> None:
        """Ask until broadcasts arrive too: a request sent before that may have its idle sent to nobody."""
        control = running.conversation.send("kernel_info_request", {}, channel="control", wants_idle=False)
        while True:
            request = running.conversation.send("kernel_info_request", {}, wants_idle=False)
            await asyncio.shield(request.done)
            if request.reply is None:
                raise KernelStartFailed(kernel=self._name, reason=running.process.cause())
            if running.conversation.heard.is_set():
                break
            # ipykernel 7 has welcomed us long before its first reply; others are heard from the next request on.
            await asyncio.sleep(0.2)
        spec = running.process.spec
        self._identity = read_identity(
            self._name, request.reply, display_name=spec.display_name, language=spec.language
        )
        if self._identity.language == "python":
            unattended = request.reply.get("implementation") == "ipython"
            await running.install_probe(self._variable_limits, unattended=unattended, parent=os.getpid())
            if unattended:
                running.conversation.hold_back()
        while not control.done.done():
            await asyncio.wait([control.done], timeout=_ASKED_AGAIN_SECONDS)
            if not control.done.done():
                # ipykernel 7.0 loses what comes on this channel before it is ready.
                control = running.conversation.send("kernel_info_request", {}, channel="control", wants_idle=False)
        running.process.remove_folder()


class _LocalRunning(Running):
    """A process and the conversation with it, from start to close. Owns both."""

    def __init__(
        self,
        name: str,
        process: KernelProcess,
        *,
        on_late_output: LateOutput | None,
        output_limits: OutputLimits,
        interrupt_grace: float,
        terminate_grace: float,
    ) -> None:
        self.conversation = LocalConversation(process.connection, on_late_output=on_late_output)
        super().__init__(name, self.conversation, output_limits=output_limits, interrupt_grace=interrupt_grace)
        self.process = process
        self._terminate_grace = terminate_grace
        self._hanging_up: asyncio.Task[None] | None = None
        process.when_ended(self._process_ended)

    @property
    def is_gone(self) -> bool:
        return self.process.exit_code is not None

    async def interrupt(self) -> None:
        if self.process.spec.interrupt_mode == "message":
            self.conversation.send("interrupt_request", {}, channel="control", wants_idle=False)
        else:
            self.process.send(signal.SIGINT)
            # A cell that awaits does not notice a signal before its loop wakes up, for any message.
            self.conversation.send("kernel_info_request", {}, wants_idle=False)

    async def end(self) -> str:
        ended_by = await self.process.end(patience=self._terminate_grace)
        return "" if ended_by is None else f" and was killed ({ended_by.name})"

    def death(self, cause: str | None = None, request: PendingRequest | None = None) -> KernelDied:
        outputs = () if request is None or request.collector is None else request.collector.outputs()
        return KernelDied(cause=cause or self.process.cause(), outputs=outputs, exit_code=self.process.exit_code)

    async def close(self) -> None:
        # Nobody waits for its last messages any more.
        self.process.when_ended(lambda: None)
        await self.process.kill()
        await self.wait_idle()
        if self._hanging_up is not None:
            await asyncio.wait([self._hanging_up])
        self.conversation.close()
        self.process.release()

    def _process_ended(self) -> None:
        self._hanging_up = asyncio.get_running_loop().create_task(self.conversation.hang_up())
