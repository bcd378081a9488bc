"""The kernel's end of the direct line (`direct_line`). Its source is sent there, like the probe's.

A request on its way over zmq passes through four threads until the main one has it, and so does its reply. Here the
main thread reads it, and answers, itself. Everything between these two is ipykernel's as ever. What is too large, and
what comes while nobody takes it off, goes over zmq.
"""

from __future__ import annotations

import asyncio
import os
import socket
from typing import Any

import zmq

# Bytes of one message. Half of what a socket holds by default, so that one always fits.
LARGEST = 65_536
# Between the parts of a message: JSON has no line breaks of its own.
BETWEEN = b"\n"


def answer_directly(kernel: Any, path: str, name: bytes) -> None:
    """Connect with the client that has this name on the shell channel. A kernel that we do not know is left alone."""
    try:
        end = FarEnd(kernel, path, name)
    except (AttributeError, OSError, RuntimeError):
        return
    end.open()


class FarEnd:
    """Takes requests for the main thread, and is to ipykernel the socket that it sends its replies to. `taken` and
    `answered` count what came and went this way."""

    def __init__(self, kernel: Any, path: str, name: bytes) -> None:
        """Raises AttributeError and RuntimeError for a kernel that is not made as we know it. Nothing of it is changed
        yet."""
        self._kernel, self._name = kernel, name
        self._manager = kernel.shell_channel_thread.manager
        self._usual = self._manager.get_subshell_to_shell_channel_socket
        stream = self._manager.get_shell_channel_to_subshell_pair(None).to_stream
        self._take, self._taken_by = stream._run_callback, stream._recv_callback
        self._loop = asyncio.get_running_loop()
        self._process = os.getpid()
        self.taken = self.answered = 0
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._socket.connect(path)
        except OSError:
            self._socket.close()
            raise
        self._socket.setblocking(False)

    @property
    def is_open(self) -> bool:
        return self._socket.fileno() >= 0

    def open(self) -> None:
        self._manager.get_subshell_to_shell_channel_socket = self._way_back
        self._loop.add_reader(self._socket, self._readable)
        self._kernel.observe(self._loop_chosen, "eventloop")

    def close(self) -> None:
        """From here on all goes over zmq. May be called twice."""
        if self.is_open:
            self._loop.remove_reader(self._socket)
            self._socket.close()

    def send_multipart(self, parts: Any, *args: Any, **options: Any) -> Any:
        """A reply, directly if that can be."""
        if parts[0] == self._name and self._send(parts[1:]):
            return None
        return self._usual(None).send_multipart(parts, *args, **options)

    def _way_back(self, subshell_id: str | None) -> Any:
        return self if subshell_id is None else self._usual(subshell_id)

    def _send(self, parts: list[bytes]) -> bool:
        # A forked child has no business here, nor with zmq, which knows that itself.
        if os.getpid() != self._process or any(BETWEEN in part for part in parts):
            return False
        message = BETWEEN.join(parts)
        if len(message) > LARGEST:
            return False
        try:
            # All of it, or nothing: an interrupt cannot tear a message.
            self._socket.send(message)
        except OSError:
            return False
        self.answered += 1
        return True

    def _readable(self) -> None:
        try:
            message = self._socket.recv(LARGEST)
        except BlockingIOError:
            return
        except OSError:
            message = b""
        if message:
            self.taken += 1
            self._take(self._taken_by, [zmq.Frame(part) for part in (self._name, *message.split(BETWEEN))])
        else:
            self.close()

    def _loop_chosen(self, change: Any) -> None:
        """The loop of a window toolkit (`%gui`) looks at zmq's sockets, and at nothing else."""
        if change["new"] is not None:
            self.close()
