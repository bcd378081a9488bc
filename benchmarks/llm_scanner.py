"""G11: the closed objects of a model's growing answer, beside ijson.

100 KB of actions in pieces of 4, 16 and 64 characters, as models and gateways send them; then the same with code that
holds braces, which may each be the end of an object. ijson is asked by its push interface in C, the fastest it has, and
once as a stream is read in asyncio. Both sides get what a model's library gives, text; ijson has to encode it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.harness import Bench, Contender, Figures, Row, compare, interleave, peer_missing
from notebook_bcc.llm.stream.scanner import Scanner

OURS, ASYNC, PUSH = "our scanner", "ijson (asyncio)", "ijson"
ACTIONS, PASSES = 600, 5
SIZES = (4, 16, 64)

Json = dict[str, Any]  # Any: actions are JSON, which is what is being read
Reader = Callable[[Sequence[str]], list[Json]]

PLAIN = 'import pandas as pd\ntable = pd.read_csv("houses.csv")\nprint(table.describe())\n'
BRACES = 'table = read("houses.csv")\nprint(f"{len(table)} rows, {missing} missing")\ncounts = {"a": 1}\n'


def closed_objects(bench: Bench) -> list[Row]:
    missing = peer_missing("ijson")
    texts = {
        "": json.dumps({"actions": actions(PLAIN)}),
        " of code with braces": json.dumps({"actions": actions(BRACES)}),
    }
    cases = {(kind, size): cut(text, size) for kind, text in texts.items() for size in SIZES}
    samples = interleave(
        [
            Contender(OURS, lambda: _measured(_ours, cases)),
            Contender(PUSH, lambda: _measured(_push, cases), missing=missing),
            Contender(ASYNC, lambda: _measured(_async, {("", 16): cases["", 16]}), missing=missing),
        ],
        rounds=bench.rounds,
    )

    def row(kind: str, size: int, peer: str, limit: float | None, note: str = "") -> Row:
        what = f"closed objects of {len(texts[kind]) // 1000} KB{kind} in pieces of {size} characters (CPU)"
        sides = (OURS, f"{kind}{size}"), (peer, f"{kind}{size}")
        return compare(samples, gate="G11", what=what, ours=sides[0], peer=sides[1], unit="ms", limit=limit, note=note)

    return [
        *(row(kind, size, PUSH, None) for kind in texts for size in SIZES),
        row("", 16, ASYNC, None, _tolerance()),
    ]


def actions(source: str) -> list[Json]:
    return [
        {"action": "add", "shot_type": "action", "store_id": f"cell-{number}", "content": f"{source}x = {number}\n"}
        for number in range(ACTIONS)
    ]


def cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _tolerance() -> str:
    """What ijson cannot read and ours does."""
    texts = {
        "prose around": 'Here: {"actions": [{"a": 1}]} done',
        "a fence": '```json\n{"actions": [{"a": 1}]}\n```',
        "raw line breaks": '{"actions": [{"a": "x\ny"}]}',
        "a trailing comma": '{"actions": [{"a": 1},]}',
        "one object a line": '{"a": 1}\n{"a": 2}',
    }
    unread = [name for name, text in texts.items() if not _ours(cut(text, 5))]
    if unread:
        raise AssertionError(f"our scanner cannot read: {', '.join(unread)}")
    return f"ours also reads {', '.join(texts)}; ijson reads JSON only"


def _measured(read: Reader, cases: Mapping[tuple[str, int], Sequence[str]]) -> Figures:
    """The best of some passes of each case, in ms: what else runs on the machine comes and goes."""
    figures: dict[str, float] = {}
    for (kind, size), pieces in cases.items():
        best = float("inf")
        for _ in range(PASSES):
            begin = time.process_time()
            found = read(pieces)
            best = min(best, time.process_time() - begin)
            if len(found) != ACTIONS:
                raise AssertionError("objects were lost")
        figures[f"{kind}{size}"] = best * 1e3
    return figures


def _ours(pieces: Sequence[str]) -> list[Json]:
    scanner = Scanner()
    feed = scanner.feed
    found: list[Any] = []
    for piece in pieces:
        if closed := feed(piece):
            found += closed
    return [*found, *scanner.finish()]


def _push(pieces: Sequence[str]) -> list[Json]:
    import ijson

    found: list[Json] = []
    events = ijson.sendable_list()
    parser = ijson.items_coro(events, "actions.item")
    send = parser.send
    for piece in pieces:
        send(piece.encode())
        if events:
            found += events
            del events[:]
    parser.close()
    return found


def _async(pieces: Sequence[str]) -> list[Json]:
    import ijson

    async def read() -> list[Json]:
        return [one async for one in ijson.items_async(_Pieces(pieces), "actions.item")]

    return asyncio.run(read())


class _Pieces:
    """A stream as ijson reads one."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = iter(pieces)

    async def read(self, size: int = -1) -> bytes:
        return next(self._pieces, "").encode() if size else b""
