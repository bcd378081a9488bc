"""G10: reading a streamed answer, beside httpx2's own lines and json.

Two comparisons. Whole clients over loopback from the same server: `planners/remote` as a run uses it, against httpx2
with `aiter_lines` and `json.loads`; both on httpx2's transport, which is most of it. And the reading alone, from chunks
that are there already: our reader from bytes to actions, against `aiter_lines` and `json.loads`. Streams that break a
careless reader come first: ours must read every one.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from typing import Any

import httpx2

from benchmarks.harness import Bench, Contender, Figures, Row, compare, interleave
from benchmarks.service import Served, served
from benchmarks.service_process import LINES, action
from notebook_bcc.planners.interface import ActionData
from notebook_bcc.planners.remote.planner import RemotePlanner
from notebook_bcc.planners.remote.stream import ActionReader, RemoteLimits
from notebook_bcc.protocol.messages import Options, Request
from notebook_bcc.protocol.observation import Current, Location, Observation, Progress

OURS, HTTPX = "our reader", "httpx2"
STREAMS, PASSES = 15, 20
OBSERVATION = Observation(location=Location(current=Current(stage_id="s", step_id="t"), progress=Progress()))

Json = dict[str, Any]  # Any: actions are JSON, which is what is being read
Reader = Callable[[Sequence[bytes]], Coroutine[None, None, list[Json]]]


def reading_lines(bench: Bench) -> list[Row]:
    with served("ours") as server:
        samples = interleave(
            [
                Contender(OURS, lambda: asyncio.run(_measured(_ours_over_loopback, server, _ours))),
                Contender(HTTPX, lambda: asyncio.run(_measured(_httpx_over_loopback, server, _httpx))),
            ],
            rounds=bench.rounds,
        )

    def row(what: str, figure: str, limit: float | None) -> Row:
        sides = (OURS, figure), (HTTPX, figure)
        return compare(samples, gate="G10", what=what, ours=sides[0], peer=sides[1], unit="us", limit=limit)

    return [
        _odd_streams(),
        row("a line read over loopback as a run reads it, whole clients (CPU)", "loopback", None),
        row("a line read, no network, chunks of one line (CPU)", "lines", 0.60),
        row("the same, chunks that end anywhere (CPU)", "pieces", 0.60),
    ]


def odd_streams() -> dict[str, tuple[list[bytes], list[Json]]]:
    """Chunks that are legal NDJSON, and what is in them."""
    big, odd = {**action(0), "content": "字" * 333_000}, {**action(1), "content": "a\u2028b\u0085c\u2029d"}
    plain = [action(number) for number in range(5)]
    return {
        "a line of 1 MB": (_cut(_written([*plain, big, *plain]), 65_536), [*plain, big, *plain]),
        "U+2028 and U+0085 inside a text": ([_written([odd, *plain])], [odd, *plain]),
        "characters split between chunks": (_cut(_written([big]), 1_000) + _cut(_written(plain), 1), [big, *plain]),
        "CRLF": ([_written(plain).replace(b"\n", b"\r\n")], plain),
        "CRLF split between chunks": (_cut(_written(plain).replace(b"\n", b"\r\n"), 1), plain),
    }


def _odd_streams() -> Row:
    streams = odd_streams()
    wrong = {who: [name for name in streams if not _reads(reader, *streams[name])] for who, reader in READERS.items()}
    if wrong[OURS]:
        raise AssertionError(f"our reader fails at: {', '.join(wrong[OURS])}")
    note = f"{HTTPX} fails at: {', '.join(wrong[HTTPX]) or 'none'}; ours reads all: {', '.join(streams)}"
    count = len(streams)
    return Row(
        gate="G10",
        what=f"odd streams read wrongly, of {count}",
        unit="streams",
        ours=float(len(wrong[OURS])),
        peer=float(len(wrong[HTTPX])),
        peer_name=HTTPX,
        ratio=len(wrong[OURS]) / count,
        limit=0.0,
        note=note,
    )


def _reads(reader: Reader, chunks: Sequence[bytes], expected: list[Json]) -> bool:
    try:
        return asyncio.run(reader(chunks)) == expected
    except ValueError:
        return False


async def _measured(over: Callable[[Served], Awaitable[float]], server: Served, read: Reader) -> Figures:
    """CPU microseconds of this process for one line."""
    data = _written([action(number) for number in range(LINES)])
    figures = {"loopback": min([await over(server) for _ in range(4)])}
    for name, chunks in (("lines", data.splitlines(keepends=True)), ("pieces", _cut(data, 137))):
        figures[name] = min([await _passes(read, chunks) for _ in range(5)])
    return figures


async def _passes(read: Reader, chunks: Sequence[bytes]) -> float:
    begin = time.process_time()
    for _ in range(PASSES):
        if len(await read(chunks)) != LINES:
            raise AssertionError("lines were lost")
    return (time.process_time() - begin) * 1e6 / (PASSES * LINES)


async def _ours(chunks: Sequence[bytes]) -> list[Json]:
    reader = ActionReader(planner="bench", where="POST /generating", limits=RemoteLimits())
    actions: list[Json] = []
    async for chunk in _arriving(chunks):
        actions += [item.data for item in reader.feed(chunk) if isinstance(item, ActionData)]
    actions += [item.data for item in reader.finish(delimited=True) if isinstance(item, ActionData)]
    return actions


async def _httpx(chunks: Sequence[bytes]) -> list[Json]:
    response = httpx2.Response(200, content=_arriving(chunks))
    return [json.loads(line)["action"] async for line in response.aiter_lines() if line]


READERS: dict[str, Reader] = {OURS: _ours, HTTPX: _httpx}


async def _arriving(chunks: Sequence[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def _ours_over_loopback(server: Served) -> float:
    planner = RemotePlanner(server.url)

    async def once(request: Request) -> int:
        return sum([isinstance(item, ActionData) async for item in planner.generate(request)])

    try:
        return await _each_line(once)
    finally:
        await planner.close()


async def _httpx_over_loopback(server: Served) -> float:
    async with httpx2.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as client:

        async def once(request: Request) -> int:
            headers = {"content-type": "application/json"}
            asking = client.stream("POST", "/generating", content=request.to_json(), headers=headers)
            async with asking as response:
                return len([json.loads(line)["action"] async for line in response.aiter_lines() if line])

        return await _each_line(once)


async def _each_line(once: Callable[[Request], Awaitable[int]]) -> float:
    """CPU microseconds of a line, over streams of which each is asked for under an id of its own."""
    requests = [_request() for _ in range(STREAMS + 1)]
    await once(requests.pop())
    begin = time.process_time()
    for request in requests:
        if await once(request) != LINES:
            raise AssertionError("lines were lost")
    return (time.process_time() - begin) * 1e6 / (STREAMS * LINES)


def _request() -> Request:
    options = Options(stream=True, run_id="bench", request_id=uuid.uuid4().hex, attempt=1)
    return Request(observation=OBSERVATION, options=options)


def _written(actions: Sequence[Json]) -> bytes:
    return b"".join(json.dumps({"action": one}, ensure_ascii=False).encode() + b"\n" for one in actions)


def _cut(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]
