"""Carry a run out in front of the user: the view, Ctrl-C, the result, the exit code."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager

from notebook_bcc.api.opening import Opened
from notebook_bcc.cli.codes import Exit
from notebook_bcc.cli.console import ConsolePerson
from notebook_bcc.cli.ending import report
from notebook_bcc.cli.view.plain import View
from notebook_bcc.journal.records import RunResumed
from notebook_bcc.lifecycle.data_files import answer_inputs
from notebook_bcc.lifecycle.deliverables import delivered_files
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.lifecycle.history import load_state
from notebook_bcc.lifecycle.operations import widened
from notebook_bcc.lifecycle.outline import keep_outline
from notebook_bcc.lifecycle.session import Delivery, Interaction, Session
from notebook_bcc.views.words import Words
from notebook_bcc.wiring import journals

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


async def carry_out(
    opening: Callable[[Interaction], AbstractAsyncContextManager[Opened]],
    *,
    view: View,
    words: Words,
    person: ConsolePerson | None,
    verify: bool,
) -> Exit:
    """Open a session, carry the run out, deliver, and say what came of it."""
    async with drawn(view):
        interaction = Interaction(
            person=person, warn=lambda text: view.say(text, tone="warning"), on_progress=view.progress
        )
        async with opening(interaction) as found:
            session = found.session
            if session is None:
                return await _report_again(found.folder, view, words)
            with ctrl_c(session, view, words, person):
                await _carry(session, view, person)
                delivery = await _deliver(session, view, verify=verify)
            view.close()
            code = report(session.state, delivery, folder=session.folder, view=view, words=words)
        # When the journal is closed: its file is then as it stays.
        keep_outline(session.folder, session.state)
        return code


async def _report_again(folder: RunFolder, view: View, words: Words) -> Exit:
    """Say what a run came to that is over already."""
    delivery = Delivery(
        notebook=folder.delivered,
        report=folder.delivered_report if folder.delivered_report.exists() else None,
        files=delivered_files(folder),
    )
    view.close()
    view.say(words("already_over", run=folder.run_id))
    return report(await load_state(folder, journals()), delivery, folder=folder, view=view, words=words)


async def _carry(session: Session, view: View, person: ConsolePerson | None) -> None:
    while True:
        async for entry in session.entries():
            view.saw(entry, session.state)
        go_on = await _asked(session, person) if person is not None else None
        if go_on is None:
            return
        await session.begin(go_on)


async def _asked(session: Session, person: ConsolePerson) -> RunResumed | None:
    """How the person wants a run to go on that has stopped for want of an answer or of room; None: not now."""
    state = session.state
    stopped = state.stopped
    if stopped is None:
        return None
    if stopped.reason == "waiting" and state.question is not None:
        answer = await person.answer(state.question)
        if answer is None:
            return None
        return RunResumed(inputs=answer_inputs([(state.question.input, answer)]), answers=state.judged)
    if stopped.reason == "limit" and state.policies.interactive and await person.beyond_limit(stopped.detail):
        return RunResumed(limits=widened(state, session.first.limits))
    return None


async def _deliver(session: Session, view: View, *, verify: bool) -> Delivery:
    """Deliver. A signal skips the verification, which may take as long as the run did; the rest takes seconds."""
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, session.skip_verification)
    return await session.deliver(verify=verify, on_cell=view.verifying)


@asynccontextmanager
async def drawn(view: View) -> AsyncIterator[None]:
    """The view moves while the block runs, and the terminal is left as it was."""
    keeper = asyncio.create_task(view.keep(), name="view")
    try:
        yield
    finally:
        keeper.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await keeper
        view.close()


@contextmanager
def ctrl_c(session: Session, view: View, words: Words, person: ConsolePerson | None = None) -> Iterator[None]:
    """Ctrl-C once: pause after the current action. Twice, or a request to terminate: stop at once, resumable.

    A question that is being asked is left for later. Whoever wants the process gone does not wait for a verification.
    """
    loop = asyncio.get_running_loop()
    pressed = 0

    def interrupt() -> None:
        nonlocal pressed
        pressed += 1
        if person is not None:
            person.leave()
        if session.state.stopped is not None:
            session.skip_verification()
        elif pressed == 1:
            session.pause()
            view.say(words("pausing"), tone="warning")
        else:
            terminate()

    def terminate() -> None:
        if person is not None:
            person.leave()
        session.stop("stopped by a signal")
        session.skip_verification()
        if session.state.stopped is None:
            view.say(words("stopping"), tone="warning")

    for number in _SIGNALS:
        loop.add_signal_handler(number, interrupt if number is signal.SIGINT else terminate)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
