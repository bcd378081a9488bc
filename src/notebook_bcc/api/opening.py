"""Start, or resume, or neither: what becomes of an order whose id may be that of a run which has begun already."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from notebook_bcc.api.identity import check_identity
from notebook_bcc.api.prepare import Prepared
from notebook_bcc.errors import RunLocked, RunRefused
from notebook_bcc.journal.lock import lock_holder
from notebook_bcc.journal.records import RunStarted
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.lifecycle.history import load_state
from notebook_bcc.lifecycle.operations import begun_with, resumed, started
from notebook_bcc.lifecycle.order import ResumeOrder, RunOrder
from notebook_bcc.lifecycle.redelivery import check_destination, deliver_again, is_elsewhere, redirect
from notebook_bcc.lifecycle.session import Interaction, Session
from notebook_bcc.lifecycle.summary import only_delivery_is_left
from notebook_bcc.settings import Settings
from notebook_bcc.wiring import journals, run_factories

_LOOK_EVERY = 0.2


@dataclass(frozen=True, slots=True)
class Opened:
    """A run, and the session to carry it out in; None where there is nothing left to do."""

    folder: RunFolder
    session: Session | None


@asynccontextmanager
async def opened(prepared: Prepared, interaction: Interaction) -> AsyncIterator[Opened]:
    """The run of this order, to be carried out. Without an id it is a new one.

    With one: a completed or cancelled run stays as it is, one that stopped goes on, and while somebody else carries it
    out this waits, or raises RunLocked if that is not wanted. Raises RunRefused where the id is that of another order.
    """
    async with AsyncExitStack() as stack:
        yield await _opened(prepared, interaction, stack)


async def _opened(prepared: Prepared, interaction: Interaction, stack: AsyncExitStack) -> Opened:
    order, tools = prepared.order, run_factories(prepared.settings)
    folder = RunFolder((prepared.settings.runs / order.run_id).absolute())
    said, remarks = False, list(prepared.remarks)
    while True:
        begun = await begun_with(folder, tools.journals) if order.run_id else None
        if begun is not None:
            check_identity(folder, begun.identity, order.identity)
        try:
            if begun is None:
                while remarks:
                    interaction.warn(remarks.pop(0))
                new = started(order, root=prepared.settings.runs, factories=tools, interaction=interaction)
                session = await stack.enter_async_context(new)
                return Opened(session.folder, session)
            check_free(folder)
            elsewhere = is_elsewhere(folder, order)
            if await is_over(folder):
                if elsewhere:
                    await _deliver_elsewhere(folder, order, interaction)
                return Opened(folder, None)
            if elsewhere:
                check_destination(order)
            again = resumed(folder, _again(prepared, begun), factories=tools, interaction=interaction)
            session = await stack.enter_async_context(again)
            if elsewhere:
                redirect(folder, order)
            return Opened(folder, session)
        except RunLocked as error:
            has_begun_since = begun is None and await begun_with(folder, tools.journals) is not None
            if not order.run_id or not (prepared.wait or has_begun_since):
                raise
            if not said and not has_begun_since:
                interaction.warn(str(error))
                said = True
        except RunRefused:
            # Somebody else may have brought it to its end since it was looked at.
            if begun is None or not await is_over(folder):
                raise
        await asyncio.sleep(_LOOK_EVERY)


def _again(prepared: Prepared, begun: RunStarted) -> ResumeOrder:
    """How the run goes on. The limits that it began with are no new ones: after a limit they give as much room again,
    where the same call would else stop at once."""
    return replace(prepared.resume, limits={}) if prepared.order.limits == begun.limits else prepared.resume


async def _deliver_elsewhere(folder: RunFolder, order: RunOrder, interaction: Interaction) -> None:
    """Of a run that is over: what it has made goes to the place that this call names."""
    stopped = (await load_state(folder, journals())).stopped
    is_completed = stopped is not None and stopped.reason == "completed"
    for remark in await asyncio.to_thread(deliver_again, folder, order, whole=is_completed):
        interaction.warn(remark)


def check_free(folder: RunFolder) -> None:
    """Raises RunLocked while somebody carries the run out: also until what it has come to is delivered."""
    holder = lock_holder(folder.lock)
    if holder is not None and holder.carries_out:
        raise RunLocked(run=folder.run_id, typed=folder.typed, holder=str(holder))


async def is_over(folder: RunFolder) -> bool:
    """Whether nobody is needed to carry the run out any more: it is cancelled, or completed and delivered."""
    state = await load_state(folder, journals())
    is_completed = state.stopped is not None and state.stopped.reason == "completed"
    return state.cancelled or (is_completed and not only_delivery_is_left(state, folder))


def resuming(
    folder: RunFolder, order: ResumeOrder, *, settings: Settings
) -> Callable[[Interaction], AbstractAsyncContextManager[Opened]]:
    """How to take this run up again, whatever its id stands for."""

    @asynccontextmanager
    async def opening(interaction: Interaction) -> AsyncIterator[Opened]:
        async with resumed(folder, order, factories=run_factories(settings), interaction=interaction) as session:
            yield Opened(folder, session)

    return opening
