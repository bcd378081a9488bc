"""Carry out one intent: the only room that waits. What happened comes out as batches of records, each journaled whole.

A performer changes nothing of the run: it reads the state it is given and yields what happened.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import assert_never

from notebook_bcc.engine.carrying_out import ActionCarrier
from notebook_bcc.engine.intents import (
    AskPerson,
    AskPlanning,
    CarryOut,
    DropProposal,
    Fire,
    Intent,
    OpenStream,
    Promote,
    Refuse,
    StartKernel,
    Stop,
    TakeAction,
)
from notebook_bcc.engine.planning import Asking, PlannerDesk
from notebook_bcc.engine.rebuilding import bring_up
from notebook_bcc.engine.registry import ActionRegistry
from notebook_bcc.engine.reward import Reward
from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import ActionRefused, KernelDied, KernelStartFailed, VariableMissing
from notebook_bcc.fsm.machine import next_state
from notebook_bcc.journal.records import (
    ArtifactPromoted,
    EventRefused,
    Faulted,
    KernelLost,
    PromotionFailed,
    ProposalDropped,
    Record,
    Transitioned,
)
from notebook_bcc.kernel.interface import Kernel
from notebook_bcc.planners.interface import Planner
from notebook_bcc.protocol.tracking import Artifact, Promotion
from notebook_bcc.protocol.vocabulary import Event

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
        now: Callable[[], str],
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._kernel = kernel
        self._reward = reward
        self._now = now
        self._desk = PlannerDesk(planner=planner, kernel=kernel, asking=asking, timer=timer)
        self._carrier = ActionCarrier(
            kernel=kernel, registry=registry, reward=reward, repair=self._desk.repair, timer=timer
        )

    async def perform(self, intent: Intent, state: RunState) -> AsyncGenerator[Batch, None]:
        """What happens when the intent is carried out, batch by batch. Stop and AskPerson are the runner's."""
        match intent:
            case Fire():
                if intent.event in _CLOSES_STREAM:
                    await self._desk.close_stream()
                yield (self.moved(state, intent),)
            case Refuse():
                yield (EventRefused(state=state.fsm, event=intent.event, reason=intent.reason),)
            case AskPlanning():
                async for batch in self._desk.ask(intent.purpose, state):
                    yield batch
            case OpenStream():
                async for batch in self._desk.open_stream(state, skip=intent.skip):
                    yield batch
            case TakeAction():
                yield await self._desk.take_action(state)
            case CarryOut():
                async for batch in self._carrier.carry_out(state):
                    yield batch
            case StartKernel():
                async for batch in self._start_kernel(state):
                    yield batch
            case Promote():
                yield (await self._promote(intent.promotion, state),)
            case DropProposal():
                yield (ProposalDropped(reason=intent.reason),)
            case AskPerson() | Stop():
                raise TypeError(f"{type(intent).__name__} is not for the performer")
            case _:
                assert_never(intent)

    def moved(self, state: RunState, intent: Fire) -> Transitioned:
        """The transition an intent asks for; it is in the table, or decide is wrong."""
        to = next_state(state.fsm, intent.event)
        if to is None:
            raise ValueError(f"{intent.event.value} is not allowed in {state.fsm.value}")
        return Transitioned(
            source=state.fsm,
            event=intent.event,
            to=to,
            reward=self._reward.of_move(state, intent.event),
            reason=intent.reason,
            stage_id=intent.stage_id,
            step_id=intent.step_id,
        )

    async def close(self) -> None:
        """End what is open with the planner. The kernel belongs to whoever gave it."""
        await self._desk.close_stream()

    async def interrupt(self) -> None:
        """Leave what is under way: the stream is closed, the running cell asked to stop."""
        await self._desk.close_stream()
        if self._kernel.is_alive:
            await self._kernel.interrupt()

    async def _start_kernel(self, state: RunState) -> AsyncIterator[Batch]:
        try:
            async for batch in bring_up(self._kernel, state):
                yield batch
        except KernelStartFailed as failure:
            yield (Faulted(reason=str(failure)),)
        except KernelDied as death:
            yield (KernelLost(cause=f"while it was rebuilt: {death.cause}"),)

    async def _promote(self, promotion: Promotion, state: RunState) -> Record:
        try:
            changes = await self._kernel.promote(promotion.variable, promotion.variable_name)
        except (VariableMissing, ActionRefused) as refusal:
            return PromotionFailed(variable=promotion.variable, artifact_id=promotion.artifact_id, error=str(refusal))
        except KernelDied as death:
            return KernelLost(cause=death.cause)
        return ArtifactPromoted(
            artifact=Artifact(
                artifact_id=promotion.artifact_id,
                variable_name=promotion.variable_name,
                description=promotion.description or f"promoted from {promotion.variable}",
                source=state.position.behavior_id,
                parent=promotion.variable,
                created_at=self._now(),
            ),
            variables=dict(changes.updated),
            removed=changes.removed,
        )
