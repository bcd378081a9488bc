"""The loop: decide, perform, journal, reduce. One task, constant stack, every step durable before the next."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Literal, Protocol

from notebook_bcc.engine.actions.registry import ActionRegistry
from notebook_bcc.engine.decide import decide
from notebook_bcc.engine.intents import AskPerson, DropProposal, ExecuteAction, Fire, Intent, Refuse, Stop, TakeAction
from notebook_bcc.engine.perform import Batch, Performer
from notebook_bcc.engine.plan_changes import plan_diff
from notebook_bcc.engine.planner_session import Asking
from notebook_bcc.engine.reduce import reduce
from notebook_bcc.engine.reward import GoalReward, Reward
from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import JournalFailed, RunRefused
from notebook_bcc.fsm.machine import next_state
from notebook_bcc.journal.interface import Entry, Journal, PostedCommand
from notebook_bcc.journal.records import (
    Command,
    CommandTaken,
    PlanProposal,
    PlanUpdateDecided,
    RunResumed,
    RunStarted,
    RunStopped,
    Warned,
)
from notebook_bcc.kernel.interface import Kernel
from notebook_bcc.planners.interface import Planner
from notebook_bcc.protocol.vocabulary import Event, State

_log = logging.getLogger(__name__)

_COMMANDS_EVERY = 0.1
_READER_LAG = 256
# Seconds from a cell's way to the kernel until what came before it is written: on few processors the writing would take
# the one that the cell's start needs.
_WRITE_AFTER = 0.001
# Actions that need nobody outside are written in groups of at most about so many entries.
_GROUP = 64
_ANSWERS = ("confirm", "reject")

UPDATE_PENDING = frozenset({State.WORKFLOW_UPDATE_PENDING, State.STEP_UPDATE_PENDING})


class Person(Protocol):
    """Somebody at a console who is asked before the plan changes."""

    async def confirm(self, proposal: PlanProposal, diff: str) -> bool | None:
        """True, False, or None for: nobody here; the run then stops and waits."""
        ...


class _Interrupted(Exception):  # not an error: a person's wish, raised inside this module only
    """Cancel or stop was asked for while something was under way."""


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
    ) -> None:
        """`state` is the fold of what the journal holds, for whoever has made it already; else `load` makes it."""
        self._journal = journal
        self._person = person
        self._now = now
        self._performer = Performer(
            planner=planner,
            kernel=kernel,
            registry=registry if registry is not None else ActionRegistry(),
            reward=reward if reward is not None else GoalReward(),
            asking=asking if asking is not None else Asking(),
            durable=journal.sync,
            now=now,
            timer=timer,
        )
        self._state = state if state is not None else RunState()
        self._shown = self._state
        self._readers: asyncio.Queue[list[tuple[Entry, RunState]] | None] = asyncio.Queue()
        self._caught_up = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._pending: list[tuple[Entry, RunState]] = []
        self._writing = asyncio.Lock()
        self._cell_ended = False
        self._committing = False
        self._wish: tuple[Literal["cancel", "stop"], str] | None = None
        self._commands: list[PostedCommand] = []
        self._commands_seen = 0
        self._forgets = 0
        self._inbox_trouble = ""
        self._answered = asyncio.Event()

    @property
    def state(self) -> RunState:
        """The fold of everything that has happened; `shown` is the part of it that readers have seen."""
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
        if isinstance(record, RunStarted):
            if self._state.seq:
                raise RunRefused(f"run {self._state.run_id!r} has begun already; resume it")
        else:
            _check_resumable(self._state, record)
            if record.forgets is None:
                posted = await self._journal.commands(after=self._state.commands_seen)
                record = record.model_copy(update={"forgets": posted[-1].seq if posted else 0})
            self._forgets = record.forgets or 0
            self._wish = None
            self._commands = [one for one in self._commands if one.command.kind in _ANSWERS]
            if record.restart == "reset" and next_state(self._state.fsm, Event.CANCEL) is not None:
                given_up = Fire(Event.CANCEL, reason="given up for a new start")
                self._fold((self._performer.moved(self._state, given_up),))
        await self._append((record,))
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

    def pause(self) -> None:
        """Stop after the action under way. The run can be resumed."""
        self._commands.append(PostedCommand(seq=0, at="", command=Command(kind="pause")))

    def cancel(self, reason: str) -> None:
        """Leave what is under way and cancel the run; only a reset brings it back."""
        self._ask_for(("cancel", reason))

    def stop(self, reason: str) -> None:
        """Leave what is under way and let the run go as interrupted. The run can be resumed."""
        self._ask_for(("stop", reason))

    def _ask_for(self, wish: tuple[Literal["cancel", "stop"], str]) -> None:
        if self._state.stopped is not None:
            # Nothing is under way any more; what the run came to is only being synced.
            return
        self._wish = wish
        # In the middle of a commit of its own the loop is not cut off: it looks at the wish right after it. What is
        # written while a cell runs is not its own: the cell can be left.
        if self._task is not None and not self._committing:
            self._task.cancel()

    async def _drive(self) -> None:
        try:
            while self._state.stopped is None:
                await self._round()
        finally:
            try:
                await self._journal.sync()
            finally:
                self._readers.put_nowait(None)

    async def _round(self) -> None:
        try:
            if self._wish is not None:
                raise _Interrupted
            await self._take_commands()
            intent = decide(self._state)
            if isinstance(intent, ExecuteAction):
                await self._carry_out(intent)
                return
            if self._pending and not self._stays_inside(intent):
                await self._flush()
            if isinstance(intent, Stop):
                await self._append((RunStopped(reason=intent.reason, detail=intent.detail, answered=intent.answered),))
            elif isinstance(intent, AskPerson):
                await self._ask_person(intent.proposal)
            elif (at_once := await self._performer.perform_now(intent, self._state)) is not None:
                await self._commit(at_once, wait=len(self._pending) < _GROUP)
            else:
                async with contextlib.aclosing(self._performer.perform(intent, self._state)) as batches:
                    async for batch in batches:
                        await self._commit(batch, wait=False)
        except (asyncio.CancelledError, _Interrupted):
            if self._wish is None:
                raise
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()
            await self._grant_wish()
        except JournalFailed:
            raise
        except Exception as error:
            # The border post: a fault of ours must not take the run's record with it.
            _log.exception("the run stops on an internal error")
            detail = f"internal error: {type(error).__name__}: {error}"
            await self._append((RunStopped(reason="interrupted", detail=detail),))
            raise

    async def _carry_out(self, intent: ExecuteAction) -> None:
        """Run the action while the journal is written: a kernel of ours remembers nothing that the journal would have
        to know first, and a cell without its completion is carried out again whatever else is known of it. A kernel
        that outlives us does remember: by what the journal says it is taken up again."""
        if self._state.kernel.session:
            await self._flush()
        writing: list[asyncio.Task[None]] = []
        # The end of the cell before waits no longer than until this one is on its way.
        timer = asyncio.get_running_loop().call_later(
            0.0 if self._cell_ended else _WRITE_AFTER, lambda: writing.append(asyncio.create_task(self._flush()))
        )
        try:
            batch = await self._performer.perform_now(intent, self._state)
            # What came of it is not let go of any more, whatever is wished for.
            self._committing = True
        finally:
            timer.cancel()
            if writing:
                await asyncio.wait(writing)
        try:
            for one in writing:
                one.result()
            if batch is not None:
                self._cell_ended = True
                await self._commit(batch, wait=True)
        finally:
            self._committing = False

    def _stays_inside(self, intent: Intent) -> bool:
        """Whether nobody outside hears of the run by this: no planner, no kernel, no person, no waiting."""
        if isinstance(intent, TakeAction):
            return self._performer.has_action
        return isinstance(intent, (Fire, Refuse, DropProposal))

    async def _commit(self, batch: Batch, *, wait: bool) -> None:
        """Fold a batch. With `wait` it reaches the journal together with the next one, before anybody hears of it;
        after the last one there is none."""
        self._fold(batch)
        if not wait or self._state.stopped is not None:
            await self._flush()
        if self._wish is not None:
            raise _Interrupted

    async def _append(self, batch: Batch) -> None:
        self._fold(batch)
        await self._flush()

    def _fold(self, batch: Batch) -> None:
        at = self._now()
        # What a model was asked stands before what came of it.
        for record in (*self._performer.models_asked(), *batch):
            entry = Entry(self._state.seq + 1, at, record)
            self._state = reduce(self._state, entry)
            self._pending.append((entry, self._state))

    async def _flush(self) -> None:
        """Everything folded becomes durable, all of it or nothing; then the readers get it."""
        async with self._writing:
            seen, self._pending = self._pending, []
            if not seen:
                return
            self._cell_ended = False
            mine, held = asyncio.current_task() is self._task, self._committing
            self._committing = held or mine
            try:
                await self._journal.append([entry for entry, _ in seen])
            except BaseException:
                self._pending = seen + self._pending
                raise
            finally:
                if mine:
                    self._committing = held
            if self._task is not None:
                self._readers.put_nowait(seen)
        if self._readers.qsize() >= _READER_LAG:
            # A slow reader slows the run down instead of filling the memory.
            self._caught_up.clear()
            await self._caught_up.wait()

    async def _grant_wish(self) -> None:
        kind, reason = self._wish or ("stop", "")
        self._wish = None
        await self._performer.interrupt()
        batch: Batch = tuple(self._taken("cancel"))
        if kind == "cancel" and next_state(self._state.fsm, Event.CANCEL) is not None:
            batch = (*batch, self._performer.moved(self._state, Fire(Event.CANCEL, reason=reason)))
        elif kind == "cancel" and self._state.fsm is State.IDLE:
            # The table has no CANCEL before the workflow has begun: the state stays, and the stop alone is final.
            batch = (*batch, RunStopped(reason="cancelled", detail=reason))
        elif isinstance(intent := decide(self._state), Stop):
            # The run had reached its end by itself.
            batch = (*batch, RunStopped(reason=intent.reason, detail=intent.detail))
        else:
            batch = (*batch, RunStopped(reason="interrupted", detail=reason or "stopped by a person"))
        await self._append(batch)

    async def _ask_person(self, proposal: PlanProposal) -> None:
        policy = self._state.policies.confirm
        if policy in ("auto", "reject"):
            await self._decide_update(PlanUpdateDecided(confirmed=policy == "auto", by="policy"))
            return
        await self._journal.sync()
        answer = await self._answer(proposal)
        if answer is None and policy == "offer" and self._person is None:
            decided = PlanUpdateDecided(confirmed=True, by="policy", comment="nobody was there to ask")
            await self._decide_update(decided)
        elif answer is None:
            await self._take_commands()
            detail = "a change of the plan waits for an answer: nbcc confirm or nbcc reject, then nbcc resume"
            await self._append((RunStopped(reason="waiting", detail=detail),))
        else:
            await self._decide_update(answer)

    async def _answer(self, proposal: PlanProposal) -> PlanUpdateDecided | None:
        """The first answer there is: from another process, or from the console."""
        await self._poll_commands()
        posted = self._posted_answer()
        if posted is not None or self._person is None:
            return posted
        asked = asyncio.ensure_future(self._person.confirm(proposal, plan_diff(self._state.plan, proposal)))
        waiting = asyncio.ensure_future(self._answered.wait())
        try:
            await asyncio.wait((asked, waiting), return_when=asyncio.FIRST_COMPLETED)
            if not asked.done():
                return self._posted_answer()
            said = asked.result()
            return None if said is None else PlanUpdateDecided(confirmed=said)
        finally:
            for task in (asked, waiting):
                task.cancel()

    def _posted_answer(self) -> PlanUpdateDecided | None:
        self._answered.clear()
        first = first_answer(self._commands, self._state)
        if first is None:
            return None
        command = first.command
        return PlanUpdateDecided(confirmed=command.kind == "confirm", comment=command.comment, who=command.by)

    async def _decide_update(self, decided: PlanUpdateDecided) -> None:
        confirmed = decided.confirmed
        if self._state.fsm is State.WORKFLOW_UPDATE_PENDING:
            event = Event.UPDATE_WORKFLOW_CONFIRMED if confirmed else Event.UPDATE_WORKFLOW_REJECTED
        else:
            event = Event.UPDATE_STEP_CONFIRMED if confirmed else Event.UPDATE_STEP_REJECTED
        moved = self._performer.moved(self._state, Fire(event, reason=decided.comment))
        await self._commit((*self._taken(*_ANSWERS), decided, moved), wait=False)

    async def _watch(self) -> None:
        """While the run goes on: look for commands of other processes, and write down what a long cell prints."""
        while True:
            await self._poll_commands()
            if (printed := self._performer.partial_output()) is not None:
                # What cannot be written now is written with what comes next; if that fails, the run says so.
                with contextlib.suppress(JournalFailed):
                    await self._append((printed,))
            await asyncio.sleep(_COMMANDS_EVERY)

    async def _poll_commands(self) -> None:
        for posted in await self._posted_commands():
            self._commands_seen = posted.seq
            if posted.seq <= self._forgets and posted.command.kind not in _ANSWERS:
                continue
            self._commands.append(posted)
            if posted.command.kind == "cancel":
                self._ask_for(("cancel", posted.command.comment or "cancelled by a person"))
            elif posted.command.kind in _ANSWERS:
                self._answered.set()

    async def _posted_commands(self) -> Sequence[PostedCommand]:
        """What is new in the inbox. If it cannot be read the run goes on and looks again: the next look may succeed."""
        try:
            posted = await self._journal.commands(after=max(self._commands_seen, self._state.commands_seen))
        except JournalFailed as error:
            if str(error) != self._inbox_trouble:
                _log.warning("the commands of other processes cannot be read: %s", error)
            self._inbox_trouble = str(error)
            return ()
        self._inbox_trouble = ""
        return posted

    async def _take_commands(self) -> None:
        """Write down the commands that need no more than that; an answer nobody waits for is said to be one."""
        if not self._commands:
            return
        if first_answer(self._commands, self._state) is not None:
            # It is decided on first: a resume does not look at commands before one that was taken.
            return
        stray = [posted.command for posted in self._commands if posted.command.kind in _ANSWERS]
        batch: Batch = tuple(self._taken("pause", *_ANSWERS))
        if batch:
            await self._append((*batch, *[Warned(message=_waits_no_more(command)) for command in stray]))

    def _taken(self, *kinds: str) -> list[CommandTaken]:
        mine = [posted for posted in self._commands if posted.command.kind in kinds]
        self._commands = [posted for posted in self._commands if posted.command.kind not in kinds]
        return [CommandTaken(seq=posted.seq, command=posted.command.kind) for posted in mine]


def first_answer(commands: Iterable[PostedCommand], state: RunState) -> PostedCommand | None:
    """The answer that counts for the change of the plan that waits now: the first one that names it."""
    if state.fsm not in UPDATE_PENDING:
        return None
    asked = (0, state.machine.entered)
    return next((one for one in commands if one.command.kind in _ANSWERS and one.command.answers in asked), None)


def _waits_no_more(answer: Command) -> str:
    who = f" by {answer.by}" if answer.by else ""
    named = f"the change of the plan it answers ({answer.answers}) waits no more"
    return f"{answer.kind}{who}: {named if answer.answers else 'no change of the plan waits'}"


def _check_resumable(state: RunState, record: RunResumed) -> None:
    if not state.seq:
        raise RunRefused("this run has not begun; there is nothing to resume")
    if state.fsm is State.WORKFLOW_COMPLETED and (state.stopped is not None or record.restart != "behavior"):
        raise RunRefused(f"run {state.run_id!r} is completed; there is nothing to resume")
    if state.cancelled and record.restart != "reset":
        raise RunRefused(f"run {state.run_id!r} was cancelled; `nbcc resume --restart reset` starts it anew")
    if record.restart == "workflow" and state.fsm not in (State.ERROR, State.IDLE):
        raise RunRefused(
            f"run {state.run_id!r} has not failed, so its workflow cannot be restarted; `nbcc resume` goes on where it "
            "stopped, `nbcc resume --restart reset` starts it anew"
        )
