"""Jupyter messages as websocket messages: built and parsed without any I/O, in both forms that servers speak.

`v1.kernel.websocket.jupyter.org` carries a message's parts as the kernel wrote them; the older form is one JSON object,
which a server must make of every message.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from notebook_bcc.kernel.inside.ledger import NUMBER
from notebook_bcc.kernel.local.wire import (
    PROTOCOL_VERSION,
    Content,
    KernelMessage,
    MessageUnreadable,
    decode,
    encode,
    user_name,
)

V1 = "v1.kernel.websocket.jupyter.org"


@dataclass(frozen=True, slots=True)
class Arrival:
    """One message, received. `number` is set by the ledger in the kernel, None without one; `size` of its content."""

    channel: str
    message: KernelMessage
    session: str
    number: int | None
    size: int


class ServerWire:
    """Speaks for one client session."""

    def __init__(self, session: str) -> None:
        self.session = session
        self._user = user_name()

    def build(self, kind: str, content: Content, *, channel: str, message_id: str, v1: bool) -> bytes | str:
        header = {
            "msg_id": message_id,
            "username": self._user,
            "session": self.session,
            "date": datetime.now(UTC).isoformat(),
            "msg_type": kind,
            "version": PROTOCOL_VERSION,
        }
        if v1:
            return _join([channel.encode("ascii"), encode(header), b"{}", b"{}", encode(content)])
        empty: Content = {}
        message = {"header": header, "parent_header": empty, "metadata": empty, "content": content, "buffers": []}
        return encode({"channel": channel, **message}).decode("utf-8")

    def parse(self, data: bytes | str, *, v1: bool) -> Arrival:
        """Raises MessageUnreadable."""
        try:
            if v1:
                assert isinstance(data, bytes)
                channel, header, parent, metadata, content = _split(data)[:5]
                # Most metadata is empty, and half of all parsing is of headers: only what is needed is read.
                number = decode(metadata).get(NUMBER) if len(metadata) > 2 else None
                return _arrival(
                    str(channel, "ascii"), decode(header), decode(parent), number, decode(content), len(content)
                )
            text = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else _first_part(data)
            whole = decode(text)
            number = whole.get("metadata", {}).get(NUMBER)
            return _arrival(
                whole["channel"], whole["header"], whole["parent_header"], number, whole["content"], len(text)
            )
        except (KeyError, AttributeError, ValueError, TypeError, AssertionError, struct.error) as error:
            raise MessageUnreadable(f"not a message: {error}") from error


def _arrival(channel: str, header: Content, parent: Content, number: Any, content: Content, size: int) -> Arrival:
    message = KernelMessage(kind=header["msg_type"], parent=parent.get("msg_id", ""), content=content)
    return Arrival(channel, message, parent.get("session", ""), number if type(number) is int else None, size)


def _join(parts: Sequence[bytes]) -> bytes:
    """The number of offsets, the offsets (the last one is the end), the parts; little-endian, 8 bytes each."""
    offsets = [8 * (len(parts) + 2)]
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    return b"".join([struct.pack(f"<{len(offsets) + 1}Q", len(offsets), *offsets), *parts])


def _split(data: bytes) -> list[bytes]:
    (count,) = struct.unpack_from("<Q", data)
    if not 6 <= count <= 10_000:
        raise ValueError(f"{count} offsets")
    offsets = struct.unpack_from(f"<{count}Q", data, 8)
    return [data[start:end] for start, end in itertools.pairwise(offsets)]


def _first_part(data: bytes) -> bytes:
    """The JSON of a message of the older form that has buffers: big-endian, 4 bytes each; the buffers are not ours."""
    (count,) = struct.unpack_from(">I", data)
    if not 1 <= count <= 10_000:
        raise ValueError(f"{count} parts")
    offsets = [*struct.unpack_from(f">{count}I", data, 4), len(data)]
    return data[offsets[0] : offsets[1]]
