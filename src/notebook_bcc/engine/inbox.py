"""The commands that other processes have posted for this run, and that it has not obeyed yet."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence

from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import JournalFailed
from notebook_bcc.journal.interface import Journal, PostedCommand
from notebook_bcc.journal.records import Command, CommandTaken, Record, Warned
from notebook_bcc.protocol.vocabulary import State

_log = logging.getLogger(__name__)

_ANSWERS = ("confirm", "reject")

UPDATE_PENDING = frozenset({State.WORKFLOW_UPDATE_PENDING, State.STEP_UPDATE_PENDING})


class Inbox:
    """Reads commands from the journal. `on_cancel` hears of a cancel at once, with its reason; the rest waits here."""

    def __init__(self, journal: Journal, *, on_cancel: Callable[[str], None]) -> None:
        self._journal = journal
        self._on_cancel = on_cancel
        self._commands: list[PostedCommand] = []
        self._seen = 0
        self._forgotten = 0
        self._trouble = ""
        self._answered = asyncio.Event()

    def pause(self) -> None:
        """As if somebody had posted a pause."""
        self._commands.append(PostedCommand(seq=0, at="", command=Command(kind="pause")))

    def forget(self, until: int) -> None:
        """A new session: pauses and cancels up to this one were meant for the process before."""
        self._forgotten = until
        self._commands = [one for one in self._commands if one.command.kind in _ANSWERS]

    async def poll(self, state: RunState) -> None:
        """Read what is new."""
        for posted in await self._posted(after=max(self._seen, state.commands_seen)):
            self._seen = posted.seq
            kind = posted.command.kind
            if posted.seq <= self._forgotten and kind not in _ANSWERS:
                continue
            self._commands.append(posted)
            if kind == "cancel":
                self._on_cancel(posted.command.comment or "cancelled by a person")
            elif kind in _ANSWERS:
                self._answered.set()

    async def _posted(self, *, after: int) -> Sequence[PostedCommand]:
        """If the inbox cannot be read the run goes on and looks again: the next look may succeed."""
        try:
            posted = await self._journal.commands(after=after)
        except JournalFailed as error:
            if str(error) != self._trouble:
                _log.warning("the commands of other processes cannot be read: %s", error)
            self._trouble = str(error)
            return ()
        self._trouble = ""
        return posted

    def take(self, *kinds: str) -> tuple[Record, ...]:
        """The records that say that commands of these kinds were taken; they are not in the inbox any more."""
        taken = [posted for posted in self._commands if posted.command.kind in kinds]
        self._commands = [posted for posted in self._commands if posted.command.kind not in kinds]
        return tuple(CommandTaken(seq=posted.seq, command=posted.command.kind) for posted in taken)

    def take_answers(self) -> tuple[Record, ...]:
        return self.take(*_ANSWERS)

    def take_simple(self, state: RunState) -> tuple[Record, ...]:
        """The same for commands that need no more than that; an answer nobody waits for is said to be one."""
        if not self._commands or self.answer(state) is not None:
            # An answer is decided on first: a resume does not look at commands before one that was taken.
            return ()
        stray = [posted.command for posted in self._commands if posted.command.kind in _ANSWERS]
        warned = [Warned(message=_waits_no_more(command), effect=False) for command in stray]
        return (*self.take("pause", *_ANSWERS), *warned)

    def answer(self, state: RunState) -> Command | None:
        """The answer to the change of the plan that waits now."""
        first = first_answer(self._commands, state)
        return first.command if first is not None else None

    async def wait_for_answer(self, state: RunState) -> Command:
        """The same, as soon as there is one."""
        while (answer := self.answer(state)) is None:
            self._answered.clear()
            await self._answered.wait()
        return answer


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
