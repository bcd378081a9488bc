"""A model that answers at once, and knows when: `python -m benchmarks.llm_process short`. Speaks as OpenAI does.

Each answer is one cell that sets the next variable and prints when it runs: a short one, one of twelve lines with loops
and a comprehension (`long`), or one of 39 lines (`longest`), which take longer to look through. Prints the server's
address, then for each answer the moment before the closing brace of its cell is sent, by the clock that all processes
share.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

PAUSE = 0.03
_BEGIN = "import datetime\nprint(datetime.datetime.now().timestamp())\n"
_REST = """\
totals_N = {}
for name_N, price_N, count_N in [("a", 2.5, 3), ("b", 4.0, 1), ("c", 1.25, 8)]:
    totals_N[name_N] = price_N * count_N
largest_N = max(totals_N, key=totals_N.get)
shares_N = {name: total / sum(totals_N.values()) for name, total in totals_N.items()}
for name_N, share_N in sorted(shares_N.items(), key=lambda pair: -pair[1]):
    line_N = f"{name_N}: {share_N:.1%} of all, {totals_N[name_N]:.2f} in sum"
if len(totals_N) > 2 and largest_N == "x":
    raise ValueError(f"the largest is {largest_N}")
"""
CELLS = {kind: f"{_BEGIN}{_REST * times}value_N = N" for kind, times in {"short": 0, "long": 1, "longest": 4}.items()}


async def main(cell: str) -> None:
    count = 0

    async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal count
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(head.partition(b"content-length:")[2].split()[0]))
                count += 1
                await _answer(writer, cell.replace("N", str(count)))
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(exchange, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


async def _answer(writer: asyncio.StreamWriter, source: str) -> None:
    text = json.dumps({"actions": [{"kind": "code", "content": source}]})
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    written, end = text[:-4], text[-4:-2]
    for at in range(0, len(written), 16):
        writer.write(_event({"content": written[at : at + 16]}))
    await asyncio.sleep(PAUSE)
    moment = time.time()
    # With the quotation mark before it: one token to most models, so nothing is known to be whole before.
    writer.write(_event({"content": end}))
    await writer.drain()
    # What the model still says must not be what sets the action free.
    await asyncio.sleep(PAUSE)
    writer.write(_event({"content": "]}"}) + _event({}, finish="stop") + _chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n")
    await writer.drain()
    print(moment, flush=True)


def _event(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return _chunk(f"data: {json.dumps(body)}\n\n".encode())


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


if __name__ == "__main__":
    asyncio.run(main(CELLS[sys.argv[1]]))
