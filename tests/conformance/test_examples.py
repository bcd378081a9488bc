"""The planners of docs/write-a-planner.md: each is started as a reader would start it, and carries a workflow out."""

from __future__ import annotations

import asyncio
import contextlib
import re
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.play import play
from notebook_bcc.conformance.kit import run_kit
from notebook_bcc.planners.remote.planner import RemotePlanner
from notebook_bcc.protocol.vocabulary import State

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "planners"
PAGE = ROOT / "docs" / "write-a-planner.md"
PATIENCE = 60.0
NODE = shutil.which("node")

COMMANDS = [
    pytest.param([sys.executable, str(EXAMPLES / "minimal_planner.py")], id="python"),
    pytest.param(
        [NODE or "node", str(EXAMPLES / "minimal_planner.mjs")],
        id="node",
        marks=pytest.mark.skipif(
            NODE is None, reason="NOT TESTED: there is no node on the PATH for minimal_planner.mjs"
        ),
    ),
]


@contextlib.asynccontextmanager
async def started(command: list[str]) -> AsyncIterator[str]:
    """The address that the planner says it listens at."""
    process = await asyncio.create_subprocess_exec(
        *command, "0", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    assert process.stdout is not None
    said = ""
    try:
        async with asyncio.timeout(PATIENCE):
            while not (found := re.search(r"http://127\.0\.0\.1:\d+", said)):
                line = await process.stdout.readline()
                assert line, f"the planner ended: {said}"
                said += line.decode()
            draining = asyncio.create_task(process.stdout.read())
            yield found[0]
    finally:
        process.kill()
        await process.wait()
    await draining


@pytest.mark.anyio
@pytest.mark.parametrize("command", COMMANDS)
async def test_an_example_carries_a_run_to_its_end_and_keeps_the_protocol(command: list[str]) -> None:
    async with started(command) as url:
        planner = RemotePlanner(url)
        played = await play(planner)
        await planner.close()
        report = await run_kit(url)
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert played.sources == ["numbers = [3, 1, 4, 1, 5]", "mean = sum(numbers) / len(numbers)\nprint(mean)"]
    assert played.state.variables["mean"] == 2.8
    assert [row.id for row in report.rows if row.result == "fails"] == []


def test_the_page_shows_the_python_planner_as_it_is() -> None:
    shown = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert shown is not None
    assert shown[1] == (EXAMPLES / "minimal_planner.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["minimal_planner.py", "minimal_planner.mjs"])
def test_an_example_has_about_forty_lines(name: str) -> None:
    lines = (EXAMPLES / name).read_text(encoding="utf-8").splitlines()
    assert sum(bool(line.strip()) for line in lines) <= 45
