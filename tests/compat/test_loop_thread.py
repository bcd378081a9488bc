"""A private loop: usable from plain code and from inside another loop, and gone when it is closed."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar

import pytest

from notebook_bcc.compat.loop_thread import LoopThread, in_thread

place: ContextVar[str] = ContextVar("place", default="nowhere")


async def thread_name() -> str:
    await asyncio.sleep(0)
    return threading.current_thread().name


def test_coroutines_run_in_the_loops_own_thread_and_all_in_the_same() -> None:
    loop = LoopThread("mine")
    try:
        assert {loop.run(thread_name()), loop.run(thread_name())} == {"mine"}
    finally:
        loop.close()


@pytest.mark.anyio
async def test_plain_calls_work_while_another_loop_is_running() -> None:
    loop = LoopThread("mine")
    try:
        assert loop.run(thread_name()) == "mine"
    finally:
        loop.close()


def test_what_a_coroutine_raises_reaches_the_caller() -> None:
    async def refuse() -> None:
        raise LookupError("no such thing")

    loop = LoopThread("mine")
    try:
        with pytest.raises(LookupError, match="no such thing"):
            loop.run(refuse())
    finally:
        loop.close()


def test_waiting_for_oneself_is_an_error_and_not_a_deadlock() -> None:
    loop = LoopThread("mine")

    async def wait_for_oneself() -> str:
        return loop.run(thread_name())

    try:
        with pytest.raises(RuntimeError, match="asynchronous form"):
            loop.run(wait_for_oneself())
    finally:
        loop.close()


def test_closing_awaits_the_last_word_on_the_loop_and_ends_the_thread() -> None:
    said: list[str] = []

    async def last_word() -> None:
        said.append(await thread_name())

    loop = LoopThread("mine", at_end=last_word)
    loop.run(thread_name())
    loop.close()
    loop.close()
    assert said == ["mine"]
    assert "mine" not in [thread.name for thread in threading.enumerate()]
    with pytest.raises(RuntimeError, match="closed"):
        loop.run(thread_name())


def test_a_loop_that_was_never_used_has_no_thread() -> None:
    before = threading.active_count()
    LoopThread("mine").close()
    assert threading.active_count() == before


@pytest.mark.anyio
async def test_a_call_in_a_thread_knows_the_context_of_its_caller() -> None:
    place.set("here")
    assert await in_thread(place.get) == "here"
