"""What becomes of a run when the way to the planner fails: the table of docs/remote-planner.md, row by row."""

from __future__ import annotations

import asyncio
import functools
import gzip
import json
import re
import tracemalloc
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from engine.play import AUTO, IMPATIENT, Played, one_step, play, run_code, workflow
from notebook_bcc.errors import (
    EvidenceMissing,
    JudgementMalformed,
    PlannerAnswerInvalid,
    PlannerFailed,
    PlannerUnreachable,
    RequestRefused,
    RequestRejected,
    StreamBroken,
)
from notebook_bcc.fsm.machine import is_final
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import ActionReceived, GeneratingFailed, PlanningAnswered, RunResumed, Warned
from notebook_bcc.planners.interface import ActionData, Generated, StreamWarning
from notebook_bcc.planners.remote.planner import RemoteLimits, RemotePlanner, RemoteTimeouts
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.ndjson import encode_line
from notebook_bcc.protocol.vocabulary import State
from planners.fault_proxy import (
    Exchange,
    Fault,
    FaultProxy,
    answer_well,
    raw,
    reset,
    reset_after,
    silence,
    stall_after,
    status,
    stream,
    until,
)

pytestmark = pytest.mark.anyio

SOURCES = ("x = 1", "print('Größe 漢字 \u2028', x)")
ACTIONS = run_code(*SOURCES)
LINES = [encode_line(action) for action in ACTIONS]
# For servers that answer: a busy machine must not turn an answer into silence.
PATIENT = RemoteTimeouts(connect=30.0, first_byte=30.0, between_lines=30.0, planning=60.0)
SHORT = RemoteTimeouts(connect=10.0, first_byte=0.3, between_lines=0.3, planning=0.6)
# Longer than any sound answer takes on a busy machine, and short enough to wait for.
BRISK = RemoteTimeouts(connect=10.0, first_byte=1.5, between_lines=1.5, planning=2.0)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"


def scripted() -> ScriptedPlanner:
    return one_step(ACTIONS)


def request() -> Request:
    return Request.parse({"observation": {"location": {"current": {}, "progress": {}}}, "options": {"stream": True}})


async def ask(planner: RemotePlanner, path: str) -> tuple[list[Generated], PlannerFailed | None]:
    """What one question gives, and how it fails."""
    items: list[Generated] = []
    try:
        if path == "/planning":
            await planner.plan(request())
        else:
            await take(planner.generate(request()), items)
    except PlannerFailed as failure:
        return items, failure
    finally:
        await planner.close()
    return items, None


async def take(answer: AsyncIterator[Generated], items: list[Generated]) -> None:
    """Everything into the list, which keeps what came before a failure."""
    async for item in answer:
        items.append(item)  # noqa: PERF401


async def once(path: str, fault: Fault, **options: Any) -> tuple[list[Generated], PlannerFailed | None]:
    async with FaultProxy() as server:
        server.fail(path, fault)
        async with asyncio.timeout(60):
            return await ask(RemotePlanner(server.url, **options), path)


async def slow_body(exchange: Exchange) -> None:
    await exchange.head(content_type="application/json", content_length="100")
    await exchange.send(b'{"targetAchieved"')
    await exchange.gone()


async def dripping_headers(exchange: Exchange) -> None:
    """A byte every now and then, never the end: no single wait is long."""
    while not exchange.is_closed:
        await exchange.send(b"HTTP/1.1 200 OK\r\nx-slow: " if exchange.sent == 0 else b"x")
        await asyncio.sleep(0.05)


async def dripping_line(exchange: Exchange) -> None:
    await exchange.begin_stream()
    await exchange.chunk(LINES[0])
    while not exchange.is_closed:
        await exchange.chunk(b"x")
        await asyncio.sleep(0.05)


REFUSALS: dict[str, tuple[Fault, type[PlannerFailed], str]] = {
    "reset before headers": (reset, PlannerUnreachable, "reset"),
    "closed before headers": (raw(), PlannerUnreachable, "ended too early"),
    "not HTTP": (raw(b"220 smtp ready\r\n\r\n"), PlannerUnreachable, "not HTTP"),
    "headers without end": (raw(b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200_000), PlannerUnreachable, "too"),
    "slow headers": (silence, PlannerUnreachable, "no answer within 0.3 s"),
    "dripping headers": (dripping_headers, PlannerUnreachable, "no answer within 0.3 s"),
    "500": (status("500 Internal Server Error", b'{"error": "oops"}'), PlannerUnreachable, "500.*oops"),
    "502": (status("502 Bad Gateway", b"<html>", content_type="text/html"), PlannerUnreachable, "502 Bad Gateway"),
    "503": (status("503 Service Unavailable"), PlannerUnreachable, "503"),
    "504": (status("504 Gateway Timeout"), PlannerUnreachable, "504"),
    "408": (status("408 Request Timeout"), PlannerUnreachable, "408"),
    "425": (status("425 Too Early"), PlannerUnreachable, "425"),
    "429": (status("429 Too Many Requests", retry_after="0"), PlannerUnreachable, "429"),
    "400": (status("400 Bad Request", b"nonsense"), PlannerAnswerInvalid, "nonsense"),
    "401": (status("401 Unauthorized"), RequestRejected, "DSLC_TOKEN, or --token-file"),
    "403": (status("403 Forbidden"), RequestRejected, "DSLC_TOKEN or --token-file"),
    "404": (status("404 Not Found"), PlannerAnswerInvalid, "address"),
    "409, needs": (
        status("409 Conflict", b'{"error": {"code": "missing_evidence", "message": "no rows", "needs": ["rows"]}}'),
        EvidenceMissing,
        "no rows",
    ),
    "409": (status("409 Conflict", b'{"error": {"message": "rows are needed"}}'), RequestRefused, "rows are needed"),
    "422": (status("422 Unprocessable", b'{"detail": "progress: missing"}'), RequestRejected, "progress: missing"),
    "422 of FastAPI": (
        status("422 Unprocessable", b'{"detail": [{"loc": ["body", "observation", "location"], "msg": "Required"}]}'),
        RequestRejected,
        r"422 \w+ \w+: observation\.location: Required$",
    ),
    "422 of ours": (
        status("422 Unprocessable", b'{"error": {"message": "no.", "problems": [{"path": "a.b", "problem": "is 1"}]}}'),
        RequestRejected,
        "no. a.b: is 1$",
    ),
    "501": (status("501 Not Implemented"), PlannerAnswerInvalid, "501"),
    "redirect": (status("307 Temporary Redirect", location="http://other.test/"), PlannerAnswerInvalid, "other.test"),
    "wrong content type": (
        status("200 OK", b"<html>", content_type="text/html"),
        PlannerAnswerInvalid,
        "text/html.*not application/json",
    ),
    "invalid JSON": (status("200 OK", b'{"targetAchieved": tru'), PlannerAnswerInvalid, ""),
    "no object": (status("200 OK", b"[1, 2]"), PlannerAnswerInvalid, ""),
    "compressed": (
        status("200 OK", gzip.compress(bytes(10**7)), content_encoding="gzip"),
        PlannerAnswerInvalid,
        "compressed",
    ),
    "chunks cut short": (
        raw(CHUNKED.replace(b"x-ndjson", b"json"), b'9\r\n{"act'),
        PlannerUnreachable,
        "ended too early",
    ),
    "body cut short": (
        raw(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"),
        PlannerUnreachable,
        "ended too early",
    ),
}


TORN = ("invalid JSON", "no object")


@pytest.mark.parametrize("path", ["/planning", "/generating"])
@pytest.mark.parametrize("name", REFUSALS)
async def test_each_fault_is_told_apart(path: str, name: str) -> None:
    fault, expected, words = REFUSALS[name]
    items, failure = await once(path, fault, timeouts=SHORT if "within" in words else PATIENT)
    assert items == []
    assert type(failure) is (JudgementMalformed if path == "/planning" and name in TORN else expected)
    with pytest.raises(expected, match=rf"(?s)http://127\.0\.0\.1:.*POST {path}: .*{words}"):
        raise failure


async def test_nothing_that_listens_is_a_refused_connection() -> None:
    async with FaultProxy() as server:
        address = server.url
    _, failure = await ask(RemotePlanner(address), "/planning")
    assert isinstance(failure, PlannerUnreachable)
    assert str(failure) == f"planner {address} refused the connection. Is it running?"
    assert "POST /planning: the connection was refused; nothing listens there" in failure.reason


async def test_a_server_without_tls_is_no_https_server() -> None:
    async with FaultProxy() as server:
        address, hasty = server.url.replace("http:", "https:"), RemoteTimeouts(connect=0.5)
        _, failure = await ask(RemotePlanner(address, timeouts=hasty), "/planning")
        assert isinstance(failure, PlannerUnreachable)


async def test_a_slow_body_is_not_waited_for_for_ever() -> None:
    _, failure = await once("/planning", slow_body, timeouts=SHORT)
    with pytest.raises(PlannerUnreachable, match=r"not complete within 0\.6 s"):
        raise failure or AssertionError


async def test_a_server_may_say_when_to_come_back() -> None:
    answers: list[tuple[dict[str, str], float | None]] = [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "Fri, 15 Jan 1999 08:00:30 GMT", "date": "Fri, 15 Jan 1999 08:00:00 GMT"}, 30.0),
        ({"retry_after": "Fri, 15 Jan 2100 08:00:30 GMT", "date": "Fri, 15 Jan 2100 08:00:00 GMT"}, 30.0),
        ({"retry_after": "Fri, 15 Jan 1999 08:00:30 GMT"}, None),
        ({"retry_after": "whenever"}, None),
        ({}, None),
    ]
    for headers, seconds in answers:
        _, failure = await once("/planning", status("503 Service Unavailable", b"", **headers))
        assert isinstance(failure, PlannerUnreachable)
        assert failure.retry_after == seconds


async def test_an_answer_that_is_too_large_is_not_read_to_its_end() -> None:
    async def large(exchange: Exchange) -> None:
        await exchange.begin_stream("application/json")
        while not exchange.is_closed:
            await exchange.chunk(b" " * 65536)

    _, failure = await once("/planning", large, limits=RemoteLimits(response_bytes=10**6))
    with pytest.raises(PlannerAnswerInvalid, match="longer than 1000000 bytes"):
        raise failure or AssertionError


@pytest.mark.parametrize("cut", [1, 2, 7])
async def test_chunks_of_a_byte_and_split_characters_change_nothing(cut: int) -> None:
    whole = b"".join(LINES)
    items, failure = await once("/generating", stream(*[whole[i : i + cut] for i in range(0, len(whole), cut)]))
    assert failure is None
    assert items == [ActionData(action) for action in ACTIONS]


async def test_garbage_lines_are_skipped_and_said() -> None:
    items, failure = await once("/generating", stream(LINES[0], b"garbage\n", b'{"action": 5}\n\xff\xfe\n', LINES[1]))
    assert failure is None
    assert [type(item) for item in items] == [ActionData, *[StreamWarning] * 3, ActionData]


async def test_a_body_that_ends_with_its_connection_is_a_whole_one() -> None:
    old = b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n"
    items, failure = await once("/generating", raw(old, *LINES))
    assert failure is None
    assert items == [ActionData(action) for action in ACTIONS]
    items, failure = await once("/generating", raw(old, *LINES, b'{"action": {"act'))
    assert len(items) == len(ACTIONS)
    assert isinstance(failure, StreamBroken)


async def endless(exchange: Exchange) -> None:
    await exchange.begin_stream()
    while not exchange.is_closed:
        await exchange.chunk(LINES[0] * 50)


async def huge_line(exchange: Exchange) -> None:
    """A line of 100 MB, if anybody takes it."""
    await exchange.begin_stream()
    await exchange.chunk(*LINES[:2])
    for _ in range(1600):
        await exchange.chunk(b"x" * 65536)
    raise AssertionError("somebody took 100 MB of one line")


AFTER: dict[str, tuple[Fault, int, str]] = {
    "chunks cut short": (raw(CHUNKED, *[b"%x\r\n%s\r\n" % (len(line), line) for line in LINES[:2]]), 2, "too early"),
    "silence between lines": (stall_after(*LINES[:2]), 2, "no line within 0.3 s"),
    "a dripping line": (dripping_line, 1, "no line within 0.3 s"),
    "a line that does not end": (huge_line, 2, "a line is longer than 200000 bytes"),
    "an endless stream": (endless, 500, "more than 500 actions"),
}


@pytest.mark.parametrize("name", AFTER)
async def test_a_stream_that_fails_after_some_actions_says_after_how_many(name: str) -> None:
    fault, count, words = AFTER[name]
    limits = RemoteLimits(line_bytes=200_000, actions=500)
    timeouts = replace(PATIENT, between_lines=0.3) if "within" in words else PATIENT
    items, failure = await once("/generating", fault, timeouts=timeouts, limits=limits)
    assert len(items) == count
    assert isinstance(failure, StreamBroken)
    assert failure.received == count
    assert words in str(failure)


async def test_a_reset_after_some_actions_says_after_how_many() -> None:
    seen: list[Generated] = []
    async with FaultProxy() as server:
        server.fail("/generating", reset_after(*LINES[:3], when=lambda: len(seen) == 3))
        planner = RemotePlanner(server.url)
        with pytest.raises(StreamBroken, match="broke after 3 actions: POST /generating: the connection was reset"):
            await take(planner.generate(request()), seen)
        await planner.close()


async def test_a_line_of_a_hundred_megabytes_costs_no_memory() -> None:
    tracemalloc.start()
    try:
        items, failure = await once("/generating", huge_line, limits=RemoteLimits(line_bytes=4 * 2**20))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(items) == 2
    assert isinstance(failure, StreamBroken)
    assert peak < 32 * 2**20


async def test_time_spent_on_an_action_is_not_the_servers() -> None:
    """The wait for a line begins when the line is asked for, not when the one before was given out."""
    taken = asyncio.Event()

    async def patient(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.chunk(LINES[0])
        await taken.wait()
        await exchange.chunk(LINES[1])
        await exchange.end_stream()

    async with FaultProxy() as server:
        server.fail("/generating", patient)
        planner = RemotePlanner(server.url, timeouts=RemoteTimeouts(between_lines=1.0))
        answer = planner.generate(request())
        assert await anext(answer)
        await asyncio.sleep(1.2)  # what a cell takes that runs longer than the server may be silent
        taken.set()
        assert [item async for item in answer] == [ActionData(ACTIONS[1])]
        await planner.close()


async def test_a_blank_line_shows_that_the_server_is_alive() -> None:
    async def thinking(exchange: Exchange) -> None:
        await exchange.begin_stream()
        for _ in range(18):
            await asyncio.sleep(0.1)
            await exchange.chunk(b"\n")
        await exchange.chunk(LINES[0])
        await exchange.end_stream()

    items, failure = await once("/generating", thinking, timeouts=RemoteTimeouts(between_lines=1.5))
    assert (items, failure) == ([ActionData(ACTIONS[0])], None)


async def test_a_connection_that_was_closed_while_idle_is_not_used_again() -> None:
    async def answer_and_close(exchange: Exchange) -> None:
        await exchange.answer("200 OK", b"{}")
        exchange.close()

    async with FaultProxy() as server:
        server.fail("/planning", answer_and_close)
        planner = RemotePlanner(server.url)
        await planner.plan(request())
        # The end of the connection is on its way; what is asked before it arrives is a question without an answer.
        failures = 0
        async with asyncio.timeout(30):
            while True:
                try:
                    await planner.plan(request())
                    break
                except PlannerUnreachable:
                    failures += 1
        assert failures <= 1
        assert server.connections == 2
        await planner.close()


async def carried_out(server: FaultProxy, journal: MemoryJournal | None = None, **options: Any) -> Played:
    """A whole run over this server, begun or taken up again."""
    planner = RemotePlanner(server.url, **options)
    try:
        return await play(planner, journal=journal, resume=RunResumed() if journal is not None else None)
    finally:
        await planner.close()


def whole(played: Played) -> None:
    """The run has come to its end, each cell stands in the notebook once and was run once."""
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert played.sources == list(SOURCES)
    assert [cell.execution_count for cell in played.state.document.cells] == [1, 2]


PASSING = [
    name
    for name, (_, kind, _) in REFUSALS.items()
    if kind is PlannerUnreachable and name not in ("slow headers", "dripping headers")
]
LASTING = [name for name, (_, kind, _) in REFUSALS.items() if kind is PlannerAnswerInvalid]
REJECTED = [name for name, (_, kind, _) in REFUSALS.items() if kind is RequestRejected]


@pytest.mark.parametrize("path", ["/planning", "/generating"])
@pytest.mark.parametrize("name", PASSING)
async def test_a_run_gets_over_a_fault_that_passes(path: str, name: str) -> None:
    async with FaultProxy(scripted()) as server:
        server.fail(path, REFUSALS[name][0])
        played = await carried_out(server)
    whole(played)
    (warning,) = played.records(Warned)
    assert f"POST {path}: " in warning.message
    assert "trying again" in warning.message
    first, second = [heard.request.options for heard in server.heard_at(path)[:2]]
    assert first.request_id == second.request_id, "a question that is asked again is another one"
    assert (first.attempt, second.attempt) == (1, 1), "and so the body says"
    bodies = {heard.body for heard in server.heard_at(path)[:2]}
    assert len(bodies) == 1
    assert [heard.headers["x-attempt"] for heard in server.heard_at(path)[:2]] == ["1", "2"]


@pytest.mark.parametrize("name", LASTING)
async def test_a_refused_behavior_is_asked_for_at_the_spare_endpoint(name: str) -> None:
    async with FaultProxy(scripted()) as server:
        server.fail("/generating", REFUSALS[name][0])
        played = await carried_out(server)
    whole(played)
    assert "cannot be used: POST /generating: " in played.records(Warned)[0].message


@pytest.mark.parametrize("name", REJECTED)
@pytest.mark.parametrize(("path", "before"), [("/generating", 0), ("/planning", 0), ("/planning", 2), ("/planning", 3)])
async def test_a_server_that_wants_another_token_or_field_stops_the_run(name: str, path: str, before: int) -> None:
    fault, _, words = REFUSALS[name]
    planner = scripted()
    async with FaultProxy(planner) as server:
        server.fail(path, *[functools.partial(answer_well, planner=planner)] * before, fault)
        played = await carried_out(server)
        assert played.state.stopped is not None
        assert played.state.stopped.reason == "interrupted"
        assert re.search(words, played.state.stopped.detail)
        assert server.heard_at("/generate") == []
        assert played.sources == ([] if before < 3 else list(SOURCES)), "no code is run without an answer"
        whole(await carried_out(server, played.journal))
        bodies = [heard.body for heard in server.heard_at(path)]
        assert bodies[before] == bodies[before + 1]


@pytest.mark.parametrize("name", LASTING)
async def test_a_refused_plan_stops_the_run_which_can_be_taken_up(name: str) -> None:
    async with FaultProxy(scripted()) as server:
        # What is no judgement is asked for again before the run stops.
        server.fail("/planning", *[REFUSALS[name][0]] * (1 + IMPATIENT.retries if name in TORN else 1))
        played = await carried_out(server)
        assert played.state.stopped is not None
        assert played.state.stopped.reason == "interrupted"
        assert "cannot be used: POST /planning: " in played.state.stopped.detail
        whole(await carried_out(server, played.journal))


@pytest.mark.parametrize("fault", [silence, slow_body], ids=["slow headers", "slow body"])
async def test_a_run_gets_over_a_slow_answer(fault: Fault) -> None:
    async with FaultProxy(scripted()) as server:
        server.fail("/planning", fault)
        played = await carried_out(server, timeouts=BRISK)
    whole(played)
    assert "within" in played.records(Warned)[0].message


async def test_the_spare_endpoint_saves_a_behavior() -> None:
    async with FaultProxy(scripted()) as server:
        server.fail("/generating", reset, status("503 Service Unavailable"), reset)
        played = await carried_out(server)
    whole(played)
    assert len(server.heard_at("/generate")) == 1


async def test_a_behavior_that_nobody_answers_fails_and_is_asked_for_again() -> None:
    async with FaultProxy(scripted()) as server:
        server.fail("/generating", reset, reset, reset)
        server.fail("/generate", reset)
        played = await carried_out(server)
        assert played.state.fsm is State.ERROR
        assert played.records(GeneratingFailed)[0].received == 0
        whole(await carried_out(server, played.journal))


async def test_planning_that_fails_is_degraded_and_said() -> None:
    async with FaultProxy(scripted()) as server:
        planner = RemotePlanner(server.url)
        server.fail("/planning", *[reset] * 3)
        fallback = AUTO.model_copy(update={"on_outage": "fallback"})
        played = await play(planner, start={"workflow": workflow("step")}, policies=fallback)
        await planner.close()
    assert any(answered.degraded for answered in played.records(PlanningAnswered))
    assert any("degraded" in warning.message for warning in played.records(Warned))
    assert is_final(played.state.fsm) or played.state.stopped is not None


async def test_without_any_server_the_run_stops_and_can_be_taken_up() -> None:
    async with FaultProxy() as closed:
        address = closed.url
    planner = RemotePlanner(address)
    played = await play(planner)
    await planner.close()
    assert played.state.stopped is not None
    assert played.state.stopped.reason == "interrupted"
    assert "refused" in played.state.stopped.detail
    async with FaultProxy(scripted()) as server:
        whole(await carried_out(server, played.journal))


async def broken_run(fault: Fault, journal: MemoryJournal, **options: Any) -> AsyncIterator[Played]:
    """A run whose first stream breaks, then the same one taken up again."""
    async with FaultProxy(scripted()) as server:
        server.fail("/generating", fault)
        planner = RemotePlanner(server.url, **options)
        yield await play(planner, journal=journal)
        yield await play(planner, journal=journal, resume=RunResumed())
        await planner.close()


BREAKS = ["reset", "chunks cut short", "silence between lines", "a line that does not end"]


@pytest.mark.parametrize("name", BREAKS)
async def test_a_stream_that_breaks_keeps_what_was_executed(name: str) -> None:
    journal = MemoryJournal()

    async def told(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.chunk(*LINES[:2])

        async def count() -> int:
            return sum([isinstance(entry.record, ActionReceived) async for entry in journal.read()])

        async with asyncio.timeout(30):
            while await count() < 2:  # noqa: ASYNC110  # a journal of this kind tells nobody
                await asyncio.sleep(0.005)
        exchange.reset()

    fault = told if name == "reset" else AFTER[name][0]
    timeouts = BRISK if name == "silence between lines" else None
    limits = RemoteLimits(line_bytes=200_000)
    first, second = [played async for played in broken_run(fault, journal, limits=limits, timeouts=timeouts)]
    assert first.state.fsm is State.ERROR
    (failed,) = first.records(GeneratingFailed)
    assert failed.received == 2
    assert "broke after 2 actions" in failed.error
    assert first.sources == [SOURCES[0]]
    assert first.state.kernel.variables == {"x": 1}
    assert second.state.fsm is State.WORKFLOW_COMPLETED
    assert second.state.kernel.variables == {"x": 1}
    assert list(SOURCES) == [source for source in second.sources if source][-2:]


async def test_garbage_in_the_stream_is_said_and_loses_no_action() -> None:
    async with FaultProxy(scripted()) as server:
        server.fail("/generating", stream(b"garbage\n", LINES[0], b"{}\n", *LINES[1:]))
        played = await carried_out(server)
    whole(played)
    assert [warning.message.count("was skipped") for warning in played.records(Warned)] == [1, 1]


async def test_single_bytes_make_the_same_notebook() -> None:
    body = b"".join(LINES)
    async with FaultProxy(scripted()) as server:
        server.fail("/generating", stream(*[body[i : i + 1] for i in range(len(body))]))
        whole(await carried_out(server))


async def test_a_server_that_does_not_stream_makes_the_same_notebook() -> None:
    async with FaultProxy(scripted()) as server:
        server.fail("/generating", status("200 OK", json.dumps({"actions": ACTIONS}, indent=1).encode()))
        whole(await carried_out(server))


async def test_nobody_waits_for_a_server_that_is_dropped() -> None:
    """Closing the planner ends what is under way, for the server as well."""
    left = asyncio.Event()

    async def hanging(exchange: Exchange) -> None:
        await exchange.gone()
        left.set()

    async with FaultProxy() as server:
        server.fail("/planning", hanging)
        planner = RemotePlanner(server.url)
        asking = asyncio.create_task(planner.plan(request()))
        await until(lambda: bool(server.heard))
        asking.cancel()
        await asyncio.wait({asking})
        await planner.close()
        await asyncio.wait_for(left.wait(), 30)
