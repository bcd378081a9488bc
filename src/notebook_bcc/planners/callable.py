"""A planner made of functions: the shortest way to write one in Python."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import Any

from notebook_bcc.errors import JudgementMalformed, MessageInvalid
from notebook_bcc.planners.interface import ActionData, Generated, StreamWarning
from notebook_bcc.protocol.actions import ActionBase
from notebook_bcc.protocol.messages import PlanningResponse, Request

Judgement = PlanningResponse | Mapping[str, Any]
# Any: whatever a function gives as an action is looked at by the engine, like what comes over the wire.
Actions = Iterable[Any] | AsyncIterable[Any]


class CallablePlanner:
    """Asks `plan` to judge and `generate` for the actions of a behavior.

    `plan` returns a response, or a dict in its wire form; `generate` returns or yields actions, as dicts or as values
    of `protocol.actions`; `repair` returns the source to try. Each may be a coroutine function, `generate` an async
    generator as well. What they raise goes through to the engine.
    """

    def __init__(
        self,
        *,
        plan: Callable[[Request], Judgement | Awaitable[Judgement]],
        generate: Callable[[Request], Actions | Awaitable[Actions]],
        repair: Callable[[Request], str | Awaitable[str | None] | None] | None = None,
        name: str = "callable",
    ) -> None:
        self._plan = plan
        self._generate = generate
        self._repair = repair
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    async def plan(self, request: Request) -> PlanningResponse:
        """What `plan` returns; something that is no judgement is JudgementMalformed."""
        judgement = self._plan(request)
        if not isinstance(judgement, dict) and inspect.isawaitable(judgement):
            judgement = await judgement
        if isinstance(judgement, PlanningResponse):
            return judgement
        try:
            return PlanningResponse.parse(judgement)
        except MessageInvalid as error:
            raise JudgementMalformed(planner=self._name, reason=str(error)) from error

    async def generate(self, request: Request, *, fallback: bool = False) -> AsyncIterator[Generated]:
        """What `generate` gives, one by one; there is no fallback endpoint, the same function is asked."""
        answer = self._generate(request)
        actions = await answer if inspect.isawaitable(answer) else answer
        if isinstance(actions, AsyncGenerator):
            # Whoever ends this answer early ends the function's too.
            async with contextlib.aclosing(actions):
                async for action in actions:
                    yield _generated(action)
        elif isinstance(actions, AsyncIterable):
            async for action in actions:
                yield _generated(action)
        else:
            for action in actions:
                yield _generated(action)

    async def repair(self, request: Request) -> str | None:
        """What `repair` returns, or None where there is no such function."""
        if self._repair is None:
            return None
        answer = self._repair(request)
        return await answer if inspect.isawaitable(answer) else answer

    async def close(self) -> None:
        """There is nothing to release."""


def _generated(action: Any) -> Generated:  # Any: see Actions
    if isinstance(action, StreamWarning | ActionData):
        return action
    return ActionData(action.to_dict() if isinstance(action, ActionBase) else action)
