"""Actions that a handler asks for while it carries out its own: parts of that action, in the same record."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, Final

from notebook_bcc.engine.actions.context import ActionContext, ActionStart
from notebook_bcc.engine.actions.results import result_of
from notebook_bcc.errors import ActionRefused
from notebook_bcc.protocol.actions import ActionBase, action_name

# An action that carries itself out again, without end, is stopped here.
_DEEPEST: Final = 50

# Parses one action as it came and lets its handler do it; what is wrong with it is noted on the context.
CarryOut = Callable[[ActionContext, Any], Awaitable[None]]


class NestingContext(ActionContext):
    """The context of an action in a run. Its handler may carry out further actions, as a script store's handler does.

    What those change is noted as changes of the outer action: one action of a planner, one record. One that fails is
    told in its result and is the handler's to judge. Made on the event loop that carries the action out.
    """

    def __init__(self, start: ActionStart, *, carry_out: CarryOut, depth: int = 0) -> None:
        super().__init__(start)
        self._carry_out = carry_out
        self._depth = depth
        self._turn = asyncio.Lock()
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[Any]] = set()  # Any: whatever its result is
        self._nested = 0
        self._ended = False

    def exec_action(self, step: Any) -> dict[str, Any]:  # Any: an action, or what is to become one
        """Carry out another action and say what came of it, for plain handlers: these run in a thread.

        The result is that of `ScriptStore.exec_action`. Raises RuntimeError in an async handler or a plain hook, which
        run on the event loop, and ActionRefused once the action has ended.
        """
        if _on(self._loop):
            raise RuntimeError("this call would wait for its own event loop; await exec_action_async instead")
        return asyncio.run_coroutine_threadsafe(self.exec_action_async(step), self._loop).result()

    async def exec_action_async(self, step: Any) -> dict[str, Any]:  # Any: an action, or what is to become one
        """The same for async handlers. Raises ActionRefused once the action has ended."""
        task = asyncio.current_task()
        if self._ended or task is None:
            raise ActionRefused(f"action {self.action_id!r} has ended; its handler cannot carry out any more")
        self._tasks.add(task)
        try:
            async with self._turn:
                return await self._carried_out(_decoded(step))
        finally:
            self._tasks.discard(task)

    async def end(self) -> None:
        """Carry out nothing more: a handler's thread may outlive an action that was cancelled."""
        self._ended = True
        left = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)

    async def _carried_out(self, step: Any) -> dict[str, Any]:
        self._nested += 1
        start = ActionStart(
            action_id=f"{self.action_id}.{self._nested}",
            document=self.document,
            variables=self.variables,
            assigned=self.assigned,
            services=self._services,
        )
        inner = NestingContext(start, carry_out=self._carry_out, depth=self._depth + 1)
        if inner._depth > _DEEPEST:
            inner.refuse("ActionRefused", f"actions are nested more than {_DEEPEST} deep")
        elif self.changes.kernel_died:
            inner.refuse("KernelDied", "the kernel died in an earlier part of this action")
        else:
            try:
                await self._carry_out(inner, step)
            finally:
                await inner.end()
        if self.changes.proposal is not None and inner.changes.proposal is not None:
            inner.changes.proposal = None
            inner.refuse("ActionRefused", "one action can propose one change of the plan")
        self._take_over(inner)
        return result_of(inner, inner.completed(action=action_name(step), seconds=0.0))

    def _take_over(self, inner: NestingContext) -> None:
        """Note what the inner action changed as part of this one; its error is only told."""
        self.document = inner.document
        mine, its = self.changes, inner.changes
        mine.cells += its.cells
        mine.effects += its.effects
        mine.repairs += its.repairs
        mine.ran += its.ran
        for name in its.removed:
            mine.variables.pop(name, None)
        mine.removed = [name for name in (*mine.removed, *its.removed) if name not in its.variables]
        mine.variables |= its.variables
        mine.title = its.title if its.title is not None else mine.title
        mine.chapter = its.chapter if its.chapter is not None else mine.chapter
        mine.section = its.section if its.section is not None else mine.section
        mine.executed = its.executed if its.executed is not None else mine.executed
        mine.proposal = its.proposal or mine.proposal
        mine.end_phase = its.end_phase or mine.end_phase
        mine.fire = its.fire or mine.fire
        mine.metadata = its.metadata or mine.metadata
        mine.summary = its.summary or mine.summary
        mine.finding = its.finding or mine.finding
        if its.kernel_died:
            mine.kernel_died, mine.error, mine.error_name = True, its.error, its.error_name


def _decoded(step: Any) -> Any:  # Any: an action, or what is to become one
    """The action as a planner would have sent it: values and dataclasses as dicts."""
    if isinstance(step, ActionBase):
        return step.to_dict()
    if not isinstance(step, Mapping):
        return step
    return {name: asdict(one) if is_dataclass(one) and not isinstance(one, type) else one for name, one in step.items()}


def _on(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False
