"""What one action of a script store works with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from notebook_bcc.engine.actions.context import ActionContext, ActionServices, ActionStart, ExecutionLimits
from notebook_bcc.journal.records import PlanProposal
from notebook_bcc.kernel.interface import Execution, Kernel
from notebook_bcc.protocol.cells import Output
from notebook_bcc.protocol.messages import RepairWanted


class StoreContext(ActionContext):
    """An action context without a run around it: the kernel starts when code is run, and nobody repairs cells."""

    def __init__(self, start: ActionStart, *, bring_up: Callable[[], Awaitable[None]]) -> None:
        super().__init__(start)
        self._bring_up = bring_up

    async def run_cell(self, cell_id: str, *, keep_effects: bool = True, auto_debug: bool = False) -> Execution:
        """Run a code cell in a kernel that is up. Raises KernelStartFailed besides."""
        cell = self.code_cell(cell_id)
        await self._bring_up()
        return await super().run_cell(cell.id, keep_effects=keep_effects, auto_debug=auto_debug)


def store_services(
    *, kernel: Kernel, limits: ExecutionLimits, problem_of: Callable[[PlanProposal], str]
) -> ActionServices:
    """What the actions of a script store may use."""
    return ActionServices(kernel=kernel, limits=limits, repair=_no_idea, problem_of=problem_of, on_output=_unwatched)


async def _no_idea(wanted: RepairWanted) -> str | None:
    return None


def _unwatched(cell_id: str, output: Output) -> None:
    """The outputs stand in the result."""
