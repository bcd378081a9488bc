"""Whatever a planner answers, and wherever the process dies: what the engine promises holds."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.chaos import ChaosPlanner
from notebook_bcc.engine.planner_session import Asking
from notebook_bcc.engine.reduce import fold
from notebook_bcc.engine.runner import Runner
from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import RunRefused
from notebook_bcc.fsm.machine import next_state
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import ActionCompleted, ActionReceived, RunResumed, RunStarted, Transitioned
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.notebook.ipynb import NotebookMetadata, notebook_bytes
from notebook_bcc.protocol.limits import Limits, Policies
from notebook_bcc.protocol.vocabulary import State

LIMITS = Limits(actions=60, behaviors_per_step=4, kernel_restarts=5)
IMPATIENT = Asking(retries=2, first_delay=0.0)

policies = st.builds(
    Policies,
    confirm=st.sampled_from(["auto", "reject", "ask"]),
    on_error=st.sampled_from(["feedback", "continue", "fail"]),
    on_unachieved=st.sampled_from(["fail", "skip"]),
    strict_actions=st.booleans(),
    notebook_detail=st.sampled_from(["summary", "cells", "figures"]),
)


async def session(
    journal: MemoryJournal, planner: ChaosPlanner, begin: RunStarted | RunResumed, *, kill_after: int, dies_at: set[int]
) -> tuple[RunState, bool]:
    """Carry the run on in a fresh process, so to speak, and kill it after so many entries."""
    kernel = ScriptedKernel(dies_at=dies_at)
    runner = Runner(planner=planner, kernel=kernel, journal=journal, asking=IMPATIENT)
    await runner.load()
    await runner.begin(begin)
    seen = 0
    async with contextlib.aclosing(runner.run()) as entries:
        async for _ in entries:
            seen += 1
            if seen >= kill_after:
                return runner.state, True
    return runner.state, False


async def entries_of(journal: MemoryJournal) -> list[Entry]:
    return [entry async for entry in journal.read()]


def check(entries: list[Entry]) -> RunState:
    """What must hold of any journal, at any moment."""
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    state = State.IDLE
    for entry in entries:
        if isinstance(entry.record, Transitioned):
            assert entry.record.source is state
            assert next_state(state, entry.record.event) is entry.record.to
            state = entry.record.to
    completed = Counter(e.record.action_id for e in entries if isinstance(e.record, ActionCompleted))
    assert all(times == 1 for times in completed.values()), "an action was completed twice"
    received = Counter(e.record.action_id for e in entries if isinstance(e.record, ActionReceived))
    assert all(times == 1 for times in received.values())
    assert completed.keys() <= received.keys()
    folded = fold(entries)
    assert folded.fsm is state
    assert folded.actions_completed == len(completed)
    text = notebook_bytes(folded.document, metadata=NotebookMetadata()).decode()
    notebook = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    return folded


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 2**32),
    fickle=st.booleans(),
    policy=policies,
    kills=st.lists(st.integers(1, 60), max_size=4),
    deaths=st.sets(st.integers(1, 20), max_size=2),
)
def test_any_answers_kills_and_resumes_keep_the_promises(
    seed: int, fickle: bool, policy: Policies, kills: list[int], deaths: set[int]
) -> None:
    async def play() -> None:
        journal = MemoryJournal()
        planner = ChaosPlanner(seed, fickle=fickle)
        begin: RunStarted | RunResumed = RunStarted(run_id="r", policies=policy, limits=LIMITS)
        for kill_after in [*kills, 100_000, 100_000]:
            try:
                async with asyncio.timeout(60):
                    live, killed = await session(journal, planner, begin, kill_after=kill_after, dies_at=deaths)
            except RunRefused:
                assert check(await entries_of(journal)).fsm in (State.WORKFLOW_COMPLETED, State.CANCELLED)
                return
            journal = journal.snapshot()
            folded = check(await entries_of(journal))
            if not killed:
                assert folded == live, "the fold of the journal is not the live state"
                assert live.stopped is not None
            begin = RunResumed(accept_differences=True)

    asyncio.run(play())


@pytest.mark.anyio
async def test_the_same_run_played_twice_gives_the_same_journal() -> None:
    async def play(seed: int) -> list[str]:
        journal = MemoryJournal()
        begin = RunStarted(run_id="r", policies=Policies(confirm="auto", on_unachieved="skip"), limits=LIMITS)
        await session(journal, ChaosPlanner(seed), begin, kill_after=100_000, dies_at=set())
        return [
            entry.record.model_dump_json(exclude={"seconds", "reward", "artifact", "digest"})
            for entry in await entries_of(journal)
        ]

    for seed in range(5):
        assert await play(seed) == await play(seed)
