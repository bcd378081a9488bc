"""What is remembered, and for how long."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest

from notebook_bcc.protocol.messages import Request
from notebook_bcc.server.answers import Answer, Parts
from notebook_bcc.server.memory import Memory, key_of
from notebook_bcc.server.settings import ServerSettings
from server.living import Counting, body, service, until

pytestmark = pytest.mark.anyio


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def parts(size: int, failure: Exception | None) -> Parts:
    yield b"x" * size
    if failure is not None:
        raise failure


async def endless() -> Parts:
    while True:
        yield b"x"
        await asyncio.Event().wait()


async def ask(memory: Memory, name: str, size: int = 10, *, failure: Exception | None = None) -> tuple[Answer, bool]:
    """Answer and wait until it has ended."""
    answer, known = memory.answer(("/planning", "run", name), lambda: parts(size, failure))
    await answer.wait()
    return answer, known


async def test_no_more_answers_are_kept_than_allowed_and_the_least_used_go_first() -> None:
    memory = Memory(ServerSettings(remembered_answers=2), clock=Clock())
    for name in ("a", "b"):
        await ask(memory, name)
    assert (await ask(memory, "a"))[1]
    await ask(memory, "c")
    assert len(memory) == 2
    assert (await ask(memory, "a"))[1]
    assert not (await ask(memory, "b"))[1]


async def test_no_more_bytes_are_kept_than_allowed() -> None:
    memory = Memory(ServerSettings(remembered_bytes=100), clock=Clock())
    for name in "abcdef":
        await ask(memory, name, 30)
    assert (len(memory), memory.kept_bytes) == (3, 90)
    await ask(memory, "huge", 101)
    assert (len(memory), memory.kept_bytes) == (0, 0)


async def test_an_answer_is_forgotten_when_nobody_asked_for_it_for_long() -> None:
    clock = Clock()
    memory = Memory(ServerSettings(remembered_seconds=100), clock=clock)
    await ask(memory, "a")
    await ask(memory, "b")
    clock.now = 60
    assert (await ask(memory, "a"))[1]
    clock.now = 120
    assert (await ask(memory, "a"))[1]
    assert not (await ask(memory, "b"))[1]


async def test_an_answer_that_takes_the_place_of_one_too_old_is_counted_once() -> None:
    clock = Clock()
    memory = Memory(ServerSettings(remembered_seconds=100), clock=clock)
    await ask(memory, "a", 30)
    clock.now = 101
    assert not (await ask(memory, "a", 20))[1]
    assert (len(memory), memory.kept_bytes) == (1, 20)


async def test_a_failure_is_not_remembered() -> None:
    memory = Memory(ServerSettings(), clock=Clock())
    failed, _ = await ask(memory, "a", failure=ValueError("no"))
    assert isinstance(failed.failure, ValueError)
    assert not (await ask(memory, "a"))[1]
    assert (await ask(memory, "a"))[1]


async def test_closing_stops_what_is_under_way() -> None:
    memory = Memory(ServerSettings(), clock=Clock())
    answer, _ = memory.answer(None, endless)
    named, _ = memory.answer(("/planning", "run", "a"), endless)
    await until(lambda: bool(answer.parts and named.parts))
    begun, _ = memory.answer(("/planning", "run", "b"), endless)
    await memory.close()
    assert begun.ended
    assert answer.ended
    assert named.ended
    assert len(memory) == 0


@pytest.mark.parametrize("ids", [{"run_id": "r"}, {"request_id": "1"}, {"run_id": "", "request_id": "1"}])
def test_only_a_request_with_both_ids_has_a_key(ids: dict[str, str]) -> None:
    asked = {**body(), "options": {"run_id": "r", "request_id": "1"}}
    assert key_of("/planning", Request.parse(asked)) is not None
    assert key_of("/planning", Request.parse({**asked, "options": ids})) is None


@pytest.mark.parametrize("path", ["/planning", "/generating", "/v1/reflection"])
async def test_another_question_under_a_known_id_is_planned(path: str) -> None:
    """A run of the same id, begun anew or by somebody else, must not get the answers of the first one."""
    counting = Counting()
    sent = body(ids=("nightly", "nightly.1"))
    other = copy.deepcopy(sent)
    other["observation"]["location"]["goals"] = {"workflow": "something else"}
    async with service(counting.planner) as client:
        first = await client.post(path, json=sent)
        second = await client.post(path, json=other)
        again = await client.post(path, json=sent)
    assert len(counting.asked) == 2
    assert "idempotent-replayed" not in second.headers
    assert second.text != first.text
    assert again.text == first.text


@pytest.mark.parametrize("changed", [{"attempt": 2}, {"protocol_version": "1.9"}])
async def test_what_the_options_say_besides_makes_no_other_question(changed: dict[str, Any]) -> None:
    counting = Counting()
    async with service(counting.planner) as client:
        await client.post("/planning", json=body(ids=("run", "1")))
        sent = body(ids=("run", "1"))
        again = await client.post("/planning", json={**sent, "options": {**sent["options"], **changed}})
    assert again.headers["idempotent-replayed"] == "true"
    assert len(counting.asked) == 1


async def test_endpoints_runs_and_repairs_do_not_share_answers() -> None:
    counting = Counting()
    repair = {"cell_id": "c", "source": "x", "error_name": "E", "error": "e"}
    asked = [
        ("/planning", body(ids=("run", "1"))),
        ("/planning", body(ids=("other", "1"))),
        ("/generating", body(ids=("run", "1"))),
        ("/generate", body(ids=("run", "1"))),
        ("/v1/reflection", body(ids=("run", "1"))),
        ("/generate", body(ids=("run", "1"), repair=repair)),
        ("/generate", body(ids=("run", "1"), repair={**repair, "attempt": 2})),
        ("/generate", body(ids=("run", "1"), repair={**repair, "cell_id": "d"})),
    ]
    async with service(counting.planner) as client:
        first = [(await client.post(path, json=sent)).text for path, sent in asked]
        again = [await client.post(path, json=sent) for path, sent in asked]
    assert len(counting.asked) == len(asked)
    assert [each.text for each in again] == first
    assert {each.headers["idempotent-replayed"] for each in again} == {"true"}


async def test_requests_without_ids_are_planned_each_time() -> None:
    counting = Counting()
    async with service(counting.planner) as client:
        for _ in range(3):
            answer = await client.post("/planning", json=body())
            assert "idempotent-replayed" not in answer.headers
    assert len(counting.asked) == 3
