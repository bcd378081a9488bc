"""The service beside a plain Starlette application, each in a process of its own behind the same uvicorn.

Ours checks every field of the request, remembers the answer by its request id and counts metrics. One peer reads a dict
and answers; the other one also checks the request, with plain pydantic. There is no limit: the service is good when it
is level. What is compared is the server's own CPU, by its own clock. Of the batches in a round the best counts: what
else runs on the machine comes and goes.
"""

from __future__ import annotations

import http.client
import itertools
import json
import math
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from benchmarks.harness import Bench, Contender, Figures, Row, compare, interleave
from benchmarks.observation import full_request

OURS, PLAIN, VALIDATING = "our service", "starlette", "starlette, body validated"
BATCHES, REQUESTS, STREAMS, AT_ONCE = 10, 48, 60, 16
HEADERS = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class Served:
    """A server in a process of its own."""

    host: str
    port: int
    process: subprocess.Popen[str]

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def cpu_seconds(self) -> float:
        """What its process has spent, by its own clock."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write("cpu\n")
        stdin.flush()
        return float(stdout.readline())


def beside_starlette(bench: Bench) -> list[Row]:
    samples = interleave(
        [
            Contender(OURS, lambda: _measured("ours")),
            Contender(PLAIN, lambda: _measured("starlette")),
            Contender(VALIDATING, lambda: _measured("validating")),
        ],
        rounds=bench.rounds,
    )

    def row(what: str, figure: str, peer: str = PLAIN) -> Row:
        return compare(samples, gate="service", what=what, ours=(OURS, figure), peer=(peer, figure), unit="us")

    size = len(_body(0)) // 1000
    return [
        row(f"/planning with {size} KB on one connection, CPU of the server", "planning_cpu"),
        row("the same, beside a peer that checks the request", "planning_cpu", VALIDATING),
        row(f"/planning on {AT_ONCE} connections at once, CPU of the server", "busy_cpu"),
        row("the same, beside a peer that checks the request", "busy_cpu", VALIDATING),
        row("/planning, from the request to the whole answer", "planning"),
        row("/generating, until the first of 100 lines is here", "first"),
        row("/generating, 100 lines, CPU of the server", "stream_cpu"),
    ]


@contextmanager
def served(kind: str) -> Iterator[Served]:
    """One of `service_process.KINDS`, as long as the context lasts."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-m", "benchmarks.service_process", kind]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        host, _, port = process.stdout.readline().strip().removeprefix("http://").partition(":")
        if not port:
            raise AssertionError(f"the server {kind!r} did not start")
        try:
            yield Served(host, int(port), process)
        finally:
            process.terminate()


def _measured(kind: str) -> Figures:
    """In microseconds of one request: `planning` and its `_cpu`; `first` line and the CPU of a whole stream."""
    with served(kind) as server:
        connection = http.client.HTTPConnection(server.host, server.port, timeout=60)
        for number in range(20):
            _first_line(connection, _body(-number - 100))
        figures = {"planning_cpu": math.inf, "planning": math.inf, "busy_cpu": math.inf, "stream_cpu": math.inf}
        firsts: list[float] = []
        numbers = itertools.count(1)

        def note(name: str, value: float, count: int) -> None:
            figures[name] = min(figures[name], value * 1e6 / count)

        with _connections(server) as many:
            _plan_at_once(many, [_body(-number) for number in range(REQUESTS)])
            for _ in range(BATCHES):
                bodies = [_body(next(numbers)) for _ in range(2 * REQUESTS)]
                begin, spent = time.perf_counter(), server.cpu_seconds()
                _plan_at_once(many[:1], bodies[:REQUESTS])
                note("planning_cpu", server.cpu_seconds() - spent, REQUESTS)
                note("planning", time.perf_counter() - begin, REQUESTS)
                spent = server.cpu_seconds()
                _plan_at_once(many, bodies[REQUESTS:])
                note("busy_cpu", server.cpu_seconds() - spent, REQUESTS)
                spent = server.cpu_seconds()
                streams = STREAMS // BATCHES
                firsts += [_first_line(connection, _body(next(numbers))) for _ in range(streams)]
                note("stream_cpu", server.cpu_seconds() - spent, streams)
        figures["first"] = min(firsts) * 1e6
        connection.close()
    return figures


@contextmanager
def _connections(server: Served) -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        made = [stack.enter_context(socket.create_connection((server.host, server.port))) for _ in range(AT_ONCE)]
        for one in made:
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield made


def _plan_at_once(connections: list[socket.socket], bodies: list[bytes]) -> None:
    """Every connection has a request under way all the time. Each is sent in one piece, as load programs send it."""
    head = "POST /planning HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"
    sent = [head.format(len(body)).encode() + body for body in bodies]
    for number in range(len(sent) + len(connections)):
        connection = connections[number % len(connections)]
        if number >= len(connections):
            _take_answer(connection)
        if number < len(sent):
            connection.sendall(sent[number])


def _take_answer(connection: socket.socket) -> None:
    got = b""
    while b"\r\n\r\n" not in got:
        got += connection.recv(65536)
    answer, _, body = got.partition(b"\r\n\r\n")
    if not answer.startswith(b"HTTP/1.1 200"):
        raise AssertionError(f"no judgement: {answer!r}")
    length = int(answer.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65536)
    if json.loads(body)["targetAchieved"] is not False:
        raise AssertionError(f"no judgement: {body!r}")


def _body(number: int) -> bytes:
    """A filtered observation of 20 KB, under an id of its own: a service that remembers must not answer from memory."""
    request = full_request(variables=12, effects=8, cells=8, moves=12, done=(1, 2, 4))
    request["options"] = {"stream": True, "run_id": "bench", "request_id": f"request-{number}", "attempt": 1}
    return json.dumps(request, ensure_ascii=False).encode()


def _first_line(connection: http.client.HTTPConnection, body: bytes) -> float:
    begin = time.perf_counter()
    connection.request("POST", "/generating", body, HEADERS)
    response = connection.getresponse()
    first = response.readline()
    seconds = time.perf_counter() - begin
    lines = [first, *response.read().splitlines()]
    if len(lines) != 100 or json.loads(first)["action"]["action"] != "add":
        raise AssertionError(f"not the lines that were expected: {len(lines)}, {first!r}")
    return seconds
