"""The loop: decide, perform, journal, reduce. One task, constant stack, every step durable before the next."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime
from typing import Literal

from notebook_bcc.engine.actions.registry import ActionRegistry
from notebook_bcc.engine.answering import HasFile
from notebook_bcc.engine.checkpointing import is_due
from notebook_bcc.engine.confirmation import Confirmation, Person
from notebook_bcc.engine.decide import decide
from notebook_bcc.engine.inbox import Inbox
from notebook_bcc.engine.intents import Fire, SaveCheckpoint, Stop
from notebook_bcc.engine.perform import Batch, Performer
from notebook_bcc.engine.planner_session import Asking
from notebook_bcc.engine.reduce import reduce
from notebook_bcc.engine.reward import GoalReward, Reward
from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import JournalFailed, RunRefused
from notebook_bcc.fsm.machine import next_state
from notebook_bcc.journal.interface import Entry, Journal
from notebook_bcc.journal.records import (
    ActionCompleted,
    OutputReceived,
    Record,
    RunResumed,
    RunStarted,
    RunStopped,
    Transitioned,
)
from notebook_bcc.kernel.checkpoint_files import CheckpointFiles
from notebook_bcc.kernel.interface import Kernel
from notebook_bcc.planners.interface import Planner
from notebook_bcc.protocol.progress import WorkProgress
from notebook_bcc.protocol.vocabulary import Event, State

_log = logging.getLogger(__name__)

_StopKind = Literal["cancel", "stop", "pause"]

_COMMANDS_EVERY = 0.1
_LAST_WORDS = 0.2
_READER_LAG = 256
# Nobody takes such a run up again.
_ENDS_KERNEL = ("completed", "cancelled")


class _Interrupted(Exception):  # not an error: what a person asked for, raised inside this module only
    """Cancel or stop was asked for while the journal was being written."""


def utc_now() -> str:
    """The time as every record has it."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


class Runner:
    """Carries one run out. It owns neither planner, kernel nor journal: whoever gave them closes them."""

    def __init__(
        self,
        *,
        planner: Planner,
        kernel: Kernel,
        journal: Journal,
        registry: ActionRegistry | None = None,
        person: Person | None = None,
        reward: Reward | None = None,
        asking: Asking | None = None,
        now: Callable[[], str] = utc_now,
        timer: Callable[[], float] = time.perf_counter,
        state: RunState | None = None,
        has_file: HasFile = lambda name: False,
        on_progress: Callable[[WorkProgress], None] = lambda progress: None,
        checkpoints: CheckpointFiles | None = None,
    ) -> None:
        """`state` is the fold of what the journal holds, for whoever has made it already; else `load` makes it.
        `has_file` says whether the run has written a file, for plans that ask for one. `on_progress` hears how far a
        long cell is, where its code says so; no record does. `checkpoints` is where the namespace is saved; None: it is
        not."""
        self._checkpoints = checkpoints
        self._on_progress = on_progress
        self._journal = journal
        self._now = now
        self._inbox = Inbox(journal, on_cancel=self.cancel)
        self._performer = Performer(
            planner=planner,
            kernel=kernel,
            registry=registry if registry is not None else ActionRegistry(),
            reward=reward if reward is not None else GoalReward(),
            asking=asking if asking is not None else Asking(),
            inbox=self._inbox,
            confirmation=Confirmation(person=person, inbox=self._inbox, durable=journal.sync),
            durable=journal.sync,
            now=now,
            timer=timer,
            has_file=has_file,
            on_progress=self._progressed,
            checkpoints=checkpoints,
        )
        self._state = state if state is not None else RunState()
        self._shown = self._state
        self._readers: asyncio.Queue[list[tuple[Entry, RunState]] | None] = asyncio.Queue()
        self._caught_up = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._writing = False
        self._stop_request: tuple[_StopKind, str] | None = None

    @property
    def state(self) -> RunState:
        """The fold of everything that is in the journal; `shown` is the part of it that readers have seen."""
        return self._state

    @property
    def shown(self) -> RunState:
        """The state as of the entry that `run` gave out last; `state` may be ahead of it."""
        return self._shown

    async def load(self) -> None:
        """Fold what the journal holds. Raises JournalCorrupt, JournalTooNew."""
        async for entry in self._journal.read():
            self._state = reduce(self._state, entry)
        self._shown = self._state

    async def begin(self, record: RunStarted | RunResumed) -> Entry:
        """Start the run, or take it up again: the entry that says so. Raises RunRefused when its state does not allow
        that."""
        batch: Batch = (record,)
        if isinstance(record, RunStarted):
            if self._state.seq:
                raise RunRefused(f"run {self._state.run_id!r} has begun already; resume it")
        else:
            _check_resumable(self._state, record)
            if record.forgets is None:
                posted = await self._journal.commands(after=self._state.commands_seen)
                record = record.model_copy(update={"forgets": posted[-1].seq if posted else 0})
            self._stop_request = None
            self._inbox.forget(record.forgets or 0)
            batch = (record,)
            if record.restart == "reset" and next_state(self._state.fsm, Event.CANCEL) is not None:
                given_up = Fire(Event.CANCEL, reason="given up for a new start")
                batch = (*self._performer.moves(self._state, given_up), record)
        await self._append(batch)
        self._shown = self._state
        return Entry(self._state.seq, self._state.at, record)

    async def run(self) -> AsyncGenerator[Entry, None]:
        """Drive the run until it stops; each entry comes out once it is durable and folded."""
        self._task = asyncio.create_task(self._drive())
        watcher = asyncio.create_task(self._watch())
        try:
            while (seen := await self._readers.get()) is not None:
                if self._readers.qsize() < _READER_LAG:
                    self._caught_up.set()
                for entry, self._shown in seen:
                    yield entry
            await self._task
        finally:
            for task in (watcher, self._task):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
            await self._performer.close()

    def pause(self, *, patience: float | None = None) -> None:
        """Stop after the action under way. The run can be resumed.

        `patience`: a planner's answer is waited for so many seconds at most; what did not come is asked for again.
        """
        self._inbox.pause()
        if patience is not None:
            self._performer.hurry(patience)
            asyncio.get_running_loop().call_later(patience, self._leave_planner)

    def _leave_planner(self) -> None:
        """Once nothing but the planner keeps the run from pausing, do not wait for it."""
        if self._task is None or self._task.done() or self._state.pause or self._stop_request is not None:
            return
        if self._performer.waits_for_planner:
            self._request_stop(("pause", "paused on request"))
        else:
            asyncio.get_running_loop().call_later(_COMMANDS_EVERY, self._leave_planner)

    def cancel(self, reason: str) -> None:
        """Leave what is under way and cancel the run; only a reset brings it back."""
        self._request_stop(("cancel", reason))

    def stop(self, reason: str) -> None:
        """Leave what is under way and let the run go as interrupted. The run can be resumed."""
        self._request_stop(("stop", reason))

    def _request_stop(self, request: tuple[_StopKind, str]) -> None:
        if self._state.stopped is not None:
            # Nothing is under way any more; what the run came to is only being synced.
            return
        self._stop_request = request
        if self._task is not None and asyncio.current_task() is self._task:
            # A planner or a handler of ours asks. A task that cancels itself is cut off where it next waits, which may
            # be where what it came to is made durable.
            asyncio.get_running_loop().call_soon(self._cut_off)
        else:
            self._cut_off()

    def _cut_off(self) -> None:
        # While it writes, the loop is not cut off: it looks at the request right after.
        if self._task is not None and self._stop_request is not None and not self._writing:
            self._task.cancel()

    async def _drive(self) -> None:
        try:
            while self._state.stopped is None:
                await self._step_or_stop()
        finally:
            try:
                await self._journal.sync()
            finally:
                self._readers.put_nowait(None)

    async def _step(self) -> None:
        """The heart: choose one thing, do it, and write down what happens as it happens."""
        if commands := self._inbox.take_simple(self._state):
            await self._append(commands)
            return
        due = self._checkpoints is not None and is_due(self._state)
        intent = SaveCheckpoint() if due else decide(self._state)
        async with contextlib.aclosing(self._performer.perform(intent, self._state)) as batches:
            async for batch in batches:
                await self._append(batch)
                if self._stop_request is not None and self._state.stopped is None:
                    raise _Interrupted

    async def _step_or_stop(self) -> None:
        try:
            if self._stop_request is not None:
                raise _Interrupted
            await self._step()
        except (asyncio.CancelledError, _Interrupted):
            if self._stop_request is None:
                raise
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()
            await self._carry_out_stop()
        except JournalFailed:
            raise
        except Exception as error:
            # The border post: a fault of ours must not take the run's record with it.
            _log.exception("the run stops on an internal error")
            detail = f"internal error: {type(error).__name__}: {error}"
            await self._append((RunStopped(reason="interrupted", detail=detail),))
            raise

    async def _append(self, batch: Batch) -> None:
        """Write a batch, all of it or nothing; then fold it; then the readers get it."""
        if isinstance(batch[0], OutputReceived):
            # It stands in the cell's completion too: if it cannot be written now, the cell goes on all the same.
            with contextlib.suppress(JournalFailed):
                await self._write(batch)
        # What a model was asked stands before what came of it.
        else:
            await self._write((*self._performer.models_asked(), *batch))

    async def _write(self, records: Batch) -> None:
        at = self._now()
        records = tuple(self._with_kernel_left(record) for record in records)
        entries = [Entry(seq, at, record) for seq, record in enumerate(records, start=self._state.seq + 1)]
        self._writing = True
        try:
            await self._journal.append(entries)
        finally:
            self._writing = False
        seen: list[tuple[Entry, RunState]] = []
        for entry in entries:
            self._state = reduce(self._state, entry)
            _tell(entry.record)
            seen.append((entry, self._state))
        if self._task is None:
            return
        self._readers.put_nowait(seen)
        if self._readers.qsize() >= _READER_LAG:
            # A slow reader slows the run down instead of filling the memory.
            self._caught_up.clear()
            await self._caught_up.wait()

    def _with_kernel_left(self, record: Record) -> Record:
        if not isinstance(record, RunStopped) or record.reason in _ENDS_KERNEL:
            return record
        return record.model_copy(update={"kernel_left": self._performer.kernel_left(self._state)})

    async def _carry_out_stop(self) -> None:
        kind, reason = self._stop_request or ("stop", "")
        self._stop_request = None
        if kind == "cancel" or (kind == "stop" and not self._performer.kernel_left(self._state)):
            await self._performer.interrupt()
        # What has arrived of a stream is kept; what has not is asked for when the run goes on.
        rest = await self._performer.read_rest(self._state, within=_LAST_WORDS) if kind != "cancel" else ()
        await self._performer.close()
        batch: Batch = (*self._inbox.take("cancel", "pause"), *rest)
        if kind == "cancel" and next_state(self._state.fsm, Event.CANCEL) is not None:
            batch = (*batch, *self._performer.moves(self._state, Fire(Event.CANCEL, reason=reason)))
        elif kind == "cancel" and self._state.fsm is State.IDLE:
            # The table has no CANCEL before the workflow has begun: the state stays, and the stop alone is final.
            batch = (*batch, RunStopped(reason="cancelled", detail=reason))
        elif isinstance(intent := decide(self._state), Stop):
            # The run had reached its end by itself.
            batch = (*batch, self._performer.stopped(self._state, intent))
        elif kind == "pause":
            batch = (*batch, RunStopped(reason="paused", detail=reason))
        else:
            batch = (*batch, RunStopped(reason="interrupted", detail=reason or "stopped by a person"))
        await self._append(batch)

    def _progressed(self, progress: WorkProgress) -> None:
        _log.info("progress: %s", progress.to_json().decode(errors="replace"))
        self._on_progress(progress)

    async def _watch(self) -> None:
        """Look for commands of other processes while the run goes on."""
        while True:
            await self._inbox.poll(self._state)
            await asyncio.sleep(_COMMANDS_EVERY)


def _tell(record: Record) -> None:
    """A line of the log for each transition and each action."""
    match record:
        case Transitioned():
            _log.info("%s --%s--> %s", record.source.value, record.event.value, record.to.value)
        case ActionCompleted():
            result = (
                "skipped"
                if record.skipped
                else "ok"
                if record.success
                else f"failed: {' '.join(str(record.error).split())}"
            )
            _log.info("action %s %s: %s", record.action_id, record.action, result)
        case _:
            pass


def _check_resumable(state: RunState, record: RunResumed) -> None:
    if not state.seq:
        raise RunRefused("this run has not begun; there is nothing to resume")
    resting = state.stopped is not None or record.restart != "behavior"
    if state.fsm is State.WORKFLOW_COMPLETED and resting and record.restart != "reset":
        raise RunRefused(f"run {state.run_id!r} is completed; there is nothing to resume")
    if state.cancelled and record.restart != "reset":
        raise RunRefused(f"run {state.run_id!r} was cancelled; only --restart reset starts it anew")
    if record.restart == "workflow" and state.fsm not in (State.ERROR, State.IDLE):
        raise RunRefused(
            f"run {state.run_id!r} has not failed, so its workflow cannot be restarted; without --restart it goes on "
            "where it stopped, and --restart reset starts it anew"
        )
