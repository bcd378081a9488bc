"""Requests are checked quickly or in full: nobody outside can tell which."""

from __future__ import annotations

import json
from typing import Any

import pytest

from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.protocol.deferred import DEEPEST, was_read
from notebook_bcc.protocol.messages import Request
from server.living import Json, body, service

pytestmark = pytest.mark.anyio


def changed(**location: Any) -> Json:
    """Any: JSON."""
    sent = body()
    sent["observation"]["location"] |= location
    return sent


def deep(levels: int) -> bytes:
    value = b"[" * levels + b"]" * levels
    return (
        json.dumps(body()).encode().replace(b'"location"', b'"context": {"variables": {"v": %b}}, "location"' % value)
    )


BODIES = [
    json.dumps(body()).encode(),
    json.dumps(body(ids=("run", "one"))).encode(),
    json.dumps(body(ids=("run", "one"))).encode(),
    json.dumps({**body(), "x_new": {"kept": [1]}}).encode(),
    json.dumps(changed(current={"current_step_id": "t", "behavior_iteration": "3"})).encode(),
    json.dumps(changed(current={"behavior_iteration": "many"})).encode(),
    json.dumps(changed(current={"behavior_iteration": None})).encode(),
    json.dumps(changed(progress=None)).encode(),
    json.dumps(changed(progress={"stages": {"completed": ["a", {"id": "b"}, 3]}})).encode(),
    json.dumps({"observation": {}}).encode(),
    b'{"observation": {"location": {"current": {}, "progress": {}}}, "options": {"attempt": NaN}}',
    b'{"observation": {"location": {"current": {"stage_id": "\xff"}, "progress": {}}}}',
    b'{"observation": {"location": {"current": {"stage_id": "\\ud800"}, "progress": {}}}}',
    b"[1]",
    b"",
    b"{",
    deep(5),
    deep(20),
    deep(190),
    deep(300),
    deep(100_000),
]


def seen_by(seen: list[str]) -> CallablePlanner:
    def plan(request: Request) -> Json:
        seen.append(request.to_json().decode())
        return {"targetAchieved": False, "context_update": {"variables": {"asked": len(seen)}}}

    return CallablePlanner(plan=plan, generate=lambda _: [])


async def answers(seen: list[str], **settings: Any) -> list[tuple[int, Json, str | None]]:
    """Status, body and mark of each answer. Any: the fields of ServerSettings."""
    found: list[tuple[int, Json, str | None]] = []
    async with service(seen_by(seen), **settings) as client:
        for sent in BODIES:
            answer = await client.post("/planning", content=sent, headers={"Content-Type": "application/json"})
            found.append((answer.status_code, answer.json(), answer.headers.get("idempotent-replayed")))
    return found


async def test_the_quick_check_and_the_full_one_answer_alike() -> None:
    quickly: list[str] = []
    in_full: list[str] = []
    # No text of these bodies is longer; but a body that is, is not for the quick check.
    assert await answers(quickly) == await answers(in_full, string_bytes=60)
    assert quickly == in_full
    assert len(quickly) > 5


async def test_a_planner_that_does_not_read_is_given_requests_that_were_checked_only() -> None:
    seen: list[bool] = []

    def plan(request: Request) -> Json:
        seen.append(was_read(request))
        # From the fourth on it reads.
        assert len(seen) < 4 or request.observation.location.current.step_id == "t"
        return {}

    async with service(CallablePlanner(plan=plan, generate=lambda _: [])) as client:
        for number in range(210):
            assert (await client.post("/planning", json=body(ids=("run", str(number))))).status_code == 200
    assert seen[:4] == [False] * 4
    assert seen.count(False) < 10, "once it reads, requests are checked in full, but for a try now and then"
    assert not all(seen[5:]), "it is tried again"


async def test_a_limit_of_depth_that_the_quick_check_cannot_keep_turns_it_off() -> None:
    shallow = DEEPEST - 26
    async with service(seen_by([]), json_depth=shallow) as client:
        answer = await client.post("/planning", content=deep(5), headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "too_deep")
