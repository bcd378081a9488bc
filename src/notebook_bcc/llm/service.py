"""The planner with a language model behind a service: many runs, one budget, no journal and no memory of runs.

In a run the engine says what may be spent and writes down what was said; here both are done for it. Each request is
answered by a planner of its own, so that one process answers like the next: which attempt a request is about, and what
was wrong with the last one, travel in the observation. What a planner in the run's own process remembers beside that is
missing here: which code was tried before (two attempts are the end of it anyway), that the code of one behavior is that
of another, and that the model was not reached the last three times (each behavior tries it anew).
"""

from __future__ import annotations

import contextlib
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from typing import Final

from notebook_bcc.errors import PlannerBudgetSpent
from notebook_bcc.llm.limits import Fallback
from notebook_bcc.llm.planner import LlmPlanner
from notebook_bcc.planners.interface import Generated, StreamWarning
from notebook_bcc.planners.model_exchange import ModelExchange
from notebook_bcc.protocol.limits import Budget, Spent
from notebook_bcc.protocol.messages import PlanningResponse, Request

LOG = logging.getLogger(__name__)

SPENT_KEY: Final = "models"
"""The field of a judgement's metadata that tells what models took since the last one of the run."""

_MOST_RUNS: Final = 1_000


class ModelService:
    """Answers for any number of runs. The budget is that of this process, for all of them together, until it ends."""

    def __init__(self, make: Callable[[], LlmPlanner], *, budget: Budget, fallback: Fallback) -> None:
        """`make` gives a planner with an account of its own; the models behind all of them are the same."""
        self._make = make
        self._budget = budget
        self._fallback = fallback
        self._first = make()
        self._unreported: OrderedDict[str, Spent] = OrderedDict()
        self.spent = Spent()
        self.failures = 0
        """Calls without a whole answer: the model was not reached, declined, or broke off."""

    @property
    def name(self) -> str:
        return self._first.name

    async def plan(self, request: Request) -> PlanningResponse:
        """A judgement. Its metadata tell what models took for the run since the last one that was given here."""
        with self._planner(request) as planner:
            answer = await planner.plan(request)
        unreported = self._unreported.pop(request.options.run_id or "", None)
        if unreported is None:
            return answer
        metadata = answer.metadata.model_copy(update={SPENT_KEY: _spent_facts(unreported)})
        return answer.model_copy(update={"metadata": metadata})

    async def generate(self, request: Request, *, fallback: bool = False) -> AsyncIterator[Generated]:
        """The actions of a behavior. When the budget is used up the playbook writes, if it may; a warning says so.

        Raises what the planner raises, PlannerBudgetSpent where only the model may write.
        """
        try:
            async with contextlib.aclosing(self._written(request, fallback=fallback)) as items:
                async for item in items:
                    yield item
        except PlannerBudgetSpent as error:
            if self._fallback == "stop":
                raise
            yield StreamWarning(f"{error}; the playbook writes")
            async with contextlib.aclosing(self._written(request, fallback=True)) as items:
                async for item in items:
                    yield item

    async def repair(self, request: Request) -> str | None:
        """The source for a failed cell; None also when the budget is used up."""
        with self._planner(request) as planner:
            return await planner.repair(request)

    async def close(self) -> None:
        """Release the models."""
        await self._first.close()

    async def _written(self, request: Request, *, fallback: bool) -> AsyncGenerator[Generated, None]:
        with self._planner(request) as planner:
            async for item in planner.generate(request, fallback=fallback):
                yield item

    @contextlib.contextmanager
    def _planner(self, request: Request) -> Iterator[LlmPlanner]:
        """One for this request, within what is left. What was said is counted and logged, also after a failure."""
        planner = self._make()
        planner.allow(self._budget, self.spent)
        try:
            yield planner
        finally:
            for exchange in planner.taken_exchanges():
                self._count(exchange, request.options.run_id)
                _log(exchange, request)

    def _count(self, exchange: ModelExchange, run: str | None) -> None:
        self.spent = self.spent.with_call(exchange.took)
        self.failures += bool(exchange.failure)
        if run is None:
            # Without an id the next to ask may be another run.
            return
        self._unreported[run] = self._unreported.pop(run, Spent()).with_call(exchange.took)
        if len(self._unreported) > _MOST_RUNS:
            self._unreported.popitem(last=False)


def _spent_facts(spent: Spent) -> dict[str, object]:
    return {
        "calls": spent.calls,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "cost": spent.cost,
        "seconds": round(spent.seconds, 3),
    }


def _log(exchange: ModelExchange, request: Request) -> None:
    """An exchange is without keys and its long texts are cut already; what the data's owner shares stands in it."""
    took = exchange.took
    LOG.debug(
        "%s: %s for run %r, request %r: %d + %d tokens, %.3f s%s; prompt %r; answer %r",
        exchange.model,
        exchange.task,
        request.options.run_id,
        exchange.request_id,
        took.input_tokens,
        took.output_tokens,
        took.seconds,
        f", failed: {exchange.failure}" if exchange.failure else "",
        [one.content for one in exchange.messages],
        exchange.answer,
    )
