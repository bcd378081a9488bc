"""A run's life, as a person steers it: start, resume, cancel, pause, confirm, reject, look."""

from __future__ import annotations

import contextlib
import logging
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

from notebook_bcc import __version__
from notebook_bcc.engine.detour import given_up, transition_of
from notebook_bcc.engine.inbox import UPDATE_PENDING, first_answer
from notebook_bcc.engine.intents import Fire
from notebook_bcc.engine.plan_changes import proposal_problem
from notebook_bcc.engine.reduce import fold, reduce
from notebook_bcc.engine.state import RunState, elapsed
from notebook_bcc.errors import JournalCorrupt, JournalFailed, RunLocked, RunRefused
from notebook_bcc.fsm.machine import is_final, next_state
from notebook_bcc.journal.interface import Entry, Journal, JournalFactory, JournalReader
from notebook_bcc.journal.lock import RunLock, lock_holder
from notebook_bcc.journal.records import Command, PlanProposal, PlanUpdateDecided, RunResumed, RunStarted, RunStopped
from notebook_bcc.lifecycle.deliverables import hand_out
from notebook_bcc.lifecycle.factories import RunFactories
from notebook_bcc.lifecycle.folder import (
    RunFolder,
    check_inputs,
    clear_folder,
    create_folder,
    fill_folder,
    keep_actions,
    note_start,
)
from notebook_bcc.lifecycle.handover import is_unedited, note_delivered
from notebook_bcc.lifecycle.history import folded, load_state
from notebook_bcc.lifecycle.leftover import end_left_kernel
from notebook_bcc.lifecycle.order import Restart, ResumeOrder, RunOrder
from notebook_bcc.lifecycle.redelivery import check_destination
from notebook_bcc.lifecycle.replies import answered_question
from notebook_bcc.lifecycle.sandbox_request import NO_REQUEST, SandboxRequest
from notebook_bcc.lifecycle.sandboxing import kept_confinement
from notebook_bcc.lifecycle.saver import NotebookSaver
from notebook_bcc.lifecycle.server_copy import copying, want_copy
from notebook_bcc.lifecycle.session import Interaction, Session, session_of
from notebook_bcc.lifecycle.summary import only_delivery_is_left
from notebook_bcc.lifecycle.verify import OnCell, Verification, VerifyOrder, verify_notebook
from notebook_bcc.protocol.limits import MODEL_LIMITS, Limits
from notebook_bcc.protocol.specs import KernelSpec, is_confined
from notebook_bcc.protocol.vocabulary import Event, State

logger = logging.getLogger(__name__)

_ANSWERED = {True: "accepted", False: "declined"}


@asynccontextmanager
async def started(
    order: RunOrder, *, root: Path, factories: RunFactories, interaction: Interaction
) -> AsyncIterator[Session]:
    """A new run, begun. If it cannot begin nothing is left on disk. Raises RunRefused, NotebookFailed, JournalFull, and
    for an id that was given RunLocked: somebody else begins that run, or has begun it."""
    check_inputs(order.inputs)
    check_destination(order)
    at = factories.now()
    folder = create_folder(root, name=order.name, at=at, given_id=order.run_id)
    record = order.first_record(folder.run_id)
    begun, is_ours = False, not order.run_id
    lock = RunLock(folder.lock, run=folder.run_id, typed=folder.typed)
    try:
        lock.acquire()
        if order.run_id:
            if await begun_with(folder, factories.journals) is not None:
                raise RunLocked(run=folder.run_id, typed=folder.typed, holder="somebody who was first")
            clear_folder(folder)
            note_start(folder, at)
            is_ours = True
        fill_folder(
            folder,
            inputs=order.inputs,
            script=order.script,
            playbook=order.playbook,
            models=order.models,
            actions=order.actions,
            out=order.out,
            out_folder=order.out_folder,
            verify=order.verify,
            confined=is_confined(order.sandbox_spec),
        )
        if order.notebook:
            want_copy(folder, order.kernel_spec, order.notebook, replaces=order.overwrite)
        journal = factories.journals.create(folder.journal_spec)
        async with session_of(folder, journal, record, factories=factories, interaction=interaction) as session:
            await session.begin(record)
            begun = True
            yield session
    finally:
        if is_ours and not begun:
            # Only what this call has made: a folder that no run was ever in. Before the lock is released: whoever
            # waits for it may begin a run of the same id.
            shutil.rmtree(folder.path, ignore_errors=True)
        lock.release()


@asynccontextmanager
async def resumed(
    folder: RunFolder, order: ResumeOrder, *, factories: RunFactories, interaction: Interaction
) -> AsyncIterator[Session]:
    """A run taken up again. Raises RunLocked, RunRefused, JournalCorrupt, JournalTooNew; then nothing has changed."""
    if order.inputs or order.answers:
        # Before the lock as well: somebody who comes second is told who has answered, not only that the run goes on.
        answered_question(await load_state(folder, factories.journals), order)
    with RunLock(folder.lock, run=folder.run_id, typed=folder.typed):
        journal = factories.journals.open(folder.journal_spec)
        try:
            # Before anything that takes time: what is asked from here on is asked of this process.
            posted = await journal.commands()
            first = await _first_record(journal, folder)
            kernel_spec = _renamed(order.kernel_spec, first.chosen_kernel.name)
            folder.work.mkdir(exist_ok=True)
        except BaseException:
            await journal.close()
            raise
        async with session_of(
            folder,
            journal,
            first,
            factories=factories,
            interaction=interaction,
            planner_spec=order.planner_spec,
            kernel_spec=kernel_spec,
            sandbox=order.sandbox,
            notebook=order.notebook,
            actions=order.actions,
        ) as session:
            before = session.state
            if not only_delivery_is_left(before, folder):
                record = _resume_record(
                    before, replace(order, kernel_spec=kernel_spec), first, forgets=posted[-1].seq if posted else 0
                )
                if session.sandbox_spec != before.sandbox_spec:
                    record = record.model_copy(update={"sandbox_spec": session.sandbox_spec})
                await session.begin(record)
                if order.actions is not None:
                    keep_actions(folder, order.actions)
                if kernel_spec not in (None, before.kernel_spec):
                    await _leave_server(before, folder, factories=factories, interaction=interaction)
            yield session


async def _leave_server(
    state: RunState, folder: RunFolder, *, factories: RunFactories, interaction: Interaction
) -> None:
    """The run goes on elsewhere: a kernel that it may have left where it was is ended."""
    left = await end_left_kernel(state, folder, reason="the run goes on with another kernel", factories=factories)
    if left is not None and not left.ended:
        interaction.warn(f"kernel {left.session} at {state.kernel_spec}: {left.reason}")


def _renamed(spec: KernelSpec | None, name: str) -> KernelSpec | None:
    return spec.model_copy(update={"name": name}) if spec is not None else None


def _resume_record(state: RunState, order: ResumeOrder, first: RunStarted, *, forgets: int) -> RunResumed:
    limits = state.limits
    if state.stopped is not None and state.stopped.reason == "limit":
        limits = widened(state, first.limits, restart=order.restart)
    limits = limits.model_copy(update=dict(order.limits))
    return RunResumed(
        restart=order.restart,
        accept_differences=order.accept_differences,
        run_once=order.run_once,
        policies=state.policies.model_copy(update=dict(order.policies)) if order.policies else None,
        limits=limits if limits != state.limits else None,
        planner_spec=order.planner_spec if order.planner_spec != state.planner else None,
        kernel_spec=order.kernel_spec if order.kernel_spec != state.kernel_spec else None,
        version=__version__,
        inputs=dict(order.inputs),
        forgets=forgets,
        answers=answered_question(state, order),
        who=order.by if order.inputs else "",
    )


def widened(state: RunState, first: Limits, *, restart: Restart = "behavior") -> Limits:
    """The limits with as much room again as they gave at first: going on after a limit would else stop at once. From
    nothing all counts begin anew but what models have cost."""
    limits = state.limits
    used = {
        name: amount
        for name, amount in used_of_limits(state).items()
        if restart != "reset" or name.startswith(MODEL_LIMITS)
    }
    room = {name: getattr(first, name) or getattr(limits, name) for name in used}
    return limits.model_copy(
        update={name: amount + room[name] for name, amount in used.items() if 0 < getattr(limits, name) <= amount}
    )


def used_of_limits(state: RunState) -> dict[str, float]:
    """How much of each limit that stops a run is used."""
    return {
        "actions": state.actions_completed,
        "run_seconds": elapsed(state),
        "behaviors_per_step": state.position.iteration,
        "actions_per_behavior": state.behavior.received,
        "model_tokens": state.spent.tokens,
        "model_dollars": state.spent.dollars,
        "model_seconds": state.spent.seconds,
        "model_calls": state.spent.calls,
    }


async def cancel_run(folder: RunFolder, *, comment: str, factories: RunFactories) -> Literal["asked", "done"]:
    """Cancel: by asking the process that carries the run out, or here and now when there is none.

    Raises RunRefused when there is nothing to cancel, RunLocked while the run is verified.
    """
    lock = RunLock(folder.lock, run=folder.run_id, typed=folder.typed, doing="cancelled")
    try:
        lock.acquire()
    except RunLocked:
        await _ask(folder, Command(kind="cancel", comment=comment), factories)
        return "asked"
    try:
        journal = factories.journals.open(folder.journal_spec)
        try:
            state = await _cancel_at_rest(journal, folder, comment=comment, factories=factories)
        finally:
            await journal.close()
        await _write_again(state, folder, factories)
    finally:
        lock.release()
    return "done"


async def _write_again(state: RunState, folder: RunFolder, factories: RunFactories) -> None:
    """Write the notebook of a run that nobody carries out, and its copy: both said how to go on."""
    async with copying(folder, state.kernel_spec, factories.make_contents, warn=logger.warning) as copy:
        # A file that cannot be written is told by the saver's log.
        await NotebookSaver(folder, warn=logger.debug, copy=copy).save(state)


async def _cancel_at_rest(journal: Journal, folder: RunFolder, *, comment: str, factories: RunFactories) -> RunState:
    """The state after the cancel."""
    state = await folded(journal)
    to = next_state(state.fsm, Event.CANCEL)
    if state.cancelled or (to is None and state.fsm is not State.IDLE):
        raise RunRefused(f"run {folder.run_id!r} is {_condition(state)}; there is nothing to cancel")
    reason = comment or "cancelled by a person"
    at = factories.timestamp()
    left = await end_left_kernel(state, folder, reason="the run was cancelled", factories=factories)
    if left is not None and not left.ended:
        logger.warning("kernel %s at %s: %s", left.session, state.kernel_spec, left.reason)
    # Before the workflow has begun the table has no CANCEL: the state stays, and the stop alone is final.
    cancel = Fire(Event.CANCEL, reason=reason)
    moved = () if to is None else (*given_up(state, Event.CANCEL), transition_of(state, cancel))
    records = (*(() if left is None else (left,)), *moved, RunStopped(reason="cancelled", detail=reason))
    entries = [Entry(seq, at, record) for seq, record in enumerate(records, start=state.seq + 1)]
    await journal.append(entries)
    await journal.sync()
    return fold(entries, state)


async def pause_run(folder: RunFolder, *, comment: str, factories: RunFactories) -> None:
    """Ask the process that carries the run out to stop after its current action. Raises RunRefused if there is none,
    RunLocked while the run is verified."""
    await _ask(folder, Command(kind="pause", comment=comment), factories)


async def _ask(folder: RunFolder, command: Command, factories: RunFactories) -> None:
    """Leave a command for the process that carries the run out. Raises RunRefused, RunLocked where none would obey."""
    holder = lock_holder(folder.lock)
    state = await load_state(folder, factories.journals)
    if holder is None:
        raise RunRefused(f"run {folder.run_id!r} is {_condition(state)}: nobody is carrying it out")
    if not holder.carries_out:
        raise RunLocked(run=folder.run_id, typed=folder.typed, holder=str(holder), doing=holder.doing)
    if state.stopped is not None:
        raise RunRefused(
            f"run {folder.run_id!r} is {_condition(state)}: there is nothing to {command.kind}; {holder} is verifying "
            "or delivering its notebook, or about to take it up again"
        )
    await _post(folder, command, factories)


async def answer_run(
    folder: RunFolder,
    *,
    confirmed: bool,
    comment: str,
    factories: RunFactories,
    by: str = "",
    edited: PlanProposal | None = None,
    answers: int = 0,
) -> Literal["asked", "left"]:
    """Answer the change of the plan that waits. "left": nobody carries the run out; the answer counts on resume.

    `edited` is what it is confirmed as. `answers` is the number of the change that is answered, as `nbcc status` shows
    it; zero: whichever waits now. Raises RunRefused when no change waits, or another one, or when it was answered
    before: by whom, and when; and for an edited change that the plan does not allow.
    """
    holder = lock_holder(folder.lock)
    reader = factories.journals.reader(folder.journal_spec)
    try:
        state, decided = await _folded_with_decision(reader)
        if state.fsm not in UPDATE_PENDING:
            said = f"run {folder.run_id!r} is {_condition(state)}: no change of its plan waits for an answer"
            raise RunRefused(said + (f"; the last one was {decided}" if decided else ""))
        if answers not in (0, state.machine.entered):
            said = f"change {answers} of the plan of run {folder.run_id!r} does not wait, but {state.machine.entered}"
            raise RunRefused(said + (f"; the last one was {decided}" if decided else ""))
        if edited is not None and (problem := proposal_problem(state, edited)):
            raise RunRefused(f"the edited change cannot be made: {problem}")
        seen = state.commands_seen
        first = first_answer(await reader.commands(after=seen), state)
        if first is None:
            kind: Literal["confirm", "reject"] = "confirm" if confirmed else "reject"
            command = Command(kind=kind, comment=comment, by=by, answers=state.machine.entered, edited=edited)
            mine = await reader.post(command, at=factories.timestamp())
            # Two may answer at once: the order in the inbox decides.
            first = first_answer(await reader.commands(after=seen), state)
            if first is None or first.seq == mine:
                return "asked" if holder is not None and holder.carries_out else "left"
    finally:
        await reader.close()
    word = _ANSWERED[first.command.kind == "confirm"]
    raise RunRefused(
        f"the change of the plan of run {folder.run_id!r} was {word} already, by {first.command.by or 'a person'} at "
        f"{first.at}; if nobody carries the run out, go on with: nbcc resume {folder.typed}"
    )


async def _folded_with_decision(reader: JournalReader) -> tuple[RunState, str]:
    """What is known about a run, and how, by whom and when a change of its plan was last answered."""
    state, decided = RunState(), ""
    async for entry in reader.read():
        state = reduce(state, entry)
        if isinstance(record := entry.record, PlanUpdateDecided):
            who = record.who or ("policy" if record.by == "policy" else "a person at the terminal")
            decided = f"{_ANSWERED[record.confirmed]} by {who} at {entry.at}"
    return state, decided


async def verify_run(
    folder: RunFolder,
    order: VerifyOrder,
    *,
    factories: RunFactories,
    on_cell: OnCell | None = None,
    request: SandboxRequest = NO_REQUEST,
) -> Verification:
    """Verify a run's notebook within the run's own limits and sandbox, or in a stricter one that is asked for. Raises
    RunLocked while the run is carried out: it writes the same file."""
    with RunLock(folder.lock, run=folder.run_id, typed=folder.typed, doing="verified"):
        cell_seconds: dict[str, float] = {}
        state = await load_state(folder, factories.journals, cell_seconds=cell_seconds)
        kernel_spec = order.kernel_spec or state.kernel_spec
        order = replace(
            order,
            seconds=cell_seconds,
            output_bytes=state.limits.output_bytes,
            cell_seconds=order.cell_seconds or state.limits.cell_seconds,
            kernel_spec=kernel_spec,
            confinement=kept_confinement(
                state.sandbox_spec,
                state.limits,
                request,
                kernel=kernel_spec,
                try_rung=factories.try_rung,
                run=folder.run_id,
            ),
        )
        unedited = is_unedited(order.notebook)
        result = await verify_notebook(order, factories, on_cell=on_cell)
        if unedited:
            # The stamp is ours: a notebook that got it still counts as unedited.
            note_delivered(order.notebook)
        if order.notebook == folder.notebook and is_unedited(folder.delivered):
            hand_out(folder)
        if order.notebook == folder.notebook and unedited:
            async with copying(folder, state.kernel_spec, factories.make_contents, warn=logger.warning) as copy:
                if copy is not None:
                    await copy.write()
        return result


async def _post(folder: RunFolder, command: Command, factories: RunFactories) -> None:
    reader = factories.journals.reader(folder.journal_spec)
    try:
        await reader.post(command, at=factories.timestamp())
    finally:
        await reader.close()


async def begun_with(folder: RunFolder, journals: JournalFactory) -> RunStarted | None:
    """What the run began with; None if it has not begun. Raises JournalFailed, JournalCorrupt, JournalTooNew."""
    if not folder.journal.exists():
        return None
    reader = journals.reader(folder.journal_spec)
    try:
        async with contextlib.aclosing(reader.read()) as entries:
            is_empty = await anext(entries, None) is None
        return None if is_empty else await _first_record(reader, folder)
    finally:
        await reader.close()


async def _first_record(journal: JournalReader, folder: RunFolder) -> RunStarted:
    async with contextlib.aclosing(journal.read()) as entries:
        async for entry in entries:
            if isinstance(entry.record, RunStarted):
                return entry.record
            break
    if not folder.journal.exists():
        raise JournalFailed(f"there is no journal {folder.journal}")
    raise JournalCorrupt(path=str(folder.journal), reason="it does not begin with the start of a run")


def _condition(state: RunState) -> str:
    if state.cancelled:
        return "cancelled"
    if state.fsm is State.IDLE:
        return "not begun"
    if is_final(state.fsm):
        return "failed" if state.fsm is State.ERROR else "completed"
    return "stopped" if state.stopped is not None else "under way"
