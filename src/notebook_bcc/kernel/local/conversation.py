"""The conversation with a kernel in a process of ours, over its zmq sockets."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

import zmq

from notebook_bcc.kernel.conversation import Conversation, LateOutput, PendingRequest
from notebook_bcc.kernel.local.process import Connection
from notebook_bcc.kernel.local.wire import Content, KernelMessage, MessageUnreadable, Wire

logger = logging.getLogger(__name__)

# zmq tries again every 100 ms by default: half of that would be lost at every start.
_RECONNECT_MS = 10
# Messages of up to a megabyte each.
_READ_AHEAD = 50
_QUIET_SECONDS = 0.05
# Messages handled before other tasks get their turn: a cell that prints without end must not starve time limits.
_BATCH = 100
_SOCKETS = {"shell": zmq.DEALER, "control": zmq.DEALER, "iopub": zmq.SUB}


class Channel:
    """One zmq socket on the running event loop, which it owns. `on_frames` is called there, in order of arrival."""

    def __init__(self, socket: zmq.Socket[bytes], on_frames: Callable[[Sequence[bytes]], None]) -> None:
        self._socket = socket
        self._on_frames = on_frames
        self._loop = asyncio.get_running_loop()
        self._fd = int(socket.getsockopt(zmq.FD))
        self._scheduled: asyncio.Handle | None = None
        self._loop.add_reader(self._fd, self._readable)
        # What arrived before the reader was there has had its signal.
        self._schedule()

    def send(self, frames: Sequence[bytes]) -> None:
        """Queue a message; never blocks, as the high-water mark is off for our requests."""
        self._socket.send_multipart(frames, zmq.NOBLOCK)
        # zmq's descriptor signals edges, and sending may have eaten one.
        self._schedule()

    def limit(self, messages: int) -> None:
        """Read at most so many messages ahead; the sender is made to wait, or drops."""
        self._socket.rcvhwm = messages

    def drain(self) -> int:
        """Handle what is there now; how many messages that was."""
        handled = 0
        while not self._socket.closed and handled < _BATCH:
            try:
                frames = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return handled
            handled += 1
            self._on_frames(frames)
        if not self._socket.closed:
            self._schedule()
        return handled

    def close(self) -> None:
        if self._socket.closed:
            return
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
        self.drain()


class LocalConversation(Conversation):
    """Owns the sockets. `heard` is set by the first broadcast."""

    def __init__(self, connection: Connection, *, on_late_output: LateOutput | None) -> None:
        super().__init__(on_late_output=on_late_output)
        self._wire = Wire(connection.key)
        self.heard = self._pending.heard
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        reply, broadcast = self._pending.on_reply, self._pending.on_broadcast
        handlers = {"shell": reply, "control": reply, "iopub": broadcast}
        self._channels = {name: self._open(name, connection, handler) for name, handler in handlers.items()}

    def hold_back(self) -> None:
        """The kernel waits when we are slow: what is read ahead can be bounded without losing anything."""
        self._channels["iopub"].limit(_READ_AHEAD)

    async def hang_up(self) -> None:
        """The process is gone: take in what it had still sent, then end every request as lost."""
        quiet = 0
        while quiet < 2:
            quiet = 0 if sum(channel.drain() for channel in self._channels.values()) else quiet + 1
            await asyncio.sleep(_QUIET_SECONDS)
        self._pending.lose()

    def close(self) -> None:
        for channel in self._channels.values():
            channel.close()
        self._context.term()
        self._pending.lose()

    def _post(self, request: PendingRequest, kind: str, content: Content, channel: str) -> None:
        message_id, frames = self._wire.request(kind, content)
        if self._pending.add(message_id, request):
            self._channels[channel].send(frames)

    def _open(self, name: str, connection: Connection, handler: Callable[[KernelMessage], None]) -> Channel:
        socket = self._context.socket(_SOCKETS[name])
        socket.linger = 0
        # Without high-water marks: at a mark zmq drops broadcasts, and lines of output with them.
        socket.rcvhwm = socket.sndhwm = 0
        socket.reconnect_ivl = _RECONNECT_MS
        if name == "iopub":
            socket.subscribe(b"")
        socket.connect(connection.address(name))

        def on_frames(frames: Sequence[bytes]) -> None:
            try:
                message = self._wire.parse(frames)
            except MessageUnreadable as error:
                logger.warning("skipped a message on %s: %s", name, error)
            else:
                handler(message)

        return Channel(socket, on_frames)
