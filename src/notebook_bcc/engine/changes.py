"""What a record changes in a run, as types: the checker sees every key, and so does the running program."""

from __future__ import annotations

from typing import Any, TypedDict, Unpack, overload

from notebook_bcc.engine.state import (
    AttemptStart,
    BehaviorState,
    CheckpointState,
    Chunked,
    Detour,
    DoneAction,
    KernelState,
    LevelState,
    Machine,
    PlannerContext,
    Position,
    Reply,
    RunState,
)
from notebook_bcc.journal.records import (
    ActionReceived,
    GeneratingAsked,
    PlanningAnswered,
    PlanningAsked,
    PlanProposal,
    RunStopped,
)
from notebook_bcc.notebook.document import Document
from notebook_bcc.protocol.limits import Limits, Policies, Spent
from notebook_bcc.protocol.messages import ActionProblem, ContextFilter, PlanningResponse
from notebook_bcc.protocol.observation import Decision
from notebook_bcc.protocol.specs import KernelSpec, PlannerSpec, SandboxSpec
from notebook_bcc.protocol.tracking import Promotion
from notebook_bcc.protocol.vocabulary import Event
from notebook_bcc.protocol.workflow import Workflow


class StateChanges(TypedDict, total=False):
    """Fields of RunState with new values; a test keeps the two alike."""

    run_id: str
    goal: str
    seq: int
    at: str
    started_at: str
    session_at: str
    elapsed_before: float
    planner: PlannerSpec | None
    kernel_spec: KernelSpec
    sandbox_spec: SandboxSpec
    policies: Policies
    limits: Limits
    given_plan: Workflow | None
    given_variables: dict[str, Any]
    given_title: str
    plan: Workflow | None
    machine: Machine
    position: Position
    stages: LevelState
    steps: LevelState
    behaviors: LevelState
    steps_ended: dict[tuple[str, str], bool]
    behavior: BehaviorState
    asked: PlanningAsked | None
    asked_from: RunState | None
    verdict: PlanningAnswered | None
    judged: int
    replies: dict[str, Reply]
    filter: ContextFilter | None
    planner_filter: ContextFilter | None
    target: tuple[str | None, str | None] | None
    proposals: tuple[PlanProposal, ...]
    decisions: tuple[Decision, ...]
    detour: Detour | None
    kernel: KernelState
    checkpoints: CheckpointState
    planner_context: PlannerContext
    effects: tuple[str, ...]
    effects_history: tuple[str, ...]
    document: Document
    requests: int
    actions_received: int
    actions_completed: int
    reward: float
    spent: Spent
    models: tuple[str, ...]
    recover: str
    fault: str
    failure_reason: str
    promotions: tuple[Promotion, ...]
    pause: bool
    action_due: bool
    commands_seen: int
    stopped: RunStopped | None


class BehaviorChanges(TypedDict, total=False):
    """The same for BehaviorState."""

    asked: GeneratingAsked | None
    asked_from: RunState | None
    summaries: dict[str, Any]
    unanswered: bool
    queue: tuple[Any, ...]
    stream_open: bool
    ended: bool
    failure: str
    current: ActionReceived | None
    received: int
    digest: int
    executed: int
    succeeded: int
    skipped: int
    sections: int
    errors: tuple[ActionProblem, ...]
    last_result: str
    taken: tuple[str, ...]
    findings: tuple[str, ...]
    aborted: bool
    end_phase: bool
    fire: Event | None
    promotions: tuple[Promotion, ...]
    validate: tuple[str, ...]
    missing: tuple[str, ...]
    partial: tuple[dict[str, Any], ...]
    out_of_budget: str
    beside: PlanningResponse | None
    start: AttemptStart | None
    done: Chunked[DoneAction]
    former: tuple[DoneAction, ...]
    promoted: tuple[str, ...]


@overload
def evolve(value: RunState, /, **changes: Unpack[StateChanges]) -> RunState: ...


@overload
def evolve(value: BehaviorState, /, **changes: Unpack[BehaviorChanges]) -> BehaviorState: ...


def evolve(value: Any, /, **changes: Any) -> Any:  # Any: the overloads say what goes with what
    """A copy with some fields exchanged. Raises TypeError for a field that there is not.

    `dataclasses.replace` does the same at eight times the price, and this is done several times for every action of a
    run.
    """
    made = object.__new__(type(value))
    made.__dict__.update(value.__dict__)
    made.__dict__.update(changes)
    if len(made.__dict__) != len(value.__dict__):
        unknown = ", ".join(changes.keys() - value.__dict__.keys())
        raise TypeError(f"{type(value).__name__} has no field {unknown}")
    return made
