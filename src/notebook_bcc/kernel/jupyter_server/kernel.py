"""A kernel behind any Jupyter Server, kernel gateway or hub, over its REST and websocket interfaces."""

from __future__ import annotations

import asyncio
import logging
import ssl
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from notebook_bcc.errors import KernelDied, KernelFailed, KernelGone, KernelStartFailed
from notebook_bcc.kernel.conversation import LateOutput, PendingRequest
from notebook_bcc.kernel.inspection import VariableLimits
from notebook_bcc.kernel.interface import KernelIdentity
from notebook_bcc.kernel.jupyter_server.rest import ServerRest
from notebook_bcc.kernel.jupyter_server.session import ServerConversation
from notebook_bcc.kernel.lasting import LastingStartable, LeftCell, install_ledger
from notebook_bcc.kernel.local.wire import Content
from notebook_bcc.kernel.outputs import OutputCollector, OutputLimits
from notebook_bcc.kernel.running import Running, read_identity

logger = logging.getLogger(__name__)

_DEFAULT_OUTPUTS = OutputLimits()
_DEFAULT_VARIABLES = VariableLimits()


class JupyterServerKernel(LastingStartable["_RemoteRunning"]):
    """Implements `LastingKernel`. The server may be on another machine; it and its kernel outlive this process.

    `session` names the kernel and our session with it; another process can `attach` by it. `path` is the kernel's
    working folder, relative to the server's root. A broken connection is opened again for up to
    `reconnect_limit` seconds; nothing is lost by it when the kernel is an ipykernel. The token travels in a header.
    """

    def __init__(
        self,
        base_url: str,
        *,
        token: str,
        name: str = "python3",
        path: str = "",
        verify: ssl.SSLContext | bool = True,
        start_timeout: float = 60.0,
        request_timeout: float = 30.0,
        reconnect_limit: float = 60.0,
        interrupt_grace: float = 5.0,
        output_limits: OutputLimits = _DEFAULT_OUTPUTS,
        variable_limits: VariableLimits = _DEFAULT_VARIABLES,
        on_late_output: LateOutput | None = None,
    ) -> None:
        def make_rest() -> ServerRest:
            return ServerRest(base_url, token=token, timeout=request_timeout, verify=verify)

        # A closure holds the token: no attribute of this object does.
        self._make_rest = make_rest
        super().__init__(name)
        self._kernel_id: str | None = None
        self._session_id: str | None = None
        self._path = path
        self._start_timeout = start_timeout
        self._reconnect_limit = reconnect_limit
        self._interrupt_grace = interrupt_grace
        self._output_limits = output_limits
        self._variable_limits = variable_limits
        self._on_late_output = on_late_output

    @property
    def identity(self) -> KernelIdentity:
        return replace(self._identity, session=self.session)

    @property
    def session(self) -> str:
        """`<kernel id>/<session id>`, for the journal; empty before the first start."""
        return f"{self._kernel_id}/{self._session_id}" if self._kernel_id and self._session_id else ""

    @property
    def can_be_left(self) -> bool:
        """Nobody but its server knows how long it would stay."""
        return False

    async def start(self) -> None:
        if self.is_alive:
            raise KernelStartFailed(kernel=self._name, reason="it is running already")
        await self.close()
        rest = self._make_rest()
        self._kernel_id, self._session_id = None, uuid.uuid4().hex
        try:
            async with asyncio.timeout(self._start_timeout):
                spec = await self._find_spec(rest)
                self._kernel_id = await rest.start(name=self._name, path=self._path, timeout=self._start_timeout)
                self._running = running = self._connect(rest, self._kernel_id, self._session_id, has_ledger=False)
                await self._greet(running, spec)
        except BaseException as error:
            # Nothing is left behind of a start that failed, on the server neither.
            await self.close()
            await rest.close()
            if isinstance(error, TimeoutError | KernelFailed):
                raise self._failure(error) from error
            raise

    async def attach(self, session: str, *, known: int, due: str | None) -> bool:
        if self.is_alive:
            raise KernelStartFailed(kernel=self._name, reason="it is running already")
        kernel_id, _, session_id = session.partition("/")
        if not kernel_id or not session_id:
            raise KernelGone(kernel=self._name, reason=f"{session!r} is not `<kernel id>/<session id>`")
        await self.detach()
        rest = self._make_rest()
        collector = OutputCollector(self._output_limits)
        try:
            async with asyncio.timeout(self._start_timeout):
                if await rest.state(kernel_id) is None:
                    reason = f"the Jupyter server at {rest.where} has no kernel {kernel_id} any more"
                    raise KernelGone(kernel=self._name, reason=reason)
                self._running = running = self._connect(rest, kernel_id, session_id, has_ledger=True)
                request = await running.conversation.join(collector, known=known, due=due)
                # On the control channel: a running cell does not delay that.
                info = await running.info(channel="control")
                self._identity = _read_identity(self._name, (await self._find_spec(rest)), info)
                running.inspects = self._identity.language == "python"
        except BaseException as error:
            # The kernel is left as it is: it may hold hours of work, and trying again may help.
            await self.detach()
            await rest.close()
            if isinstance(error, TimeoutError | KernelFailed):
                raise self._failure(error) from error
            raise
        self._kernel_id, self._session_id = kernel_id, session_id
        self._left = None if request is None or due is None else LeftCell(due, request, collector)
        return self._left is not None

    async def discard(self, session: str) -> bool:
        kernel_id = session.partition("/")[0]
        rest = self._make_rest()
        try:
            if not kernel_id or await rest.state(kernel_id) is None:
                return False
            await rest.delete(kernel_id)
            return True
        finally:
            await rest.close()

    async def detach(self) -> None:
        """Leave the kernel running on its server, and release everything here. `attach` takes it up again."""
        running, self._running = self._running, None
        if running is not None:
            await running.leave()

    def _connect(self, rest: ServerRest, kernel_id: str, session_id: str, *, has_ledger: bool) -> _RemoteRunning:
        conversation = ServerConversation(
            rest,
            kernel_id=kernel_id,
            session_id=session_id,
            patience=self._reconnect_limit,
            has_ledger=has_ledger,
            on_late_output=self._on_late_output,
        )
        return _RemoteRunning(
            self._name,
            rest,
            conversation,
            kernel_id,
            output_limits=self._output_limits,
            interrupt_grace=self._interrupt_grace,
        )

    async def _find_spec(self, rest: ServerRest) -> Mapping[str, Any]:
        specs = await rest.kernelspecs()
        if specs and self._name not in specs:
            known = ", ".join(sorted(specs))
            reason = f"the Jupyter server at {rest.where} has no such kernel; it has: {known}"
            raise KernelStartFailed(kernel=self._name, reason=reason)
        return specs.get(self._name, {})

    async def _greet(self, running: _RemoteRunning, spec: Mapping[str, Any]) -> None:
        info = await running.info()
        self._identity = _read_identity(self._name, spec, info)
        if self._identity.language != "python":
            return
        unattended = info.get("implementation") == "ipython"
        await running.install_probe(self._variable_limits, unattended=unattended)
        if unattended and self._session_id is not None:
            if await running.ask(install_ledger(self._session_id, self._output_limits)) is None:
                logger.warning("the kernel refused our ledger: what is lost on the way cannot be asked for again")
            else:
                await running.conversation.check_ledger()

    def _failure(self, error: TimeoutError | KernelFailed) -> KernelStartFailed:
        reason = error.cause if isinstance(error, KernelDied) else str(error)
        if isinstance(error, KernelGone):
            return KernelGone(kernel=self._name, reason=error.reason)
        if isinstance(error, KernelStartFailed):
            reason = error.reason
        elif isinstance(error, TimeoutError):
            reason = f"no answer within {self._start_timeout:g} s"
        return KernelStartFailed(kernel=self._name, reason=reason)


class _RemoteRunning(Running):
    """A kernel on a server and the conversation with it, from start to close. Owns both."""

    def __init__(
        self,
        name: str,
        rest: ServerRest,
        conversation: ServerConversation,
        kernel_id: str,
        *,
        output_limits: OutputLimits,
        interrupt_grace: float,
    ) -> None:
        super().__init__(name, conversation, output_limits=output_limits, interrupt_grace=interrupt_grace)
        self._rest = rest
        self._kernel_id = kernel_id
        self.conversation = conversation

    @property
    def is_gone(self) -> bool:
        return bool(self.conversation.gone)

    async def info(self, *, channel: str = "shell") -> Content:
        """Raises KernelDied."""
        request = self._send("kernel_info_request", {}, channel=channel, wants_idle=False)
        await asyncio.shield(request.done)
        return self.reply(request)

    async def interrupt(self) -> None:
        try:
            await self._rest.interrupt(self._kernel_id)
        except KernelFailed as error:
            logger.warning("the kernel could not be interrupted: %s", error)
        # A cell that awaits does not notice a signal before its loop wakes up, for any message.
        self._send("kernel_info_request", {}, wants_idle=False)

    async def end(self) -> str:
        try:
            await self._rest.delete(self._kernel_id)
        except KernelFailed as error:
            logger.warning("the kernel may still be running: %s", error)
            return f"; the server could not be asked to end it ({error})"
        return " and was ended by the Jupyter server"

    def death(self, cause: str | None = None, request: PendingRequest | None = None) -> KernelDied:
        outputs = () if request is None or request.collector is None else request.collector.outputs()
        return KernelDied(cause=cause or self.conversation.gone or "it does not answer", outputs=outputs)

    async def close(self) -> None:
        await self.end()
        await self.leave()

    async def leave(self) -> None:
        """Release everything here; the kernel goes on."""
        await self.conversation.close()
        await self.wait_idle()
        await self._rest.close()


def _read_identity(name: str, spec: Mapping[str, Any], info: Content) -> KernelIdentity:
    shown, language = str(spec.get("display_name") or name), spec.get("language", "")
    return read_identity(name, info, display_name=shown, language=language)
