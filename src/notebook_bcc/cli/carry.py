"""Carry a run out in front of the user: the view, Ctrl-C, the result, the exit code."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path

from notebook_bcc.cli.codes import Exit, exit_of_stop
from notebook_bcc.cli.console import ConsolePerson
from notebook_bcc.cli.view import View
from notebook_bcc.cli.words import Words
from notebook_bcc.engine.state import RunState
from notebook_bcc.journal.records import RunResumed
from notebook_bcc.runs.lifecycle import widened
from notebook_bcc.runs.session import Company, Delivery, Session
from notebook_bcc.runs.verify import Verification

_DIFFERENCES_SHOWN = 10


async def carry_out(
    opening: Callable[[Company], AbstractAsyncContextManager[Session]],
    *,
    view: View,
    words: Words,
    person: ConsolePerson | None,
    verify: bool,
) -> Exit:
    """Open a session, carry the run out, deliver, and say what came of it."""
    async with drawn(view):
        company = Company(person=person, warn=lambda text: view.say(text, tone="warning"))
        async with opening(company) as session:
            with ctrl_c(session, view, words):
                await _carry(session, view, person)
            delivery = await _deliver(session, view, words, verify=verify)
            view.close()
            return report(session.state, delivery, run_id=session.folder.run_id, view=view, words=words)


async def _carry(session: Session, view: View, person: ConsolePerson | None) -> None:
    while True:
        async for entry in session.entries():
            view.saw(entry, session.state)
        state = session.state
        if person is None or not state.policies.interactive or state.stopped is None or state.stopped.reason != "limit":
            return
        if not await person.beyond_limit(state.stopped.detail):
            return
        await session.begin(RunResumed(limits=widened(state, session.first.limits)))


async def _deliver(session: Session, view: View, words: Words, *, verify: bool) -> Delivery:
    """Deliver; Ctrl-C skips the verification, which may take as long as the run did."""
    work = asyncio.create_task(session.deliver(verify=verify, on_cell=view.verifying))
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, work.cancel)
    try:
        return await work
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        work.cancel()
    view.say(words("verification_skipped", command=f"nbcc verify {session.folder.run_id}"), tone="warning")
    return await session.deliver(verify=False)


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
def ctrl_c(session: Session, view: View, words: Words) -> Iterator[None]:
    """Ctrl-C once: pause after the current action. Twice, or a request to terminate: stop at once, resumable."""
    loop = asyncio.get_running_loop()
    pressed = 0

    def interrupt() -> None:
        nonlocal pressed
        pressed += 1
        if pressed == 1:
            session.pause()
            view.say(words("pausing"), tone="warning")
        else:
            terminate()

    def terminate() -> None:
        session.stop("stopped by a signal")
        view.say(words("stopping"), tone="warning")

    handlers = {signal.SIGINT: interrupt, signal.SIGTERM: terminate, signal.SIGHUP: terminate}
    for number, handler in handlers.items():
        loop.add_signal_handler(number, handler)
    try:
        yield
    finally:
        for number in handlers:
            loop.remove_signal_handler(number)


def report(state: RunState, delivery: Delivery, *, run_id: str, view: View, words: Words) -> Exit:
    """Say what there is now and how to go on; the exit code that goes with it."""
    stopped = state.stopped
    reason = stopped.reason if stopped is not None else "interrupted"
    view.fact(
        "run_ended",
        run_id=run_id,
        reason=reason,
        detail=stopped.detail if stopped is not None else "",
        notebook=str(delivery.notebook or ""),
        html=str(delivery.html or ""),
    )
    if delivery.notebook is not None:
        view.say(words("notebook", path=short_path(delivery.notebook)))
    if delivery.html is not None:
        view.say(words("page", path=short_path(delivery.html)))
    if delivery.left_out:
        view.say(words("left_out", count=delivery.left_out, run=run_id))
    if reason == "waiting":
        view.say(words("answer_with", command=f"nbcc confirm {run_id} --resume"))
    elif reason == "cancelled":
        view.say(words("start_over", command=f"nbcc resume {run_id} --restart reset"))
    elif reason != "completed":
        view.say(words("go_on", command=f"nbcc resume {run_id}"))
    if delivery.verification is not None and not report_verification(delivery.verification, view, words):
        return Exit.UNVERIFIED
    return exit_of_stop(reason)


def short_path(path: Path) -> Path:
    """The path as somebody in this folder would type it."""
    here = Path.cwd().resolve()
    return path.relative_to(here) if path.is_relative_to(here) else path


def report_verification(result: Verification, view: View, words: Words) -> bool:
    """Say whether the notebook gave the same results again, and which cells did not."""
    view.fact("verified", **result.stamp())
    if result.ok:
        view.say(words("verified", cells=result.cells), tone="good")
        return True
    view.say(words("not_verified", count=len(result.differences)), tone="error")
    for one in result.differences[:_DIFFERENCES_SHOWN]:
        view.say("  " + words("difference", cell=one.cell_id, what=one.what), tone="error")
    if len(result.differences) > _DIFFERENCES_SHOWN:
        view.say("  " + words("more", count=len(result.differences) - _DIFFERENCES_SHOWN), tone="error")
    return False
