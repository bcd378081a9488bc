"""Everything that can happen in a run, in the past tense: a versioned tagged union.

A journal written by this version must be readable by every later one: fields are added with defaults, never renamed or
removed; a default never changes (fields that have it are not written); a new meaning gets a new kind.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from notebook_bcc.journal.action_records import ActionCompleted as ActionCompleted
from notebook_bcc.journal.action_records import ActionTakenOver as ActionTakenOver
from notebook_bcc.journal.action_records import ArtifactPromoted as ArtifactPromoted
from notebook_bcc.journal.action_records import AttemptWithdrawn as AttemptWithdrawn
from notebook_bcc.journal.action_records import CellChange as CellChange
from notebook_bcc.journal.action_records import OutputReceived as OutputReceived
from notebook_bcc.journal.action_records import PlanProposal as PlanProposal
from notebook_bcc.journal.action_records import PromotionFailed as PromotionFailed
from notebook_bcc.journal.action_records import RepairTried as RepairTried
from notebook_bcc.journal.kernel_records import CellRerun as CellRerun
from notebook_bcc.journal.kernel_records import CheckpointLoaded as CheckpointLoaded
from notebook_bcc.journal.kernel_records import CheckpointRejected as CheckpointRejected
from notebook_bcc.journal.kernel_records import CheckpointSaved as CheckpointSaved
from notebook_bcc.journal.kernel_records import CheckpointSkipped as CheckpointSkipped
from notebook_bcc.journal.kernel_records import KernelAbandoned as KernelAbandoned
from notebook_bcc.journal.kernel_records import KernelAttached as KernelAttached
from notebook_bcc.journal.kernel_records import KernelLost as KernelLost
from notebook_bcc.journal.kernel_records import KernelRebuilt as KernelRebuilt
from notebook_bcc.journal.kernel_records import KernelStarted as KernelStarted
from notebook_bcc.journal.kernel_records import OnceBegun as OnceBegun
from notebook_bcc.journal.record import RecordBase as RecordBase
from notebook_bcc.protocol.limits import Limits, Policies
from notebook_bcc.protocol.messages import BehaviorFeedback, PlanningResponse
from notebook_bcc.protocol.specs import (
    DEFAULT_KERNEL,
    UNCONFINED,
    KernelSpec,
    PlannerSpec,
    SandboxSpec,
    kernel_of_text,
    planner_of_text,
)
from notebook_bcc.protocol.vocabulary import Event, State
from notebook_bcc.protocol.workflow import Workflow

# 2: planner and kernel are specs. 3: actions that wait. 4: sandboxes, checkpoints. 5: attempts that are taken over. It
# rises with every new kind of record or spec: older versions then refuse the file.
FORMAT_VERSION = 5
# The variable a run is told its inputs in: the names of its data files, its target, its language.
INPUTS = "inputs"


class RunStarted(RecordBase):
    """The run exists. `workflow` is the plan a person gave, if any.

    `planner`, `kernel` and `kernel_url` are how format 1 named what the specs name; they are read, and not written.
    `identity` is what an id stands for that the caller gave: what was ordered, by name, with digests of files.
    """

    kind: Literal["run_started"] = "run_started"
    run_id: str
    goal: str = ""
    title: str = ""
    workflow: Workflow | None = None
    variables: dict[str, Any] = Field(default_factory=dict)
    policies: Policies = Field(default_factory=Policies)
    limits: Limits = Field(default_factory=Limits)
    planner: str = ""
    kernel: str = DEFAULT_KERNEL
    kernel_url: str = ""
    version: str = ""
    identity: dict[str, str] = Field(default_factory=dict)
    planner_spec: PlannerSpec | None = None
    kernel_spec: KernelSpec | None = None
    sandbox_spec: SandboxSpec | None = None

    @property
    def chosen_planner(self) -> PlannerSpec | None:
        """The planner, in whichever form it is recorded; None where the run's own program brought one."""
        return self.planner_spec or planner_of_text(self.planner)

    @property
    def chosen_kernel(self) -> KernelSpec:
        """The kernel, in whichever form it is recorded."""
        return self.kernel_spec or kernel_of_text(self.kernel, self.kernel_url)

    @property
    def chosen_sandbox(self) -> SandboxSpec:
        """The sandbox; none before there were any."""
        return self.sandbox_spec or UNCONFINED


class RunResumed(RecordBase):
    """A process took the run up again. `restart` says what a person chose after an error.

    `planner_spec`, `kernel_spec` and `sandbox_spec` are set where they changed. `planner` and `kernel_url` are how
    format 1 said that; an empty address means a kernel in a process of ours. `inputs` are what a person has told the
    run since: answers to the planner's questions. `answers` is the entry that brought the question among them, zero
    where none was waiting; `who` gave the answer, if they did so from elsewhere. Commands up to `forgets` were meant
    for the process before: a pause or cancel among them is not obeyed. None: those that are there when it begins.
    `run_once` are the cells marked `once` that a person allows to be executed again.
    """

    kind: Literal["run_resumed"] = "run_resumed"
    restart: Literal["behavior", "workflow", "reset"] = "behavior"
    accept_differences: bool = False
    run_once: tuple[str, ...] = ()
    policies: Policies | None = None
    limits: Limits | None = None
    planner: str = ""
    kernel_url: str | None = None
    version: str = ""
    inputs: dict[str, Any] = Field(default_factory=dict)
    forgets: int | None = None
    planner_spec: PlannerSpec | None = None
    kernel_spec: KernelSpec | None = None
    answers: int = 0
    who: str = ""
    sandbox_spec: SandboxSpec | None = None

    @property
    def chosen_planner(self) -> PlannerSpec | None:
        """The planner from here on, None where it stays."""
        return self.planner_spec or planner_of_text(self.planner)

    def chosen_kernel(self, before: KernelSpec) -> KernelSpec | None:
        """The kernel from here on, None where it stays."""
        if self.kernel_spec is not None or self.kernel_url is None:
            return self.kernel_spec
        return kernel_of_text(before.name, self.kernel_url)


class RunStopped(RecordBase):
    """The process let the run go, in a known state. It can be resumed unless it is completed.

    `answered`, of a completed run: whether what the plan names as deliverables was made; unknown where it names none.
    `kernel_left`: its kernel goes on for a while, with a cell that was under way, and can be taken up.
    """

    kind: Literal["run_stopped"] = "run_stopped"
    reason: Literal["completed", "failed", "cancelled", "limit", "paused", "waiting", "interrupted"]
    detail: str = ""
    answered: Literal["yes", "no", "unknown"] = "unknown"
    kernel_left: bool = False


class Transitioned(RecordBase):
    """The state machine moved. `reward` is the POMDP's R for this move.

    `detour`: the way to a behavior whose only action is a proposed change of the plan begins here. `proposals_kept`:
    proposals that wait go on waiting in the error state.
    """

    kind: Literal["transitioned"] = "transitioned"
    source: State
    event: Event
    to: State
    reward: float = 0.0
    reason: str = ""
    stage_id: str | None = None
    step_id: str | None = None
    detour: bool = False
    proposals_kept: bool = False


class EventRefused(RecordBase):
    """An event the table does not allow was asked for; nothing changed."""

    kind: Literal["event_refused"] = "event_refused"
    state: State
    event: str
    reason: str = ""


class Warned(RecordBase):
    """Something the user must know. `effect`: it stands in the effects as well; trouble on the way to a planner does
    not, for it says nothing of what the code did."""

    kind: Literal["warned"] = "warned"
    message: str
    effect: bool = True


Purpose = Literal["start", "stage", "step", "feedback", "step_end", "stage_end"]


class PlanningAsked(RecordBase):
    """A question went to /planning. The same id asked again gets the same answer.

    `digest` names the request's bytes. They are not kept: the records before this one tell what was known, and the
    request is built again from that. `shown` are variables whose values went along because the planner had answered
    that it needs them.
    """

    kind: Literal["planning_asked"] = "planning_asked"
    request_id: str
    purpose: Purpose
    attempt: int = 1
    feedback: BehaviorFeedback | None = None
    digest: str = ""
    shown: tuple[str, ...] = ()


class PlanningAnswered(RecordBase):
    """The planner's judgement."""

    kind: Literal["planning_answered"] = "planning_answered"
    request_id: str
    purpose: Purpose
    response: PlanningResponse
    degraded: bool = False
    seconds: float = 0.0


class GeneratingAsked(RecordBase):
    """A behavior was asked for. `summaries` are what the kernel computed for the context filter.

    `digest` names the request's bytes, as that of a planning request does.
    """

    kind: Literal["generating_asked"] = "generating_asked"
    request_id: str
    attempt: int = 1
    summaries: dict[str, Any] = Field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    digest: str = ""


class BehaviorJudged(RecordBase):
    """What a planner of the first dialect has answered beside the actions of a behavior; it counts at their end."""

    kind: Literal["behavior_judged"] = "behavior_judged"
    request_id: str
    response: PlanningResponse


class ActionReceived(RecordBase):
    """An action arrived and is the next to be carried out. `action` is as the planner sent it."""

    kind: Literal["action_received"] = "action_received"
    action_id: str
    index: int
    action: Any
    digest: int = 0


class ActionsQueued(RecordBase):
    """A run that stops has read what was left of its stream: these actions wait for the run to go on.

    `digest` is that of all actions of the stream so far.
    """

    kind: Literal["actions_queued"] = "actions_queued"
    actions: tuple[Any, ...]
    digest: int = 0


class GeneratingEnded(RecordBase):
    """The stream of actions ended as it should, after `actions` of them, or was dropped by the client."""

    kind: Literal["generating_ended"] = "generating_ended"
    actions: int
    dropped: bool = False


class GeneratingFailed(RecordBase):
    """No stream, or one that broke after `received` actions; what was executed stays.

    `out_of_budget`: nobody may be asked any more. The behavior has not failed; it waits for more to spend.
    `refused`: the planner said that it cannot answer this question; the next one is another.
    """

    kind: Literal["generating_failed"] = "generating_failed"
    received: int
    error: str
    lost_with_process: bool = False
    out_of_budget: bool = False
    refused: bool = False


class ModelMessage(RecordBase):
    """One message of a prompt."""

    role: str
    content: str


class ModelAsked(RecordBase):
    """A planner asked a language model. Long texts are cut, with a mark; keys are in none of them.

    Tokens are estimated where the endpoint has not `counted` them. `dollars` None: the price is unknown. `truncated`:
    the answer ended at its limit of tokens. With a `failure`, `answer` is what came before it.
    """

    kind: Literal["model_asked"] = "model_asked"
    model: str
    task: str
    request_id: str = ""
    prompt: tuple[ModelMessage, ...] = ()
    answer: str = ""
    failure: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    counted: bool = True
    dollars: float | None = None
    truncated: bool = False
    seconds: float = 0.0


class PlanUpdateDecided(RecordBase):
    """A person, or the policy, answered a proposal. `who` is the person, if they answered from elsewhere.

    `edited`: it was confirmed in this form instead of the proposed one.
    """

    kind: Literal["plan_update_decided"] = "plan_update_decided"
    confirmed: bool
    by: Literal["person", "policy"] = "person"
    comment: str = ""
    who: str = ""
    edited: PlanProposal | None = None


class Faulted(RecordBase):
    """The run cannot go on from here: what happened, and what to do."""

    kind: Literal["faulted"] = "faulted"
    reason: str


class ProposalDropped(RecordBase):
    """A proposed change of the plan came to nothing before anybody was asked."""

    kind: Literal["proposal_dropped"] = "proposal_dropped"
    reason: str


class CommandTaken(RecordBase):
    """A command of another process was seen; commands up to `seq` are not looked at again."""

    kind: Literal["command_taken"] = "command_taken"
    seq: int
    command: str


Record = (
    RunStarted
    | RunResumed
    | RunStopped
    | Transitioned
    | EventRefused
    | Warned
    | PlanningAsked
    | PlanningAnswered
    | GeneratingAsked
    | BehaviorJudged
    | ActionReceived
    | ActionsQueued
    | GeneratingEnded
    | GeneratingFailed
    | ModelAsked
    | ActionCompleted
    | ActionTakenOver
    | AttemptWithdrawn
    | OutputReceived
    | RepairTried
    | ArtifactPromoted
    | PromotionFailed
    | PlanUpdateDecided
    | KernelStarted
    | KernelAttached
    | KernelAbandoned
    | CellRerun
    | KernelRebuilt
    | KernelLost
    | CheckpointSaved
    | CheckpointSkipped
    | CheckpointLoaded
    | CheckpointRejected
    | OnceBegun
    | Faulted
    | ProposalDropped
    | CommandTaken
)


class Command(RecordBase):
    """What another process may ask of the one that carries the run out.

    `by` is the person behind it. An answer names with `answers` the entry that it answers: the transition since which a
    change of the plan waits. Zero, of an older version: whichever waits. `edited`, of a confirm: the change as that
    person wants it.
    """

    kind: Literal["cancel", "pause", "confirm", "reject"]
    comment: str = ""
    by: str = ""
    answers: int = 0
    edited: PlanProposal | None = None
