"""Runs that are stopped at random moments, for random reasons, by planners that keep nothing.

What must hold: no action is lost, none is done twice, and a run is never called completed with one missing.
"""

from __future__ import annotations

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from engine.play import IMPATIENT, run_code
from notebook_bcc.engine.runner import Runner
from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import PlannerUnreachable, StreamBroken
from notebook_bcc.journal.interface import Entry, Journal
from notebook_bcc.journal.records import (
    ActionCompleted,
    ActionReceived,
    ActionsQueued,
    ActionTakenOver,
    AttemptWithdrawn,
    Command,
    RunResumed,
    RunStarted,
    Transitioned,
)
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.planners.interface import ActionData, Generated
from notebook_bcc.planners.planning_question import PlanningQuestion, question_of
from notebook_bcc.protocol.dialects import request_bytes
from notebook_bcc.protocol.limits import Limits, Policies
from notebook_bcc.protocol.messages import PlanningResponse, Request
from notebook_bcc.protocol.vocabulary import CellType, State

Reason = Literal["limit", "confirm", "pause", "ctrl_c", "outage", "torn stream"]
REASONS: Final[tuple[Reason, ...]] = get_args(Reason)

STEPS: Final = {"load": 3, "clean": 4, "model": 2}
EXTRA: Final = {"report": 2}
MOST_SESSIONS: Final = 200


def plan(*, longer: bool) -> dict[str, Any]:
    stages = [{"id": "main", "steps": [{"id": name} for name in STEPS]}]
    more = [{"id": "more", "steps": [{"id": name} for name in EXTRA]}]
    return {"name": "stops", "stages": [*stages, *(more if longer else [])]}


def cell(name: str) -> str:
    """Code that leaves a trace of each time it is run."""
    return f"seen = [*globals().get('seen', []), {name!r}]"


class StoppedPlanner:
    """Keeps nothing between two questions but what a test looks at. `moment` is called before each of its answers and
    each action that it gives out; it may stop the run, or raise."""

    name = "stopped"

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self.moment: Callable[[int], None] = lambda sent: None
        self.bodies: dict[str, set[bytes]] = {}

    async def plan(self, request: Request) -> PlanningResponse:
        self._heard(request)
        self.moment(0)
        if question_of(request) is PlanningQuestion.START:
            return PlanningResponse.parse({"context_update": {"workflow_update": plan(longer=False)}})
        return PlanningResponse.parse(self.judged(request))

    async def generate(self, request: Request, *, fallback: bool = False) -> AsyncIterator[Generated]:
        self._heard(request)
        for sent, action in enumerate(self.actions(request)):
            self.moment(sent)
            # As over a wire: the run may go on, or stop, between two of them.
            await asyncio.sleep(0)
            yield ActionData(action)

    async def repair(self, request: Request) -> str | None:
        return None

    async def close(self) -> None:
        """There is nothing to release."""

    def judged(self, request: Request) -> dict[str, Any]:
        raise NotImplementedError

    def actions(self, request: Request) -> Iterator[Any]:
        raise NotImplementedError

    def _heard(self, request: Request) -> None:
        self.bodies.setdefault(str(request.options.request_id), set()).add(request_bytes(request, "v2"))


class ObservingPlanner(StoppedPlanner):
    """Answers from the observation alone: it writes the cells whose traces are missing, and proposes one more stage
    until it has heard what a person says to that."""

    def judged(self, request: Request) -> dict[str, Any]:
        if question_of(request) is not PlanningQuestion.FEEDBACK:
            return {}
        missing = self._missing(request)
        return {"targetAchieved": not missing, "transition": {"continue_behaviors": bool(missing)}}

    def actions(self, request: Request) -> Iterator[Any]:
        missing = self._missing(request)
        for name in missing[:3]:
            yield from run_code(cell(name))
            if name == "clean-1" and not request.observation.context.decisions:
                yield {"action": "update_workflow", "updated_workflow": plan(longer=True)}

    def _missing(self, request: Request) -> list[str]:
        step = str(request.observation.location.current.step_id)
        there = request.observation.context.variables.get("seen", [])
        return [name for name in traces(step) if name not in there]


class RandomPlanner(StoppedPlanner):
    """Answers at random, and otherwise each time it is asked, also when it is asked the same again."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__(dice)
        self._numbers = itertools.count()

    def judged(self, request: Request) -> dict[str, Any]:
        if question_of(request) is not PlanningQuestion.FEEDBACK:
            return {}
        return {"targetAchieved": True, "transition": {"continue_behaviors": self._dice.random() < 0.3}}

    def actions(self, request: Request) -> Iterator[Any]:
        for _ in range(self._dice.randrange(5)):
            yield from run_code(cell(f"random-{next(self._numbers)}"))
            if self._dice.random() < 0.1:
                yield {"action": "update_workflow", "updated_workflow": plan(longer=True)}


def traces(step: str) -> list[str]:
    return [f"{step}-{number}" for number in range({**STEPS, **EXTRA}.get(step, 0))]


@dataclass
class Stops:
    """What the stops of one or more runs came to, by the reason that they had."""

    counted: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    runs: int = 0

    @property
    def total(self) -> int:
        return self.counted.total()


async def run_with_stops(
    planner: StoppedPlanner, dice: random.Random, journals: Callable[[], Journal], stops: Stops, *, most: int
) -> RunState:
    """One run, stopped at random as often as `most` stops in all allow, and carried on until it is completed."""
    begin: RunStarted | RunResumed = RunStarted(run_id="run", policies=Policies(confirm="ask"))
    for _ in range(MOST_SESSIONS):
        reason: Reason = dice.choice(REASONS) if stops.total < most else "confirm"
        state = await _session(planner, dice, journals(), begin, reason)
        assert state.stopped is not None
        if state.stopped.reason == "completed":
            stops.runs += 1
            return state
        stops.counted[_why(state, reason)] += 1
        if state.stopped.reason == "waiting":
            await _answer(state, dice, journals())
        begin = RunResumed(limits=Limits())
    raise AssertionError(f"the run does not come to its end: {state.stopped}")


async def _session(
    planner: StoppedPlanner,
    dice: random.Random,
    journal: Journal,
    begin: RunStarted | RunResumed,
    reason: Reason,
) -> RunState:
    """Carry the run on in a process of its own, so to speak, which ends for that reason at a random moment."""
    runner = Runner(planner=planner, kernel=ScriptedKernel(), journal=journal, asking=IMPATIENT)
    await runner.load()
    if reason == "limit":
        limits = Limits(actions=runner.state.actions_completed + dice.randrange(1, 8))
        begin = begin.model_copy(update={"limits": limits})
    planner.moment = _moment(runner, reason, dice.randrange(12), patience=dice.choice([None, 0.0]))
    try:
        await runner.begin(begin)
        async with asyncio.timeout(60):
            async for _ in runner.run():
                pass
        return runner.state
    finally:
        await journal.close()


def _moment(runner: Runner, reason: Reason, number: int, *, patience: float | None) -> Callable[[int], None]:
    count = itertools.count()

    def reached(sent: int) -> None:
        now = next(count)
        if reason == "outage" and now >= number:
            raise PlannerUnreachable(planner="stopped", reason="an outage", retry_after=0.0)
        if reason == "torn stream" and now >= number and sent:
            raise StreamBroken(planner="stopped", received=sent, reason="torn")
        if now == number and reason == "pause":
            runner.pause(patience=patience)
        if now == number and reason == "ctrl_c":
            runner.stop("stopped at a random moment")

    return reached


def _why(state: RunState, reason: Reason) -> str:
    """The reason that a stop had; a change of the plan may have stopped the run before that."""
    return "confirm" if state.stopped is not None and state.stopped.reason == "waiting" else reason


async def _answer(state: RunState, dice: random.Random, journal: Journal) -> None:
    command = Command(kind=dice.choice(["confirm", "reject"]), comment="because", answers=state.machine.entered)
    try:
        await journal.post(command, at=state.at)
    finally:
        await journal.close()


def check_whole(state: RunState, entries: list[Entry], planner: StoppedPlanner) -> int:
    """That nothing is missing and nothing stands twice; how many questions were asked more than once."""
    assert state.fsm is State.WORKFLOW_COMPLETED
    received = [entry.record for entry in entries if isinstance(entry.record, ActionReceived)]
    done = [entry.record for entry in entries if isinstance(entry.record, ActionCompleted | ActionTakenOver)]
    assert [one.action_id for one in done] == [one.action_id for one in received], "an action was lost or repeated"
    assert all(one.success for one in done if isinstance(one, ActionCompleted))
    assert state.behavior.queue == (), "an action waits for ever"
    taken = [str(one.action) for one in received]
    queued = [str(one) for entry in entries if isinstance(entry.record, ActionsQueued) for one in entry.record.actions]
    assert not Counter(queued) - Counter(taken), "an action that waited was not carried out"
    # The cells, what was run of them and what that left in the kernel agree, each once, in the same order.
    standing, withdrawn = _standing(entries)
    added, ran = _asked_for(standing)
    cells = [one for one in state.document.cells if one.type is CellType.CODE]
    assert [one.source for one in cells] == added
    seen = state.kernel.variables.get("seen", [])
    # A kernel that goes on keeps what withdrawn cells did: it was done once, and is not undone.
    left = {action["content"] for action in withdrawn if action["action"] == "add"}
    assert [source for source in map(cell, seen) if source not in left] == ran
    assert len(set(seen)) == len(seen)
    for request_id, bodies in planner.bodies.items():
        assert len(bodies) == 1, f"request {request_id} was sent with {len(bodies)} different bodies"
    asked: Counter[str] = Counter(
        entry.record.request_id for entry in entries if entry.record.kind in ("planning_asked", "generating_asked")
    )
    return sum(times > 1 for times in asked.values())


def _standing(entries: list[Entry]) -> tuple[list[Any], list[Any]]:
    """The actions that were carried out, those that were taken over once; and those withdrawn after an error."""
    standing: list[Any] = []
    withdrawn: list[Any] = []
    attempt: list[Any] = []
    former: list[Any] = []
    received: Any = None
    for record in (entry.record for entry in entries):
        match record:
            case Transitioned(to=State.BEHAVIOR_RUNNING, source=State.ERROR):
                attempt, former = [], [*attempt, *former]
            case Transitioned(to=State.BEHAVIOR_RUNNING):
                standing, attempt, former = [*standing, *former, *attempt], [], []
            case ActionReceived(action=action):
                received = action
            case ActionTakenOver():
                attempt, former = [*attempt, received], former[1:]
            case AttemptWithdrawn():
                withdrawn, former = [*withdrawn, *former], []
            case ActionCompleted():
                # What was not withdrawn goes on: the stream that broke was asked for its rest.
                attempt, former = [*former, *attempt, received], []
    return [*standing, *former, *attempt], withdrawn


def _asked_for(actions: Iterable[Any]) -> tuple[list[str], list[str]]:
    """The cells that were to be added, and those that were to be run: a planner that answers otherwise when it is asked
    again may leave a cell that it does not want to be run."""
    added: list[str] = []
    ran: list[str] = []
    for action in actions:
        if action["action"] == "add":
            added.append(action["content"])
        elif action["action"] == "exec":
            ran.append(added[-1])
    return added, ran


async def campaign(
    kind: type[StoppedPlanner], *, stops: int, seed: int, journals: Callable[[int], Callable[[], Journal]]
) -> Stops:
    """Runs with so many stops in all. `journals` gives for the number of a run what opens its journal each time."""
    done = Stops()
    for number in itertools.count():
        if done.total >= stops:
            return done
        dice = random.Random(f"{seed}/{number}")
        planner = kind(dice)
        opened = journals(number)
        state = await run_with_stops(planner, dice, opened, done, most=stops)
        journal = opened()
        entries = [entry async for entry in journal.read()]
        await journal.close()
        done.repeated += check_whole(state, entries, planner)
        if kind is ObservingPlanner:
            steps = (*STEPS, *(EXTRA if state.plan is not None and len(state.plan.stages) > 1 else ()))
            expected = [name for step in steps for name in traces(step)]
            assert state.kernel.variables["seen"] == expected
    return done
