"""A run that stops in the middle of an answer: nothing is asked twice, nothing is lost, nothing is done twice."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.play import AUTO, Played, play, run_code, workflow
from notebook_bcc.engine.runner import Runner
from notebook_bcc.errors import PlannerUnreachable, StreamBroken
from notebook_bcc.journal.encoding import decode_record, encode_record
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import (
    ActionCompleted,
    ActionReceived,
    ActionsQueued,
    Command,
    GeneratingAsked,
    GeneratingEnded,
    PlanningAsked,
    RunResumed,
    RunStarted,
    RunStopped,
)
from notebook_bcc.journal.sqlite.journal import SqliteJournal
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.planners.interface import ActionData, Generated
from notebook_bcc.protocol.dialects import request_bytes
from notebook_bcc.protocol.limits import Limits, Policies
from notebook_bcc.protocol.messages import PlanningResponse, Request

pytestmark = pytest.mark.anyio

SOURCES = ["a = 1", "b = a + 1", "c = b + 1"]
PLAN = workflow("step").to_dict()
LONGER = {**PLAN, "stages": [*PLAN["stages"], {"id": "more", "steps": [{"id": "last"}]}]}


class Observing:
    """Writes what the notebook lacks: its answer depends on the observation alone, and it remembers nothing.

    `before` is called before each action goes out, with its number.
    """

    name = "observing"

    def __init__(self, *actions: Any, before: Callable[[int], None] | None = None) -> None:
        self._actions = [*actions] or run_code(*SOURCES)
        self._before = before
        self.bodies: dict[str, set[bytes]] = {}

    async def plan(self, request: Request) -> PlanningResponse:
        self._heard(request)
        if request.observation.location.current.stage_id is None:
            return PlanningResponse.parse({"context_update": {"workflow_update": PLAN}})
        return PlanningResponse.parse({"targetAchieved": self._written(request) >= len(self._cells)})

    async def generate(self, request: Request, *, fallback: bool = False) -> AsyncIterator[Generated]:
        self._heard(request)
        written = self._written(request)
        missing = self._actions[self._cells[written] :] if written < len(self._cells) else []
        for number, action in enumerate(missing):
            if self._before is not None:
                self._before(number)
            yield ActionData(action)

    async def repair(self, request: Request) -> str | None:
        return None

    async def close(self) -> None:
        """There is nothing to release."""

    @property
    def _cells(self) -> list[int]:
        return [place for place, action in enumerate(self._actions) if action["action"] == "add"]

    def _written(self, request: Request) -> int:
        notebook = request.observation.context.notebook
        return (notebook.cell_count or 0) if notebook is not None else 0

    def _heard(self, request: Request) -> None:
        self.bodies.setdefault(str(request.options.request_id), set()).add(request_bytes(request, "v2"))


def proposing() -> Observing:
    [first, ran, *rest] = run_code(*SOURCES)
    return Observing(first, ran, {"action": "update_workflow", "updated_workflow": LONGER}, *rest)


def whole(played: Played) -> None:
    """Everything was done, once."""
    assert played.state.stopped is not None
    assert played.state.stopped.reason == "completed"
    assert played.sources == SOURCES
    assert played.state.kernel.variables == {"a": 1, "b": 2, "c": 3}
    received = [one.action_id for one in played.records(ActionReceived)]
    assert [one.action_id for one in played.records(ActionCompleted)] == received


async def finished(journal: MemoryJournal, planner: Any = None, **options: Any) -> Played:
    """The run, resumed without a limit, read from a journal that went through its bytes."""
    copy = MemoryJournal()
    await copy.append([_reread(entry) async for entry in journal.read()])
    for posted in await journal.commands():
        await copy.post(posted.command, at=posted.at)
    resumed = RunResumed(limits=Limits())
    return await play(planner if planner is not None else Observing(), journal=copy, resume=resumed, **options)


def _reread(entry: Entry) -> Entry:
    return Entry(entry.seq, entry.at, decode_record(entry.record.kind, encode_record(entry.record)))


@pytest.mark.parametrize("actions", range(1, 6))
async def test_a_limit_in_the_middle_of_a_stream_reads_it_to_its_end_and_asks_nothing_twice(actions: int) -> None:
    planner = Observing()
    stopped = await play(planner, limits=Limits(actions=actions))
    assert stopped.state.stopped is not None
    assert stopped.state.stopped.reason == "limit"
    [queued] = stopped.records(ActionsQueued)
    assert len(queued.actions) == 6 - actions
    assert stopped.records(GeneratingEnded) == [GeneratingEnded(actions=6)]
    done = await finished(stopped.journal, planner)
    whole(done)
    assert [one.attempt for one in done.records(GeneratingAsked)] == [1]


async def test_a_second_limit_finds_the_rest_where_the_first_one_left_it() -> None:
    stopped = await play(Observing(), limits=Limits(actions=2))
    again = await play(Observing(), journal=stopped.journal, resume=RunResumed(limits=Limits(actions=3)))
    assert again.state.actions_completed == 3
    assert len(again.records(ActionsQueued)) == 1
    whole(await finished(again.journal))


@pytest.mark.parametrize("answer", ["confirm", "reject"])
async def test_a_change_of_the_plan_that_waits_keeps_the_rest_of_the_stream(answer: Any) -> None:
    stopped = await play(proposing(), policies=Policies(confirm="ask"))
    assert stopped.state.stopped is not None
    assert stopped.state.stopped.reason == "waiting"
    await stopped.journal.post(Command(kind=answer, answers=stopped.state.machine.entered), at="2026-01-01T00:00:00Z")
    done = await finished(stopped.journal, proposing())
    whole(done)
    assert len(done.records(GeneratingAsked)) == 1


@pytest.mark.parametrize("number", range(6))
async def test_a_pause_in_the_middle_of_a_stream_reads_it_to_its_end(number: int) -> None:
    journal = MemoryJournal()
    runner: list[Runner] = []
    planner = Observing(before=lambda at: runner[0].pause() if at == number else None)
    runner.append(Runner(planner=planner, kernel=ScriptedKernel(), journal=journal))
    await _carried_out(runner[0])
    assert runner[0].state.stopped == RunStopped(reason="paused", detail="paused on request")
    assert runner[0].state.behavior.ended
    done = await finished(journal)
    whole(done)
    assert len(done.records(GeneratingAsked)) == 1


@pytest.mark.parametrize("number", range(6))
async def test_what_has_arrived_when_a_run_is_stopped_at_once_is_kept(number: int) -> None:
    journal = MemoryJournal()
    runner: list[Runner] = []
    planner = Observing(before=lambda at: runner[0].stop("now") if at == number else None)
    runner.append(Runner(planner=planner, kernel=ScriptedKernel(), journal=journal))
    await _carried_out(runner[0])
    assert runner[0].state.stopped == RunStopped(reason="interrupted", detail="now")
    again = Observing()
    whole(await finished(journal, again))


async def _carried_out(runner: Runner) -> None:
    await runner.begin(RunStarted(run_id="run", policies=AUTO))
    async with asyncio.timeout(30):
        async for _ in runner.run():
            pass


@pytest.mark.parametrize("number", range(8))
async def test_a_planner_that_stops_its_own_run_stops_it_there_and_nowhere_else(number: int, tmp_path: Path) -> None:
    journal, questions = SqliteJournal.create(tmp_path / "journal"), itertools.count()
    runner: list[Runner] = []

    class Stopping(Observing):
        async def plan(self, request: Request) -> PlanningResponse:
            if next(questions) == number:
                runner[0].stop("now")
            return await super().plan(request)

    for _ in range(2):
        runner[:] = [Runner(planner=Stopping(), kernel=ScriptedKernel(), journal=journal)]
        await runner[0].load()
        resumed = runner[0].state.stopped is not None
        await runner[0].begin(RunResumed() if resumed else RunStarted(run_id="run", policies=AUTO))
        async with asyncio.timeout(30):
            async for _entry in runner[0].run():
                pass
        stopped = runner[0].state.stopped
        assert stopped is not None
        if stopped.reason == "completed":
            break
        assert stopped == RunStopped(reason="interrupted", detail="now")
    await journal.close()
    assert stopped == RunStopped(reason="completed")
    assert runner[0].state.kernel.variables == {"a": 1, "b": 2, "c": 3}


class Silent(Observing):
    """Says nothing more after some actions, or does not judge."""

    def __init__(self, *, after: int | None) -> None:
        super().__init__()
        self._after = after
        self.reached = asyncio.Event()

    async def plan(self, request: Request) -> PlanningResponse:
        if self._after is None and request.behavior_feedback is not None:
            self._heard(request)
            self.reached.set()
            await asyncio.Event().wait()
        return await super().plan(request)

    async def generate(self, request: Request, *, fallback: bool = False) -> AsyncIterator[Generated]:
        number = 0
        async for item in super().generate(request):
            if number == self._after:
                self.reached.set()
                await asyncio.Event().wait()
            yield item
            number += 1


@pytest.mark.parametrize("after", [None, 0, 1, 3])
async def test_an_impatient_pause_leaves_a_silent_planner_and_asks_it_the_same_again(after: int | None) -> None:
    silent, journal = Silent(after=after), MemoryJournal()
    runner = Runner(planner=silent, kernel=ScriptedKernel(), journal=journal)

    async def press() -> None:
        await silent.reached.wait()
        runner.pause(patience=0.05)

    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(press())
        group.create_task(_carried_out(runner))
    assert runner.state.stopped == RunStopped(reason="paused", detail="paused on request")
    planner = Observing()
    done = await finished(journal, planner)
    whole(done)
    assert _same_bytes(silent, planner)


def _same_bytes(*planners: Observing) -> int:
    """How many questions were asked of more than one planner; all of them with the same bytes."""
    ids = [one for planner in planners for one in planner.bodies]
    for request_id in ids:
        assert len(set().union(*(planner.bodies.get(request_id, set()) for planner in planners))) == 1, request_id
    return len(ids) - len(set(ids))


class Torn(Observing):
    """Its line is cut after some actions."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self._after = after

    async def generate(self, request: Request, *, fallback: bool = False) -> AsyncIterator[Generated]:
        number = 0
        async for item in super().generate(request):
            if number == self._after:
                if number:
                    raise StreamBroken(planner=self.name, received=number, reason="torn")
                raise PlannerUnreachable(planner=self.name, reason="nobody", retry_after=0.0)
            yield item
            number += 1


@pytest.mark.parametrize("after", range(6))
async def test_a_stream_that_broke_is_asked_for_again_with_the_recorded_request(after: int) -> None:
    torn = Torn(after)
    failed = await play(torn)
    assert failed.state.stopped is not None
    assert failed.state.stopped.reason == "failed"
    again = await finished(failed.journal, torn_again := Torn(after))
    assert again.state.stopped is not None
    assert again.state.stopped.reason == "failed", "it breaks at the same place"
    planner = Observing()
    done = await finished(again.journal, planner)
    whole(done)
    assert _same_bytes(torn, torn_again, planner) >= 2
    assert done.state.position.iteration in (0, 1), "it is the same behavior, not another one"


async def test_every_question_has_the_same_bytes_wherever_the_process_was_killed() -> None:
    for cut in range(3, 60):
        first, journal = Observing(), MemoryJournal()
        runner = Runner(planner=first, kernel=ScriptedKernel(), journal=journal)
        await runner.begin(RunStarted(run_id="run", policies=AUTO))
        async for entry in (entries := runner.run()):
            if entry.seq >= cut:
                break
        await entries.aclose()
        if runner.state.stopped is not None:
            return
        second = Observing()
        done = await finished(journal, second)
        whole(done)
        _same_bytes(first, second)
    raise AssertionError("the run was longer than the cuts")


async def test_a_question_that_cannot_be_built_as_it_was_is_a_new_one() -> None:
    """Another version of this program may observe differently: the same id with other bytes would be a lie."""
    entries: Sequence[Entry] = (await play(Observing())).entries
    kinds: list[type[PlanningAsked] | type[GeneratingAsked]] = [PlanningAsked, GeneratingAsked]
    for kind in kinds:
        last = max(entry.seq for entry in entries if isinstance(entry.record, kind))
        journal = MemoryJournal()
        await journal.append(entries[: last - 1])
        asked = entries[last - 1]
        other = asked.record.model_copy(update={"digest": "of another version"})
        await journal.append([Entry(asked.seq, asked.at, other)])
        done = await finished(journal)
        whole(done)
        ids = [one.request_id for one in done.records(kind)]
        assert ids[-1] != ids[-2]


async def test_a_question_of_an_older_journal_keeps_its_id() -> None:
    entries = (await play(Observing())).entries
    last = max(entry.seq for entry in entries if isinstance(entry.record, GeneratingAsked))
    journal = MemoryJournal()
    await journal.append(entries[: last - 1])
    asked = entries[last - 1]
    await journal.append([Entry(asked.seq, asked.at, asked.record.model_copy(update={"digest": ""}))])
    done = await finished(journal)
    whole(done)
    assert [one.request_id for one in done.records(GeneratingAsked)] == ["run.4", "run.4"]
