"""Requests to one running kernel, and what comes back for each of them, however messages travel."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from notebook_bcc.kernel.local.wire import Content, KernelMessage
from notebook_bcc.kernel.outputs import OutputCollector
from notebook_bcc.protocol.cells import Output

logger = logging.getLogger(__name__)

LateOutput = Callable[[int | None, Output], None]

# How many ended cells (and displays) are remembered by name, for what arrives late.
_REMEMBERED = 1_000


class PendingRequest:
    """One request under way. `done` is set when its reply and its idle have arrived, or when the kernel is lost."""

    def __init__(
        self, collector: OutputCollector | None, on_output: Callable[[Output], None] | None, *, wants_idle: bool
    ) -> None:
        self.collector = collector
        self.on_output = on_output
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.reply: Content | None = None
        self.is_busy = False
        self.is_idle = not wants_idle
        self.is_lost = False
        # Output that a server between the kernel and us has dropped for good.
        self.lost_bytes = 0

    def take_reply(self, content: Content) -> None:
        self.reply = content
        self._finish_if_complete()

    def take_status(self, state: str) -> None:
        self.is_busy = self.is_busy or state == "busy"
        self.is_idle = self.is_idle or state == "idle"
        self._finish_if_complete()

    def lose(self) -> None:
        self.is_lost = True
        if not self.done.done():
            self.done.set_result(None)

    def _finish_if_complete(self) -> None:
        if self.reply is not None and self.is_idle and not self.done.done():
            self.done.set_result(None)


class PendingRequests:
    """Requests under way and cells that have ended, by the ids of their messages; knows nothing of how those travel.

    `heard` is set by the first broadcast.
    """

    def __init__(self, *, on_late_output: LateOutput | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._on_late_output = on_late_output
        self._requests: dict[str, PendingRequest] = {}
        self._ended_cells: dict[str, int | None] = {}
        self._display_owners: dict[str, str] = {}
        self._lost = False
        self.heard = asyncio.Event()

    def add(self, message_id: str, request: PendingRequest) -> bool:
        """Expect what belongs to a request from now on; False when it is lost already and need not be sent."""
        if self._lost:
            request.lose()
            return False
        self._requests[message_id] = request
        request.done.add_done_callback(lambda _: self._forget(message_id, request))
        return True

    def lose(self) -> None:
        """Nothing will arrive any more: end every request as lost, those still to come too."""
        self._lost = True
        for request in list(self._requests.values()):
            request.lose()

    def on_reply(self, message: KernelMessage) -> None:
        request = self._requests.get(message.parent)
        if request is not None:
            request.take_reply(message.content)

    def on_broadcast(self, message: KernelMessage) -> None:
        self.heard.set()
        request = self._requests.get(message.parent)
        if message.kind == "status":
            if request is not None:
                request.take_status(message.content.get("execution_state", ""))
        elif request is None:
            self._on_late(message)
        elif request.collector is not None:
            self._on_output(message, request, request.collector)

    def _on_output(self, message: KernelMessage, request: PendingRequest, collector: OutputCollector) -> None:
        display_id = message.content.get("transient", {}).get("display_id")
        if display_id is not None:
            if message.kind == "update_display_data" and not collector.holds_display(display_id):
                self._on_late(message)
                return
            _remember(self._display_owners, display_id, message.parent)
        output = collector.add(message.kind, message.content)
        if output is not None and request.on_output is not None:
            # By way of the loop: an exception in it is reported there and stops nothing here.
            self._loop.call_soon(request.on_output, output)

    def _on_late(self, message: KernelMessage) -> None:
        display_id = message.content.get("transient", {}).get("display_id", "")
        owner = self._display_owners.get(display_id, message.parent)
        if owner not in self._ended_cells:
            return
        output = OutputCollector.convert(message.kind, message.content)
        if output is None:
            return
        if self._on_late_output is None:
            logger.info("output of a cell that has ended was left out: %s", output["output_type"])
        else:
            self._loop.call_soon(self._on_late_output, self._ended_cells[owner], output)

    def _forget(self, message_id: str, request: PendingRequest) -> None:
        self._requests.pop(message_id, None)
        if request.collector is not None:
            count = None if request.reply is None else request.reply.get("execution_count")
            _remember(self._ended_cells, message_id, count)


class Conversation(ABC):
    """Sends requests to one kernel, and matches what comes back to them by the ids of their messages."""

    def __init__(self, *, on_late_output: LateOutput | None) -> None:
        self._pending = PendingRequests(on_late_output=on_late_output)

    def send(
        self,
        kind: str,
        content: Content,
        *,
        channel: str = "shell",
        collector: OutputCollector | None = None,
        on_output: Callable[[Output], None] | None = None,
        wants_idle: bool = True,
    ) -> PendingRequest:
        """Put a request on its way. Never blocks; a request to a kernel that is gone is lost at once."""
        request = PendingRequest(collector, on_output, wants_idle=wants_idle)
        self._post(request, kind, content, channel)
        return request

    @abstractmethod
    def _post(self, request: PendingRequest, kind: str, content: Content, channel: str) -> None:
        """Give the message an id, expect what belongs to it, and send it."""


def _remember(memory: dict[str, Any], key: str, value: Any) -> None:
    memory[key] = value
    if len(memory) > _REMEMBERED:
        del memory[next(iter(memory))]
