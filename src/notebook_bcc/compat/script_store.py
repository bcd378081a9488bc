"""`ScriptStore`: actions carried out one by one on a notebook in memory, with a real kernel behind it."""

from __future__ import annotations

import asyncio
import time
import weakref
from collections.abc import Mapping
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, ClassVar, Final, Self

from notebook_bcc.api.loop_thread import LoopClient
from notebook_bcc.compat.store_context import StoreContext, store_services
from notebook_bcc.compat.store_registry import StoreFunction, StoreRegistry
from notebook_bcc.compat.values import unwrapped
from notebook_bcc.engine.actions.context import ActionStart, ExecutionLimits
from notebook_bcc.engine.actions.registry import ActionRegistry, check_registration
from notebook_bcc.engine.actions.results import result_of
from notebook_bcc.engine.changes import evolve
from notebook_bcc.engine.observation.observe import observe
from notebook_bcc.engine.plan_changes import plan_diff, proposal_problem
from notebook_bcc.engine.rebuilding import bring_up
from notebook_bcc.engine.reduce import reduce
from notebook_bcc.engine.runner import utc_now
from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import ActionRefused, BccError
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import ActionCompleted, PlanUpdateDecided, Record, RunResumed, RunStarted, Warned
from notebook_bcc.kernel.interface import Kernel
from notebook_bcc.kernel.local.kernel import LocalKernel
from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.ipynb import NotebookMetadata, write_notebook
from notebook_bcc.protocol.actions import Action, ActionBase, parse_action
from notebook_bcc.protocol.workflow import Workflow, check_workflow

# An action that carries itself out again, without end, is stopped here.
_DEEPEST: Final = 50
# Parts of a context that belong to whoever drives the state machine, not to a store.
_NOT_OURS: Final = frozenset({"FSM", "workflow_progress"})

# The actions this call is inside of: their stores, and the lock that what they carry out themselves takes turns by.
_inside: ContextVar[tuple[tuple[ScriptStore, asyncio.Lock], ...]] = ContextVar("nbcc_inside", default=())


class ScriptStore:
    """Carries out actions without planner, plan or journal; a `Runner` is for runs that must survive.

    The kernel starts with the first code that is run; one that died is rebuilt from the cells that had succeeded.
    `close()` it, or use it as a context manager. Calls may come from any thread and from inside an event loop; they
    take turns. Handlers are `handler(script_store, step)`: plain ones run in a thread of their own and may call
    `exec_action`, async ones await `exec_action_async`.
    """

    # By promise class-wide; exchanged whole, so that a subclass which registers does not register for its base.
    _custom_actions: ClassVar[Mapping[str, StoreFunction]] = MappingProxyType({})

    def __init__(
        self,
        *,
        registry: ActionRegistry | None = None,
        kernel: Kernel | None = None,
        workflow: Workflow | Mapping[str, Any] | None = None,
        title: str = "",
        strict_actions: bool = False,
        cell_seconds: float | None = None,
    ) -> None:
        """`kernel` is one that has not been started; the store starts it and closes it. Raises PlanInvalid."""
        plan = workflow if isinstance(workflow, Workflow | None) else Workflow.parse(workflow)
        if plan is not None:
            check_workflow(plan)
        self._registry = StoreRegistry(self)
        for name, handler in self._custom_actions.items():
            self._registry.register_handler(name, handler)
        if registry is not None:
            self._registry.take_over(registry)
        self._strict = strict_actions
        self._limits = ExecutionLimits(cell_seconds=cell_seconds)
        self._kernel = kernel if kernel is not None else LocalKernel()
        self._loop = LoopClient("script store", at_end=self._kernel.close)
        self._turn = asyncio.Lock()
        self._actions = 0
        self._state = RunState()
        self._fold(RunStarted(run_id="script-store", workflow=plan, title=title))
        # Nobody is asked when a rebuilt kernel differs: what differs stands in the effects.
        self._fold(RunResumed(accept_differences=True))
        # A store that is forgotten, or open when the program ends, leaves no process behind.
        self._finalizer = weakref.finalize(self, self._loop.close)

    @classmethod
    def register_custom_action(cls, name: str, handler: StoreFunction) -> None:
        """Let every store and every run that is made from now on carry out actions of this type with
        `handler(script_store, step)`; in a run the first argument is its `NestingContext`.

        A store keeps what it was made with: what it registers itself, and what is registered here later, stay apart.
        What a subclass registers is for its own stores alone.
        """
        check_registration(name, handler)
        if cls is ScriptStore:
            ActionRegistry.register_for_all(name, handler)
        cls._custom_actions = MappingProxyType({**cls._custom_actions, name: handler})

    @classmethod
    def unregister_custom_action(cls, name: str) -> None:
        """Stores and runs made from now on do not know this type any more. No error when none did."""
        if cls is ScriptStore:
            ActionRegistry.unregister_for_all(name)
        kept = {known: handler for known, handler in cls._custom_actions.items() if known != name}
        cls._custom_actions = MappingProxyType(kept)

    @property
    def registry(self) -> ActionRegistry:
        """This store's own handlers and hooks."""
        return self._registry

    @property
    def document(self) -> Document:
        """The notebook as it is now."""
        return self._state.document

    @property
    def variables(self) -> dict[str, Any]:
        """What exists in the kernel: values, or type summaries such as `DataFrame(1460×79)`."""
        return dict(self._state.variables)

    @property
    def workflow(self) -> Workflow | None:
        """The plan; a change that waits is not in it."""
        return self._state.plan

    @property
    def pending_update(self) -> str | None:
        """The change of the plan that waits for its confirmation, as a diff; None when none does."""
        waiting = self._state.proposals
        return plan_diff(self._state.plan, waiting[0]) if waiting else None

    def exec_action(self, step: Action | Mapping[str, Any]) -> dict[str, Any]:
        """Carry one action out and say what came of it: `{success, action_id, ...}`, with `error` where it failed.

        What goes wrong with the action, its handler, its code or the kernel is in the result. Raises ActionRefused once
        the store is closed, RuntimeError in an async handler.
        """
        self._require_open()
        return self._loop.run(self._in_turn(step))

    async def exec_action_async(self, step: Action | Mapping[str, Any]) -> dict[str, Any]:
        """The same for async code, on whichever loop it runs."""
        self._require_open()
        return await asyncio.wrap_future(self._loop.submit(self._in_turn(step)))

    def get_context(self) -> dict[str, Any]:
        """Variables, effects, notebook and section progress as a planner sees them: the context part of a `state`."""
        context = observe(self._state).context.to_dict()
        return {name: value for name, value in context.items() if name not in _NOT_OURS}

    def confirm_update(self) -> None:
        """Make the change of the plan that waits. Raises ActionRefused when none does."""
        self._decide_update(confirmed=True)

    def reject_update(self) -> None:
        """Drop the change of the plan that waits. Raises ActionRefused when none does."""
        self._decide_update(confirmed=False)

    def save(self, path: str | Path) -> None:
        """Write the notebook to a file, atomically. Raises NotebookFailed."""
        kernel = self._state.kernel
        metadata = NotebookMetadata(
            kernel_name=kernel.name,
            display_name=kernel.display_name,
            language=kernel.language,
            language_version=kernel.language_version,
        )
        write_notebook(Path(path), self._state.document, metadata=metadata)

    def close(self) -> None:
        """End the kernel. The notebook can still be read and saved. May be called twice."""
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def _in_turn(self, step: Action | Mapping[str, Any]) -> dict[str, Any]:
        """One action at a time; what an action carries out itself does not wait for that action."""
        outer = _inside.get()
        turn = next((lock for store, lock in reversed(outer) if store is self), self._turn)
        async with turn:
            mark = _inside.set((*outer, (self, asyncio.Lock())))
            try:
                return await self._execute(step, depth=len(outer))
            finally:
                _inside.reset(mark)

    async def _execute(self, step: Action | Mapping[str, Any], *, depth: int) -> dict[str, Any]:
        self._actions += 1
        started = time.perf_counter()
        services = store_services(
            kernel=self._kernel,
            limits=self._limits,
            problem_of=lambda proposal: proposal_problem(self._state, proposal),
        )
        start = ActionStart(
            action_id=f"action-{self._actions}",
            document=self._state.document,
            variables=self._state.variables,
            assigned=self._state.kernel.assigned,
            services=services,
        )
        context = StoreContext(start, bring_up=self._bring_up)
        name = _name_of(step)
        try:
            if depth >= _DEEPEST:
                raise ActionRefused(f"actions are nested more than {_DEEPEST} deep")
            action = step if isinstance(step, ActionBase) else parse_action(unwrapped(step))
            if self._registry.knows(action.action):
                await self._registry.handle(context, action)
            elif self._strict:
                raise ActionRefused(f"action type {name!r} has no handler")
            else:
                context.skip(f"action type {name!r} has no handler; skipped")
        except BccError as failure:
            context.refuse(type(failure).__name__, str(failure))
        done = context.completed(action=name, seconds=time.perf_counter() - started)
        self._note(context, done)
        return result_of(context, done)

    def _note(self, context: StoreContext, done: ActionCompleted) -> None:
        if context.skipped:
            self._fold(Warned(message=context.skipped))
        self._fold(done.model_copy(update={"proposal": None}))
        if done.proposal is not None:
            # Every change waits here, the first plan too: the caller is told so, and drives the state machine by it.
            self._state = evolve(self._state, proposals=(done.proposal,))

    async def _bring_up(self) -> None:
        """Start the kernel if it does not run; what it had before it died is put there again."""
        if self._kernel.is_alive:
            return
        async for batch in bring_up(self._kernel, self._state):
            for record in batch:
                self._fold(record)

    def _fold(self, record: Record) -> None:
        self._state = reduce(self._state, Entry(self._state.seq + 1, utc_now(), record))

    def _decide_update(self, *, confirmed: bool) -> None:
        if not self._state.proposals:
            raise ActionRefused("no change of the plan waits for confirmation")
        self._fold(PlanUpdateDecided(confirmed=confirmed, by="person"))

    def _require_open(self) -> None:
        if not self._finalizer.alive:
            raise ActionRefused("this script store is closed; make another one")


def _name_of(step: Any) -> str:  # Any: not validated yet
    held = vars(step) if isinstance(step, ActionBase) else step
    name = held.get("action", held.get("type")) if isinstance(held, Mapping) else None
    return name if isinstance(name, str) and name else "?"
