"""A model that answers at once, and knows when: `python -m benchmarks.llm_process`. Speaks as OpenAI does.

Each answer is one cell that sets the next variable and prints when it runs. Prints the server's address, then for each
answer the moment before the closing brace of its cell is sent, by the clock that all processes share.
"""

from __future__ import annotations

import asyncio
import json
import time

PAUSE = 0.03
CELL = "import datetime\nprint(datetime.datetime.now().timestamp())\nvalue_N = N"


async def main() -> None:
    count = 0

    async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal count
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(head.partition(b"content-length:")[2].split()[0]))
                count += 1
                await _answer(writer, CELL.replace("N", str(count)))
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
    # With the quotation mark before it: one token to most models.
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
    asyncio.run(main())
