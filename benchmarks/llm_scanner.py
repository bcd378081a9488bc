"""G11: the closed objects of a model's growing answer, beside ijson.

100 KB of actions in pieces of 20 characters, as a model writes them. ijson is measured twice: as a stream is read in
asyncio, and by its push interface in C, which is the fastest it has. Both get what we get, text, and encode it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.harness import Bench, Contender, Figures, Row, compare, interleave, peer_missing
from notebook_bcc.planners.llm.scanner import Scanner

OURS, ASYNC, PUSH = "our scanner", "ijson", "ijson (push)"
ACTIONS, PIECE, PASSES = 600, 20, 5

Json = dict[str, Any]  # Any: actions are JSON, which is what is being read
Reader = Callable[[Sequence[str]], list[Json]]


def closed_objects(bench: Bench) -> list[Row]:
    missing = peer_missing("ijson")
    pieces = cut(json.dumps({"actions": actions()}))
    samples = interleave(
        [
            Contender(OURS, lambda: _measured(_ours, pieces)),
            Contender(ASYNC, lambda: _measured(_async, pieces), missing=missing),
            Contender(PUSH, lambda: _measured(_push, pieces), missing=missing),
        ],
        rounds=bench.rounds,
    )

    def row(peer: str, limit: float | None, note: str = "") -> Row:
        what = f"closed objects of {sum(map(len, pieces)) // 1000} KB in pieces of {PIECE} (CPU)"
        sides = (OURS, "all"), (peer, "all")
        return compare(samples, gate="G11", what=what, ours=sides[0], peer=sides[1], unit="ms", limit=limit, note=note)

    return [row(ASYNC, 0.50, _tolerance()), row(PUSH, None)]


def actions() -> list[Json]:
    source = 'import pandas as pd\ntable = pd.read_csv("houses.csv")\nprint(table.describe())\n'
    return [
        {"action": "add", "shot_type": "action", "content": f"{source}x = {number}\n", "store_id": f"cell-{number}"}
        for number in range(ACTIONS)
    ]


def cut(text: str) -> list[str]:
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]


def _tolerance() -> str:
    """What ijson cannot read and ours does."""
    texts = {
        "prose around": 'Here: {"actions": [{"a": 1}]} done',
        "a fence": '```json\n{"actions": [{"a": 1}]}\n```',
        "raw line breaks": '{"actions": [{"a": "x\ny"}]}',
        "a trailing comma": '{"actions": [{"a": 1},]}',
        "one object a line": '{"a": 1}\n{"a": 2}',
    }
    unread = [name for name, text in texts.items() if not _ours(cut(text))]
    if unread:
        raise AssertionError(f"our scanner cannot read: {', '.join(unread)}")
    return f"ours also reads {', '.join(texts)}; ijson reads JSON only"


def _measured(read: Reader, pieces: Sequence[str]) -> Figures:
    begin = time.process_time()
    for _ in range(PASSES):
        if len(read(pieces)) != ACTIONS:
            raise AssertionError("objects were lost")
    return {"all": (time.process_time() - begin) * 1e3 / PASSES}


def _ours(pieces: Sequence[str]) -> list[Json]:
    scanner = Scanner()
    found: list[Any] = []
    for piece in pieces:
        found += scanner.feed(piece)
    return [*found, *scanner.finish()]


def _push(pieces: Sequence[str]) -> list[Json]:
    import ijson

    found: list[Json] = []
    events = ijson.sendable_list()
    parser = ijson.items_coro(events, "actions.item")
    for piece in pieces:
        parser.send(piece.encode())
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
