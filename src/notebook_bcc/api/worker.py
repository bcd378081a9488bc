"""One run carried out on the loop thread while its caller waits, watches, or does something else."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager

from notebook_bcc.api.loop_thread import loop_thread
from notebook_bcc.api.opening import Opened
from notebook_bcc.api.progress import RunProgress
from notebook_bcc.lifecycle.outline import keep_outline
from notebook_bcc.lifecycle.session import Interaction, Session

_log = logging.getLogger(__name__)

Opening = Callable[[Interaction], AbstractAsyncContextManager[Opened]]


class Worker:
    """Carries a run out from its opening to its delivery. Its methods may be called on any thread.

    `begun` has the run as soon as it can be looked at, or why it could not begin; `done` ends after the delivery.
    """

    def __init__(self, opening: Opening, *, verify: bool, progress: RunProgress) -> None:
        self.begun: Future[Opened] = Future()
        self.progress = progress
        self.after = 0
        """The number of the entry after which this worker's part of the journal begins."""
        self._session: Session | None = None
        work = self._work(opening, verify=verify)
        loop_thread().check_waiting(work)
        self.done: Future[None] = loop_thread().submit(work)

    def pause(self) -> None:
        """Stop after the action under way; what has reached its end is delivered without verification."""
        loop_thread().loop.call_soon_threadsafe(self._pause)

    def stop(self, reason: str) -> None:
        """Leave what is under way. The run can be resumed."""
        loop_thread().loop.call_soon_threadsafe(self._stop, reason)

    async def _work(self, opening: Opening, *, verify: bool) -> None:
        interaction = Interaction(person=None, warn=self._warn)
        try:
            async with opening(interaction) as found:
                session = found.session
                if session is not None:
                    self._session, self.after = session, session.state.seq
                self.begun.set_result(found)
                if session is None:
                    return
                async for entry in session.entries():
                    self.progress.saw(entry, session.state)
                await session.deliver(verify=verify, on_cell=self.progress.verifying)
            # When the journal is closed: its file is then as it stays.
            keep_outline(session.folder, session.state)
        except BaseException as error:
            if not self.begun.done():
                self.begun.set_exception(_raised(error))
            raise

    def _pause(self) -> None:
        session = self._session
        if session is None:
            self.done.cancel()
        elif session.state.stopped is not None:
            session.skip_verification()
        else:
            session.pause()

    def _stop(self, reason: str) -> None:
        if self._session is None:
            self.done.cancel()
        else:
            self._session.stop(reason)
            self._session.skip_verification()

    def _warn(self, text: str) -> None:
        _log.warning("%s", text)
        self.progress.say(text)


def _raised(error: BaseException) -> BaseException:
    """A task that was cancelled before the run began has no other word for it."""
    return KeyboardInterrupt() if isinstance(error, asyncio.CancelledError) else error
