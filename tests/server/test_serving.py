"""The service on sockets and in processes: two workers, addresses, the end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from engine.play import play
from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.planners.interface import Generated, Planner
from notebook_bcc.planners.remote.planner import RemotePlanner
from notebook_bcc.planners.script.file import parse_script
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.protocol.messages import PlanningResponse, Request
from notebook_bcc.protocol.vocabulary import State
from notebook_bcc.server.app import build_app
from notebook_bcc.server.serving import serve
from notebook_bcc.server.settings import ServerSettings
from server.living import PATIENCE, TOKEN, Counting, action, body, service

pytestmark = pytest.mark.anyio

SCRIPT = """
stages:
  - id: one
    steps:
      - id: load
        expected_outputs: [x]
        behaviors:
          - actions: [{chapter: First}, {code: x = 1}]
            expected: [x]
          - actions: [{text: Größe 漢字}, {code: print(x)}]
      - id: go
        behaviors:
          - actions: [{code: x +}]
            on_error: [{code: print("recovered")}]
  - id: two
    steps:
      - id: end
        expected_outputs: [y]
        behaviors:
          - actions: [{title: Done}, {code: y = x + 1}]
            expected: [y]
"""


@contextlib.asynccontextmanager
async def worker(script: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """A service in a process of its own, and its address."""
    command = [sys.executable, str(Path(__file__).with_name("worker.py")), str(script)]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        async with asyncio.timeout(60):
            yield process, (await process.stdout.readline()).decode().strip()
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


class Alternating:
    """A balancer: every question goes to the next one."""

    name = "alternating"

    def __init__(self, *planners: Planner) -> None:
        self._planners = planners
        self.asked = 0

    def _next(self) -> Planner:
        self.asked += 1
        return self._planners[self.asked % len(self._planners)]

    async def plan(self, request: Request) -> PlanningResponse:
        return await self._next().plan(request)

    async def generate(self, request: Request, *, fallback: bool = False) -> AsyncIterator[Generated]:
        async for item in self._next().generate(request, fallback=fallback):
            yield item

    async def repair(self, request: Request) -> str | None:
        return await self._next().repair(request)

    async def close(self) -> None:
        for planner in self._planners:
            await planner.close()


async def test_two_workers_that_take_turns_give_the_notebook_of_a_run_in_process(tmp_path: Path) -> None:
    inside = await play(ScriptedPlanner.from_script(parse_script(SCRIPT)))
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT, encoding="utf-8")
    async with worker(script) as (_, first), worker(script) as (_, second):
        assert first != second
        turns = Alternating(RemotePlanner(first), RemotePlanner(second))
        outside = await play(turns)
        await turns.close()
    assert outside.state.fsm is State.WORKFLOW_COMPLETED
    assert turns.asked > 10
    assert outside.state.document == inside.state.document
    assert outside.events == inside.events


async def test_two_workers_answer_the_same_request_alike_and_each_remembers_its_own(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT, encoding="utf-8")
    sent = body(stream=True, ids=("run", "1"))
    sent["observation"]["location"]["current"] = {"stage_id": "one", "step_id": "load", "behavior_iteration": 1}
    async with worker(script) as (_, first), worker(script) as (_, second), httpx2.AsyncClient(timeout=60) as client:
        answers = [await client.post(f"{at}/generating", json=sent) for at in (first, second, first, second)]
    assert len({answer.text for answer in answers}) == 1
    assert ["idempotent-replayed" in answer.headers for answer in answers] == [False, False, True, True]


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_service_also_while_a_connection_is_open(tmp_path: Path, end: signal.Signals) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT, encoding="utf-8")
    async with worker(script) as (process, address), httpx2.AsyncClient(timeout=60) as client:
        assert (await client.get(f"{address}/health")).status_code == 200
        os.kill(process.pid, end)
        await process.wait()


@contextlib.asynccontextmanager
async def stopped_while_asked(path: str, *, grace: float) -> AsyncIterator[tuple[asyncio.Event, asyncio.Task[Any]]]:
    """A service that is told to stop while its planner works: the event lets the planner go on."""
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def plan(request: Request) -> dict[str, Any]:
        begun.set()
        await go_on.wait()
        return {}

    async def generate(request: Request) -> AsyncIterator[dict[str, Any]]:
        yield action(1)
        await plan(request)

    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    app = build_app(CallablePlanner(plan=plan, generate=generate), ServerSettings(port=0))
    serving = asyncio.create_task(serve(app, ready=address.set_result, grace=grace))
    async with asyncio.timeout(PATIENCE), httpx2.AsyncClient(base_url=await address, timeout=PATIENCE) as client:
        asked = asyncio.create_task(client.post(path, json=body(stream=True)))
        await begun.wait()
        serving.cancel()
        yield go_on, asked
        await asyncio.wait({serving})


async def test_an_answer_under_way_is_given_before_the_service_ends() -> None:
    async with stopped_while_asked("/planning", grace=PATIENCE) as (go_on, asked):
        go_on.set()
        assert (await asked).status_code == 200


async def test_a_client_whose_answer_takes_longer_than_the_grace_is_told_so(caplog: pytest.LogCaptureFixture) -> None:
    async with stopped_while_asked("/planning", grace=0.1) as (_, asked):
        answer = await asked
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "interrupted")
    assert "Traceback" not in caplog.text


async def test_a_stream_that_takes_longer_than_the_grace_is_broken() -> None:
    async with stopped_while_asked("/generating", grace=0.1) as (_, asked):
        with pytest.raises(httpx2.RemoteProtocolError):
            await asked


@pytest.mark.parametrize("anyio_backend", [("asyncio", {"use_uvloop": True})], ids=["uvloop"])
async def test_the_service_answers_on_another_event_loop_just_as_well(anyio_backend: object) -> None:
    sent = body(stream=True, ids=("run", "1"))
    async with service(Counting().planner) as client:
        assert type(asyncio.get_running_loop()).__module__ == "uvloop"
        planned = await client.post("/planning", json=sent)
        streamed = await client.post("/generating", json=sent)
    assert planned.json()["context_update"]["variables"] == {"asked": 1}
    assert len(streamed.text.splitlines()) == 3


async def test_a_port_that_is_taken_is_an_error_that_names_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SettingsInvalid, match=f"port {port}"):
            await serve(build_app(Counting().planner, ServerSettings(port=port)))


async def test_an_address_that_is_not_ours_is_an_error_too() -> None:
    with pytest.raises(SettingsInvalid, match="cannot listen"):
        await serve(build_app(Counting().planner, ServerSettings(host="192.0.2.1", token=TOKEN)))


async def test_it_listens_on_ipv6_and_on_all_addresses_with_a_token() -> None:
    async with service(Counting().planner, host="::1") as client:
        assert str(client.base_url).startswith("http://[::1]:")
        assert (await client.post("/planning", json=body())).status_code == 200
    async with service(Counting().planner, host="0.0.0.0", token=TOKEN) as client:
        headers = {"host": "any.name", "authorization": f"Bearer {TOKEN}"}
        assert (await client.post("/planning", json=body())).status_code == 401
        assert (await client.post("/planning", json=body(), headers=headers)).status_code == 200


async def test_neither_the_program_nor_its_version_stands_in_the_headers() -> None:
    async with service(Counting().planner) as client:
        answer = await client.get("/health")
    assert "server" not in answer.headers
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"


def test_whoever_runs_no_service_does_not_import_its_framework() -> None:
    """The other commands must not wait for it."""
    code = "import sys, notebook_bcc.cli.run; print({'starlette', 'uvicorn'} & {*sys.modules})"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert found.stdout.strip() == "set()"
