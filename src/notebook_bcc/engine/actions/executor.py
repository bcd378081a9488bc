"""Execute one received action: parse, handle, and record what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from notebook_bcc.engine.actions.context import ActionContext, ActionServices, ActionStart, ExecutionLimits, code_cell
from notebook_bcc.engine.actions.heartbeat import Heartbeat
from notebook_bcc.engine.actions.nesting import NestingContext
from notebook_bcc.engine.actions.partial_outputs import PartialOutputs
from notebook_bcc.engine.actions.registry import ActionRegistry
from notebook_bcc.engine.decide import time_is_up
from notebook_bcc.engine.plan_changes import changes_nothing, fills_in, proposal_problem
from notebook_bcc.engine.reward import Reward
from notebook_bcc.engine.state import RunState, elapsed
from notebook_bcc.errors import ActionMalformed, ActionRefused
from notebook_bcc.journal.records import (
    ActionCompleted,
    ActionReceived,
    Faulted,
    KernelLost,
    Record,
    RunStopped,
    Transitioned,
    Warned,
)
from notebook_bcc.kernel.interface import Kernel, may_be_left
from notebook_bcc.protocol.actions import WITHOUT_KERNEL, Action, EndPhase, Exec, action_name, parse_action
from notebook_bcc.protocol.cells import Output
from notebook_bcc.protocol.messages import RepairWanted
from notebook_bcc.protocol.progress import WorkProgress, progress_of
from notebook_bcc.protocol.vocabulary import Event, State

Batch = tuple[Record, ...]


# Seconds between two looks at what a running cell has printed.
_LOOK_EVERY = 0.1


class ActionExecutor:
    """Executes actions with one kernel and one registry."""

    def __init__(
        self,
        *,
        kernel: Kernel,
        registry: ActionRegistry,
        reward: Reward,
        repair: Callable[[RunState, RepairWanted], Awaitable[str | None]],
        timer: Callable[[], float],
        on_progress: Callable[[WorkProgress], None],
    ) -> None:
        """`on_progress` hears how far the work of a running cell is, where its code says so."""
        self._on_progress = on_progress
        self._kernel = kernel
        self._registry = registry
        self._reward = reward
        self._repair = repair
        self._timer = timer

    async def execute(self, state: RunState) -> AsyncGenerator[Batch, None]:
        """The action that was received: what it prints while it runs, then its completion.

        When the run's own time is up the action is left: nothing of it has failed, and a resume executes it.
        """
        received = state.behavior.current
        if received is None:
            raise ValueError("no action has been received")
        if state.kernel.up and not self._kernel.is_alive:
            # It died while nothing ran: no cell is to blame. The action is executed once there is another.
            yield (KernelLost(cause="it ended while no cell was running"),)
            return
        partial = PartialOutputs(received.action_id, timer=self._timer)
        heartbeat = Heartbeat(self._kernel, _what(state), timer=self._timer, tell=self._on_progress)
        running = asyncio.create_task(self._in_time(state, received, partial))
        try:
            while not running.done():
                await asyncio.wait((running,), timeout=_LOOK_EVERY)
                if not running.done() and (printed := partial.taken()) is not None:
                    yield (printed,)
                if not running.done():
                    await heartbeat.look(partial.heard_at)
            yield running.result()
        except asyncio.CancelledError:
            # The kernel interrupts its cell now.
            running.cancel()
            await asyncio.wait((running,))
            if not running.cancelled() and running.exception() is None:
                # It had ended when it was asked to stop: what came of it is kept.
                yield running.result()
            raise
        finally:
            running.cancel()
            await asyncio.wait((running,))

    async def _in_time(self, state: RunState, received: ActionReceived, partial: PartialOutputs) -> Batch:
        try:
            async with asyncio.timeout(_seconds_left(state)) as time_left:
                return await self._execute(state, received, partial)
        except TimeoutError:
            if not time_left.expired():
                raise
            again = "the action under way was left and is carried out anew on resume: give it the seconds it needs"
            if may_be_left(self._kernel):
                again = "the cell under way goes on in its kernel, and a resume takes up what comes of it"
            return (RunStopped(reason="limit", detail=f"{time_is_up(state.limits)}; {again}"),)

    async def complete_without_kernel(self, state: RunState, received: ActionReceived) -> Batch:
        """The completion of an action that needs no kernel, as soon as it has arrived; of any other, nothing yet."""
        if action_name(received.action) not in WITHOUT_KERNEL:
            return ()
        return await self._execute(state, received, PartialOutputs(received.action_id, timer=self._timer))

    async def _execute(self, state: RunState, received: ActionReceived, partial: PartialOutputs) -> Batch:
        context = self._context(state, received, partial)
        started = self._timer()
        try:
            await self._carry_out(state, context, received.action)
        finally:
            await context.end()
        return self._finish(state, context, action_name(received.action), started)

    async def _carry_out(self, state: RunState, context: ActionContext, received: Any) -> None:
        action = self._understood(context, state, received)
        if action is not None:
            await self._registry.handle(context, action)

    def _context(self, state: RunState, received: ActionReceived, partial: PartialOutputs) -> NestingContext:
        services = ActionServices(
            kernel=self._kernel,
            limits=ExecutionLimits(
                cell_seconds=state.limits.cell_seconds or None, debug_attempts=state.limits.debug_attempts
            ),
            repair=lambda wanted: self._repair(state, wanted),
            problem_of=lambda proposal: proposal_problem(state, proposal),
            on_output=lambda cell_id, output: self._printed(cell_id, output, partial),
        )
        start = ActionStart(
            action_id=received.action_id,
            document=state.document,
            variables=state.variables,
            assigned=state.kernel.assigned,
            services=services,
        )
        return NestingContext(start, carry_out=lambda context, step: self._carry_out(state, context, step))

    def _printed(self, cell_id: str, output: Output, partial: PartialOutputs) -> None:
        partial.note(cell_id, output)
        if (progress := progress_of(output)) is not None:
            self._on_progress(progress)

    def _understood(self, context: ActionContext, state: RunState, received: Any) -> Action | None:
        """The action, if it is one that somebody handles. What is wrong with it is noted on the context."""
        try:
            action = parse_action(received)
        except ActionMalformed as error:
            context.refuse("ActionMalformed", str(error))
            return None
        if isinstance(action, EndPhase) and action.step_id not in (None, state.position.step_id):
            context.refuse("ActionRefused", f"end_phase names step {action.step_id!r}; {_current_step(state)}")
            return None
        if self._registry.knows(action.action):
            return action
        message = f"action type {action.action!r} has no handler"
        if state.policies.strict_actions:
            context.refuse("ActionRefused", message)
        else:
            context.skip(f"{message}; skipped")
        return None

    def _finish(self, state: RunState, context: ActionContext, name: str, started: float) -> Batch:
        done = context.completed(action=name, seconds=self._timer() - started)
        warned = (Warned(message=context.skipped),) if context.skipped else ()
        if not done.success and state.policies.on_error == "fail":
            failed = Faulted(reason=f"action {done.action_id} failed: {done.error}")
            return (*context.changes.repairs, *warned, done, failed)
        if state.proposals or _waits(state, done):
            return (*context.changes.repairs, *warned, done)
        reward = self._reward.of_action(state, done)
        moved = Transitioned(
            source=State.ACTION_RUNNING, event=Event.COMPLETE_ACTION, to=State.ACTION_COMPLETED, reward=reward
        )
        return (*context.changes.repairs, *warned, done, moved)


def _current_step(state: RunState) -> str:
    here = state.position.step_id
    return f"the current one is {here!r}" if here is not None else "there is no current one"


def _what(state: RunState) -> str:
    """The action under way, in a word for people."""
    received = state.behavior.current
    if received is None:
        return ""
    try:
        action = parse_action(received.action)
        return f"cell {code_cell(state.document, action.codecell_id).id}" if isinstance(action, Exec) else action.action
    except ActionRefused:
        return received.action_id


def _seconds_left(state: RunState) -> float | None:
    """How long the run may still go on; None: as long as it takes. So may the first action after a resume: the limit
    may have cut it off before, and would do so each time."""
    limit = state.limits.run_seconds
    return max(1.0, limit - elapsed(state)) if limit and not state.action_due else None


def _waits(state: RunState, done: ActionCompleted) -> bool:
    """Whether the action has put a change of the plan forward that must be confirmed."""
    proposal = done.proposal
    if proposal is None:
        return False
    return not changes_nothing(state.plan, proposal) and not fills_in(state.plan, proposal)
