"""Have a change of the plan confirmed: by the policy, by a person at the console, or from another process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from notebook_bcc.engine.inbox import Inbox
from notebook_bcc.engine.plan_changes import plan_diff
from notebook_bcc.engine.state import RunState
from notebook_bcc.journal.records import Command, PlanProposal, PlanUpdateDecided


class Person(Protocol):
    """Somebody at a console who is asked before the plan changes."""

    async def confirm(self, proposal: PlanProposal, diff: str) -> bool | None:
        """True, False, or None for: nobody here; the run then stops and waits."""
        ...


class Confirmation:
    """Asks whoever is there. `durable` returns when what was said to have happened survives a power loss."""

    def __init__(self, *, person: Person | None, inbox: Inbox, durable: Callable[[], Awaitable[None]]) -> None:
        self._person = person
        self._inbox = inbox
        self._durable = durable

    async def ask(self, proposal: PlanProposal, state: RunState) -> PlanUpdateDecided | None:
        """The decision; None when nobody is there to make it."""
        policy = state.policies.confirm
        if policy in ("auto", "reject"):
            return PlanUpdateDecided(confirmed=policy == "auto", by="policy")
        await self._durable()
        await self._inbox.poll(state)
        if (posted := self._inbox.answer(state)) is not None:
            return _decided(posted)
        if self._person is not None:
            return await self._first_of_both(self._person, proposal, state)
        if policy == "offer":
            return PlanUpdateDecided(confirmed=True, by="policy", comment="nobody was there to ask")
        return None

    async def _first_of_both(self, person: Person, proposal: PlanProposal, state: RunState) -> PlanUpdateDecided | None:
        """The console and the inbox at once: the first answer counts."""
        asked = asyncio.ensure_future(person.confirm(proposal, plan_diff(state.plan, proposal)))
        posted = asyncio.ensure_future(self._inbox.wait_for_answer(state))
        try:
            await asyncio.wait((asked, posted), return_when=asyncio.FIRST_COMPLETED)
            if not asked.done():
                return _decided(posted.result())
            said = asked.result()
            return None if said is None else PlanUpdateDecided(confirmed=said)
        finally:
            for task in (asked, posted):
                task.cancel()


def _decided(command: Command) -> PlanUpdateDecided:
    confirmed = command.kind == "confirm"
    edited = command.edited if confirmed else None
    return PlanUpdateDecided(confirmed=confirmed, comment=command.comment, who=command.by, edited=edited)
