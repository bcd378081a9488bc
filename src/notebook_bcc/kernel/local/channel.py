"""One zmq socket on the running event loop: messages out, and every message in to one callable."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import zmq

# As plain numbers: zmq's are enum members, and its own loops over a message's parts make one for each part.
_NOBLOCK = int(zmq.NOBLOCK)
_NOBLOCK_MORE = int(zmq.NOBLOCK | zmq.SNDMORE)
# Messages handled before other tasks get their turn: a cell that prints without end must not starve time limits.
_BATCH = 100


class Channel:
    """Owns the socket it is given. `on_frames` is called in the loop's thread, in order of arrival.

    Plain sockets and a reader on the loop instead of zmq.asyncio: that makes a future and two callbacks per message.
    """

    def __init__(self, socket: zmq.Socket[bytes], on_frames: Callable[[Sequence[bytes]], None]) -> None:
        self._socket = socket
        self._on_frames = on_frames
        self._loop = asyncio.get_running_loop()
        self._fd = int(socket.getsockopt(zmq.FD))
        self._scheduled: asyncio.Handle | None = None
        self._closed = False
        self._loop.add_reader(self._fd, self._readable)
        # What arrived before the reader was there has had its signal.
        self._schedule()

    def send(self, frames: Sequence[bytes]) -> None:
        """Queue a message; never blocks, as the high-water mark is off for our requests."""
        send = self._socket.send
        for frame in frames[:-1]:
            send(frame, _NOBLOCK_MORE)
        send(frames[-1], _NOBLOCK)
        # zmq's descriptor signals edges, and sending may have eaten one.
        self._schedule()

    def limit(self, messages: int) -> None:
        """Read at most so many messages ahead; the sender is made to wait, or drops."""
        self._socket.rcvhwm = messages

    def drain(self) -> int:
        """Handle what is there now; how many messages that was."""
        handled = 0
        while not self._closed and handled < _BATCH:
            try:
                frames = self._receive()
            except zmq.Again:
                return handled
            handled += 1
            self._on_frames(frames)
        if not self._closed:
            self._schedule()
        return handled

    def _receive(self) -> list[bytes]:
        """The parts of one message: all of them are there when the first is. Raises zmq.Again."""
        part = self._socket.recv(_NOBLOCK, copy=False)
        parts = [part.bytes]
        while part.more:
            part = self._socket.recv(_NOBLOCK, copy=False)
            parts.append(part.bytes)
        return parts

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._loop.remove_reader(self._fd)
        if self._scheduled is not None:
            self._scheduled.cancel()
        self._socket.close(linger=0)

    def _schedule(self) -> None:
        if self._scheduled is None:
            self._scheduled = self._loop.call_soon(self._readable)

    def _readable(self) -> None:
        if self._scheduled is not None:
            self._scheduled.cancel()
            self._scheduled = None
        if not self._closed:
            self.drain()
