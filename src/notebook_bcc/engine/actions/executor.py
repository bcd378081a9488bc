"""Execute one received action: parse, handle, and record what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from notebook_bcc.engine.actions.context import ActionContext, ExecutionLimits, code_cell
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
    OutputReceived,
    Record,
    RunStopped,
    Transitioned,
    Warned,
)
from notebook_bcc.kernel.interface import Kernel
from notebook_bcc.protocol.actions import WITHOUT_KERNEL, Action, Exec, action_name, parse_action
from notebook_bcc.protocol.messages import RepairWanted
from notebook_bcc.protocol.vocabulary import Event, State

Batch = tuple[Record, ...]


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
    ) -> None:
        self._kernel = kernel
        self._registry = registry
        self._reward = reward
        self._repair = repair
        self._timer = timer
        self._partial: PartialOutputs | None = None

    async def execute(self, state: RunState) -> Batch:
        """The action that was received: its completion, and its transition where nothing waits.

        When the run's own time is up the action is left: nothing of it has failed, and a resume carries it out.
        """
        received = state.behavior.current
        if received is None:
            raise ValueError("no action has been received")
        if state.kernel.up and not self._kernel.is_alive:
            # It died while nothing ran: no cell is to blame. The action is carried out once there is another.
            return (KernelLost(cause="it ended while no cell was running"),)
        self._partial = PartialOutputs(received.action_id, timer=self._timer)
        try:
            async with asyncio.timeout(_seconds_left(state)) as time_left:
                return await self._execute(state, received, self._partial)
        except TimeoutError:
            if not time_left.expired():
                raise
            return (RunStopped(reason="limit", detail=time_is_up(state.limits)),)
        finally:
            self._partial = None

    def partial_output(self) -> OutputReceived | None:
        """What the action under way has printed since the last such record, if one is due."""
        return self._partial.taken() if self._partial is not None else None

    async def complete_without_kernel(self, state: RunState, received: ActionReceived) -> Batch | None:
        """The whole of an action that needs no kernel, as soon as it has arrived; None for one that may take long."""
        if action_name(received.action) not in WITHOUT_KERNEL:
            return None
        return await self._execute(state, received, PartialOutputs(received.action_id, timer=self._timer))

    async def _execute(self, state: RunState, received: ActionReceived, partial: PartialOutputs) -> Batch:
        context = self._context(state, received, partial)
        started = self._timer()
        action = self._understood(context, state, received)
        if action is not None:
            await self._registry.handle(context, action)
        return self._finish(state, context, action_name(received.action), started)

    def _context(self, state: RunState, received: ActionReceived, partial: PartialOutputs) -> ActionContext:
        return ActionContext(
            action_id=received.action_id,
            document=state.document,
            variables=state.variables,
            kernel=self._kernel,
            limits=ExecutionLimits(
                cell_seconds=state.limits.cell_seconds or None, debug_attempts=state.limits.debug_attempts
            ),
            repair=lambda wanted: self._repair(state, wanted),
            problem_of=lambda proposal: proposal_problem(state, proposal),
            on_output=partial.note,
        )

    def _understood(self, context: ActionContext, state: RunState, received: ActionReceived) -> Action | None:
        """The action, if it is one that somebody handles. What is wrong with it is noted on the context."""
        try:
            action = parse_action(received.action)
        except ActionMalformed as error:
            context.refuse("ActionMalformed", str(error))
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


def source_of_exec(state: RunState) -> str | None:
    """What the action under way has the kernel run first, where that is known: of an exec, its cell."""
    received = state.behavior.current
    if received is None:
        return None
    try:
        action = parse_action(received.action)
        return code_cell(state.document, action.codecell_id).source if isinstance(action, Exec) else None
    except ActionRefused:
        return None


def _seconds_left(state: RunState) -> float | None:
    """How long the run may still go on; None: as long as it takes."""
    limit = state.limits.run_seconds
    return max(1.0, limit - elapsed(state)) if limit else None


def _waits(state: RunState, done: ActionCompleted) -> bool:
    """Whether the action has put a change of the plan forward that must be confirmed."""
    proposal = done.proposal
    if proposal is None:
        return False
    return not changes_nothing(state.plan, proposal) and not fills_in(state.plan, proposal)
