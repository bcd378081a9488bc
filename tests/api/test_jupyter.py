"""The front door inside a notebook: in a cell of a real kernel, where an event loop is running already."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import notebook_bcc as nb
from api.test_api import wait_until, write_slow
from notebook_bcc.kernel.interface import Execution
from notebook_bcc.kernel.local.kernel import LocalKernel

pytestmark = pytest.mark.anyio


@pytest.fixture
async def kernel(place: Path) -> AsyncIterator[LocalKernel]:
    kernel = LocalKernel(cwd=place)
    await kernel.start()
    try:
        yield kernel
    finally:
        await kernel.close()


def shown(execution: Execution, kind: str) -> list[dict[str, Any]]:
    assert execution.error is None, execution.error
    return [output["data"] for output in execution.outputs if output["output_type"] == kind]


async def test_a_cell_shows_progress_in_place_and_then_the_run(kernel: LocalKernel) -> None:
    done = await kernel.execute('import notebook_bcc as nb\nnb.run("words.yaml", run_id="cell", name="<i>")')
    # One output that was updated, and the run itself.
    (progress,) = shown(done, "display_data")
    assert "<progress" in progress["text/html"]
    assert "1/1" in progress["text/html"]
    (result,) = shown(done, "execute_result")
    assert "<strong>Counting words</strong>" in result["text/html"]
    assert 'href="nbcc-runs/cell/report.html"' in result["text/html"]
    assert result["text/plain"] == "<Run cell: completed>"


async def test_async_cells_await_a_run(kernel: LocalKernel) -> None:
    code = (
        'import notebook_bcc as nb\nrun = await nb.arun("words.yaml", verify=False, progress=False)\nprint(run.status)'
    )
    done = await kernel.execute(code)
    assert done.error is None
    assert [output["text"] for output in done.outputs] == ["completed\n"]


async def test_the_magic_takes_the_options_of_the_command_line(kernel: LocalKernel, place: Path) -> None:
    assert (await kernel.execute("%load_ext notebook_bcc")).error is None
    done = await kernel.execute("%nbcc run words.yaml --id magic --no-verify --quiet")
    (result,) = shown(done, "execute_result")
    assert result["text/plain"] == "<Run magic: completed>"
    assert nb.open("magic").verified is None
    listed = await kernel.execute("%nbcc list")
    assert any("magic" in str(output.get("text")) for output in listed.outputs)
    # What was typed is said as it was typed.
    stray = await kernel.execute("%nbcc run words.yaml --target y")
    assert stray.error is not None
    assert stray.error.message.startswith("--target is for a run that begins with data")
    # A frame is called by its name.
    refused = await kernel.execute("import pandas\nempty = pandas.DataFrame({'a': []})\n%nbcc run empty --target a")
    assert refused.error is not None
    assert refused.error.name == "RunRefused"
    assert "nothing to analyse" in refused.error.message


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("run --nope", "UsageError: No such option: --nope"),
        ("run words.yaml --lang fr", "UsageError: Invalid value for '--lang': 'fr' is not one of 'en', 'zh'."),
        ("run words.yaml --max-actions many", "UsageError: Invalid value for '--max-actions': must be a whole number"),
        ("run 'words.yaml", "UsageError: No closing quotation"),
    ],
)
async def test_a_line_that_makes_no_sense_is_told_in_one_line(kernel: LocalKernel, line: str, problem: str) -> None:
    assert (await kernel.execute("%load_ext notebook_bcc")).error is None
    done = await kernel.execute(f"%nbcc {line}")
    assert [str(output.get("text")).strip() for output in done.outputs] == [problem]


async def test_the_stop_button_pauses_the_run(kernel: LocalKernel, place: Path) -> None:
    started, go = write_slow(place)
    told = place / "told.txt"
    await kernel.execute(f"import sys\nimport notebook_bcc as nb\nsys.stderr = open({str(told)!r}, 'w', buffering=1)")
    cell = asyncio.create_task(kernel.execute('nb.run("slow.yaml", run_id="slow")'))
    await asyncio.to_thread(wait_until, started)
    await kernel.interrupt()
    await asyncio.to_thread(wait_until, told, "pausing after the current action")
    go.touch()
    done = await cell
    assert done.error is not None
    assert done.error.name == "KeyboardInterrupt"
    assert "run slow is paused; go on with nb.open('slow').resume()" in done.error.message
    again = await kernel.execute("nb.open('slow').resume(verify=False).status")
    (result,) = shown(again, "execute_result")
    assert result["text/plain"] == "'completed'"
