"""Requests to one kernel behind a Jupyter Server, and what comes back: each message once and in order.

Between the kernel and us messages get lost: with a connection that breaks, and by a server that limits rates. A kernel
with our ledger numbers its broadcasts: gaps are filled by asking the kernel, and a request of which nobody knows
whether it arrived is sent again. Without a ledger there is what the server replays, and a visible note where that may
not be all.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass

from notebook_bcc.errors import KernelFailed, KernelGone
from notebook_bcc.kernel.conversation import Conversation, LateOutput, PendingRequest
from notebook_bcc.kernel.inside.ledger import RECALL
from notebook_bcc.kernel.jupyter_server.rest import ServerRest
from notebook_bcc.kernel.jupyter_server.socket import KeptSocket
from notebook_bcc.kernel.jupyter_server.wire import Arrival, ServerWire
from notebook_bcc.kernel.lasting import follows
from notebook_bcc.kernel.local.wire import Content, KernelMessage, MessageUnreadable, decode
from notebook_bcc.kernel.outputs import OutputCollector

logger = logging.getLogger(__name__)

# How long nothing may arrive for a running cell before the server is asked whether the kernel still exists.
_QUIET_SECONDS = 10.0
# How long an answer may take that was given before its request ended.
_OVERTAKEN_SECONDS = 5
# How long the kernel's memory of broadcasts may keep us waiting before we doubt that there is one.
_PROMPT_SECONDS = 1.0
_RATE_NOTICES = ("IOPub data rate exceeded", "IOPub message rate exceeded")
_UNLIMITED = "start the server with --ZMQChannelsWebsocketConnection.limit_rate=False"
_DEATHS = {
    "restarting": "its process ended, and the Jupyter server has started another one without its variables; the server "
    "does not say why it ended (often memory: the system's out-of-memory killer, or a crash in compiled code)",
    "dead": "its process ended, and the Jupyter server could not start it again",
}


@dataclass(slots=True)
class _Sent:
    """A request as it was sent, so that it can be sent again; `arrived` counts the bytes of its broadcasts."""

    request: PendingRequest
    kind: str
    content: Content
    channel: str
    tried: bool = False
    arrived: int = 0


class ServerConversation(Conversation):
    """Owns the websocket. `gone` says why the kernel cannot be spoken to any more; it is empty while it can.

    With `has_ledger` a kernel is joined that has been spoken to before: broadcasts wait until `join` is called.
    """

    def __init__(
        self,
        rest: ServerRest,
        *,
        kernel_id: str,
        session_id: str,
        patience: float,
        has_ledger: bool,
        on_late_output: LateOutput | None,
    ) -> None:
        super().__init__(on_late_output=on_late_output)
        self._rest = rest
        self._kernel_id = kernel_id
        self._wire = ServerWire(session_id)
        self._sent: dict[str, _Sent] = {}
        # Not from 1: an earlier process may have used this session.
        self._count = time.time_ns() // 1_000
        self._v1 = False
        self._opened = 0
        self.gone = ""
        self.has_ledger = has_ledger
        # Broadcasts are delivered up to `_next`; what came after a gap waits.
        self._next = 0
        self._waiting: dict[int, Arrival] = {}
        self._joining = has_ledger
        self._filling: asyncio.Task[None] | None = None
        self._reopened = False
        self._reconnections = 0
        self._doubts: set[asyncio.Task[None]] = set()
        self._heard_at = time.monotonic()
        self._watching = asyncio.create_task(self._watch())
        self._socket = KeptSocket(
            rest.client,
            f"api/kernels/{kernel_id}/channels",
            session_id=session_id,
            patience=patience,
            on_open=self._on_open,
            on_data=self._on_data,
            on_gone=lambda reason: self._end(f"the Jupyter server at {rest.where} is lost: {reason}"),
        )

    async def check_ledger(self) -> None:
        """See whether a ledger that was just installed can be asked; without an answer it is not relied on."""
        found = await self._ask_ledger()
        if found is not None:
            self.has_ledger, self._next = True, found["next"]

    async def join(self, collector: OutputCollector, *, known: int, due: str | None) -> PendingRequest | None:
        """Take this session up after `known` cells: the request of the cell `due` if it was sent, None if none was.

        Raises KernelGone when the kernel has run other cells, or knows nothing of this session; KernelFailed.
        """
        found = await self._newest_cell(known)
        if found is None:
            raise self._not_joined()
        request = None
        if follows(found, known=known, due=due):
            request = PendingRequest(collector, None, wants_idle=True)
            # Without a kind: another process has sent it, and it arrived.
            self._add(found["cell"], _Sent(request, "", {}, "shell"))
        self._next, self._joining = found["first"] if request is not None else found["next"], False
        self._waiting = {number: arrival for number, arrival in self._waiting.items() if number >= self._next}
        if request is None:
            self._advance()
        else:
            self._take(found)
            if found["more"]:
                self._fill()
        return request

    async def _newest_cell(self, known: int) -> Content | None:
        found = await self._ask_ledger()
        # A cell may still be on its way, on another channel: what is asked there is answered after it has begun.
        asked = self.send("kernel_info_request", {}, wants_idle=False)
        while found is not None and found.get("count") == known and not asked.done.done():
            await asyncio.wait([asked.done], timeout=1.0)
            found = await self._ask_ledger()
        return found

    def _not_joined(self) -> KernelFailed:
        if self.gone and self.gone not in _DEATHS.values():
            return KernelFailed(self.gone)
        unknown = "it knows nothing of this session: it was restarted, or the session is another one"
        return self._gone(self.gone or unknown)

    def _gone(self, reason: str) -> KernelGone:
        return KernelGone(kernel=self._kernel_id, reason=reason)

    async def close(self) -> None:
        self._end("it was closed")
        await self._socket.close()
        tasks = [self._watching, *self._doubts, *([] if self._filling is None else [self._filling])]
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)

    def _post(self, request: PendingRequest, kind: str, content: Content, channel: str) -> None:
        self._count += 1
        message_id = f"{self._wire.session}_{self._count}"
        sent = _Sent(request, kind, content, channel)
        if self._add(message_id, sent):
            self._put_on_wire(message_id, sent)

    def _add(self, message_id: str, sent: _Sent) -> bool:
        if not self._pending.add(message_id, sent.request):
            return False
        self._sent[message_id] = sent
        sent.request.done.add_done_callback(lambda _: self._sent.pop(message_id, None))
        return True

    def _put_on_wire(self, message_id: str, sent: _Sent) -> None:
        # After a reconnection nothing is sent before it is certain that this is still the same process, but for what
        # goes to the control channel: that only asks.
        if self._socket.is_open and (not self._reopened or sent.channel == "control"):
            sent.tried = True
            self._socket.send(
                self._wire.build(sent.kind, sent.content, channel=sent.channel, message_id=message_id, v1=self._v1)
            )

    def _end(self, reason: str) -> None:
        if not self.gone:
            self.gone = reason
            # What waited for others that will not come any more is still better than nothing.
            for number in sorted(self._waiting):
                self._pending.on_broadcast(self._waiting.pop(number).message)
            self._pending.lose()

    def _on_open(self, v1: bool) -> None:
        self._v1 = v1
        self._opened += 1
        self._heard_at = time.monotonic()
        if self._opened == 1 or self._joining or not self.has_ledger:
            self._post_again()
        else:
            self._reopened = True
            self._reconnections += 1
            self._post_again(only="control")
            self._fill()

    def _post_again(self, only: str = "") -> None:
        for message_id, sent in list(self._sent.items()):
            if only and sent.channel != only:
                continue
            if sent.tried and sent.kind == "execute_request" and not self.has_ledger:
                self._note(message_id, "the connection to the Jupyter server broke here: output may be missing")
                doubt = asyncio.create_task(self._await_overtaking(sent.request))
                self._doubts.add(doubt)
                doubt.add_done_callback(self._doubts.discard)
            elif sent.kind:
                self._put_on_wire(message_id, sent)

    async def _await_overtaking(self, request: PendingRequest) -> None:
        """Of a kernel without a ledger: when it answers a later request, it has carried out the earlier ones."""
        await asyncio.shield(self.send("kernel_info_request", {}, wants_idle=False).done)
        await asyncio.wait([request.done], timeout=_OVERTAKEN_SECONDS)
        if not request.done.done():
            self._end("the connection to the Jupyter server broke while a cell ran, and its reply was lost")

    async def _watch(self) -> None:
        """When it is quiet for long: a server that deletes a kernel does not tell, and any message may get lost."""
        while not self.gone:
            await asyncio.sleep(_QUIET_SECONDS)
            if not self._sent or time.monotonic() - self._heard_at < _QUIET_SECONDS:
                continue
            try:
                state = await self._rest.state(self._kernel_id)
            except KernelFailed as error:
                logger.info("%s", error)
                continue
            if state is None:
                self._end("the Jupyter server has deleted it (its idle kernels may be culled)")
            elif state == "dead":
                self._end(_DEATHS["dead"])
            elif self.has_ledger:
                self._fill()
            else:
                await self._look_for_idle()

    async def _look_for_idle(self) -> None:
        """Of a kernel without a ledger: when a later request has become idle, an earlier one has too."""
        replied = [(key, sent) for key, sent in self._sent.items() if sent.request.reply is not None]
        if not replied:
            return
        await asyncio.wait([self.send("kernel_info_request", {}).done], timeout=_QUIET_SECONDS)
        for message_id, sent in replied:
            if not sent.request.done.done():
                self._note(message_id, "the end of this cell was lost on the way: output may be missing")
                sent.request.take_status("idle")

    def _on_data(self, data: bytes | str) -> None:
        self._heard_at = time.monotonic()
        try:
            arrival = self._wire.parse(data, v1=self._v1)
        except MessageUnreadable as error:
            logger.warning("skipped a message: %s", error)
            return
        if arrival.channel in ("shell", "control"):
            self._pending.on_reply(arrival.message)
        elif arrival.channel == "iopub":
            self._on_broadcast(arrival)

    def _on_broadcast(self, arrival: Arrival) -> None:
        number = arrival.number
        if number is None or not self.has_ledger or arrival.session != self._wire.session:
            self._on_unnumbered(arrival.message)
        elif number == self._next and not self._joining:
            self._deliver(arrival)
            self._advance()
        elif number > self._next or self._joining:
            self._waiting[number] = arrival
            if not self._joining:
                self._fill()

    def _on_unnumbered(self, message: KernelMessage) -> None:
        if message.kind == "status" and not message.parent and message.content.get("execution_state") in _DEATHS:
            self._end(_DEATHS[message.content["execution_state"]])
            return
        if message.kind == "stream" and str(message.content.get("text", "")).startswith(_RATE_NOTICES):
            if self.has_ledger:
                # The server's own words for what is about to be filled.
                return
            self._note(message.parent, f"output was lost here, the Jupyter server limits it: {_UNLIMITED}")
        self._pending.on_broadcast(message)

    def _deliver(self, arrival: Arrival) -> None:
        self._next += 1
        sent = self._sent.get(arrival.message.parent)
        if sent is not None:
            sent.arrived += arrival.size
        self._pending.on_broadcast(arrival.message)

    def _advance(self) -> None:
        while self._next in self._waiting:
            self._deliver(self._waiting.pop(self._next))

    def _fill(self) -> None:
        if self._filling is None or self._filling.done():
            self._filling = asyncio.create_task(self._fill_gaps())

    async def _fill_gaps(self) -> None:
        more = True
        while more or self._waiting or self._reopened:
            reconnections = self._reconnections
            found = await self._ask_ledger()
            if found is None:
                self._end("its process was replaced while the connection to the Jupyter server was down")
                return
            self._take(found)
            more = found["more"]
            if self._reopened and reconnections == self._reconnections:
                self._reopened = False
                self._post_again()

    async def _ask_ledger(self) -> Content | None:
        """What the kernel has kept for us; None when it is gone, or keeps nothing for this session."""
        content: Content = {"next": 0 if self._joining else self._next, "have": list(self._waiting)}
        if self._joining:
            content["join"] = True
        request = self.send(RECALL, content, channel="control", wants_idle=False)
        await asyncio.wait([request.done], timeout=_PROMPT_SECONDS)
        while not request.done.done():
            # Every kernel answers this, and control requests in their order: when it does so without having answered
            # the other, it did not know what that was. Again and again: a process that ends takes with it what it was
            # asked. Broadcasts would say the same, but a process just started speaks before the server listens to it.
            later = self.send("kernel_info_request", {}, channel="control", wants_idle=False)
            done = [request.done, later.done]
            await asyncio.wait(done, timeout=_OVERTAKEN_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if later.done.done() and not request.done.done():
                self._sent = {key: sent for key, sent in self._sent.items() if sent.request is not request}
                return None
        return request.reply or None

    def _take(self, found: Content) -> None:
        for number, kind, parent, body in found["messages"]:
            if number >= self._next:
                data = body.encode()
                message = KernelMessage(kind, parent, decode(data))
                self._waiting[number] = Arrival("iopub", message, self._wire.session, number, len(data))
        self._advance()
        if not found["more"]:
            self._skip_to(found["next"], found)
            for _, kind, parent, body in found["replies"]:
                self._pending.on_reply(KernelMessage(kind, parent, decode(body.encode())))

    def _skip_to(self, end: int, found: Content) -> None:
        """Go on behind gaps that nobody can fill any more, visibly."""
        here = [number for number in sorted(self._waiting) if number < end]
        if self._next >= end:
            return
        missing, cell = end - self._next - len(here), found["cell"]
        sent = self._sent.get(cell)
        if missing and sent is not None:
            waiting = sum(self._waiting[number].size for number in here if self._waiting[number].message.parent == cell)
            sent.request.lost_bytes += max(1, found["sent"] - sent.arrived - waiting)
            lost = f"about {sent.request.lost_bytes:,} bytes ({missing:,} messages) of output were lost here"
            self._note(cell, f"{lost} on the way from the kernel: {_UNLIMITED}")
        for number in here:
            self._next = number
            self._deliver(self._waiting.pop(number))
        self._next = end
        self._advance()

    def _note(self, parent: str, text: str) -> None:
        self._pending.on_broadcast(KernelMessage("stream", parent, {"name": "stderr", "text": f"\n[... {text} ...]\n"}))
