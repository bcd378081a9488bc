"""A kernel in a process of ours, started from a kernelspec and spoken to over its own sockets."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping
from typing import Any

from notebook_bcc.errors import KernelDied, KernelStartFailed
from notebook_bcc.kernel import inspection
from notebook_bcc.kernel.inspection import VariableLimits
from notebook_bcc.kernel.interface import Execution, KernelIdentity
from notebook_bcc.kernel.local.conversation import Conversation, LateOutput, Request
from notebook_bcc.kernel.local.process import KernelProcess
from notebook_bcc.kernel.local.wire import Content
from notebook_bcc.kernel.outputs import OutputCollector, OutputLimits
from notebook_bcc.kernel.running import Running
from notebook_bcc.protocol.cells import Output

_DEFAULT_OUTPUTS = OutputLimits()
_DEFAULT_VARIABLES = VariableLimits()
# Descriptors 1 and 2 are watched by `unattended` instead of by ipykernel.
_IPYKERNEL = ("--IPKernelApp.capture_fd_output=False",)
# No history database. `In`, `Out`, `_` and this session's %history are kept in memory as ever: what is lost is the
# history of other sessions.
_LEAN = ("--HistoryManager.enabled=False",)
_NOT_LEAN = ("--HistoryManager.hist_file=:memory:",)
_ASKED_AGAIN_SECONDS = 0.5


class LocalKernel:
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
        self._name = name
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
        self._identity = KernelIdentity(name=name, display_name=name, language="")
        self._running: _LocalRunning | None = None

    @property
    def identity(self) -> KernelIdentity:
        return self._identity

    @property
    def is_alive(self) -> bool:
        return self._running is not None and self._running.process.exit_code is None

    @property
    def pid(self) -> int | None:
        """The id of the kernel's process, None when there is none."""
        return None if self._running is None else self._running.process.pid

    async def start(self) -> None:
        if self.is_alive:
            raise KernelStartFailed(kernel=self._name, reason="it is running already")
        await self.close()
        self._running = running = _LocalRunning(
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

    async def _greet(self, running: _LocalRunning) -> None:
        """Ask until broadcasts arrive too: a request sent before that may have its idle sent to nobody."""
        control = running.talk.send("kernel_info_request", {}, channel="control", wants_idle=False)
        while True:
            request = running.talk.send("kernel_info_request", {}, wants_idle=False)
            await asyncio.shield(request.done)
            if request.reply is None:
                raise KernelStartFailed(kernel=self._name, reason=running.process.cause())
            if running.talk.heard.is_set():
                break
            # ipykernel 7 has welcomed us long before its first reply; others are heard from the next request on.
            await asyncio.sleep(0.2)
        self._identity = _read_identity(self._name, running.process, request.reply)
        if self._identity.language == "python":
            await self._install(running, unattended=request.reply.get("implementation") == "ipython")
        while not control.done.done():
            await asyncio.wait([control.done], timeout=_ASKED_AGAIN_SECONDS)
            if not control.done.done():
                # ipykernel 7.0 loses what comes on this channel before it is ready.
                control = running.talk.send("kernel_info_request", {}, channel="control", wants_idle=False)
        running.process.remove_folder()

    async def _install(self, running: _LocalRunning, *, unattended: bool) -> None:
        expression = inspection.install(self._variable_limits, unattended=unattended, parent=os.getpid())
        request = running.talk.send("execute_request", inspection.ask(expression))
        await asyncio.shield(request.done)
        reply = running.reply(request)
        if inspection.answer(reply) is None:
            raise KernelStartFailed(kernel=self._name, reason=f"it refused our probe: {inspection.failure(reply)}")
        running.inspects = True
        if unattended:
            running.talk.hold_back()

    async def _ready(self) -> _LocalRunning:
        running = self._running
        if running is None:
            raise KernelDied(cause="it has not been started, or was closed")
        await running.wait_idle()
        if running.process.exit_code is not None:
            raise running.death()
        return running


class _LocalRunning(Running):
    """A process and the conversation with it, from start to close. Owns both."""

    def __init__(
        self,
        process: KernelProcess,
        *,
        on_late_output: LateOutput | None,
        output_limits: OutputLimits,
        interrupt_grace: float,
        terminate_grace: float,
    ) -> None:
        super().__init__(output_limits=output_limits, interrupt_grace=interrupt_grace)
        self.process = process
        self.talk = Conversation(process.connection, on_late_output=on_late_output)
        self._terminate_grace = terminate_grace
        self._hanging_up: asyncio.Task[None] | None = None
        process.when_ended(self._process_ended)

    def send(
        self,
        kind: str,
        content: Content,
        *,
        channel: str = "shell",
        collector: OutputCollector | None = None,
        on_output: Callable[[Output], None] | None = None,
        wants_idle: bool = True,
    ) -> Request:
        return self.talk.send(
            kind, content, channel=channel, collector=collector, on_output=on_output, wants_idle=wants_idle
        )

    async def interrupt(self) -> None:
        if self.process.spec.interrupt_mode == "message":
            self.send("interrupt_request", {}, channel="control", wants_idle=False)
        else:
            self.process.send(signal.SIGINT)
            # A cell that awaits does not notice a signal before its loop wakes up, for any message.
            self.send("kernel_info_request", {}, wants_idle=False)

    async def end(self) -> str:
        ended_by = await self.process.end(patience=self._terminate_grace)
        return "" if ended_by is None else f" and was killed ({ended_by.name})"

    def death(self, cause: str | None = None, request: Request | None = None) -> KernelDied:
        outputs = () if request is None or request.collector is None else request.collector.outputs()
        return KernelDied(cause=cause or self.process.cause(), outputs=outputs, exit_code=self.process.exit_code)

    async def close(self) -> None:
        # Nobody waits for its last messages any more.
        self.process.when_ended(lambda: None)
        await self.process.kill()
        await self.wait_idle()
        if self._hanging_up is not None:
            await asyncio.wait([self._hanging_up])
        self.talk.close()
        self.process.release()

    def _process_ended(self) -> None:
        self._hanging_up = asyncio.get_running_loop().create_task(self.talk.hang_up())


def _read_identity(name: str, process: KernelProcess, info: Content) -> KernelIdentity:
    language = info.get("language_info", {})
    return KernelIdentity(
        name=name,
        display_name=process.spec.display_name,
        language=language.get("name", process.spec.language),
        language_version=language.get("version", ""),
        file_extension=language.get("file_extension", ""),
    )
