"""Talking to the planner: questions, streams, retries, and what is done when there is no answer."""

from __future__ import annotations

import asyncio
import random
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from notebook_bcc.engine.changes import evolve
from notebook_bcc.engine.fold.context_update import proposals_of, proposed
from notebook_bcc.engine.observation.context_filter import asked_variables, filter_observation
from notebook_bcc.engine.observation.observe import feedback, observe
from notebook_bcc.engine.plan_changes import applied, changes_nothing, proposal_problem
from notebook_bcc.engine.reduce import action_digest
from notebook_bcc.engine.state import RunState
from notebook_bcc.engine.stream import ActionStream, StreamEnd, encoded
from notebook_bcc.errors import (
    KernelDied,
    PlannerAnswerInvalid,
    PlannerBudgetSpent,
    PlannerFailed,
    PlannerUnreachable,
)
from notebook_bcc.fsm.machine import next_state
from notebook_bcc.journal.records import (
    ActionReceived,
    Faulted,
    GeneratingAsked,
    GeneratingEnded,
    GeneratingFailed,
    KernelLost,
    ModelAsked,
    ModelMessage,
    PlanningAnswered,
    PlanningAsked,
    Purpose,
    Record,
    Transitioned,
    Warned,
)
from notebook_bcc.kernel.interface import Kernel
from notebook_bcc.planners.interface import ActionData, Planner, StreamWarning
from notebook_bcc.planners.model_exchange import AsksModels, ModelExchange
from notebook_bcc.protocol.limits import budget_of
from notebook_bcc.protocol.messages import Options, PlanningResponse, RepairWanted, Request
from notebook_bcc.protocol.observation import Observation
from notebook_bcc.protocol.vocabulary import Event, State

Batch = tuple[Record, ...]

PLAN_REFUSED = "the planner's plan is refused: "


@dataclass(frozen=True, slots=True)
class Asking:
    """How often and how patiently a planner is asked. Seconds; the delay doubles and is jittered."""

    retries: int = 3
    first_delay: float = 0.5
    longest_delay: float = 10.0
    jitter: Callable[[], float] = field(default=random.random)

    def delay(self, failure: PlannerFailed, attempt: int) -> float:
        """How long to wait after the attempt of that number (1, 2, ...); the planner's own wish counts."""
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
        self._first: ActionData | StreamWarning | StreamEnd | None = None

    def models_asked(self) -> Batch:
        """What the planner and its models have said to each other since this was last asked."""
        return tuple(map(_model_asked, self._models.taken_exchanges())) if self._models is not None else ()

    def _allow(self, state: RunState) -> None:
        if self._models is not None:
            self._models.allow(budget_of(state.limits), state.spent)

    async def ask(self, purpose: Purpose, state: RunState) -> AsyncGenerator[Batch, None]:
        """A question and its answer. Without one after all retries: the fallback, marked as degraded, and a WARN."""
        request_id, attempt = identify(state, state.asked)
        reported = feedback(state) if purpose == "feedback" else None
        request: Request | None = None
        started = self._timer()
        for number in range(attempt, attempt + self._asking.retries + 1):
            yield (PlanningAsked(request_id=request_id, purpose=purpose, attempt=number, feedback=reported),)
            # The journal reaches the disk while the observation is built; nothing is said before both are done.
            syncing = asyncio.ensure_future(self._durable())
            if request is None:
                request = Request(observation=observe(state), behavior_feedback=reported)
            options = Options(request_id=request_id, run_id=state.run_id, attempt=number)
            await syncing
            if number == attempt:
                self._allow(state)
            try:
                response = await self._planner.plan(request.model_copy(update={"options": options}))
            except PlannerFailed as failure:
                if number == attempt + self._asking.retries or not _worth_a_retry(failure):
                    yield self._degraded(request_id, purpose, state, failure)
                    return
                yield (Warned(message=f"{failure}; trying again"),)
                await asyncio.sleep(self._asking.delay(failure, number - attempt + 1))
                continue
            seconds = round(self._timer() - started, 6)
            yield answered(request_id, purpose, state, response, seconds)
            return

    def _degraded(self, request_id: str, purpose: Purpose, state: RunState, failure: PlannerFailed) -> Batch:
        if purpose == "start" and state.plan is None:
            return (Faulted(reason=str(failure)),)
        fallback = PlanningResponse()
        return (
            PlanningAnswered(request_id=request_id, purpose=purpose, response=fallback, degraded=True),
            Warned(message=f"planning failed and was degraded: {failure}"),
        )

    async def open_stream(self, state: RunState, *, skip: int) -> AsyncGenerator[Batch, None]:
        """Ask for a behavior. What had arrived before this process took over is skipped, if it is the same again."""
        request_id, attempt = identify(state, state.behavior.asked)
        try:
            observation, summaries, warnings = await self._filtered(state)
        except KernelDied as death:
            # A dead kernel is brought up again, and the summaries are asked of that one.
            yield (KernelLost(cause=death.cause),)
            return
        last = attempt + self._asking.retries + 1
        number = attempt
        self._allow(state)
        while number <= last:
            fallback = number == last
            options = Options(stream=True, request_id=request_id, run_id=state.run_id, attempt=number)
            yield (
                GeneratingAsked(
                    request_id=request_id,
                    attempt=number,
                    summaries=summaries if number == attempt else {},
                    warnings=warnings if number == attempt else (),
                ),
            )
            request = Request(observation=observation, options=options)
            await self._durable()
            # Kept before it is waited for: whoever cancels the wait can close it.
            self._stream = ActionStream(self._planner.generate(request, fallback=fallback))
            try:
                self._first = await self._stream.take()
            except PlannerFailed as failure:
                await self.close_stream()
                if isinstance(failure, PlannerBudgetSpent):
                    yield (GeneratingFailed(received=skip, error=failure.reason, out_of_budget=True),)
                    return
                if fallback:
                    yield (GeneratingFailed(received=skip, error=str(failure)),)
                    return
                yield (Warned(message=f"{failure}; trying again"),)
                if _worth_a_retry(failure):
                    await asyncio.sleep(self._asking.delay(failure, number - attempt + 1))
                    number += 1
                else:
                    number = last
                continue
            if skip:
                async for batch in self._skip(skip, state):
                    yield batch
            return

    async def _skip(self, count: int, state: RunState) -> AsyncGenerator[Batch, None]:
        """Pass over what had arrived already; another answer than before is a stream that broke."""
        digest = taken = 0
        while taken < count:
            try:
                item = await self._next()
            except PlannerFailed as failure:
                yield (GeneratingFailed(received=count, error=str(failure), lost_with_process=True),)
                return
            if isinstance(item, StreamEnd):
                break
            if isinstance(item, ActionData):
                digest = action_digest(digest, encoded(item.data)[1])
                taken += 1
        if taken < count or digest != state.behavior.digest:
            await self.close_stream()
            error = "the stream was lost with the process before, and the planner's repeated answer differs from it"
            yield (GeneratingFailed(received=count, error=error, lost_with_process=True),)

    async def take_action(self, state: RunState) -> Batch:
        """Wait for the next action of the open stream."""
        behavior = state.behavior
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
        event = Event.START_ACTION if state.fsm is State.BEHAVIOR_RUNNING else Event.NEXT_ACTION
        to = next_state(state.fsm, event)
        if to is None:
            raise ValueError(f"no action can start in {state.fsm.value}")
        data, data_bytes = encoded(item.data)
        received = ActionReceived(
            action_id=f"action-{state.actions_received + 1}",
            index=behavior.received,
            action=data,
            digest=action_digest(behavior.digest, data_bytes),
        )
        return (*warnings, received, Transitioned(source=state.fsm, event=event, to=to))

    async def repair(self, state: RunState, wanted: RepairWanted) -> str | None:
        """The planner's repaired source for a failed cell; a planner that fails has no idea."""
        asked = state.behavior.asked
        request_id = _repair_id(state.run_id if asked is None else asked.request_id, wanted)
        options = Options(request_id=request_id, run_id=state.run_id, attempt=1, repair=wanted)
        await self._durable()
        try:
            return await self._planner.repair(Request(observation=observe(state), options=options))
        except PlannerFailed:
            return None

    async def close_stream(self) -> None:
        """End the answer under way, if there is one."""
        stream, self._stream = self._stream, None
        self._first = None
        if stream is not None:
            await stream.close()

    async def _next(self) -> ActionData | StreamWarning | StreamEnd:
        first, self._first = self._first, None
        if first is not None:
            return first
        if self._stream is None:
            raise ValueError("no stream is open")
        return await self._stream.take()

    async def _filtered(self, state: RunState) -> tuple[Observation, dict[str, Any], tuple[str, ...]]:
        wanted = state.filter
        if wanted is None:
            return observe(state), {}, ()
        observation = observe(state, asked=asked_variables(wanted))
        summaries: dict[str, Any] = {}
        if wanted.variables_to_summarize and state.kernel.up:
            summaries = await self._kernel.summarize(wanted.variables_to_summarize)
        filtered, warnings = filter_observation(observation, wanted, summaries=summaries)
        return filtered, summaries, warnings


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


def _worth_a_retry(failure: PlannerFailed) -> bool:
    """An answer that is none will be none again; silence and a broken line may pass."""
    return not isinstance(failure, PlannerAnswerInvalid)


def identify(state: RunState, pending: PlanningAsked | GeneratingAsked | None) -> tuple[str, int]:
    """The id of a question that was asked before and not answered, else a new one. Ids are counted, not drawn."""
    if pending is not None:
        return pending.request_id, pending.attempt + 1
    return f"{state.run_id}.{state.requests + 1}", 1


def _repair_id(asked: str, wanted: RepairWanted) -> str:
    """The same for the same failure of a cell, also after a crash; another one for whatever else happens to it."""
    failure = f"{wanted.source}\0{wanted.error_name}\0{wanted.error}".encode(errors="replace")
    return f"{asked}.repair.{wanted.cell_id}.{wanted.attempt}.{zlib.crc32(failure):08x}"


def answered(request_id: str, purpose: Purpose, state: RunState, response: PlanningResponse, seconds: float) -> Batch:
    """The answer as far as it can be used; a plan that cannot be applied, or a place that does not exist, is said."""
    problems: list[Record] = []
    update = response.context_update
    # `now` has what only fills in; `then` has also what waits for its confirmation, which later parts may build on.
    now = then = state
    for proposal in proposals_of(state, update):
        problem = "" if changes_nothing(then.plan, proposal) else proposal_problem(then, proposal)
        if not problem:
            now = evolve(now, **proposed(now, proposal))
            then = evolve(then, plan=applied(then.plan, proposal))
            continue
        dropped = "workflow_update" if proposal.workflow is not None else "stage_steps_update"
        update = update.model_copy(update={dropped: None})
        fatal = state.plan is None and proposal.workflow is not None
        problems.append(Faulted(reason=problem) if fatal else Warned(message=f"{PLAN_REFUSED}{problem}"))
    unknown = _unknown_target(now, response)
    if unknown:
        problems.append(Faulted(reason=unknown))
        advice = response.transition.model_copy(update={"next_stage_id": None, "next_step_id": None})
        response = response.model_copy(update={"transition": advice})
    if update is not response.context_update:
        response = response.model_copy(update={"context_update": update})
    answer = PlanningAnswered(request_id=request_id, purpose=purpose, response=response, seconds=seconds)
    return (answer, *problems)


def _unknown_target(state: RunState, response: PlanningResponse) -> str:
    target = response.transition.destination
    if target is None:
        return ""
    # Before the start the first stage is the one that is entered.
    first = state.plan.stages[0].id if state.plan is not None else None
    stage_id, step_id = target[0] or state.position.stage_id or first, target[1]
    stage = state.plan.stage(stage_id or "") if state.plan is not None else None
    if stage is None:
        return f"the planner wants to go to stage {stage_id!r}, which is not in the plan"
    if step_id is not None and stage.step(step_id) is None:
        return f"the planner wants to go to step {step_id!r}, which is not in stage {stage.id!r}"
    return ""
