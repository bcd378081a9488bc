"""What a call to a model took, and what the next one may take. Pure."""

from __future__ import annotations

from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.llm.providers.prices import Price
from notebook_bcc.planners.model_exchange import Usage
from notebook_bcc.protocol.limits import UNKNOWN, Budget, Call, Spent


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


def tokens_left(spent: Spent, budget: Budget, *, wanted: int) -> int:
    """How many tokens the next answer may have at most, of those that are wanted."""
    return wanted if budget.tokens is None else max(0, min(wanted, budget.tokens - spent.tokens))


def check_budget(budget: Budget, *, model: str, price: Price | None) -> None:
    """Raises SettingsInvalid for a limit on the cost of a model whose price is unknown: it could not be kept."""
    if budget.dollars is not None and price is None:
        raise SettingsInvalid(
            f"a budget in dollars cannot be kept: the price of {model} is {UNKNOWN}; limit the tokens, or give prices"
        )
