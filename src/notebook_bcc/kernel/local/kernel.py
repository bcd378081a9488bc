"""A kernel in a process of ours, started from a kernelspec and spoken to over its own sockets."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from notebook_bcc.errors import KernelDied, KernelFailed, KernelGone, KernelStartFailed
from notebook_bcc.kernel import checkpoints, inspection
from notebook_bcc.kernel.conversation import LateOutput, PendingRequest
from notebook_bcc.kernel.inspection import VariableLimits
from notebook_bcc.kernel.interface import Execution, KernelIdentity, KernelUsage, LoadedCheckpoint, SavedCheckpoint
from notebook_bcc.kernel.lasting import LastingStartable, LeftCell, install_ledger
from notebook_bcc.kernel.local.conversation import LocalConversation
from notebook_bcc.kernel.local.launcher import Launcher, PlainLauncher
from notebook_bcc.kernel.local.process import KernelProcess, join_process, launch_process
from notebook_bcc.kernel.local.usage import ProcessFamily, ResourceLimits, exceeded, exceeded_on_disk
from notebook_bcc.kernel.local.wire import Content
from notebook_bcc.kernel.outputs import OutputCollector, OutputLimits
from notebook_bcc.kernel.running import Running, read_identity
from notebook_bcc.kernel.supervisor.folders import Lifetime
from notebook_bcc.kernel.supervisor.left import end_kernel, read_end
from notebook_bcc.kernel.supervisor.link import Message, reach_supervisor
from notebook_bcc.protocol.cells import Output

_DEFAULT_OUTPUTS = OutputLimits()
_DEFAULT_VARIABLES = VariableLimits()
_PLAIN = PlainLauncher()
_OURS = Lifetime()
_UNLIMITED = ResourceLimits()
# How often a kernel with limits is looked at, and how often its folder.
_LOOK_SECONDS = 0.2
_LOOKS_PER_DISK = 10
# Descriptors 1 and 2 are watched by `unattended` instead of by ipykernel.
_IPYKERNEL = ("--IPKernelApp.capture_fd_output=False",)
# No history database. `In`, `Out`, `_` and this session's %history are kept in memory as ever: what is lost is the
# history of other sessions.
_LEAN = ("--HistoryManager.enabled=False",)
_NOT_LEAN = ("--HistoryManager.hist_file=:memory:",)
_ASKED_AGAIN_SECONDS = 0.5
_LOAD_SECONDS = 3600.0


class LocalKernel(LastingStartable["_LocalRunning"]):
    """Implements `MeasuredKernel`. Needs an event loop that watches descriptors (every one on Linux and macOS).

    `on_late_output` gets what arrives for a cell after that cell has ended, with that cell's execution count: text of
    a thread that goes on, updates of a display that an earlier cell made. No Execution contains it.
    With an idle time in its `lifetime` an ipykernel outlives this process: `LastingKernel` is implemented too.
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
        launcher: Launcher = _PLAIN,
        limits: ResourceLimits = _UNLIMITED,
        lifetime: Lifetime = _OURS,
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
        self._launcher = launcher
        self._limits = limits
        self._lifetime = lifetime
        self._session = ""

    @property
    def identity(self) -> KernelIdentity:
        return replace(self._identity, session=self._session)

    @property
    def can_be_left(self) -> bool:
        return self._running is not None and self._running.can_be_left

    @property
    def pid(self) -> int | None:
        """The id of the kernel's process, None when there is none."""
        return None if self._running is None else self._running.process.pid

    async def start(self) -> None:
        if self.is_alive:
            raise KernelStartFailed(kernel=self._name, reason="it is running already")
        await self.close()
        process = await launch_process(
            name=self._name,
            arguments=self._arguments,
            lean=self._lean,
            cwd=self._cwd,
            env=self._env,
            launcher=self._launcher,
            limits=self._limits,
            lifetime=self._lifetime,
        )
        self._running = running = self._run(process)
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

    async def attach(self, session: str, *, known: int, due: str | None) -> bool:
        if self.is_alive:
            raise KernelStartFailed(kernel=self._name, reason="it is running already")
        await self.detach()
        collector = OutputCollector(self._output_limits)
        try:
            async with asyncio.timeout(self._start_timeout):
                state, running = await self._join(session)
                request = await running.conversation.join(collector, known=known, due=due)
                # On the control channel: a running cell does not delay that.
                info = running.conversation.send("kernel_info_request", {}, channel="control", wants_idle=False)
                await asyncio.shield(info.done)
                self._identify(running, running.reply(info))
        except BaseException as error:
            # The kernel is left as it is: it may hold hours of work, and trying again may help.
            await self.detach()
            if isinstance(error, KernelGone):
                raise KernelGone(kernel=self._name, reason=error.reason) from error
            if isinstance(error, TimeoutError | KernelFailed):
                reason = str(error) or f"no answer within {self._start_timeout:g} s"
                raise KernelStartFailed(kernel=self._name, reason=reason) from error
            raise
        running.inspects = running.can_be_left = True
        running.conversation.hold_back()
        self._session = session
        if request is not None and due is not None:
            began = time.monotonic() - (state["busy"] or 0.0)
            overdue = state["limit"] if state["overdue"] else None
            self._left = LeftCell(due, request, collector, began=began, overdue=overdue)
        return self._left is not None

    async def _join(self, session: str) -> tuple[Message, _LocalRunning]:
        """Hold the kernel of a session from here on. Raises KernelGone."""
        folder, client = _place_of(session)
        try:
            link = await reach_supervisor(folder)
            state = await link.ask(hold=True)
            self._running = running = self._run(
                join_process(link, state, name=self._name, folder=folder), session=client
            )
        except (OSError, KernelFailed) as error:
            raise KernelGone(kernel=self._name, reason=self._end_of(folder)) from error
        return state, running

    def _end_of(self, folder: Path) -> str:
        """Why a kernel that was left is there no longer, as far as its supervisor could say."""
        kept = None if self._lifetime.folder is None else read_end(self._lifetime.folder, folder.name)
        return kept or "it is not there any more: it was ended from outside, or the machine was started anew"

    async def discard(self, session: str) -> bool:
        return await end_kernel(_place_of(session)[0], why="the run is over, or goes on with another kernel")

    async def detach(self) -> None:
        running, self._running = self._running, None
        self._left, self._session = None, ""
        if running is not None:
            await running.leave()

    async def usage(self) -> KernelUsage:
        return await (self._require()).process.usage()

    def _require(self) -> _LocalRunning:
        if self._running is None:
            raise KernelDied(cause="it has not been started, or was closed")
        return self._running

    def _run(self, process: KernelProcess, session: str = "") -> _LocalRunning:
        running = _LocalRunning(
            self._name,
            process,
            session=session,
            on_late_output=self._on_late_output,
            output_limits=self._output_limits,
            interrupt_grace=self._interrupt_grace,
            terminate_grace=self._terminate_grace,
        )
        if self._limits:
            running.watch(self._limits, Path(self._cwd or os.curdir))
        return running

    def _identify(self, running: _LocalRunning, info: Content) -> None:
        spec = running.process.spec
        self._identity = read_identity(self._name, info, display_name=spec.display_name, language=spec.language)

    async def save_checkpoint(self, path: str, *, seconds: float) -> SavedCheckpoint:
        running = await self._ready()
        if not await _saves(running):
            return SavedCheckpoint(problem="checkpoints are made of IPython kernels alone", never=True)
        # It looks at the clock between two writes; one of them may be of a whole table.
        return checkpoints.read_saved(await running.ask(checkpoints.save(path, seconds=seconds), within=seconds + 60.0))

    async def load_checkpoint(self, path: str, *, digest: str, versions: Mapping[str, str]) -> LoadedCheckpoint:
        running = await self._ready()
        if not await _saves(running):
            return LoadedCheckpoint(problem="checkpoints are made of IPython kernels alone")
        expression = checkpoints.load(path, digest=digest, versions=versions)
        return checkpoints.read_loaded(await running.ask(expression, within=_LOAD_SECONDS))

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
        self._identify(running, request.reply)
        if self._identity.language == "python":
            unattended = request.reply.get("implementation") == "ipython"
            await running.install_probe(self._variable_limits, unattended=unattended)
            if unattended:
                running.conversation.hold_back()
                await self._make_lasting(running)
        await self._seal(running)
        while not control.done.done():
            await asyncio.wait([control.done], timeout=_ASKED_AGAIN_SECONDS)
            if not control.done.done():
                # ipykernel 7.0 loses what comes on this channel before it is ready.
                control = running.conversation.send("kernel_info_request", {}, channel="control", wants_idle=False)
        running.process.has_started()
        if not running.can_be_left:
            running.process.remove_folder()

    async def _make_lasting(self, running: _LocalRunning) -> None:
        """Without a ledger nobody could say what a kernel that was left has done: it ends with us then."""
        if self._lifetime.idle <= 0:
            return
        session, sink = running.conversation.session, running.process.sink
        if await running.ask(install_ledger(session, self._output_limits, sink=sink)) is not None:
            running.can_be_left = True
            self._session = f"{running.process.folder}/{session}"

    async def _seal(self, running: _LocalRunning) -> None:
        """Nothing but our own code has run so far. Raises KernelStartFailed."""
        seal = running.process.seal
        if seal and not (running.inspects and await running.ask(inspection.evaluate(seal)) is True):
            raise KernelStartFailed(kernel=self._name, reason="it could not be confined, and is not used without that")


async def _saves(running: _LocalRunning) -> bool:
    """Whether the kernel's namespace can be saved; from here on, if it is an IPython kernel."""
    return running.inspects and bool(await running.ask(checkpoints.install()))


class _LocalRunning(Running):
    """A process and the conversation with it, from start to close. Owns both."""

    def __init__(
        self,
        name: str,
        process: KernelProcess,
        *,
        session: str,
        on_late_output: LateOutput | None,
        output_limits: OutputLimits,
        interrupt_grace: float,
        terminate_grace: float,
    ) -> None:
        self.conversation = LocalConversation(process.connection, session=session, on_late_output=on_late_output)
        super().__init__(name, self.conversation, output_limits=output_limits, interrupt_grace=interrupt_grace)
        self.process = process
        self._terminate_grace = terminate_grace
        self._hanging_up: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        process.when_ended(self._process_ended)

    @property
    def is_gone(self) -> bool:
        return self.process.exit_code is not None

    def watch(self, limits: ResourceLimits, folder: Path) -> None:
        """End the kernel, with all that it has started, when it takes more than it may."""
        self._watching = asyncio.get_running_loop().create_task(self._watch(limits, folder))

    async def _watch(self, limits: ResourceLimits, folder: Path) -> None:
        family, looks = ProcessFamily(self.process.pid), 0
        while not self.is_gone:
            problem = exceeded(limits, family.members())
            if not problem and limits.disk_bytes and not looks % _LOOKS_PER_DISK:
                problem = await asyncio.to_thread(exceeded_on_disk, limits, folder)
            if problem:
                self.process.exceeded = problem
                family.kill()
                return
            looks += 1
            await self.process.wait(_LOOK_SECONDS)

    async def execute(
        self, source: str, *, time_limit: float | None, on_output: Callable[[Output], None] | None
    ) -> Execution:
        if self.can_be_left:
            self.process.expect_cell(time_limit)
        return await super().execute(source, time_limit=time_limit, on_output=on_output)

    async def interrupt(self) -> None:
        if self.process.interrupt_by_message:
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
        if self._watching is not None:
            await asyncio.wait([self._watching])
        await self.wait_idle()
        if self._hanging_up is not None:
            await asyncio.wait([self._hanging_up])
        self.conversation.close()
        self.process.release()
        self.process.remove_folder()

    async def leave(self) -> None:
        """Release everything here; the kernel goes on if it can be left."""
        self.conversation.close()
        await self.wait_idle()
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait([self._watching])
        self.process.release()

    def _process_ended(self) -> None:
        self._hanging_up = asyncio.get_running_loop().create_task(self.conversation.hang_up())


def _place_of(session: str) -> tuple[Path, str]:
    """The folder of a kernel, and our session with it."""
    folder, _, client = session.rpartition("/")
    return Path(folder), client
