"""What was spent and what may be. Pure: usages are folded, limits are compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.planners.llm.chat import Usage
from notebook_bcc.planners.llm.prices import Price

Kind = Literal["tokens", "cost", "seconds", "calls"]

UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True)
class Call:
    """What one question to a model took. `dollars` None: its price is unknown; not `counted`: tokens are estimated."""

    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float | None = 0.0
    counted: bool = True
    seconds: float = 0.0


def call_of(usage: Usage, *, price: Price | None, seconds: float, estimate: tuple[int, int] = (0, 0)) -> Call:
    """What an answer took. `estimate` is tokens in and out, used where the endpoint did not count."""
    asked = estimate[0] if usage.input_tokens is None else usage.input_tokens
    written = estimate[1] if usage.output_tokens is None else usage.output_tokens
    return Call(
        input_tokens=asked,
        output_tokens=written,
        dollars=None if price is None else price.of(asked, written),
        counted=usage.input_tokens is not None and usage.output_tokens is not None,
        seconds=seconds,
    )


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

    def plus(self, usage: Usage, *, price: Price | None, seconds: float, estimate: tuple[int, int] = (0, 0)) -> Spent:
        """With one more call. `estimate` is tokens in and out, used where the endpoint did not count."""
        return self.with_call(call_of(usage, price=price, seconds=seconds, estimate=estimate))

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

    kind: Kind
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
    compared: tuple[tuple[Kind, float | None, float], ...] = (
        ("tokens", budget.tokens, spent.tokens),
        ("cost", budget.dollars, spent.dollars),
        ("seconds", budget.seconds, spent.seconds),
        ("calls", budget.calls, spent.calls),
    )
    return next(
        (LimitReached(kind, limit, used) for kind, limit, used in compared if limit is not None and used >= limit), None
    )


def tokens_left(spent: Spent, budget: Budget, *, wanted: int) -> int:
    """How many tokens the next answer may have at most, of those that are wanted."""
    return wanted if budget.tokens is None else max(0, min(wanted, budget.tokens - spent.tokens))


def check_budget(budget: Budget, *, model: str, price: Price | None) -> None:
    """Raises SettingsInvalid for a limit on the cost of a model whose price is unknown: it could not be kept."""
    if budget.dollars is not None and price is None:
        raise SettingsInvalid(
            f"a budget in dollars cannot be kept: the price of {model} is {UNKNOWN}; limit the tokens, or give prices"
        )
