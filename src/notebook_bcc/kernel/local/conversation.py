"""The conversation with a kernel in a process of ours, over its zmq sockets."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Sequence

import zmq

from notebook_bcc.errors import KernelFailed
from notebook_bcc.kernel.conversation import Conversation, LateOutput, PendingRequest
from notebook_bcc.kernel.inside.ledger import RECALL
from notebook_bcc.kernel.lasting import follows
from notebook_bcc.kernel.local.process import Connection
from notebook_bcc.kernel.local.wire import Content, KernelMessage, MessageUnreadable, Wire, decode
from notebook_bcc.kernel.outputs import OutputCollector

logger = logging.getLogger(__name__)

# zmq tries again every 100 ms by default: half of that would be lost at every start.
_RECONNECT_MS = 10
# Messages of up to a megabyte each.
_READ_AHEAD = 50
_QUIET_SECONDS = 0.05
_ASKED_AGAIN_SECONDS = 1.0
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
    """Owns the sockets. `heard` is set by the first broadcast.

    With a `session` a kernel is joined that has been spoken to under it before: broadcasts wait until `join` is called.
    """

    def __init__(self, connection: Connection, *, session: str = "", on_late_output: LateOutput | None) -> None:
        super().__init__(on_late_output=on_late_output)
        self.session = session or uuid.uuid4().hex
        self._wire = Wire(connection.key, self.session)
        self.heard = self._pending.heard
        self._held: list[KernelMessage] | None = [] if session else None
        self._followed: tuple[str, PendingRequest] | None = None
        self._fetching: asyncio.Task[None] | None = None
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        reply, broadcast = self._pending.on_reply, self._on_broadcast
        handlers = {"shell": reply, "control": reply, "iopub": broadcast}
        self._channels = {name: self._open(name, connection, handler) for name, handler in handlers.items()}

    def hold_back(self) -> None:
        """The kernel waits when we are slow: what is read ahead can be bounded without losing anything."""
        self._channels["iopub"].limit(_READ_AHEAD)

    async def join(self, collector: OutputCollector, *, known: int, due: str | None) -> PendingRequest | None:
        """Take this session up after `known` cells: the request of the cell `due` if it was sent, None if none was.

        Raises KernelGone when the kernel has run other cells.
        """
        while not self.heard.is_set():
            # What is broadcast before we are heard of goes to nobody. Every request is broadcast to be under way.
            asked = self.send("kernel_info_request", {}, channel="control", wants_idle=False)
            await asyncio.wait([asked.done], timeout=_ASKED_AGAIN_SECONDS)
            await asyncio.wait([asyncio.ensure_future(self.heard.wait())], timeout=_QUIET_SECONDS)
        found = await self._newest_cell(known)
        if not follows(found, known=known, due=due):
            self._release(found["next"])
            return None
        request = PendingRequest(collector, None, wants_idle=True)
        self._pending.add(found["cell"], request)
        self._followed = (found["cell"], request)
        await self._deliver(found, request)
        return request

    async def _newest_cell(self, known: int) -> Content:
        found = await self._recall(0)
        # A cell may still be on its way, on another channel: what is asked there is answered after it has begun.
        # Twice, as messages of two connections are taken in turn.
        for _ in range(2):
            asked = self.send("kernel_info_request", {}, wants_idle=False)
            while found["count"] == known and not asked.done.done():
                await asyncio.wait([asked.done], timeout=_ASKED_AGAIN_SECONDS)
                found = await self._recall(0)
        return found

    async def _recall(self, after: int) -> Content:
        """What the ledger has from a number on; lost with the kernel."""
        asked = self.send(RECALL, {"next": after, "have": [], "join": True}, channel="control", wants_idle=False)
        await asyncio.shield(asked.done)
        if not asked.reply:
            raise KernelFailed("it ended, or knows nothing of this session")
        return asked.reply

    async def _deliver(self, found: Content, request: PendingRequest) -> None:
        """What the cell has sent so far, in order and once; then what came meanwhile."""
        at = found["first"]
        while True:
            for number, kind, parent, body in found["messages"]:
                if number > at and not request.lost_bytes:
                    request.lost_bytes = max(1, found["sent"] - sum(len(one[3]) for one in found["messages"]))
                    note = f"about {request.lost_bytes:,} bytes of output were not kept while nobody was there"
                    content = {"name": "stderr", "text": f"\n[... {note} ...]\n"}
                    self._pending.on_broadcast(KernelMessage("stream", found["cell"], content))
                if number >= at:
                    at = number + 1
                    self._pending.on_broadcast(KernelMessage(kind, parent, decode(body.encode())))
            if not found["more"]:
                break
            found = await self._recall(at)
        for _, kind, parent, body in found["replies"]:
            self._pending.on_reply(KernelMessage(kind, parent, decode(body.encode())))
        self._release(max(at, found["next"]))

    def _release(self, after: int) -> None:
        held, self._held = self._held or [], None
        for message in held:
            if message.number is None or message.number >= after:
                self._on_broadcast(message)

    def _on_broadcast(self, message: KernelMessage) -> None:
        if self._held is not None:
            self.heard.set()
            self._held.append(message)
            return
        self._pending.on_broadcast(message)
        if self._followed is not None and message.parent == self._followed[0]:
            request = self._followed[1]
            if request.is_idle and request.reply is None and self._fetching is None:
                self._fetching = asyncio.create_task(self._fetch_reply())

    async def _fetch_reply(self) -> None:
        """A reply goes to the connection that has asked, which is gone; it is sent before idle, and kept."""
        try:
            found = await self._recall(0)
            while found["more"]:
                found = await self._recall(found["messages"][-1][0] + 1)
        except KernelFailed:
            # Its end is told otherwise, to whoever waits.
            return
        for _, kind, parent, body in found["replies"]:
            self._pending.on_reply(KernelMessage(kind, parent, decode(body.encode())))

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
        if self._fetching is not None:
            self._fetching.cancel()

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
