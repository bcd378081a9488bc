"""A kernel brought back to where the journal says it was."""

from __future__ import annotations

from typing import Any

import pytest

from engine.play import one_step, play, run_code
from notebook_bcc.engine.rebuilding import bring_up
from notebook_bcc.journal.records import CellRerun, KernelRebuilt, KernelStarted
from notebook_bcc.kernel.interface import Execution
from notebook_bcc.kernel.scripted import ScriptedKernel

pytestmark = pytest.mark.anyio


async def test_a_cell_that_ran_twice_is_compared_at_its_last_run_only() -> None:
    counts = [
        {"action": "add", "shot_type": "action", "content": "n += 1\nprint(n)", "store_id": "count"},
        {"action": "exec", "codecell_id": "count"},
        {"action": "exec", "codecell_id": "count"},
    ]
    played = await play(one_step([*run_code("n = 0"), *counts]))
    records = [record async for batch in bring_up(ScriptedKernel(), played.state) for record in batch]
    assert isinstance(records[0], KernelStarted)
    reruns = [one for one in records if isinstance(one, CellRerun)]
    assert [(one.cell_id, one.index, one.of, one.same_outputs) for one in reruns[1:]] == [
        ("count", 2, 3, True),
        ("count", 3, 3, True),
    ]
    assert isinstance(records[-1], KernelRebuilt)
    assert (records[-1].differences, records[-1].variables, records[-1].execution_count) == ((), {"n": 2}, 3)


async def test_another_output_of_the_last_run_is_a_difference() -> None:
    played = await play(one_step(run_code("print('before')")))
    now: dict[str, Any] = {"output_type": "stream", "name": "stdout", "text": "now\n"}
    kernel = ScriptedKernel(lambda source: Execution(outputs=(now,)))
    records = [record async for batch in bring_up(kernel, played.state) for record in batch]
    (rerun,) = [one for one in records if isinstance(one, CellRerun)]
    assert (rerun.success, rerun.same_outputs) == (True, False)
    assert isinstance(records[-1], KernelRebuilt)
    assert records[-1].differences == (f"cell {rerun.cell_id}: {rerun.difference}",)
