"""What is known about a run at one moment: a fold of its journal, never changed in place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

from notebook_bcc.journal.records import (
    ActionCompleted,
    ActionReceived,
    CheckpointSaved,
    GeneratingAsked,
    PlanningAnswered,
    PlanningAsked,
    PlanProposal,
    RunStopped,
)
from notebook_bcc.notebook.document import Document
from notebook_bcc.protocol.limits import Limits, Policies, Spent
from notebook_bcc.protocol.messages import ActionProblem, ContextFilter, PlanningResponse, Question
from notebook_bcc.protocol.observation import Decision, SectionProgress
from notebook_bcc.protocol.specs import UNCONFINED, KernelSpec, LocalKernelSpec, PlannerSpec, SandboxSpec
from notebook_bcc.protocol.tracking import Artifact, CompletedItem, OutputsProduced, OutputTracking, Promotion
from notebook_bcc.protocol.vocabulary import Event, State
from notebook_bcc.protocol.workflow import Stage, Step, Workflow

# Lists that an observation carries are bounded: a payload must not grow with the length of the run.
HISTORY_KEPT = 50
EFFECTS_KEPT = 40
TAKEN_KEPT = 20
DECISIONS_KEPT = 5
_CHUNK = 64
_One = TypeVar("_One")


@dataclass(frozen=True, slots=True)
class Move:
    """One transition, as the bounded history keeps it."""

    source: State
    event: Event
    to: State
    at: str


@dataclass(frozen=True, slots=True)
class Machine:
    """Where the state machine is and how it got there (the last moves). `entered` is the entry that brought it here."""

    state: State = State.IDLE
    history: tuple[Move, ...] = ()
    moves: int = 0
    entered: int = 0


@dataclass(frozen=True, slots=True)
class Position:
    """Where in the plan the run is."""

    stage_id: str | None = None
    step_id: str | None = None
    behavior_id: str | None = None
    iteration: int = 0


@dataclass(frozen=True, slots=True)
class LevelState:
    """Progress on one level: what is completed there, the planner's text, what was promised.

    `noted` is what the planner says of the outputs of the item under way.
    """

    completed: tuple[CompletedItem, ...] = ()
    focus: str = ""
    goal: str = ""
    outputs: OutputTracking = field(default_factory=OutputTracking)
    artifacts: tuple[Artifact, ...] = ()
    noted: OutputsProduced | None = None

    def is_completed(self, key: str) -> bool:
        return any(item.key == key for item in self.completed)


@dataclass(frozen=True)  # a generic class with slots cannot be made by its alias
class Chunked(Generic[_One]):
    """Values in order. Adding one costs the same however many there are."""

    chunks: tuple[tuple[_One, ...], ...] = ()
    length: int = 0

    def __iter__(self) -> Iterator[_One]:
        for chunk in self.chunks:
            yield from chunk

    def __len__(self) -> int:
        return self.length

    def appended(self, one: _One) -> Chunked[_One]:
        room = self.chunks and len(self.chunks[-1]) < _CHUNK
        chunks = (*self.chunks[:-1], (*self.chunks[-1], one)) if room else (*self.chunks, (one,))
        return Chunked(chunks, self.length + 1)


@dataclass(frozen=True, slots=True)
class KernelStep:
    """A cell that succeeded and is run again to rebuild the namespace. One cell may have been run several times."""

    cell_id: str


KernelSteps = Chunked[KernelStep]


@dataclass(frozen=True, slots=True)
class DoneAction:
    """An action of a behavior as it was received, and what came of it."""

    action: Any
    completed: ActionCompleted


@dataclass(frozen=True, slots=True)
class AttemptStart:
    """What a behavior began with: what is there again once its actions are withdrawn."""

    document: Document
    steps: KernelSteps
    reproducible: dict[str, Any]
    assigned: dict[str, str]
    section_progress: SectionProgress | str | None
    promotions: tuple[Promotion, ...] = ()


@dataclass(frozen=True)
class BehaviorState:
    """The running behavior, or the last one until the next begins.

    `queue` are actions that were read before the run stopped and are not begun. `asked_from` is what was known when the
    question went out, `summaries` what the kernel said for it: until the answer is read whole it can be asked again.
    `unanswered`: nobody answered it, or not to the end; a restart asks it again instead of a new one.
    `done` are its actions since `start`. After an error `former` are those of the attempt before: `done` has the first
    of them, taken over, until the rest is withdrawn. `promoted` are the artifacts of both.
    """

    asked: GeneratingAsked | None = None
    asked_from: RunState | None = None
    summaries: dict[str, Any] = field(default_factory=dict)
    unanswered: bool = False
    queue: tuple[Any, ...] = ()
    stream_open: bool = False
    ended: bool = False
    failure: str = ""
    current: ActionReceived | None = None
    received: int = 0
    digest: int = 0
    executed: int = 0
    succeeded: int = 0
    skipped: int = 0
    sections: int = 0
    errors: tuple[ActionProblem, ...] = ()
    last_result: str = "none"
    taken: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    aborted: bool = False
    end_phase: bool = False
    fire: Event | None = None
    promotions: tuple[Promotion, ...] = ()
    validate: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    partial: tuple[dict[str, Any], ...] = ()
    out_of_budget: str = ""
    beside: PlanningResponse | None = None
    start: AttemptStart | None = None
    done: Chunked[DoneAction] = field(default_factory=Chunked[DoneAction])
    former: tuple[DoneAction, ...] = ()
    promoted: tuple[str, ...] = ()

    @property
    def former_left(self) -> bool:
        """Whether the attempt before has done actions that this one has not taken over."""
        return len(self.done) < len(self.former)


@dataclass(frozen=True, slots=True)
class Detour:
    """The way to a behavior whose only action is a proposed change of the plan, taken where no other action follows.

    `origin` is the state it began in and leads back to; verdict, position, behavior and target are those of that
    state. `known` are the stages and steps of the plan before. Once back (`away` false) it is kept until the next move.
    """

    origin: State
    verdict: PlanningAnswered | None
    position: Position
    behavior: BehaviorState
    target: tuple[str | None, str | None] | None
    known: frozenset[tuple[str, str | None]] = frozenset()
    away: bool = True


@dataclass(frozen=True, slots=True)
class KernelState:
    """What is in the kernel, and how to put it there again.

    `reproducible` are the variables as cells that succeeded have left them: what is there again once a kernel is
    rebuilt. Those of a cell that failed are in `variables` alone, and are lost with the kernel.
    `assigned` names for each variable the cell that gave it its value, the newest last.
    `session` names the newest kernel that may outlive its process. `known`: the journal tells all that is in it, up
    to the cell of count `count`. Both stay when a process dies, and are what the next one takes the kernel up by.
    `missing` are names that the cells have made and that the checkpoint it came from lacks. `once_begun` is the action
    whose cell, marked `once`, went to a kernel and has not ended; `run_once` are such cells that a person allows again.
    `once_done` are sources of such cells that an attempt has executed and that were withdrawn with it.
    """

    up: bool = False
    started: bool = False
    losses: int = 0
    variables: dict[str, Any] = field(default_factory=dict)
    reproducible: dict[str, Any] = field(default_factory=dict)
    assigned: dict[str, str] = field(default_factory=dict)
    steps: KernelSteps = field(default_factory=KernelSteps)
    differences: tuple[str, ...] = ()
    blocked: str = ""
    accept_differences: bool = False
    name: str = "python3"
    display_name: str = "Python 3 (ipykernel)"
    language: str = "python"
    language_version: str = ""
    session: str = ""
    known: bool = False
    count: int = 0
    missing: tuple[str, ...] = ()
    once_begun: str = ""
    run_once: tuple[str, ...] = ()
    once_done: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckpointState:
    """What is saved of the namespace, the newest last, and what that has cost.

    `tried` is how many cells there were at the last attempt; `expected` how many seconds the next is thought to take.
    `long`: a cell since then took so long that it is saved before its step ends. `off` says why none are made.
    """

    saved: tuple[CheckpointSaved, ...] = ()
    tried: int = 0
    spent: float = 0.0
    expected: float = 0.0
    long: bool = False
    off: str = ""


@dataclass(frozen=True, slots=True)
class PlannerContext:
    """What the planner has set through context updates."""

    variables: dict[str, Any] = field(default_factory=dict)
    todo: tuple[str, ...] = ()
    section_progress: SectionProgress | str | None = None
    workflow_progress: Any = None
    estimated_remaining: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A person's answer to a question of the planner. `answers` is the entry that brought the question."""

    answers: int
    value: Any
    who: str
    at: str


@dataclass(frozen=True)
class RunState:
    """Everything decide and observe may look at. `steps_ended` are the steps that were done, by stage and step, and
    whether with their goal. `filter` is for the next behavior; `planner_filter` is that of the planner's last
    judgement, whatever has been asked since. `judged` is the entry that brought the last judgement; `replies` are the
    answers to questions, by the input they became. `action_due`: the run was taken up again and has completed no action
    since; until it has, the limit of seconds does not stop it."""

    run_id: str = ""
    goal: str = ""
    seq: int = 0
    at: str = ""
    started_at: str = ""
    session_at: str = ""
    elapsed_before: float = 0.0
    planner: PlannerSpec | None = None
    kernel_spec: KernelSpec = field(default_factory=LocalKernelSpec)
    sandbox_spec: SandboxSpec = UNCONFINED
    policies: Policies = field(default_factory=Policies)
    limits: Limits = field(default_factory=Limits)
    given_plan: Workflow | None = None
    given_variables: dict[str, Any] = field(default_factory=dict)
    given_title: str = ""
    plan: Workflow | None = None
    machine: Machine = field(default_factory=Machine)
    position: Position = field(default_factory=Position)
    stages: LevelState = field(default_factory=LevelState)
    steps: LevelState = field(default_factory=LevelState)
    behaviors: LevelState = field(default_factory=LevelState)
    steps_ended: dict[tuple[str, str], bool] = field(default_factory=dict)
    behavior: BehaviorState = field(default_factory=BehaviorState)
    asked: PlanningAsked | None = None
    asked_from: RunState | None = None
    verdict: PlanningAnswered | None = None
    judged: int = 0
    replies: dict[str, Reply] = field(default_factory=dict)
    filter: ContextFilter | None = None
    planner_filter: ContextFilter | None = None
    target: tuple[str | None, str | None] | None = None
    proposals: tuple[PlanProposal, ...] = ()
    decisions: tuple[Decision, ...] = ()
    detour: Detour | None = None
    kernel: KernelState = field(default_factory=KernelState)
    checkpoints: CheckpointState = field(default_factory=CheckpointState)
    planner_context: PlannerContext = field(default_factory=PlannerContext)
    effects: tuple[str, ...] = ()
    effects_history: tuple[str, ...] = ()
    document: Document = field(default_factory=Document)
    requests: int = 0
    actions_received: int = 0
    actions_completed: int = 0
    reward: float = 0.0
    spent: Spent = field(default_factory=Spent)
    models: tuple[str, ...] = ()
    recover: str = ""
    fault: str = ""
    failure_reason: str = ""
    promotions: tuple[Promotion, ...] = ()
    pause: bool = False
    action_due: bool = False
    commands_seen: int = 0
    stopped: RunStopped | None = None

    @property
    def fsm(self) -> State:
        return self.machine.state

    @property
    def cancelled(self) -> bool:
        """Whether the run was cancelled: by its machine's state, or before its workflow had begun by its stop alone."""
        return self.fsm is State.CANCELLED or (self.stopped is not None and self.stopped.reason == "cancelled")

    @property
    def stage(self) -> Stage | None:
        """The stage the run is in."""
        if self.plan is None or self.position.stage_id is None:
            return None
        return self.plan.stage(self.position.stage_id)

    @property
    def step(self) -> Step | None:
        """The step the run is in."""
        stage = self.stage
        if stage is None or self.position.step_id is None:
            return None
        return stage.step(self.position.step_id)

    @property
    def remaining_stages(self) -> tuple[str, ...]:
        """Stages of the plan that are neither completed nor current, in the plan's order."""
        if self.plan is None:
            return ()
        done = {item.key for item in self.stages.completed} | {self.position.stage_id}
        return tuple(stage.id for stage in self.plan.stages if stage.id not in done)

    @property
    def remaining_steps(self) -> tuple[str, ...]:
        """Steps of the stage that are neither completed nor current, in the plan's order."""
        stage = self.stage
        if stage is None:
            return ()
        done = {item.key for item in self.steps.completed} | {self.position.step_id}
        return tuple(step.id for step in stage.steps if step.id not in done)

    @property
    def on_detour(self) -> bool:
        """True while the run only moves to have a change of the plan decided: nobody is asked for anything else."""
        return self.detour is not None and self.detour.away

    @property
    def question(self) -> Question | None:
        """What the planner must be told before it can go on."""
        return self.verdict.response.metadata.question if self.verdict is not None else None

    @property
    def variables(self) -> dict[str, Any]:
        """What exists in the kernel, and what the planner set beside it; the kernel's word counts."""
        return {**self.planner_context.variables, **self.kernel.variables}


def bounded(items: tuple[Any, ...], *new: Any, keep: int) -> tuple[Any, ...]:
    """The items and the new ones, the newest `keep` of them."""
    return (*items, *new)[-keep:]


def elapsed(state: RunState) -> float:
    """Seconds this run has been carried out, sessions added up, as its records tell. The time that it took to rebuild
    a kernel does not count."""
    if not state.session_at or not state.at:
        return state.elapsed_before
    session = datetime.fromisoformat(state.at) - datetime.fromisoformat(state.session_at)
    return state.elapsed_before + max(0.0, session.total_seconds())


def elapsed_without(state: RunState, at: str) -> float:
    """`elapsed_before` where what has passed since the last record does not count: that was spent on rebuilding, and a
    run with a small limit of seconds would never get beyond it."""
    if not state.at:
        return state.elapsed_before
    passed = datetime.fromisoformat(at) - datetime.fromisoformat(state.at)
    return state.elapsed_before - max(0.0, passed.total_seconds())
