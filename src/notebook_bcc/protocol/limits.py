"""Where a run ends although its goal is not reached, how it behaves where it may choose, and what models may take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict

BudgetKind = Literal["tokens", "cost", "seconds", "calls"]

UNKNOWN: Final = "unknown"
_STOPS: Final = "stops the run"
# How the names of limits begin that bound what language models may take.
MODEL_LIMITS: Final = "model_"


class _JournalValue(BaseModel):
    """Kept in a journal: frozen; fields that a later version added stay."""

    model_config = ConfigDict(frozen=True, extra="allow", ser_json_inf_nan="strings", defer_build=True)


class Policies(_JournalValue):
    """How the client behaves where the protocol leaves it a choice.

    `offer`: changes of the plan are put to a person who is there, and accepted where nobody is. `stream`: a behavior is
    asked for as a stream of actions, or else as one whole answer. `on_outage`: no answer to a judgement after all
    retries stops the run, which asks again when it goes on; or the judgement counts as "neither reached nor continued".
    """

    confirm: Literal["ask", "auto", "reject", "offer"] = "ask"
    on_error: Literal["feedback", "continue", "fail"] = "feedback"
    on_unachieved: Literal["fail", "skip"] = "fail"
    strict_actions: bool = False
    interactive: bool = False
    notebook_detail: Literal["summary", "cells", "figures"] = "summary"
    stream: bool = True
    on_outage: Literal["stop", "fallback"] = "stop"


class Limits(_JournalValue):
    """Where a run ends although its goal is not reached. Zero means no limit. Those that stop the run are marked;
    they give way when a person goes on. The others bound one cell, one kernel or one repair: `memory_bytes` and
    `processes` are those of a kernel with all that it has started, `disk_bytes` is what its working directory holds.

    What begins with `model_` is what language models may take in all; `model_seconds` is the time they are waited for.
    """

    actions: Annotated[int, _STOPS] = 0
    behaviors_per_step: Annotated[int, _STOPS] = 30
    actions_per_behavior: Annotated[int, _STOPS] = 1000
    run_seconds: Annotated[float, _STOPS] = 0.0
    cell_seconds: float = 0.0
    output_bytes: int = 10_000_000
    memory_bytes: int = 0
    processes: int = 0
    disk_bytes: int = 0
    kernel_restarts: int = 3
    debug_attempts: int = 3
    model_tokens: Annotated[int, _STOPS] = 0
    model_dollars: Annotated[float, _STOPS] = 0.0
    model_seconds: Annotated[float, _STOPS] = 0.0
    model_calls: Annotated[int, _STOPS] = 0

    def without_stops(self) -> Limits:
        """These limits for a run that nothing of them stops."""
        return self.model_copy(update=dict.fromkeys(STOPPING_LIMITS, 0))


STOPPING_LIMITS: Final = tuple(name for name, one in Limits.model_fields.items() if _STOPS in one.metadata)


@dataclass(frozen=True, slots=True)
class Call:
    """What one question to a model took. `dollars` None: its price is unknown; not `counted`: tokens are estimated."""

    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float | None = 0.0
    counted: bool = True
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Spent:
    """Everything so far. `dollars` is the known part of the cost; what `unpriced` calls cost is not known.

    `uncounted` calls are those whose endpoint did not count tokens; theirs are estimated.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float = 0.0
    unpriced: int = 0
    uncounted: int = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def cost(self) -> str:
        """The cost in words: never a zero that only means that nobody knows."""
        if not self.unpriced:
            return f"${self.dollars:.4f}"
        return UNKNOWN if not self.dollars else f"${self.dollars:.4f} and an unknown part"

    def failed(self, *, seconds: float) -> Spent:
        """With one more call that brought nothing: it counts as a call, and its time was spent."""
        return self.with_call(Call(seconds=seconds))

    def with_call(self, call: Call) -> Spent:
        """With what one more call took."""
        return replace(
            self,
            calls=self.calls + 1,
            input_tokens=self.input_tokens + call.input_tokens,
            output_tokens=self.output_tokens + call.output_tokens,
            dollars=self.dollars + (call.dollars or 0.0),
            unpriced=self.unpriced + (call.dollars is None),
            uncounted=self.uncounted + (not call.counted),
            seconds=self.seconds + call.seconds,
        )


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent; None is no limit. `seconds` is the time that models were waited for."""

    tokens: int | None = None
    dollars: float | None = None
    seconds: float | None = None
    calls: int | None = None


@dataclass(frozen=True, slots=True)
class LimitReached:
    """A budget that is used up."""

    kind: BudgetKind
    limit: float
    spent: float

    def __str__(self) -> str:
        match self.kind:
            case "cost":
                return f"the budget of ${self.limit:g} is used up (${self.spent:.4f} spent)"
            case "seconds":
                return f"the budget of {self.limit:g} s of model time is used up ({self.spent:.0f} s spent)"
            case _:
                return f"the budget of {self.limit:,.0f} {self.kind} is used up ({self.spent:,.0f} spent)"


def limit_reached(spent: Spent, budget: Budget) -> LimitReached | None:
    """The first limit that leaves no room for another call."""
    compared: tuple[tuple[BudgetKind, float | None, float], ...] = (
        ("tokens", budget.tokens, spent.tokens),
        ("cost", budget.dollars, spent.dollars),
        ("seconds", budget.seconds, spent.seconds),
        ("calls", budget.calls, spent.calls),
    )
    return next(
        (LimitReached(kind, limit, used) for kind, limit, used in compared if limit is not None and used >= limit), None
    )


def budget_of(limits: Limits) -> Budget:
    """What language models may take, as their planner counts it."""
    return Budget(
        tokens=limits.model_tokens or None,
        dollars=limits.model_dollars or None,
        seconds=limits.model_seconds or None,
        calls=limits.model_calls or None,
    )
