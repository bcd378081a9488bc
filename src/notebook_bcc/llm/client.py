"""Asks a model within the budget, counts what it took, and tells every exchange to whoever keeps them."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from typing import Final

from notebook_bcc.errors import PlannerBudgetSpent, PlannerFailed
from notebook_bcc.llm.budget import call_of, tokens_left
from notebook_bcc.llm.chat import ChatModel, Schema
from notebook_bcc.llm.exchange import kept
from notebook_bcc.llm.prompt.parts import estimate_prompt, estimate_tokens
from notebook_bcc.llm.providers.prices import Prices
from notebook_bcc.planners.model_exchange import ChatMessage, ModelExchange, Task, Usage
from notebook_bcc.protocol.limits import Budget, Call, LimitReached, Spent, limit_reached

# A planner whose exchanges nobody takes must not fill the memory.
_MOST_KEPT: Final = 256


class Account:
    """What all models of a run have spent together, and what was said for it. The only thing here that changes."""

    def __init__(
        self, *, budget: Budget, prices: Prices, spent: Spent | None = None, secrets: Sequence[str] = ()
    ) -> None:
        """`secrets` are taken out of what is kept, wherever they come from."""
        self.budget = budget
        self.prices = prices
        self.spent = spent or Spent()
        self._secrets = tuple(secrets)
        self._exchanges: deque[ModelExchange] = deque(maxlen=_MOST_KEPT)

    @property
    def limit(self) -> LimitReached | None:
        return limit_reached(self.spent, self.budget)

    def allow(self, budget: Budget, spent: Spent) -> None:
        """What may be spent and what was, as the run knows it; exchanges that were not taken yet come on top."""
        for exchange in self._exchanges:
            spent = spent.with_call(exchange.took)
        self.budget, self.spent = budget, spent

    def count(self, exchange: ModelExchange) -> None:
        self.spent = self.spent.with_call(exchange.took)
        self._exchanges.append(kept(exchange, secrets=self._secrets))

    def taken(self) -> tuple[ModelExchange, ...]:
        """The exchanges since this was last asked."""
        taken = tuple(self._exchanges)
        self._exchanges.clear()
        return taken


class Asker:
    """One model and how it is asked."""

    def __init__(
        self,
        model: ChatModel,
        account: Account,
        *,
        timeout: float,
        temperature: float | None = 0.0,
        keep: Callable[[ModelExchange], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.model = model
        self.account = account
        self._timeout = timeout
        self._temperature = temperature
        self._keep = keep
        self._clock = clock

    async def stream(
        self, task: Task, messages: Sequence[ChatMessage], *, schema: Schema, max_tokens: int, request_id: str | None
    ) -> AsyncGenerator[str | Usage, None]:
        """The answer as it is written. Raises PlannerBudgetSpent before anything is asked, and what the model raises.

        An answer that is given up in the middle is counted and kept like any other.
        """
        limit = self.account.limit
        most = tokens_left(self.account.spent, self.account.budget, wanted=max_tokens)
        if limit is not None:
            raise PlannerBudgetSpent(planner=self.model.name, reason=str(limit))
        begin = self._clock()
        taken = 0.0
        text: list[str] = []
        usage: Usage | None = None
        failure = ""
        answer = self.model.stream(
            messages, schema=schema, max_tokens=max(1, most), temperature=self._temperature, timeout=self._timeout
        )
        try:
            async for piece in answer:
                taken += self._clock() - begin
                if isinstance(piece, Usage):
                    usage = piece
                else:
                    text.append(piece)
                yield piece
                begin = self._clock()
        except PlannerFailed as error:
            taken += self._clock() - begin
            failure = str(error)
            raise
        finally:
            await _closed(answer)
            self._count(task, messages, "".join(text), usage, taken, failure, request_id)

    async def ask(
        self, task: Task, messages: Sequence[ChatMessage], *, schema: Schema, max_tokens: int, request_id: str | None
    ) -> str:
        """The whole answer. Raises what `stream` raises."""
        answer = self.stream(task, messages, schema=schema, max_tokens=max_tokens, request_id=request_id)
        async with contextlib.aclosing(answer) as pieces:
            return "".join([piece async for piece in pieces if isinstance(piece, str)])

    def _count(
        self,
        task: Task,
        messages: Sequence[ChatMessage],
        answer: str,
        usage: Usage | None,
        seconds: float,
        failure: str,
        request_id: str | None,
    ) -> None:
        took = Call(seconds=round(seconds, 3))
        if usage is not None or answer:
            took = call_of(
                usage or Usage(None, None),
                price=self.account.prices.of(self.model.name),
                seconds=round(seconds, 3),
                estimate=(estimate_prompt(messages), estimate_tokens(answer)),
            )
        exchange = ModelExchange(
            self.model.name, task, request_id, tuple(messages), answer, usage, took.seconds, failure, took
        )
        self.account.count(exchange)
        self._keep(exchange)


async def _closed(answer: AsyncIterator[str | Usage]) -> None:
    closing = getattr(answer, "aclose", None)
    if closing is not None:
        with contextlib.suppress(PlannerFailed):
            await closing()
