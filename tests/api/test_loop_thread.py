"""One loop for all plain calls: usable from plain code and from inside another loop, and left whole when closed."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar

import pytest

from notebook_bcc.api.loop_thread import LoopClient, loop_thread
from notebook_bcc.engine.actions.threads import in_thread

place: ContextVar[str] = ContextVar("place", default="nowhere")


async def thread_name() -> str:
    await asyncio.sleep(0)
    return threading.current_thread().name


def test_all_callers_share_one_thread() -> None:
    first, second = LoopClient("first"), LoopClient("second")
    try:
        assert {first.run(thread_name()), second.run(thread_name()), loop_thread().run(thread_name())} == {
            "notebook-bcc"
        }
        assert [thread.name for thread in threading.enumerate()].count("notebook-bcc") == 1
    finally:
        first.close()
        second.close()


@pytest.mark.anyio
async def test_plain_calls_work_while_another_loop_is_running() -> None:
    assert loop_thread().run(thread_name()) == "notebook-bcc"


def test_what_a_coroutine_raises_reaches_the_caller() -> None:
    async def refuse() -> None:
        raise LookupError("no such thing")

    client = LoopClient("mine")
    try:
        with pytest.raises(LookupError, match="no such thing"):
            client.run(refuse())
    finally:
        client.close()


def test_waiting_for_oneself_is_an_error_and_not_a_deadlock() -> None:
    client = LoopClient("mine")

    async def wait_for_oneself() -> str:
        return client.run(thread_name())

    try:
        with pytest.raises(RuntimeError, match="asynchronous form"):
            client.run(wait_for_oneself())
        with pytest.raises(RuntimeError, match="asynchronous form"):
            loop_thread().run(wait_for_oneself())
    finally:
        client.close()


def test_closing_ends_what_is_under_way_and_awaits_the_last_word_on_the_loop() -> None:
    said: list[str] = []

    async def last_word() -> None:
        said.append(f"last word in {await thread_name()}")

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            said.append("cleaned up")

    client = LoopClient("mine", at_end=last_word)
    client.run(thread_name())
    waiting = client.submit(wait())
    client.run(thread_name())
    client.close()
    client.close()
    assert said == ["cleaned up", "last word in notebook-bcc"]
    assert waiting.cancelled()
    with pytest.raises(RuntimeError, match="closed"):
        client.run(thread_name())


def test_a_client_that_was_never_used_does_nothing_at_its_end() -> None:
    said: list[str] = []

    async def last_word() -> None:
        said.append("something")

    LoopClient("mine", at_end=last_word).close()
    assert said == []


@pytest.mark.anyio
async def test_a_call_in_a_thread_knows_the_context_of_its_caller() -> None:
    place.set("here")
    assert await in_thread(place.get) == "here"
