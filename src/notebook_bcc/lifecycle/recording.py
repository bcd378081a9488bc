"""A recorded run made ready to be carried out again: its answers, its people's decisions, and the comparison."""

from __future__ import annotations

from collections.abc import AsyncIterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from notebook_bcc.engine.decide import budget_reached
from notebook_bcc.engine.reduce import reduce
from notebook_bcc.engine.state import RunState, elapsed
from notebook_bcc.errors import RunRefused
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import (
    ActionReceived,
    BehaviorJudged,
    GeneratingAsked,
    GeneratingFailed,
    PlanningAnswered,
    PlanningAsked,
    PlanProposal,
    PlanUpdateDecided,
    RepairTried,
    RunResumed,
    RunStarted,
    RunStopped,
)
from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.sameness import differences
from notebook_bcc.planners.replay import RecordedBehavior, RecordedPlanning, RecordedRepair, ReplayPlanner
from notebook_bcc.protocol.cells import AUTO_DEBUG, KEEP_DEBUG_BUTTON, Cell
from notebook_bcc.protocol.messages import PlanningResponse

# A replay comes by itself to the stops that follow from the run; a pause or a kill does not happen again.
_STOPS_AGAIN = frozenset({"failed", "limit", "cancelled"})
_UNFINISHED = frozenset({"paused", "interrupted", "waiting"})
_ASKED_BY_EXEC = frozenset({AUTO_DEBUG, KEEP_DEBUG_BUTTON})


@dataclass(frozen=True, slots=True)
class Recording:
    """What a run was told, in order, and how it ended. `restarts` are what a person chose after each stop."""

    started: RunStarted
    state: RunState
    plannings: tuple[RecordedPlanning, ...] = ()
    behaviors: tuple[RecordedBehavior, ...] = ()
    repairs: tuple[RecordedRepair, ...] = ()
    decisions: tuple[bool, ...] = ()
    restarts: tuple[RunResumed, ...] = ()

    @property
    def ends_open(self) -> bool:
        """Whether a replay does not come to the recorded end by itself: somebody has to stop it there."""
        stopped = self.state.stopped
        return stopped is None or stopped.reason in _UNFINISHED or _only_then(self.state)

    def planner(self, *, asked: Sequence[Entry] = ()) -> ReplayPlanner:
        """A planner that gives these answers. `asked` is the journal of a replay that is taken up again."""
        plannings, behaviors = _asked_ids(asked)
        return ReplayPlanner(
            plannings=[
                replace(one, request_id=plannings[at]) if at < len(plannings) else one
                for at, one in enumerate(self.plannings)
            ],
            behaviors=[
                replace(one, request_id=behaviors[at]) if at < len(behaviors) else one
                for at, one in enumerate(self.behaviors)
            ],
            repairs=self.repairs,
        )


class RecordedPerson:
    """Decides about changes of the plan as somebody did in the record."""

    def __init__(self, decisions: Sequence[bool]) -> None:
        self._decisions = list(decisions)

    async def confirm(self, proposal: PlanProposal, diff: str) -> bool | None:
        return self._decisions.pop(0) if self._decisions else None


@dataclass
class _RecordingBuilder:
    """The lists that grow while a journal is read."""

    plannings: dict[str, RecordedPlanning] = field(default_factory=dict)
    behaviors: dict[str, tuple[list[Any], str]] = field(default_factory=dict)
    beside: dict[str, PlanningResponse] = field(default_factory=dict)
    repairs: list[RecordedRepair] = field(default_factory=list)
    decisions: list[bool] = field(default_factory=list)
    restarts: list[RunResumed] = field(default_factory=list)
    stop: str = ""
    asks: bool = False
    behavior: str = ""


async def read_recording(entries: AsyncIterable[Entry]) -> Recording:
    """Everything a replay needs, from a journal's entries. Raises RunRefused when there is no run in it."""
    tape = _RecordingBuilder()
    state = RunState()
    started: RunStarted | None = None
    async for entry in entries:
        state = reduce(state, entry)
        if isinstance(entry.record, RunStarted):
            started = entry.record
        _note(tape, entry, state)
    if started is None:
        raise RunRefused("there is no run in this journal; nothing can be replayed")
    return Recording(
        started=started,
        state=state,
        plannings=tuple(tape.plannings.values()),
        behaviors=tuple(
            RecordedBehavior(request_id, tuple(actions), failure, tape.beside.get(request_id))
            for request_id, (actions, failure) in tape.behaviors.items()
        ),
        repairs=tuple(tape.repairs),
        decisions=tuple(tape.decisions),
        restarts=tuple(tape.restarts),
    )


def _only_then(state: RunState) -> bool:
    """Whether a run has stopped at a limit that a replay does not know: it takes its own time, and asks no model."""
    stopped = state.stopped
    if stopped is None or stopped.reason != "limit":
        return False
    late = 0 < state.limits.run_seconds <= elapsed(state)
    return late or bool(state.behavior.out_of_budget) or budget_reached(state) is not None


def _note(tape: _RecordingBuilder, entry: Entry, state: RunState) -> None:
    """Keep what the entry brings; `state` is the one after it."""
    # Changes of the plan were put to whoever was there, as the replay does.
    offered = state.policies.confirm == "offer"
    match entry.record:
        case PlanningAnswered() as record:
            failure = "there was no answer in the record" if record.degraded else ""
            tape.plannings[record.request_id] = RecordedPlanning(
                record.request_id, record.purpose, record.response, failure
            )
            tape.asks = record.response.metadata.question is not None
        case GeneratingAsked() as record:
            tape.behavior = record.request_id
            tape.behaviors.setdefault(record.request_id, ([], ""))
        case BehaviorJudged() as record:
            tape.beside[record.request_id] = record.response
        case ActionReceived() as record:
            actions, failure = tape.behaviors.setdefault(tape.behavior, ([], ""))
            # After a crash an action may have been received again; the record has it once.
            del actions[record.index :]
            actions.append(record.action)
        case GeneratingFailed() as record if not record.out_of_budget:
            actions, _ = tape.behaviors.setdefault(tape.behavior, ([], ""))
            tape.behaviors[tape.behavior] = (actions, record.error)
        case RepairTried() as record:
            tape.repairs.append(RecordedRepair(record.cell_id, record.attempt, record.repaired))
        case PlanUpdateDecided() as record if record.by == "person" or offered:
            tape.decisions.append(record.confirmed)
        case RunStopped() as record:
            tape.stop = "" if _only_then(state) else record.reason
        case RunResumed() as record:
            if tape.stop in _STOPS_AGAIN or (tape.stop == "waiting" and tape.asks):
                # The replay has an inbox of its own.
                tape.restarts.append(record.model_copy(update={"forgets": None}))
            tape.stop = ""
        case _:
            pass


def _asked_ids(entries: Sequence[Entry]) -> tuple[list[str], list[str]]:
    """The request ids that a journal has, each once, in their order: judgements, behaviors."""
    plannings: dict[str, None] = {}
    behaviors: dict[str, None] = {}
    for entry in entries:
        match entry.record:
            case PlanningAsked() as record:
                plannings[record.request_id] = None
            case GeneratingAsked() as record:
                behaviors[record.request_id] = None
            case _:
                pass
    return list(plannings), list(behaviors)


def notebook_differences(recorded: Document, now: Document, *, folders: Sequence[str] = ()) -> list[str]:
    """Where two notebooks are not the same, apart from what differs between any two executions."""
    found = [] if recorded.title == now.title else [f"the title was {recorded.title!r}, now it is {now.title!r}"]
    before, after = list(recorded.cells), list(now.cells)
    if [cell.id for cell in before] != [cell.id for cell in after]:
        return [*found, _order_difference([cell.id for cell in before], [cell.id for cell in after])]
    for old, new in zip(before, after, strict=True):
        found += [f"cell {old.id}: {what}" for what in _cell_differences(old, new, folders)]
    return found


def equal_notebooks(recorded: Document, now: Document) -> bool:
    """Whether the two are the same to the byte, titles, cells, outputs and all."""
    return recorded.title == now.title and recorded.cells == now.cells


def _cell_differences(old: Cell, new: Cell, folders: Sequence[str]) -> list[str]:
    found = []
    if old.type is not new.type:
        found.append(f"it was a {old.type.value} cell, now it is a {new.type.value} cell")
    if old.source != new.source:
        found.append("its source differs")
    if dict(old.metadata) != _as_recorded(old, new):
        found.append("its metadata differ")
    return found + differences(old.outputs, new.outputs, folders=folders)


def _as_recorded(old: Cell, new: Cell) -> dict[str, Any]:  # Any: JSON
    """The new metadata without what journals of earlier versions did not keep: what an `exec` asked for."""
    return {key: value for key, value in new.metadata.items() if key in old.metadata or key not in _ASKED_BY_EXEC}


def _order_difference(before: Sequence[str], after: Sequence[str]) -> str:
    for number, (old, new) in enumerate(zip(before, after, strict=False), 1):
        if old != new:
            return f"cell {number} was {old!r}, now it is {new!r}"
    return f"there were {len(before)} cells, now there are {len(after)}"
