"""Long work tells how far it is: people see it, and nothing keeps it."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.play import AUTO, one_step, run_code
from notebook_bcc.cli.view.plain import JsonView, PlainView
from notebook_bcc.engine.runner import Runner
from notebook_bcc.journal.encoding import encode_record
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import RunStarted
from notebook_bcc.kernel.interface import Execution, KernelUsage
from notebook_bcc.kernel.local.kernel import LocalKernel
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.lifecycle.verify import SecondsLeft
from notebook_bcc.protocol.cells import Output
from notebook_bcc.protocol.progress import PROGRESS_MIME, WorkProgress, progress_of
from notebook_bcc.views.words import Words

TOLD = WorkProgress(what="fold", done=3, of=10, seconds_left=42.5, memory_bytes=512_000_000, cpu_percent=97.0)
SOURCE = f"""
from IPython.display import display
print("before")
for done in range(3):
    display({{"{PROGRESS_MIME}": {{"what": "fold", "done": done, "of": 3}}}}, raw=True)
display({{"{PROGRESS_MIME}": "no message"}}, raw=True)
print("after")
"""


@pytest.mark.anyio
async def test_what_a_cell_says_of_its_progress_is_heard_and_stands_nowhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="notebook_bcc.engine.runner")
    heard: list[WorkProgress] = []
    journal, kernel = MemoryJournal(), LocalKernel(cwd=tmp_path)
    planner = one_step(run_code(SOURCE))
    runner = Runner(planner=planner, kernel=kernel, journal=journal, on_progress=heard.append)
    await runner.begin(RunStarted(run_id="run", policies=AUTO))
    try:
        async with asyncio.timeout(60):
            async for _ in runner.run():
                pass
    finally:
        await kernel.close()
    assert heard == [WorkProgress(what="fold", done=done, of=3) for done in range(3)]
    (cell,) = runner.state.document.cells
    assert [output["text"] for output in cell.outputs] == ["before\nafter\n"]
    kept = b"".join([encode_record(entry.record) async for entry in journal.read()])
    # Once as the planner sent it and once as the cell has it: the sources name the type, no output does.
    assert kept.count(PROGRESS_MIME.encode()) == 2 * SOURCE.count(PROGRESS_MIME)
    assert PROGRESS_MIME not in str(runner.state.effects)
    assert 'progress: {"what":"fold","done":2,"of":3}' in caplog.text


def test_a_line_for_people_says_what_is_known() -> None:
    assert Words("en").progress(TOLD) == "fold: 3 of 10, about 40 s left, 512 MB, CPU 97%"
    assert Words("zh").progress(TOLD).startswith("fold: 3/10")
    assert Words("en").progress(WorkProgress(what="a\x1b[2J\nb", done=7)) == "a [2J b: 7"
    assert Words("en").progress(WorkProgress(what="x" * 10_000)) == "x" * 80


def test_a_plain_view_says_it_now_and_then() -> None:
    out, now = io.StringIO(), [100.0]
    view = PlainView(Words("en"), out=out, clock=lambda: now[0])
    for done in range(5):
        view.progress(WorkProgress(what="fold", done=done))
    now[0] += 31
    view.progress(WorkProgress(what="fold", done=9))
    view.progress(WorkProgress(what="tree", done=1))
    assert [line.strip() for line in out.getvalue().splitlines()] == ["fold: 0", "fold: 9", "tree: 1"]


def test_machines_get_the_message_and_the_verification_in_the_same_form(capsys: pytest.CaptureFixture[str]) -> None:
    view = JsonView()
    view.progress(TOLD)
    view.verifying(2, 5, SecondsLeft(cell=1.0, after=2.5))
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first == {"kind": "progress", **TOLD.to_dict()}
    assert second == {"kind": "progress", "what": "verify", "done": 1, "of": 5, "seconds_left": 3.5}


@pytest.mark.parametrize("value", ["text", {"done": 1}, {"what": "x", "done": -1}, None, [1]])
def test_what_is_no_message_is_not_heard(value: object) -> None:
    assert progress_of({"output_type": "display_data", "data": {PROGRESS_MIME: value}}) is None


class Slow(ScriptedKernel):
    """Implements `MeasuredKernel`: a silent cell ends when it was measured twice; each time the clock has moved on."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 100.0
        self.measured = 0
        self._twice = asyncio.Event()

    async def execute(
        self, source: str, *, time_limit: float | None = None, on_output: Callable[[Output], None] | None = None
    ) -> Execution:
        self.now += 12
        await self._twice.wait()
        return await super().execute(source, time_limit=time_limit, on_output=on_output)

    async def usage(self) -> KernelUsage:
        self.measured += 1
        usage = KernelUsage(memory_bytes=500_000_000, cpu_seconds=6.0 * self.measured)
        if self.measured == 1:
            self.now += 10
        else:
            self._twice.set()
        return usage


@pytest.mark.anyio
async def test_a_silent_cell_is_told_of_with_its_time_its_memory_and_its_share_of_a_processor() -> None:
    heard: list[WorkProgress] = []
    journal, kernel = MemoryJournal(), Slow()
    runner = Runner(
        planner=one_step(run_code("x = 1")),
        kernel=kernel,
        journal=journal,
        timer=lambda: kernel.now,
        on_progress=heard.append,
    )
    await runner.begin(RunStarted(run_id="run", policies=AUTO))
    async with asyncio.timeout(60):
        async for _ in runner.run():
            pass
    first, second = heard
    assert first.what == second.what == f"cell {next(iter(runner.state.document.cells)).id}"
    assert (first.seconds, first.memory_bytes, first.cpu_percent) == (12.0, 500_000_000, None)
    assert (second.seconds, second.cpu_percent) == (22.0, 60.0)
    assert Words("en").progress(second).endswith(": 22 s so far, 500 MB, CPU 60%")
    assert not any(b"500000000" in encode_record(entry.record) for entry in [one async for one in journal.read()])
