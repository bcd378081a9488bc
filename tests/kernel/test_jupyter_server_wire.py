"""Messages to and from a Jupyter Server, as bytes and as text."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping

import pytest

from notebook_bcc.kernel.jupyter_server.wire import ServerWire
from notebook_bcc.kernel.local.wire import MessageUnreadable

HEADER = {"msg_id": "k_1", "msg_type": "stream", "session": "k"}
PARENT = {"msg_id": "a_7", "session": "a"}
CONTENT = {"name": "stdout", "text": "grüße 名\n"}


def v1(*parts: bytes) -> bytes:
    offsets = [8 * (len(parts) + 2)]
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    return struct.pack(f"<{len(offsets) + 1}Q", len(offsets), *offsets) + b"".join(parts)


def message(metadata: Mapping[str, object]) -> list[bytes]:
    return [json.dumps(part).encode() for part in (HEADER, PARENT, metadata, CONTENT)]


@pytest.mark.parametrize("binary", [True, False])
def test_what_is_built_is_what_a_server_reads(binary: bool) -> None:
    wire = ServerWire("a")
    built = wire.build("execute_request", {"code": "\ud800 名"}, channel="shell", message_id="a_1", v1=binary)
    if binary:
        assert isinstance(built, bytes)
        count, *offsets = struct.unpack_from("<7Q", built)
        assert (count, offsets[-1]) == (6, len(built))
        assert built[offsets[0] : offsets[1]] == b"shell"
        header, content = (json.loads(built[offsets[i] : offsets[i + 1]]) for i in (1, 4))
    else:
        whole = json.loads(built)
        assert whole["channel"] == "shell"
        assert (whole["parent_header"], whole["metadata"], whole["buffers"]) == ({}, {}, [])
        header, content = whole["header"], whole["content"]
    assert (header["msg_id"], header["msg_type"], header["session"]) == ("a_1", "execute_request", "a")
    assert content == {"code": "\ud800 名"}


def test_a_message_is_read_the_same_in_every_form() -> None:
    wire, metadata = ServerWire("a"), {"notebook_bcc": 12}
    whole = {"header": HEADER, "parent_header": PARENT, "metadata": metadata, "content": CONTENT, "channel": "iopub"}
    text = json.dumps(whole)
    body = text.encode()
    with_buffer = struct.pack(">3I", 2, 12, 12 + len(body)) + body + b"\x00\xff"
    arrivals = [
        wire.parse(v1(b"iopub", *message(metadata)), v1=True),
        wire.parse(v1(b"iopub", *message(metadata), b"buffer"), v1=True),
        wire.parse(text, v1=False),
        wire.parse(with_buffer, v1=False),
    ]
    for arrival in arrivals:
        assert (arrival.channel, arrival.session, arrival.number) == ("iopub", "a", 12)
        assert (arrival.message.kind, arrival.message.parent) == ("stream", "a_7")
        assert arrival.message.content == CONTENT
    assert wire.parse(v1(b"iopub", *message({})), v1=True).number is None
    assert wire.parse(v1(b"iopub", *message({"notebook_bcc": "12"})), v1=True).number is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00" * 8,
        struct.pack("<Q", 2**60),
        v1(b"iopub", b"{}"),
        v1(b"iopub", b"[]", b"{}", b"{}", b"{}"),
        v1(b"iopub", b"not json", b"{}", b"{}", b"{}"),
        v1(b"\xff", *message({})),
        "text",
    ],
)
def test_what_is_no_message_is_refused(data: bytes | str) -> None:
    with pytest.raises(MessageUnreadable):
        ServerWire("a").parse(data, v1=True)


@pytest.mark.parametrize("data", ["", "[]", "{}", "null", b"", b"\x00\x00\x00\x01", struct.pack(">2I", 1, 8) + b"{}"])
def test_what_is_no_message_of_the_older_form_is_refused(data: bytes | str) -> None:
    with pytest.raises(MessageUnreadable):
        ServerWire("a").parse(data, v1=False)
