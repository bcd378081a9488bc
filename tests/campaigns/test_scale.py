"""Long runs: they finish, on a stack that does not grow, with observations that do not grow."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from engine.play import one_step, play
from notebook_bcc.engine.actions.context import ActionContext
from notebook_bcc.engine.actions.registry import ActionRegistry
from notebook_bcc.kernel.local.kernel import LocalKernel
from notebook_bcc.protocol.actions import Action
from notebook_bcc.protocol.limits import Limits
from notebook_bcc.protocol.vocabulary import State

pytestmark = pytest.mark.anyio
NO_LIMITS = Limits(actions_per_behavior=0, behaviors_per_step=0)


def depth() -> int:
    frame, count = sys._getframe(), 0
    while frame.f_back is not None:
        frame, count = frame.f_back, count + 1
    return count


async def test_ten_thousand_actions_finish_on_a_stack_of_constant_depth() -> None:
    registry, depths = ActionRegistry(), set()

    def measure(context: ActionContext, action: Action) -> None:
        depths.add(depth())

    registry.add_pre_hook(measure)
    actions = [{"action": "add", "content": f"text {number}"} for number in range(10_000)]
    played = await play(one_step(actions), limits=NO_LIMITS, registry=registry)
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert len(played.state.document.cells) == 10_000
    assert len(depths) <= 2, f"the stack grew: {sorted(depths)}"
    assert len(played.planner.planned[-1].to_json()) < 50_000


async def test_a_thousand_cells_are_executed_in_a_real_kernel(tmp_path: Path) -> None:
    actions: list[Any] = []
    for number in range(1_000):
        actions += [
            {"action": "add", "shot_type": "action", "content": f"total = {number}\nprint(total)"},
            {"action": "exec", "codecell_id": "lastAddedCellId"},
        ]
    kernel = LocalKernel(cwd=tmp_path)
    try:
        played = await play(one_step(actions), limits=NO_LIMITS, kernel=kernel)
    finally:
        await kernel.close()
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert played.state.kernel.variables == {"total": 999}
    texts = [cell.outputs[0]["text"] for cell in played.state.document.cells]
    assert texts == [f"{number}\n" for number in range(1_000)]
