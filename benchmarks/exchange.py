"""What goes over the wire while the playbook analyses a public table behind `nbcc serve`: `make payloads`.

A recorder stands between `nbcc run --planner URL` and the service and passes every byte on. The table is not ours to
ship: `NBCC_DATA` names the folder of the tables, as for `make score`. Told are sizes, in bytes of JSON, by part; with
`--record FILE` every request is kept as a line.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import re
import socket
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from benchmarks.scores import data_folder

# The parts of a request that a reader can do something about; the rest is told together.
PARTS: Final[tuple[tuple[str, ...], ...]] = (
    ("observation", "context", "variables"),
    ("observation", "context", "effects", "current"),
    ("observation", "context", "effects", "history"),
    ("observation", "context", "FSM"),
    ("observation", "context", "notebook"),
    ("observation", "context", "outputs_tracking"),
    ("observation", "location", "progress", "stages"),
    ("observation", "location", "progress", "steps"),
    ("observation", "location", "progress", "behaviors"),
    ("observation", "location", "goals"),
    ("behavior_feedback",),
)
REST: Final = "all the rest"
_NBCC: Final = (sys.executable, "-c", "from notebook_bcc.cli.main import main; main()")
_READY: Final = re.compile(r"http://127\.0\.0\.1:\d+")
_HOP_BY_HOP: Final = frozenset({"host", "connection", "transfer-encoding", "keep-alive"})


@dataclass(slots=True)
class Recorder:
    """Passes questions on to `upstream` and keeps the bodies of those that have one, by path."""

    upstream: str
    asked: list[tuple[str, bytes]] = field(default_factory=list)
    client: httpx2.AsyncClient = field(default_factory=lambda: httpx2.AsyncClient(timeout=600.0, trust_env=False))

    @property
    def app(self) -> Starlette:
        return Starlette(routes=[Route("/{path:path}", self._pass_on, methods=["GET", "POST"])])

    async def _pass_on(self, request: Request) -> Response:
        body = await request.body()
        if body:
            self.asked.append((request.url.path, body))
        asked = self.client.build_request(
            request.method, f"{self.upstream}{request.url.path}", content=body, headers=_passed(request.headers.items())
        )
        answer = await self.client.send(asked, stream=True)
        return StreamingResponse(
            answer.aiter_raw(),
            status_code=answer.status_code,
            headers=_passed(answer.headers.items()),
            background=BackgroundTask(answer.aclose),
        )


def _passed(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name: value for name, value in headers if name.lower() not in _HOP_BY_HOP}


def parts_of(body: bytes) -> dict[str, int]:
    """How many bytes of JSON each part of a request takes; they add up to the whole."""
    whole = json.loads(body)
    found = {".".join(path[-2:]): _size(_at(whole, path)) for path in PARTS}
    return {**found, REST: len(body) - sum(found.values())}


def _at(value: Any, path: Sequence[str]) -> Any:  # Any: JSON
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _size(value: Any) -> int:  # Any: JSON
    return 0 if value is None else len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def table_of(asked: Sequence[tuple[str, bytes]]) -> str:
    """The sizes in Markdown, a column for each endpoint: the mean of each part, then mean, median and largest."""
    bodies: Mapping[str, list[bytes]] = defaultdict(list)
    for path, body in asked:
        bodies[path].append(body)
    paths = sorted(bodies, reverse=True)
    lines = [f"| bytes, mean | {' | '.join(paths)} |", "| --- |" + " --- |" * len(paths)]
    parts = {path: [parts_of(body) for body in bodies[path]] for path in paths}
    for name in [".".join(path[-2:]) for path in PARTS] + [REST]:
        means = [statistics.mean(each[name] for each in parts[path]) for path in paths]
        lines.append(f"| `{name}` | " + " | ".join(f"{mean:,.0f}" for mean in means) + " |")
    for name, figure in (("whole", statistics.mean), ("median", statistics.median), ("largest", max)):
        sizes = [figure([len(body) for body in bodies[path]]) for path in paths]
        lines.append(f"| **{name}** | " + " | ".join(f"**{size:,.0f}**" for size in sizes) + " |")
    lines.append("| requests | " + " | ".join(str(len(bodies[path])) for path in paths) + " |")
    return "\n".join(lines)


async def recorded(data: Path, target: str, *, folder: Path) -> tuple[int, list[tuple[str, bytes]]]:
    """Analyse the table through a service; the exit code of the run, and what was asked."""
    with _service() as upstream:
        recorder = Recorder(upstream)
        async with _hosted(recorder.app) as url:
            run = await asyncio.create_subprocess_exec(
                *(*_NBCC, "run", str(data), "--target", target, "--planner", url),
                *("--runs", str(folder), "--confirm", "auto", "--no-verify"),
            )
            code = await run.wait()
        await recorder.client.aclose()
    return code, recorder.asked


@contextlib.contextmanager
def _service() -> Iterator[str]:
    command = [*_NBCC, "serve", "--playbook", "dslc", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout is not None
            yield next(found[0] for line in process.stdout if (found := _READY.search(line)))
        finally:
            process.terminate()


@contextlib.asynccontextmanager
async def _hosted(app: Starlette) -> AsyncIterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off"))
        serving = asyncio.create_task(server.serve([listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await serving


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make payloads", description=__doc__)
    parser.add_argument("name", nargs="?", default="house_prices", help="the table")
    parser.add_argument("--target", default="SalePrice")
    parser.add_argument("--record", type=Path, help="keep every request here, a JSON line each")
    options = parser.parse_args(arguments)
    data = data_folder() / options.name / "train.csv"
    if not data.is_file():
        print(f"SKIPPED: there is no {data}; name the folder of the tables with NBCC_DATA", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory(prefix="nbcc-payloads-") as folder:
        code, asked = asyncio.run(recorded(data, options.target, folder=Path(folder)))
    if options.record is not None:
        lines = (json.dumps({"path": path, "request": json.loads(body)}, ensure_ascii=False) for path, body in asked)
        options.record.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(table_of(asked))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
