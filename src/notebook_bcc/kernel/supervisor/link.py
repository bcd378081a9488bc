"""Our end of the connection with a kernel's supervisor."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from notebook_bcc.errors import KernelFailed
from notebook_bcc.kernel.supervisor import supervise
from notebook_bcc.kernel.supervisor.supervise import CONTROL

# What a supervisor says: JSON of a program of ours, in the few forms that `supervise` describes.
Message = dict[str, Any]

_REAP_SECONDS = 5.0
# Enough for a machine that is very busy; it answers from a loop that never waits.
_ANSWER_SECONDS = 20.0


class SupervisorLink(asyncio.Protocol):
    """One connection with a supervisor. `ended` gets the kernel's exit code and, where the supervisor ended it, why."""

    def __init__(self, process: subprocess.Popen[bytes] | None) -> None:
        """`process` is the supervisor itself, where it is a child of ours."""
        loop = asyncio.get_running_loop()
        self.started: asyncio.Future[Message] = loop.create_future()
        self.ended: asyncio.Future[tuple[int, str]] = loop.create_future()
        self._asked: deque[asyncio.Future[Message]] = deque()
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None
        self._process = process

    def send(self, **message: Any) -> None:
        """Never blocks; nothing when the supervisor is gone."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(json.dumps(message).encode() + b"\n")

    async def ask(self, **message: Any) -> Message:
        """The state of the kernel. Raises KernelFailed when nobody answers."""
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._asked.append(answer)
        self.send(**message)
        if self._transport is None:
            self._lose()
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                return await asyncio.shield(answer)
        except TimeoutError:
            raise KernelFailed("the kernel's supervisor does not answer") from None

    def close(self) -> None:
        """Let go. A supervisor that has ended is reaped; one that goes on is left to itself."""
        if self._transport is not None:
            self._transport.abort()
            self._transport = None
        if self._process is not None and self.ended.done():
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_REAP_SECONDS)
        if self._process is not None:
            # Nobody is to be warned of a process that is meant to go on.
            self._process.returncode = self._process.returncode or 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        *lines, rest = bytes(self._received).split(b"\n")
        self._received[:] = rest
        for line in lines:
            self._hear(json.loads(line))

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._lose()

    def _hear(self, message: Message) -> None:
        if "started" in message or "failed" in message:
            if not self.started.done():
                self.started.set_result(message)
        elif "ended" in message:
            if not self.ended.done():
                self.ended.set_result((message["ended"], message["why"]))
        elif "state" in message and self._asked:
            answer = self._asked.popleft()
            if not answer.done():
                answer.set_result(message["state"])

    def _lose(self) -> None:
        if not self.started.done():
            self.started.set_result({"failed": "its supervisor ended before it had started"})
        if not self.ended.done():
            # The kernel ends with it, by the same signal.
            self.ended.set_result((-signal.SIGKILL, "its supervisor was ended, and the kernel with it"))
        while self._asked:
            answer = self._asked.popleft()
            if not answer.done():
                answer.set_exception(KernelFailed("the kernel's supervisor has ended"))


async def start_supervisor(
    order: Mapping[str, Any], *, env: Mapping[str, str], log: int, pass_fds: Sequence[int]
) -> SupervisorLink:
    """Start a supervisor in a session of its own; it starts the kernel. Raises OSError.

    `log` is the descriptor of a file that gets what the kernel and its supervisor write to standard error.
    """
    here, there = socket.socketpair()
    try:
        process = _spawn({**order, "client": there.fileno(), "pass_fds": list(pass_fds)}, env=env, log=log)
    except BaseException:
        here.close()
        raise
    finally:
        there.close()
    return await _linked(here, process)


def _spawn(order: Mapping[str, Any], *, env: Mapping[str, str], log: int) -> subprocess.Popen[bytes]:
    """Not by the loop, which would warn of a process that goes on after it, and watch it for nothing."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", supervise.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=log,
        env=dict(env),
        pass_fds=(order["client"], *order["pass_fds"]),
        start_new_session=True,
    )
    assert process.stdin is not None
    with process.stdin as pipe:
        pipe.write(json.dumps(order).encode())
    return process


async def _linked(end: socket.socket, process: subprocess.Popen[bytes] | None) -> SupervisorLink:
    end.setblocking(False)
    link = SupervisorLink(process)
    await asyncio.get_running_loop().create_connection(lambda: link, sock=end)
    return link


async def reach_supervisor(folder: Path) -> SupervisorLink:
    """The supervisor of a kernel that was left. Raises OSError when there is none any more."""
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    end = socket.socket(socket.AF_UNIX)
    try:
        # A path may be longer than the name of a socket; on Linux a descriptor stands for it.
        name = f"/proc/self/fd/{place}/{CONTROL}" if sys.platform == "linux" else str(folder / CONTROL)
        end.connect(name)
    except BaseException:
        end.close()
        raise
    finally:
        os.close(place)
    return await _linked(end, None)
