"""A run whose plan names deliverables is answered when they were made; without any the planner's word counts."""

from __future__ import annotations

import pytest

from engine.play import AUTO, play, run_code, scripted, workflow
from notebook_bcc.journal.records import RunStopped
from notebook_bcc.planners.script.values import Behavior

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("deliverables", "stopped"),
    [
        (None, RunStopped(reason="completed")),
        ((), RunStopped(reason="completed")),
        (("a",), RunStopped(reason="completed", answered="yes")),
        (("a", "model"), RunStopped(reason="completed", answered="no", detail="not made: model")),
    ],
)
async def test_a_completed_run_says_whether_its_deliverables_were_made(
    deliverables: tuple[str, ...] | None, stopped: RunStopped
) -> None:
    plan = workflow("one").model_copy(update={"deliverables": deliverables})
    played = await play(scripted(plan, {"one": [Behavior(actions=run_code("a = 1"))]}), policies=AUTO)
    assert played.state.stopped == stopped
