"""A million hostile streams through the NDJSON decoder: only LineTooLong escapes, and the cuts decide nothing."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator

import pytest

from notebook_bcc.errors import LineTooLong
from notebook_bcc.protocol.ndjson import BadLine, Line, LineDecoder

# Small, so that mutated lines meet the limit about as often as they keep below it.
LIMITS = (8, 64, 300, 1 << 20)
SEEDS = 10
# What a careless or hostile writer leaves in a stream: cut characters, marks, other line ends, deep nests, odd numbers.
SPICES = (
    b"\n",
    b"\r\n",
    b"\r",
    b"\x00",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xa8",
    b"\xe2\x80",
    b"\xc2\x85",
    b"\xf0\x9f",
    b"\xed\xa0\x80",
    b"\\ud800",
    b"\\u0000",
    b'"',
    b"\\",
    b"{" * 300,
    b"[" * 300,
    b'{"action":' * 80,
    b"1" * 400,
    b"1e999",
    b"-0",
    b"NaN",
    b"Infinity",
    b"null",
    b'"action":null,',
    b"{}",
    b"[]",
    b"data: ",
)
VALID = tuple(
    json.dumps(value, ensure_ascii=False).encode()
    for value in (
        {"action": {"action": "add", "content": "数据 \u2028 \u0085 😀", "shot_type": "dialogue"}},
        {"action": {"action": "exec", "codecell_id": "lastAddedCellId"}},
        {
            "action": {
                "action": "add",
                "content": 'print("a\\n")\r',
                "metadata": {"deep": [[[{"x": [1.5, None, True]}]]]},
            }
        },
        {"action": {}, "extra": [0]},
        {"warning": "said by the server"},
        {"action": "not an object"},
        [1, 2],
    )
)


def streams(dice: random.Random, count: int) -> Iterator[bytes]:
    """Every third is noise; the others are valid lines with up to four things done to them."""
    for number in range(count):
        yield dice.randbytes(dice.randrange(120)) if number % 3 == 0 else mutated(dice)


def mutated(dice: random.Random) -> bytes:
    data = bytearray(b"\n".join(dice.choices(VALID, k=dice.randrange(1, 4))))
    for _ in range(dice.randrange(5)):
        place = dice.randrange(len(data) + 1)
        match dice.randrange(4):
            case 0:
                data[place:place] = dice.choice(SPICES)
            case 1:
                del data[place : place + dice.randrange(1, 20)]
            case 2:
                data[place : place + 1] = dice.randbytes(1)
            case _:
                data[place:place] = data[dice.randrange(len(data) + 1) :][:30]
    return bytes(data)


def cut(dice: random.Random, data: bytes) -> list[bytes]:
    """The stream in up to six pieces, empty ones among them; now and then byte by byte."""
    if dice.randrange(50) == 0:
        return [data[place : place + 1] for place in range(len(data))]
    ends = [0, *sorted(dice.choices(range(len(data) + 1), k=dice.randrange(6))), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(ends)]


def decoded(chunks: list[bytes], *, limit: int) -> tuple[list[Line], bool]:
    """All lines, and whether the limit ended it. Whatever else is raised is what the campaign looks for."""
    decoder = LineDecoder(limit=limit)
    lines: list[Line] = []
    try:
        for chunk in chunks:
            lines += decoder.feed(chunk)
        lines += decoder.finish()
    except LineTooLong:
        return lines, True
    return lines, False


def fuzz(*, seed: int, count: int) -> tuple[int, int, int]:
    """How many actions, bad lines and overruns there were: a campaign that never meets one of them proves little."""
    dice = random.Random(seed)
    actions = bad = overruns = 0
    for data in streams(dice, count):
        limit = dice.choice(LIMITS)
        lines, overrun = decoded(cut(dice, data), limit=limit)
        # repr, because a number that is none does not equal itself.
        whole, whole_overrun = decoded([data], limit=limit)
        assert (repr(lines), overrun) == (repr(whole), whole_overrun), f"the cuts decided: seed {seed}, {data!r}"
        for line in lines:
            assert isinstance(line, dict | BadLine), f"seed {seed}, {data!r}"
        failed = sum(isinstance(line, BadLine) for line in lines)
        actions, bad, overruns = actions + len(lines) - failed, bad + failed, overruns + overrun
    return actions, bad, overruns


@pytest.mark.parametrize("seed", range(2))
def test_thousands_of_hostile_streams_raise_nothing_but_line_too_long(seed: int) -> None:
    assert min(fuzz(seed=seed, count=3_000)) > 100


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(100, 100 + SEEDS))
def test_a_million_hostile_streams_raise_nothing_but_line_too_long(seed: int) -> None:
    assert min(fuzz(seed=seed, count=1_000_000 // SEEDS)) > 100
