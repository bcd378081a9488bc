"""Carry out one intent: the only module that waits. What happened comes out as batches of records, each kept whole.

A performer changes nothing of the run: it reads the state it is given and yields what happened.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import assert_never

from notebook_bcc.engine.actions.executor import ActionExecutor
from notebook_bcc.engine.actions.registry import ActionRegistry
from notebook_bcc.engine.answering import HasFile, answer_of
from notebook_bcc.engine.attempts import takeover, withdrawal
from notebook_bcc.engine.checkpointing import save_checkpoint
from notebook_bcc.engine.confirmation import Confirmation
from notebook_bcc.engine.detour import given_up, transition_of
from notebook_bcc.engine.due import once_due, promotion_source, source_due
from notebook_bcc.engine.inbox import Inbox
from notebook_bcc.engine.intents import (
    AskPerson,
    AskPlanning,
    DropProposal,
    ExecuteAction,
    Fire,
    Intent,
    OpenStream,
    Promote,
    Refuse,
    SaveCheckpoint,
    StartKernel,
    Stop,
    TakeAction,
    TakeOver,
    Withdraw,
)
from notebook_bcc.engine.planner_session import Asking, PlannerSession
from notebook_bcc.engine.rebuilding import bring_up
from notebook_bcc.engine.reward import Reward
from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import ActionRefused, KernelDied, KernelStartFailed
from notebook_bcc.journal.records import (
    ActionReceived,
    ArtifactPromoted,
    CellChange,
    EventRefused,
    Faulted,
    KernelLost,
    OnceBegun,
    PlanProposal,
    PromotionFailed,
    ProposalDropped,
    Record,
    RunStopped,
)
from notebook_bcc.kernel.checkpoint_files import CheckpointFiles
from notebook_bcc.kernel.interface import CheckpointingKernel, Kernel, may_be_left
from notebook_bcc.planners.interface import Planner
from notebook_bcc.protocol.progress import WorkProgress
from notebook_bcc.protocol.tracking import Artifact, Promotion
from notebook_bcc.protocol.vocabulary import CellType, Event, State

Batch = tuple[Record, ...]

_CLOSES_STREAM = frozenset({Event.COMPLETE_BEHAVIOR, Event.FAIL, Event.CANCEL})


class Performer:
    """Carries out intents with one planner and one kernel."""

    def __init__(
        self,
        *,
        planner: Planner,
        kernel: Kernel,
        registry: ActionRegistry,
        reward: Reward,
        asking: Asking,
        inbox: Inbox,
        confirmation: Confirmation,
        durable: Callable[[], Awaitable[None]],
        now: Callable[[], str],
        timer: Callable[[], float],
        has_file: HasFile,
        on_progress: Callable[[WorkProgress], None],
        checkpoints: CheckpointFiles | None,
    ) -> None:
        self._checkpoints = checkpoints
        self._durable = durable
        self._has_file = has_file
        self._kernel = kernel
        self._reward = reward
        self._now = now
        self._inbox = inbox
        self._confirmation = confirmation
        self._patience: float | None = None
        self._session = PlannerSession(planner=planner, kernel=kernel, asking=asking, durable=durable, timer=timer)
        self._executor = ActionExecutor(
            kernel=kernel,
            registry=registry,
            reward=reward,
            repair=self._session.repair,
            timer=timer,
            on_progress=on_progress,
        )

    def models_asked(self) -> Batch:
        """What the planner has asked language models since this was last asked."""
        return self._session.models_asked()

    def perform(self, intent: Intent, state: RunState) -> AsyncGenerator[Batch, None]:
        """What happens when the intent is carried out, batch by batch as it happens."""
        match intent:
            case AskPlanning():
                return self._session.ask(intent.purpose, state)
            case OpenStream():
                return self._session.open_stream(state, skip=intent.skip)
            case TakeAction():
                return self._take_action(state)
            case StartKernel():
                return self._start_kernel(state)
            case ExecuteAction():
                return self._execute(state)
            case TakeOver():
                return self._take_over(state)
            case Withdraw():
                return _only(withdrawal(state, restores=self._restores))
            case SaveCheckpoint():
                return self._save_checkpoint(state)
            case Promote():
                return self._promote(intent.promotion, state)
            case AskPerson():
                return self._ask_person(intent.proposal, state)
            case Fire():
                return self._fire(intent, state)
            case Refuse():
                return _only(EventRefused(state=state.fsm, event=intent.event, reason=intent.reason))
            case DropProposal():
                return _only(ProposalDropped(reason=intent.reason))
            case Stop():
                return self._stop(self.stopped(state, intent), state)
            case _:
                assert_never(intent)

    async def _take_action(self, state: RunState) -> AsyncGenerator[Batch, None]:
        """The next action as it arrives; one that needs no kernel is completed in the same batch."""
        batch = await self._session.take_action(state)
        received = next((record for record in batch if isinstance(record, ActionReceived)), None)
        limit = state.limits.actions_per_behavior
        if received is None or (limit and received.index >= limit) or state.behavior.former_left:
            yield batch
        else:
            yield (*batch, *await self._executor.complete_without_kernel(state, received))

    async def _take_over(self, state: RunState) -> AsyncGenerator[Batch, None]:
        taken = takeover(state)
        # A change of the plan that waits is decided first, as after an action that was carried out.
        yield (taken,) if state.proposals else (taken, *self.moves(state, Fire(Event.COMPLETE_ACTION)))

    @property
    def _restores(self) -> bool:
        return self._checkpoints is not None and isinstance(self._kernel, CheckpointingKernel)

    async def _ask_person(self, proposal: PlanProposal, state: RunState) -> AsyncGenerator[Batch, None]:
        decided = await self._confirmation.ask(proposal, state)
        if decided is None:
            detail = "a change of the plan waits for an answer: confirm or reject it, then resume"
            rest = await self.read_rest(state)
            yield (*self._inbox.take_simple(state), *rest, RunStopped(reason="waiting", detail=detail))
            return
        if state.fsm is State.WORKFLOW_UPDATE_PENDING:
            event = Event.UPDATE_WORKFLOW_CONFIRMED if decided.confirmed else Event.UPDATE_WORKFLOW_REJECTED
        else:
            event = Event.UPDATE_STEP_CONFIRMED if decided.confirmed else Event.UPDATE_STEP_REJECTED
        moved = self.moves(state, Fire(event, reason=decided.comment))
        yield (*self._inbox.take_answers(), decided, *moved)

    async def _stop(self, stopped: RunStopped, state: RunState) -> AsyncGenerator[Batch, None]:
        """Let the run go. What is left of an open stream is kept, so that the planner is asked for nothing twice."""
        yield (*await self.read_rest(state), stopped)

    async def read_rest(self, state: RunState, *, within: float | None = None) -> Batch:
        """What the open stream still has. `within` bounds the wait for it, in seconds."""
        return await self._session.read_rest(state, within=within if within is not None else self._patience)

    def hurry(self, patience: float) -> None:
        """From here on a planner is waited for so many seconds only when the run stops."""
        self._patience = patience

    @property
    def waits_for_planner(self) -> bool:
        """Whether nothing is under way but an answer of the planner's."""
        return self._session.waiting

    async def _fire(self, intent: Fire, state: RunState) -> AsyncGenerator[Batch, None]:
        if intent.event in _CLOSES_STREAM:
            await self._session.close_stream()
        yield self.moves(state, intent)

    def stopped(self, state: RunState, intent: Stop) -> RunStopped:
        """The end that an intent asks for; of a completed run with whether its goal is answered."""
        if intent.reason != "completed":
            return RunStopped(reason=intent.reason, detail=intent.detail)
        answer = answer_of(state, self._has_file)
        return RunStopped(reason="completed", detail=answer.problem, answered=answer.answered)

    def moves(self, state: RunState, intent: Fire) -> Batch:
        """The transition an intent asks for, after what it makes of proposals that wait. It is in the table, or decide
        is wrong."""
        earns = not (intent.detour or state.on_detour) or intent.event is Event.FAIL
        reward = self._reward.of_move(state, intent.event) if earns else 0.0
        return (*given_up(state, intent.event), transition_of(state, intent, reward=reward))

    async def close(self) -> None:
        """End what is open with the planner. The kernel belongs to whoever gave it."""
        await self._session.close_stream()

    def kernel_left(self, state: RunState) -> bool:
        """Whether a run that stops now leaves its kernel, as the journal knows it, for the process that resumes."""
        return state.kernel.up and state.kernel.known and may_be_left(self._kernel)

    async def interrupt(self) -> None:
        """Leave what is under way: the running cell is asked to stop."""
        if self._kernel.is_alive:
            await self._kernel.interrupt()

    async def _start_kernel(self, state: RunState) -> AsyncGenerator[Batch, None]:
        try:
            async for batch in bring_up(self._kernel, state, due=source_due(state), files=self._checkpoints):
                yield batch
        except KernelStartFailed as failure:
            yield (Faulted(reason=str(failure)),)
        except KernelDied as death:
            yield (KernelLost(cause=f"while it was rebuilt: {death.cause}"),)

    async def _execute(self, state: RunState) -> AsyncGenerator[Batch, None]:
        received, once = state.behavior.current, once_due(state)
        if received is not None and once and self._kernel.is_alive:
            yield (OnceBegun(action_id=received.action_id, cell_id=once),)
            await self._durable()
        async with aclosing(self._executor.execute(state)) as batches:
            async for batch in batches:
                yield batch

    async def _save_checkpoint(self, state: RunState) -> AsyncGenerator[Batch, None]:
        if self._checkpoints is None:
            raise ValueError("there is no place for checkpoints")
        try:
            yield (await save_checkpoint(self._kernel, self._checkpoints, state),)
        except KernelDied as death:
            yield (KernelLost(cause=f"while its namespace was saved: {death.cause}"),)

    async def _promote(self, promotion: Promotion, state: RunState) -> AsyncGenerator[Batch, None]:
        yield (await self._promoted(promotion, state),)

    async def _promoted(self, promotion: Promotion, state: RunState) -> Record:
        """Rename the variable by a cell of the notebook, so that the notebook alone gives the same names.

        A variable that keeps its name is only looked for: there is nothing to run.
        """
        if promotion.keep_name:
            if promotion.variable not in state.kernel.variables:
                return _not_promoted(promotion, f"there is no variable {promotion.variable!r}")
            return ArtifactPromoted(artifact=self._artifact(promotion, state, parent=promotion.parent))
        try:
            source = promotion_source(promotion)
            execution = await self._kernel.execute(source)
        except ActionRefused as refusal:
            return _not_promoted(promotion, str(refusal))
        except KernelDied as death:
            return KernelLost(cause=death.cause)
        if execution.error is not None:
            return _not_promoted(promotion, f"{execution.error.name}: {execution.error.message}")
        return ArtifactPromoted(
            artifact=self._artifact(promotion, state, parent=promotion.variable),
            cell=CellChange(
                cell_id=state.document.free_id("artifact"),
                added=CellType.CODE,
                source=source,
                execution_count=execution.execution_count,
                metadata={"artifact_id": promotion.artifact_id},
            ),
            variables=dict(execution.variables.updated),
            removed=execution.variables.removed,
        )

    def _artifact(self, promotion: Promotion, state: RunState, *, parent: str | None) -> Artifact:
        made_of = "" if promotion.keep_name else f"promoted from {promotion.variable}"
        return Artifact(
            artifact_id=promotion.artifact_id,
            variable_name=promotion.variable_name,
            description=promotion.description or made_of,
            source=state.position.behavior_id,
            parent=parent,
            created_at=self._now(),
        )


async def _only(record: Record) -> AsyncGenerator[Batch, None]:
    yield (record,)


def _not_promoted(promotion: Promotion, error: str) -> PromotionFailed:
    return PromotionFailed(variable=promotion.variable, artifact_id=promotion.artifact_id, error=error)
