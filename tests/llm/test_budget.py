"""What was spent, what may be, and what a price is when nobody knows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.llm.budget import call_of, check_budget, tokens_left
from notebook_bcc.llm.providers.prices import Price, read_prices
from notebook_bcc.planners.model_exchange import Usage
from notebook_bcc.protocol.limits import Budget, Spent, limit_reached

PRICE = Price(input=2.0, output=10.0)


def test_usages_fold_into_what_was_spent() -> None:
    spent = Spent()
    for _ in range(3):
        spent = spent.with_call(call_of(Usage(1_000, 100), price=PRICE, seconds=2.0))
    assert (spent.calls, spent.tokens, spent.seconds) == (3, 3_300, 6.0)
    assert spent.dollars == pytest.approx(3 * 0.003)
    assert spent.cost == "$0.0090"


def test_an_unknown_price_is_unknown_and_never_nothing() -> None:
    spent = Spent().with_call(call_of(Usage(1_000, 100), price=None, seconds=1.0))
    assert spent.cost == "unknown"
    both = spent.with_call(call_of(Usage(1_000, 100), price=PRICE, seconds=1.0))
    assert "unknown" in both.cost
    assert "$0.0030" in both.cost


def test_uncounted_tokens_are_estimated_and_said_to_be() -> None:
    spent = Spent().with_call(call_of(Usage(None, None), price=PRICE, seconds=1.0, estimate=(40, 4)))
    assert (spent.tokens, spent.uncounted) == (44, 1)


def test_a_failed_call_counts_as_a_call() -> None:
    assert Spent().failed(seconds=3.0) == Spent(calls=1, seconds=3.0)


@pytest.mark.parametrize(
    ("budget", "kind"),
    [
        (Budget(), None),
        (Budget(tokens=1_101, dollars=1.0, seconds=99, calls=2), None),
        (Budget(tokens=1_100), "tokens"),
        (Budget(dollars=0.003), "cost"),
        (Budget(seconds=2.0), "seconds"),
        (Budget(calls=1), "calls"),
        (Budget(calls=0), "calls"),
    ],
)
def test_a_limit_is_reached_when_nothing_is_left(budget: Budget, kind: str | None) -> None:
    reached = limit_reached(Spent().with_call(call_of(Usage(1_000, 100), price=PRICE, seconds=2.0)), budget)
    assert (reached.kind if reached else None) == kind
    assert reached is None or "used up" in str(reached)


def test_the_next_answer_is_kept_within_the_tokens_that_are_left() -> None:
    spent = Spent(input_tokens=900)
    assert tokens_left(spent, Budget(tokens=1_000), wanted=500) == 100
    assert tokens_left(spent, Budget(tokens=800), wanted=500) == 0
    assert tokens_left(spent, Budget(), wanted=500) == 500


def test_a_budget_in_dollars_needs_a_price() -> None:
    check_budget(Budget(dollars=1.0), model="m", price=PRICE)
    check_budget(Budget(tokens=1), model="m", price=None)
    with pytest.raises(SettingsInvalid, match="unknown"):
        check_budget(Budget(dollars=1.0), model="m", price=None)


def test_the_bundled_prices_have_a_date_and_a_note() -> None:
    prices = read_prices()
    assert prices.as_of
    assert "dollars" in prices.note
    assert all(price.input > 0 and price.output > price.input for price in prices.models.values())


@pytest.mark.parametrize(
    ("model", "known"),
    [
        ("openai:gpt-4o", True),
        ("openai:gpt-4o-2024-08-06", True),
        ("anthropic:claude-sonnet-4-5-20250929", True),
        ("openai:gpt-4o-other", False),
        ("openai:gpt-5-pro", False),
        ("http://localhost:1/v1#gpt-4o", False),
    ],
)
def test_a_price_is_known_for_a_model_and_its_dated_versions(model: str, known: bool) -> None:
    assert (read_prices().of(model) is not None) is known


def test_prices_of_ones_own_replace_the_bundled(tmp_path: Path) -> None:
    mine = tmp_path / "prices.json"
    mine.write_text('{"as_of": "today", "models": {"http://localhost:1/v1#m": {"input": 0, "output": 0}}}')
    prices = read_prices(mine)
    assert prices.of("http://localhost:1/v1#m") == Price(input=0, output=0)
    assert prices.of("openai:gpt-4o") is None


@pytest.mark.parametrize("text", ["", "[]", '{"as_of": "x", "models": {"m": {"input": -1, "output": 1}}}', '{"a": 1}'])
def test_a_price_table_that_is_none_is_refused_by_name(tmp_path: Path, text: str) -> None:
    mine = tmp_path / "prices.json"
    mine.write_text(text)
    with pytest.raises(SettingsInvalid, match=r"prices\.json"):
        read_prices(mine)
    with pytest.raises(SettingsInvalid, match="cannot be read"):
        read_prices(tmp_path / "missing.json")
