"""Talking to the planner: questions, streams, retries, and what is done when there is no answer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from notebook_bcc.engine.judgements import answered, judged_beside, unanswered, worth_a_retry
from notebook_bcc.engine.reduce import action_digest
from notebook_bcc.engine.requests import (
    Outgoing,
    generating_request,
    pending_stream,
    planning_request,
    repair_request,
    with_evidence,
)
from notebook_bcc.engine.state import RunState
from notebook_bcc.engine.stream import ActionStream, StreamEnd, encoded
from notebook_bcc.errors import (
    KernelDied,
    PlannerBudgetSpent,
    PlannerFailed,
    PlannerUnreachable,
    RequestRefused,
    RequestRejected,
)
from notebook_bcc.fsm.machine import next_state
from notebook_bcc.journal.records import (
    ActionReceived,
    ActionsQueued,
    GeneratingAsked,
    GeneratingEnded,
    GeneratingFailed,
    KernelLost,
    ModelAsked,
    ModelMessage,
    PlanningAsked,
    Purpose,
    Record,
    RunStopped,
    Transitioned,
    Warned,
)
from notebook_bcc.kernel.interface import Kernel
from notebook_bcc.planners.interface import ActionData, JudgesBeside, Planner, StreamWarning
from notebook_bcc.planners.model_exchange import AsksModels, ModelExchange
from notebook_bcc.protocol.limits import budget_of
from notebook_bcc.protocol.messages import RepairWanted
from notebook_bcc.protocol.vocabulary import Event, State

_log = logging.getLogger(__name__)

Batch = tuple[Record, ...]
_Item = ActionData | StreamWarning | StreamEnd


@dataclass(frozen=True, slots=True)
class Asking:
    """How often and how patiently a planner is asked. Seconds; the delay doubles and is jittered."""

    retries: int = 3
    first_delay: float = 0.5
    longest_delay: float = 10.0
    jitter: Callable[[], float] = field(default=random.random)

    def delay(self, failure: PlannerFailed, attempt: int) -> float:
        """How long to wait after the attempt of that number (1, 2, ...); what the planner asks for counts."""
        if isinstance(failure, PlannerUnreachable) and failure.retry_after is not None:
            return min(failure.retry_after, self.longest_delay)
        backoff = self.first_delay * 2.0 ** (attempt - 1)
        return float(min(backoff, self.longest_delay) * (0.5 + self.jitter() / 2))


class PlannerSession:
    """One run's conversation with its planner."""

    def __init__(
        self,
        *,
        planner: Planner,
        kernel: Kernel,
        asking: Asking,
        durable: Callable[[], Awaitable[None]],
        timer: Callable[[], float],
    ) -> None:
        """`durable` returns when everything that was said to have happened survives a power loss."""
        self._planner = planner
        self._models: AsksModels | None = planner if isinstance(planner, AsksModels) else None
        self._durable = durable
        self._kernel = kernel
        self._asking = asking
        self._timer = timer
        self._stream: ActionStream | None = None
        self._first: _Item | None = None
        # How many actions of the open stream were given out (None: not known yet), and the newest of what was: the run
        # may be stopped before it is recorded.
        self._waiting = 0
        self._given: int | None = None
        self._newest: list[_Item] = []

    @property
    def waiting(self) -> bool:
        """Whether an answer of the planner's is waited for, and nothing else is under way."""
        return self._waiting > 0

    @contextlib.contextmanager
    def _waits(self) -> Iterator[None]:
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    def models_asked(self) -> Batch:
        """What the planner and its models have said to each other since this was last asked."""
        return tuple(map(_model_asked, self._models.taken_exchanges())) if self._models is not None else ()

    def _allow(self, state: RunState) -> None:
        if self._models is not None:
            self._models.allow(budget_of(state.limits), state.spent)

    async def ask(
        self, purpose: Purpose, state: RunState, again: Outgoing | None = None
    ) -> AsyncGenerator[Batch, None]:
        """A question and its answer; `again`, with values that were missed. Without an answer after all retries the run
        stops, or goes on by the fallback answer."""
        outgoing = planning_request(state, purpose) if again is None else again
        request_id, attempt = outgoing.request_id, outgoing.attempt
        started = self._timer()
        for number in range(attempt, attempt + self._asking.retries + 1):
            yield (
                PlanningAsked(
                    request_id=request_id,
                    purpose=purpose,
                    attempt=number,
                    feedback=outgoing.request.behavior_feedback,
                    digest=outgoing.digest,
                    shown=outgoing.shown,
                ),
            )
            await self._durable()
            if number == attempt:
                self._allow(state)
            try:
                with self._waits():
                    response = await self._planner.plan(outgoing.sent(number))
            except PlannerFailed as failure:
                wider = with_evidence(state, purpose, outgoing, failure)
                if wider is not None:
                    async for batch in self.ask(purpose, state, wider):
                        yield batch
                    return
                if number == attempt + self._asking.retries or not worth_a_retry(failure):
                    yield unanswered(request_id, purpose, state, failure)
                    return
                yield (Warned(message=f"{failure}; trying again", effect=False),)
                with self._waits():
                    await asyncio.sleep(self._asking.delay(failure, number - attempt + 1))
                continue
            yield answered(request_id, purpose, state, response, round(self._timer() - started, 6))
            return

    async def open_stream(self, state: RunState, *, skip: int) -> AsyncGenerator[Batch, None]:
        """Ask for a behavior. What had arrived before this process took over is skipped, if it is the same again."""
        try:
            outgoing = await self._behavior_request(state)
        except KernelDied as death:
            # A dead kernel is brought up again, and the summaries are asked of that one.
            yield (KernelLost(cause=death.cause),)
            return
        attempt = outgoing.attempt
        last = attempt + self._asking.retries + 1
        number = attempt
        self._allow(state)
        while number <= last:
            fallback = number == last
            yield (
                GeneratingAsked(
                    request_id=outgoing.request_id,
                    attempt=number,
                    summaries=dict(outgoing.summaries) if number == 1 else {},
                    warnings=outgoing.warnings if number == 1 else (),
                    digest=outgoing.digest,
                ),
            )
            await self._durable()
            # Kept before it is waited for: whoever cancels the wait can close it.
            self._stream = ActionStream(self._planner.generate(outgoing.sent(number), fallback=fallback))
            self._given = None if skip else 0
            try:
                with self._waits():
                    self._first = await self._stream.take()
            except PlannerFailed as failure:
                await self.close_stream()
                if isinstance(failure, PlannerBudgetSpent):
                    yield (GeneratingFailed(received=skip, error=failure.reason, out_of_budget=True),)
                    return
                if isinstance(failure, RequestRejected):
                    yield (RunStopped(reason="interrupted", detail=str(failure)),)
                    return
                refused = isinstance(failure, RequestRefused)
                if fallback or refused:
                    yield (GeneratingFailed(received=skip, error=str(failure), refused=refused),)
                    return
                yield (Warned(message=f"{failure}; trying again", effect=False),)
                if worth_a_retry(failure):
                    with self._waits():
                        await asyncio.sleep(self._asking.delay(failure, number - attempt + 1))
                    number += 1
                else:
                    number = last
                continue
            if skip:
                async for batch in self._skip(skip, state):
                    yield batch
            elif isinstance(self._planner, JudgesBeside):
                beside = self._planner.judgement_beside(outgoing.request_id)
                if beside is not None:
                    yield judged_beside(outgoing.request_id, state, beside)
            return

    async def _skip(self, count: int, state: RunState) -> AsyncGenerator[Batch, None]:
        """Pass over what had arrived already; another answer than before is a stream that broke."""
        digest = taken = 0
        while taken < count:
            try:
                item = await self._next()
            except PlannerFailed as failure:
                await self.close_stream()
                yield (GeneratingFailed(received=count, error=str(failure)),)
                return
            if isinstance(item, StreamEnd):
                break
            if isinstance(item, ActionData):
                digest = action_digest(digest, encoded(item.data)[1])
                taken += 1
                self._given = taken if taken == count else None
        if taken < count or digest != state.behavior.digest:
            await self.close_stream()
            error = "the stream was lost with the process before, and the planner's repeated answer differs from it"
            yield (GeneratingFailed(received=count, error=error, lost_with_process=True),)

    async def take_action(self, state: RunState) -> Batch:
        """The next action that waits, or of the open stream as soon as it is there."""
        behavior = state.behavior
        if behavior.queue:
            return self._received(state, behavior.queue[0])
        self._newest = []
        warnings: list[Record] = []
        while True:
            try:
                item = await self._next()
            except PlannerFailed as failure:
                await self.close_stream()
                return (*warnings, GeneratingFailed(received=behavior.received, error=str(failure)))
            if isinstance(item, StreamWarning):
                warnings.append(Warned(message=item.message))
                continue
            if isinstance(item, StreamEnd):
                await self.close_stream()
                return (*warnings, GeneratingEnded(actions=behavior.received))
            break
        return (*warnings, *self._received(state, item.data))

    def _received(self, state: RunState, action: Any) -> Batch:
        behavior = state.behavior
        event = Event.START_ACTION if state.fsm is State.BEHAVIOR_RUNNING else Event.NEXT_ACTION
        to = next_state(state.fsm, event)
        if to is None:
            raise ValueError(f"no action can start in {state.fsm.value}")
        data, data_bytes = encoded(action)
        received = ActionReceived(
            action_id=f"action-{state.actions_received + 1}",
            index=behavior.received,
            action=data,
            digest=action_digest(behavior.digest, data_bytes),
        )
        return (received, Transitioned(source=state.fsm, event=event, to=to))

    async def read_rest(self, state: RunState, *, within: float | None = None) -> Batch:
        """What the open stream still has, for a run that stops: the planner is not asked for it a second time.

        `within` are the seconds that it is waited for; None: as long as the planner itself allows. What did not come by
        then is asked for again when the run goes on.
        """
        stream, behavior = self._stream, state.behavior
        if stream is None or behavior.ended or behavior.aborted or behavior.fire is not None:
            return ()
        arrived = behavior.received + len(behavior.queue)
        if self._given is None or arrived > self._given:
            return ()
        self._forget_recorded(self._given - arrived)
        items = self._newest
        most = state.limits.actions_per_behavior
        try:
            async with asyncio.timeout(within):
                while not (items and isinstance(items[-1], StreamEnd)) and not (most and arrived + len(items) > most):
                    await self._next()  # which adds it to the newest
        except (TimeoutError, PlannerFailed) as failure:
            _log.debug("the rest of the stream is asked for when the run goes on: %s", failure)
        await self.close_stream()
        return _rest(items, behavior.digest, arrived)

    def _forget_recorded(self, unrecorded: int) -> None:
        """Keep of the newest items those from the first action on that is not recorded."""
        actions = [place for place, item in enumerate(self._newest) if isinstance(item, ActionData)]
        recorded = actions[: len(actions) - unrecorded]
        self._newest = self._newest[recorded[-1] + 1 :] if recorded else self._newest

    async def repair(self, state: RunState, wanted: RepairWanted) -> str | None:
        """The planner's repaired source for a failed cell; a planner that fails has no idea."""
        asked = state.behavior.asked
        request_id = _repair_id(state.run_id if asked is None else asked.request_id, wanted)
        await self._durable()
        try:
            return await self._planner.repair(repair_request(state, request_id, wanted))
        except PlannerFailed:
            return None

    async def close_stream(self) -> None:
        """End the answer under way, if there is one."""
        stream, self._stream = self._stream, None
        self._first = self._given = None
        self._newest = []
        if stream is not None:
            await stream.close()

    async def _next(self) -> _Item:
        if self._stream is None:
            raise ValueError("no stream is open")
        item, self._first = self._first, None
        if item is None:
            with self._waits():
                item = await self._stream.take()
        if self._given is not None:
            self._newest.append(item)
            self._given += isinstance(item, ActionData)
        return item

    async def _behavior_request(self, state: RunState) -> Outgoing:
        """The question that was asked before, or a new one with what the kernel says for its filter."""
        again = pending_stream(state)
        if again is not None:
            return again
        wanted = state.filter
        summaries: dict[str, Any] = {}
        if wanted is not None and wanted.variables_to_summarize and state.kernel.up:
            summaries = await self._kernel.summarize(wanted.variables_to_summarize)
        return generating_request(state, summaries)


def _model_asked(exchange: ModelExchange) -> ModelAsked:
    took = exchange.took
    return ModelAsked(
        model=exchange.model,
        task=exchange.task,
        request_id=exchange.request_id or "",
        prompt=tuple(ModelMessage(role=one.role, content=one.content) for one in exchange.messages),
        answer=exchange.answer,
        failure=exchange.failure,
        input_tokens=took.input_tokens,
        output_tokens=took.output_tokens,
        counted=took.counted,
        dollars=took.dollars,
        truncated=exchange.usage is not None and exchange.usage.finish == "length",
        seconds=took.seconds,
    )


def _rest(items: Sequence[_Item], digest: int, arrived: int) -> Batch:
    """The records of what was left of a stream."""
    actions: list[Any] = []
    records: list[Record] = []
    for item in items:
        if isinstance(item, ActionData):
            data, data_bytes = encoded(item.data)
            actions.append(data)
            digest = action_digest(digest, data_bytes)
        elif isinstance(item, StreamWarning):
            records.append(Warned(message=item.message))
    if actions:
        records.append(ActionsQueued(actions=tuple(actions), digest=digest))
    if items and isinstance(items[-1], StreamEnd):
        records.append(GeneratingEnded(actions=arrived + len(actions)))
    return tuple(records)


def _repair_id(asked: str, wanted: RepairWanted) -> str:
    """The same for the same failure of a cell, also after a crash; another one for whatever else happens to it."""
    failure = f"{wanted.source}\0{wanted.error_name}\0{wanted.error}".encode(errors="replace")
    return f"{asked}.repair.{wanted.cell_id}.{wanted.attempt}.{zlib.crc32(failure):08x}"
