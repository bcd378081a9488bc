"""A direct line to the main thread of a kernel on this machine, beside its sockets: requests there, replies back.

Of the time from handing a cell over until its first statement runs a quarter is zmq's and ipykernel's: threads on both
sides that wake each other. `far_end` is the other end. Messages are the same, signed as ever; those that cannot go this
way go the usual one, and either way may answer.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

from notebook_bcc.kernel.far_end import BETWEEN, LARGEST

# Messages handled before other tasks get their turn.
_BATCH = 100


class DirectLine:
    """Owns both sockets: the one that is waited at, and the one that is connected. `on_frames` as of a `Channel`."""

    def __init__(self, folder: Path, on_frames: Callable[[Sequence[bytes]], None]) -> None:
        """Waits in this folder, which has to be private. Where there are no such sockets, nobody will come."""
        self._on_frames = on_frames
        self._loop = asyncio.get_running_loop()
        self._connected: socket.socket | None = None
        self._waiting: socket.socket | None = None
        self.path = ""
        try:
            self._waiting = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._waiting.bind(str(folder / "line"))
            self._waiting.listen(1)
            self._waiting.setblocking(False)
            self.path = str(folder / "line")
        except (AttributeError, OSError):
            self._stop_waiting()

    @property
    def is_open(self) -> bool:
        return self._connected is not None

    def open(self) -> None:
        """Take the connection of whoever has come. Nobody else can, from now on."""
        if self._waiting is None:
            return
        try:
            connected, _ = self._waiting.accept()
        except OSError:
            return
        finally:
            self._stop_waiting()
        connected.setblocking(False)
        self._connected = connected
        self._loop.add_reader(connected, self.drain)

    def send(self, frames: Sequence[bytes]) -> bool:
        """Whether the message is on its way; if not, nothing of it is."""
        if self._connected is None:
            return False
        message = BETWEEN.join(frames)
        if len(message) > LARGEST:
            return False
        try:
            self._connected.send(message)
        except OSError:
            # Full, or the other end has hung up.
            return False
        return True

    def drain(self) -> int:
        """Handle what is there now; how many messages that was."""
        for handled in range(_BATCH):
            if self._connected is None:
                return handled
            try:
                message = self._connected.recv(LARGEST)
            except BlockingIOError:
                return handled
            except OSError:
                message = b""
            if not message:
                self._hang_up()
                return handled
            self._on_frames(message.split(BETWEEN))
        return _BATCH

    def close(self) -> None:
        """May be called twice."""
        self._stop_waiting()
        self._hang_up()

    def _hang_up(self) -> None:
        if self._connected is not None:
            self._loop.remove_reader(self._connected)
            self._connected.close()
            self._connected = None

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.close()
            self._waiting = None
