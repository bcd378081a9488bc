"""Keeps, inside an ipykernel, what it sends to one client until the client has it. Its source is sent there.

A Jupyter Server stands between the kernel and us. What is on its way when a connection breaks is lost there, and what
comes faster than its rate limits is dropped. So the kernel numbers its broadcasts and keeps those of the newest cell;
the client sees a gap and asks, on the control channel, which a running cell does not block. A request that was sent
twice is carried out once, so that a client which does not know whether it arrived may send it again.
Python 3.9 or later.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from typing import Any

NUMBER = "notebook_bcc"
RECALL = "notebook_bcc_recall_request"
_ANSWER = "notebook_bcc_recall_reply"
# Of one answer, in bytes: a client that is far behind asks several times, and hears from us in between.
_LARGEST = 1_000_000
_REMEMBERED = 1_000


class Ledger:
    """`client` is the client's session id; `room` how many bytes are kept, the newest ones. `sink` is the descriptor of
    a pipe that hears when a cell begins and ends."""

    def __init__(self, kernel: Any, client: str, room: int, sink: int | None = None) -> None:
        self._kernel = kernel
        self._session = kernel.session
        self._client = client
        self._room = room
        # (number or None for a reply, type, parent's id, content as JSON)
        self._entries: deque[tuple[int | None, str, str, bytes]] = deque()
        self._next = 0
        self._bytes = 0
        # Of the newest cell: its request's id, its first broadcast, and the bytes of all its broadcasts.
        self._cell, self._first, self._sent = "", 0, 0
        # For a client that takes the kernel up again: what that cell is, and its execution count.
        self._source, self._count = "", 0
        self._seen: dict[str, None] = {}
        self._lock = threading.Lock()
        self._sink, self._owner = sink, os.getpid()

    def start(self) -> None:
        if self._sink is not None:
            # Not for programs that cells start.
            os.set_inheritable(self._sink, False)
        self._serialize, self._should_handle = self._session.serialize, self._kernel.should_handle
        self._session.serialize, self._kernel.should_handle = self.serialize, self.should_handle
        self._kernel.control_handlers[RECALL] = self.recall

    def serialize(self, message: Any, ident: Any = None) -> list[Any]:
        """As the session's own; what is meant for our client is numbered and kept on the way."""
        parent = message["parent_header"] or {}
        kind = message["header"]["msg_type"]
        if parent.get("session") != self._client or parent.get("msg_type") == RECALL:
            frames: list[Any] = self._serialize(message, ident)
            return frames
        with self._lock:
            number = None
            if not kind.endswith("_reply"):
                # Replies travel on a channel of their own, and overtake: only broadcasts have an order.
                number = self._next
                message["metadata"] = {**(message.get("metadata") or {}), NUMBER: number}
            frames = self._serialize(message, ident)
            if number is not None:
                self._next += 1
            self._keep((number, kind, parent.get("msg_id", ""), frames[-1]))
        if kind == "execute_reply" and parent.get("msg_id") == self._cell:
            self._say(b"-")
        return frames

    def should_handle(self, stream: Any, message: Any, idents: Any) -> Any:
        """False for a request that has been carried out before."""
        header = message["header"]
        if header["msg_type"] == "execute_request" and header.get("session") == self._client:
            if header["msg_id"] in self._seen:
                return False
            self._seen[header["msg_id"]] = None
            if len(self._seen) > _REMEMBERED:
                del self._seen[next(iter(self._seen))]
            if not message["content"].get("silent"):
                self._begin(header["msg_id"], message["content"].get("code", ""))
        return self._should_handle(stream, message, idents)

    def recall(self, stream: Any, ident: Any, request: Any) -> None:
        """Answer with what the client does not have: broadcasts from `next` on but for `have`, and the replies.

        One that joins also hears which cell is the newest, and how many have been run, other clients' too.
        """
        if request["header"].get("session") != self._client:
            # What is kept was not sent to that one.
            self._session.send(stream, _ANSWER, {}, request, ident)
            return
        wanted = request["content"]
        have = set(wanted["have"])
        with self._lock:
            entries = list(self._entries)
            cell = {"cell": self._cell, "first": self._first, "sent": self._sent}
            content: dict[str, Any] = {**cell, "next": self._next, "more": False}
            if wanted.get("join"):
                # The kernel's count is that of the next cell, or of the one that runs.
                ended = (self._kernel.execution_count or 1) - 1
                content |= {"source": self._source, "count": max(self._count, ended)}
        messages: list[list[Any]] = []
        size = 0
        for entry in entries:
            if entry[0] is None or entry[0] < wanted["next"] or entry[0] in have:
                continue
            size += len(entry[3])
            if size > _LARGEST and messages:
                content["more"] = True
                break
            messages.append(_as_json(entry))
        content["messages"] = messages
        content["replies"] = [] if content["more"] else [_as_json(entry) for entry in entries if entry[0] is None]
        self._session.send(stream, _ANSWER, content, request, ident)

    def _begin(self, cell: str, source: str) -> None:
        """A client that sends a cell has all of the one before; only what the new one has sent already is kept."""
        self._say(b"+")
        with self._lock:
            self._entries = deque(entry for entry in self._entries if entry[2] == cell)
            self._bytes = self._sent = sum(len(entry[3]) for entry in self._entries)
            self._cell, self._first = (
                cell,
                min((entry[0] for entry in self._entries if entry[0] is not None), default=self._next),
            )
            self._source = source
            if source.strip():
                # A cell without code is not counted.
                self._count = self._kernel.execution_count or 0

    def _say(self, word: bytes) -> None:
        if self._sink is not None and os.getpid() == self._owner:
            try:
                os.write(self._sink, word)
            except OSError:
                # A cell has closed it, or nobody is there to hear it.
                self._sink = None

    def _keep(self, entry: tuple[int | None, str, str, bytes]) -> None:
        self._entries.append(entry)
        self._bytes += len(entry[3])
        if entry[0] is not None and entry[2] == self._cell:
            self._sent += len(entry[3])
        while self._bytes > self._room and len(self._entries) > 1:
            self._bytes -= len(self._entries.popleft()[3])


def _as_json(entry: tuple[int | None, str, str, bytes]) -> list[Any]:
    return [*entry[:3], bytes(entry[3]).decode("utf-8")]
