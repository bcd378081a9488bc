"""Messages as bytes."""

from __future__ import annotations

import pytest
from jupyter_client.session import Session

from notebook_bcc.kernel.local.wire import MessageUnreadable, Wire

KEY = b"a key"


def test_jupyters_own_session_reads_our_requests() -> None:
    message_id, frames = Wire(KEY, "session").request("execute_request", {"code": "x = '中文'"})
    session = Session(key=KEY)
    message = session.deserialize(session.feed_identities(frames)[1])
    assert message["header"]["msg_type"] == "execute_request"
    assert message["header"]["msg_id"] == message_id
    assert message["content"] == {"code": "x = '中文'"}


def test_we_read_what_jupyters_own_session_writes() -> None:
    session = Session(key=KEY)
    parent = session.msg("execute_request")
    frames = session.serialize(session.msg("stream", {"name": "stdout", "text": "你好"}, parent=parent), ident=b"topic")
    message = Wire(KEY, "session").parse(frames)
    assert (message.kind, message.parent) == ("stream", parent["header"]["msg_id"])
    assert message.content == {"name": "stdout", "text": "你好"}


def test_requests_have_ids_of_their_own() -> None:
    wire = Wire(KEY, "session")
    assert len({wire.request("kernel_info_request", {})[0] for _ in range(100)}) == 100


def test_a_message_signed_with_another_key_is_refused() -> None:
    frames = Session(key=b"another").serialize(Session(key=b"another").msg("stream", {}))
    with pytest.raises(MessageUnreadable, match="signature"):
        Wire(KEY, "session").parse(frames)


@pytest.mark.parametrize("frames", [[], [b"x"], [b"<IDS|MSG>"], [b"<IDS|MSG>", b"s", b"{}"], [b"a"] * 20])
def test_frames_that_are_no_message_are_refused(frames: list[bytes]) -> None:
    with pytest.raises(MessageUnreadable):
        Wire(KEY, "session").parse(frames)


def test_text_that_is_not_utf8_is_readable_all_the_same() -> None:
    session = Session(key=KEY)
    frames = session.serialize(session.msg("stream", {}))
    frames[-1] = b'{"text": "bad \xff byte", "big": 123456789012345678901234567890}'
    frames[1] = session.sign(frames[2:])
    content = Wire(KEY, "session").parse(frames).content
    assert content["text"] == "bad \ufffd byte"


def test_a_source_with_a_lone_surrogate_can_be_sent() -> None:
    _, frames = Wire(KEY, "session").request("execute_request", {"code": "'\ud800'"})
    assert b"\\ud800" in frames[-1]
