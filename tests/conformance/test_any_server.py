"""Whatever a server says, the kit ends with a report: servers that answer at random, from the protocol's own words."""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.responses import Response

from conformance.broken_servers import Json, Sound
from conformance.hosting import hosted
from notebook_bcc.conformance.caller import KitLimits
from notebook_bcc.conformance.kit import CHECKS, run_kit

_TEXT = (
    "targetAchieved target_achieved transition continue_behaviors next_stage_id next_step_id context_update variables "
    "workflow_update stages steps id stage_id stage_steps_update updated_steps progress_update level focus behaviors "
    "todo_list_update operation items context_filter variables_to_summarize outputs_tracking expected_variables "
    "promotions variable artifact_id a@b effects_config patterns include (a+)+$ behavior metadata warning actions "
    "action add exec codecell_id content end_phase update_workflow updated_workflow load look work"
)
WORDS = _TEXT.split()
PLAIN = [None, True, False, 0, -1, 1e308, 10**30, "", "x" * 50, "\ud800"]


class Random(Sound):
    """Sound, but for what chance changes."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.chance = random.Random(seed)

    def judged(self, data: Json, request: Json) -> Response:
        answer = self.changed(data) if self.chance.random() < 0.3 else data
        status = self.chance.choice([200] * 30 + [500, 404, 302])
        return Response(json.dumps(answer), status, media_type="application/json")

    def actions(self, request: Json) -> list[Any]:
        changed = self.changed(super().actions(request))
        return changed if isinstance(changed, list) else [changed]

    def lines(self, actions: list[Any]) -> Iterator[bytes]:
        for action in actions:
            if self.chance.random() < 0.1:
                yield self.chance.randbytes(20)
            yield json.dumps({"action": action}).encode() + b"\n"

    def changed(self, value: Any) -> Any:  # Any: JSON
        if self.chance.random() < 0.12:
            return self.anything(0)
        if isinstance(value, list):
            return [self.changed(each) for each in value]
        if not isinstance(value, dict):
            return value
        kept = {name: self.changed(each) for name, each in value.items() if self.chance.random() > 0.04}
        return kept | ({self.chance.choice(WORDS): self.anything(2)} if self.chance.random() < 0.25 else {})

    def anything(self, depth: int) -> Any:  # Any: JSON
        kind = self.chance.random()
        if depth > 4 or kind < 0.25:
            return self.chance.choice([*PLAIN, self.chance.choice(WORDS)])
        if kind < 0.8:
            return {self.chance.choice(WORDS): self.anything(depth + 1) for _ in range(self.chance.randrange(5))}
        return [self.anything(depth + 1) for _ in range(self.chance.randrange(4))]


@pytest.mark.anyio
@pytest.mark.parametrize("seed", range(12))
async def test_a_server_that_answers_at_random_gets_a_whole_report(seed: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    async with hosted(Random(seed).app) as url:
        report = await run_kit(url, limits=KitLimits(behaviors_per_step=5, turns=100))
    assert [row.id for row in report.rows] == [check.id for check in CHECKS]
    assert all(row.reason for row in report.rows if row.result != "holds")
