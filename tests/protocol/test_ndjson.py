"""Any chunking, bad lines, and a limit."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from notebook_bcc.errors import LineTooLong
from notebook_bcc.protocol.actions import Add, CustomAction, parse_action
from notebook_bcc.protocol.ndjson import BadLine, Line, LineDecoder, encode_line
from notebook_bcc.protocol.vocabulary import ShotType

ADD = {"action": "add", "content": "数据 \u2028 \u0085 \r end", "shot_type": "dialogue"}


# A busy machine is no reason to fail.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def line_of(action: object) -> bytes:
    return json.dumps({"action": action}, ensure_ascii=False).encode()


def decoded(chunks: Sequence[bytes], *, limit: int = 1 << 20) -> tuple[list[Line], bool]:
    """Everything that came out, and whether the limit ended it."""
    decoder = LineDecoder(limit=limit)
    lines: list[Line] = []
    try:
        for chunk in chunks:
            lines += decoder.feed(chunk)
        lines += decoder.finish()
    except LineTooLong:
        return lines, True
    return lines, False


def cut(data: bytes, places: Sequence[int]) -> list[bytes]:
    ends = sorted({place % (len(data) + 1) for place in places} | {len(data)})
    return [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n  \n\r\n"])
def test_a_line_ends_at_a_newline_and_nowhere_else(end: bytes) -> None:
    data = line_of(ADD) + end + line_of(ADD) + end

    assert decoded([data]) == ([ADD, ADD], False)


def test_a_last_line_without_newline_counts() -> None:
    decoder = LineDecoder()

    assert decoder.feed(line_of(ADD)) == []
    assert decoder.finish() == [ADD]
    assert decoder.finish() == []


def test_an_action_comes_out_with_the_chunk_that_ends_its_line() -> None:
    decoder = LineDecoder()

    assert decoder.feed(line_of(ADD) + b"\n" + line_of(ADD)[:9]) == [ADD]
    assert decoder.feed(line_of(ADD)[9:]) == []
    assert decoder.feed(b"\n") == [ADD]


def test_a_byte_order_mark_before_the_first_line_is_no_part_of_it() -> None:
    mark = b"\xef\xbb\xbf"
    lines, _ = decoded([mark[:1], mark[1:] + line_of(ADD) + b"\n" + mark + line_of(ADD)])

    assert lines[0] == ADD
    assert isinstance(lines[1], BadLine)
    assert lines[1].number == 2


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"action": {', "not JSON"),
        (b'{"action": {"content": "\xff\xfe"}}', "not JSON"),
        (b"[" * 10_000, "not JSON"),
        (b'["action"]', "not a JSON object"),
        (b'"action"', "not a JSON object"),
        (b"null", "not a JSON object"),
        (b"3", "not a JSON object"),
        (b'{"actions": []}', "no key 'action'"),
        (b'{"action": "add", "content": "x"}', "not an object but str"),
        (b'{"action": null}', "not an object but null"),
    ],
)
def test_a_bad_line_is_reported_and_the_others_go_on(line: bytes, reason: str) -> None:
    lines, overrun = decoded([line_of(ADD) + b"\n\n" + line + b"\n" + line_of(ADD)])

    first, bad, last = lines
    assert first == last == ADD
    assert not overrun
    assert isinstance(bad, BadLine)
    assert bad.number == 3
    assert reason in bad.reason
    assert len(bad.excerpt) <= 123
    assert str(bad).startswith("line 3 was skipped: ")


def test_a_megabyte_in_small_pieces_is_one_action() -> None:
    action = {"action": "add", "content": "数" * 400_000}
    data = line_of(action) + b"\n"

    assert decoded([data[start : start + 10] for start in range(0, len(data), 10)], limit=1 << 22) == ([action], False)


def test_integers_of_any_size_arrive_exactly() -> None:
    assert decoded([line_of({"n": 2**100})]) == ([{"n": 2**100}], False)


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_line_over_the_limit_is_an_error_at_once(size: int) -> None:
    decoder = LineDecoder(limit=100)
    for _ in range(100 // size):
        assert decoder.feed(b"x" * size) == []

    with pytest.raises(LineTooLong) as caught:
        decoder.feed(b"x" * size)
    assert caught.value.limit == 100
    with pytest.raises(LineTooLong):
        decoder.feed(b"\n")
    with pytest.raises(LineTooLong):
        decoder.finish()


def test_lines_before_the_long_one_are_not_lost() -> None:
    good = line_of({"a": 1})
    decoder = LineDecoder(limit=len(good))

    assert decoder.feed(good + b"\n" + good + b" \n" + good + b"\n") == [{"a": 1}]
    with pytest.raises(LineTooLong):
        decoder.feed(b"")


def test_a_line_of_exactly_the_limit_is_read() -> None:
    good = line_of({"a": 1})

    assert decoded([good + b"\n" + good], limit=len(good)) == ([{"a": 1}, {"a": 1}], False)


def test_a_long_line_in_single_bytes_is_read_within_a_few_times_its_size_of_memory() -> None:
    data = line_of({"action": "add", "content": "x" * 200_000}) + b"\n"
    decoder = LineDecoder()
    lines: list[Line] = []
    tracemalloc.start()
    try:
        for index in range(len(data)):
            lines += decoder.feed(data[index : index + 1])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert lines == [{"action": "add", "content": "x" * 200_000}]
    assert peak < 6 * len(data)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
actions = st.dictionaries(texts, texts | st.integers() | st.none(), max_size=3)
good_lines = actions.map(line_of)
bad_lines = st.binary(max_size=20).map(lambda data: data.replace(b"\n", b"?"))
blank_lines = st.sampled_from([b"", b" ", b"\t", b"\r"])
streams = st.lists(st.tuples(good_lines | bad_lines | blank_lines, st.sampled_from([b"\n", b"\r\n"])), max_size=8)
places = st.lists(st.integers(0, 10_000), max_size=30)


@unhurried
@given(stream=streams, last=good_lines | bad_lines, cuts=places, limit=st.integers(1, 60) | st.just(1 << 20))
def test_any_chunking_gives_the_same_as_the_whole(
    stream: list[tuple[bytes, bytes]], last: bytes, cuts: list[int], limit: int
) -> None:
    data = b"".join(line + end for line, end in stream) + last

    whole = decoded([data], limit=limit)
    assert decoded(cut(data, cuts), limit=limit) == whole
    assert decoded([bytes([byte]) for byte in data], limit=limit) == whole


@unhurried
@given(data=st.binary(), cuts=places)
def test_arbitrary_bytes_are_never_more_than_bad_lines(data: bytes, cuts: list[int]) -> None:
    lines, overrun = decoded(cut(data, cuts))

    assert not overrun
    assert lines == decoded([data])[0]


@unhurried
@given(wanted=st.lists(actions, max_size=5))
def test_what_was_encoded_is_decoded(wanted: list[dict[str, Any]]) -> None:
    data = b"".join(encode_line(action) for action in wanted)

    assert data.count(b"\n") == len(wanted)
    assert decoded([data]) == (wanted, False)


def test_a_typed_action_is_encoded_in_canonical_spelling() -> None:
    action = Add(content="a\nb", shot_type=ShotType.ACTION)

    assert encode_line(action) == b'{"action":{"shot_type":"action","action":"add","content":"a\\nb"}}\n'
    (line,), _ = decoded([encode_line(CustomAction(action="plot"))])
    assert parse_action(line) == CustomAction(action="plot")
