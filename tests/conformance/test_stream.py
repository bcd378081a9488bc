from __future__ import annotations

import json

import pytest

from notebook_bcc.conformance.exchange import BodyChunk, Exchange, shortened
from notebook_bcc.conformance.stream import Stream, read_stream, unflushed

LINE = b'{"action": {"action": "finish_thinking"}}'


def stream(body: bytes, *arrivals: float, **headers: str) -> Stream:
    seen = tuple(BodyChunk(seconds, 1) for seconds in arrivals)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return read_stream(Exchange("POST", "/generating", status=200, headers=named, body=body, arrivals=seen))


@pytest.mark.parametrize(
    ("body", "actions", "faults"),
    [
        (LINE + b"\n" + LINE + b"\n", 2, []),
        (LINE + b"\r\n\r\n\n" + LINE + b"\r\n", 2, []),
        (LINE + b'\n{"warning": "slow today"}\n', 1, []),
        (b"", 0, []),
        (b"\n\n", 0, []),
        (b'{"actions": [{"action": "exec"}]}', 1, []),
        (LINE, 1, ["newline"]),
        (LINE + LINE + b"\n", 0, ["lines"]),
        (b"[" + LINE + b"]\n", 0, ["lines"]),
        (b"garbage\n" + LINE + b"\n", 1, ["lines"]),
        (b'{"action": NaN}\n', 0, ["lines"]),
        (b'{"action": "add", "content": ""}\n', 0, ["wrapped"]),
        (b'{"data": {}}\n', 0, ["wrapped"]),
        (b'{"action": {"action": "add", "content": "\xff"}}\n' + LINE + b"\n", 1, ["utf8"]),
        (b"[" * 100_000 + b"\n", 0, ["lines"]),
    ],
)
def test_each_fault_of_a_stream_has_its_kind_and_the_sound_lines_are_taken(
    body: bytes, actions: int, faults: list[str]
) -> None:
    found = stream(body)
    assert (len(found.actions), [kind for kind, _ in found.faults]) == (actions, faults)


def test_lines_that_arrive_together_are_a_fault_only_where_they_had_time_to_arrive_apart() -> None:
    two = LINE + b"\n" + LINE + b"\n"
    assert unflushed([stream(two, 0.01)]) is None
    assert unflushed([stream(two, 2.0, 2.5)]) is None
    assert unflushed([stream(LINE + b"\n", 5.0)]) is None
    assert unflushed([stream(two, 5.0), stream(two, 0.1, 0.9)]) is None
    late = unflushed([stream(two, 5.0), stream(two, 0.1)])
    assert late is not None
    assert "2 lines arrived together, 5.0 s" in late[0]
    measured = unflushed([stream(two, 0.1, 0.2, content_length="90")])
    assert measured is not None
    assert "Content-Length" in measured[0]


def test_what_is_shown_is_short_and_says_what_is_left_out() -> None:
    body = json.dumps({"big": "x" * 3_000_000, "end": "\x1b[31m"}).encode()
    text = shortened(body)
    assert len(text) < 300
    assert text.startswith('{"big": "xx')
    assert "characters ..." in text
    assert "\x1b" not in shortened(b"a\x1b[31mb\xff")
    assert shortened(b"\xff ok") == "\\xff ok"
