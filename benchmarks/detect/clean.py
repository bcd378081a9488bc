"""Tables in which nothing is wrong, many of them looking as if: whatever is found in them is a false alarm."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.detect.tables import Disguise, Draws, Table, Trap, amount, drift, houses, shuffled, signal, some, yes_no


def plain_number(draws: Draws, rows: int) -> Table:
    table = houses(draws, rows)
    table["price"] = amount(table, draws)
    return Table(table, "price")


def plain_classes(draws: Draws, rows: int) -> Table:
    table = houses(draws, rows)
    table["sold"] = yes_no(table, draws)
    return Table(table, "sold")


def chinese(draws: Draws, rows: int) -> Table:
    table = houses(draws, rows, lang="zh")
    table["价格"] = amount(table, draws)
    return Table(table, "价格", lang="zh")


def rare(draws: Draws, rows: int) -> Table:
    table = houses(draws, rows)
    table["fraud"] = yes_no(table, draws, share=0.06)
    return Table(table, "fraud")


def with_gaps(draws: Draws, rows: int) -> Table:
    table = houses(draws, rows)
    table["price"] = amount(table, draws)
    for name in ("area", "age_years", "heating"):
        table[name] = table[name].where(~some(draws, rows, 0.08))
    return Table(table, "price")


def separable_together(draws: Draws, rows: int) -> Table:
    """Two classes that two columns tell apart, and neither alone."""
    table = houses(draws, rows)
    across, along = draws.normal(0, 3, rows), draws.choice([-1.0, 1.0], rows)
    table["left"] = (across + along).round(3)
    table["right"] = (across - along + draws.normal(0, 0.15, rows)).round(3)
    table["kind"] = np.where(along > 0, "sweet", "sour")
    return Table(table, "kind")


def nearly_separable(draws: Draws, rows: int) -> Table:
    """Good measurements of two species: each tells them apart in nearly all rows, as in nature."""
    first = draws.random(rows) < 0.5
    table = pd.DataFrame(
        {
            "petal_length": (draws.normal(4.2, 0.45, rows) + 1.5 * first).round(1),
            "petal_width": (draws.normal(1.3, 0.22, rows) + 0.7 * first).round(1),
            "sepal_length": (draws.normal(5.9, 0.5, rows) + 0.6 * first).round(1),
        }
    )
    table["species"] = np.where(first, "virginica", "versicolor")
    return Table(table, "species")


def previous_close(draws: Draws, rows: int) -> Table:
    level = 400 + drift(rows, draws, size=120)
    table = pd.DataFrame({"date": pd.date_range("2019-01-01", periods=rows, freq="D").strftime("%Y-%m-%d")})
    table["previous_close"] = np.r_[level[0], level[:-1]].round(2)
    table["volume"] = draws.gamma(3, 900, rows).round(0)
    table["close"] = (level + draws.normal(0, 1.5, rows)).round(2)
    return Table(table, "close", expected=(Trap("time_order", ("date",)),))


def good_sensor(draws: Draws, rows: int) -> Table:
    table = houses(draws, rows)
    table["weight_kg"] = draws.normal(70, 12, rows).round(2)
    table["scale_reading"] = (table["weight_kg"] * 1.004 + draws.normal(0, 0.9, rows)).round(2)
    return Table(table, "weight_kg")


def few_rows(draws: Draws, rows: int) -> Table:
    table = houses(draws, rows)
    table["price"] = amount(table, draws, noise=0.3)
    return Table(table, "price")


def counts(draws: Draws, rows: int) -> Table:
    table = houses(draws, rows)
    table["claims"] = draws.poisson(np.exp(0.4 * signal(table) - 0.7))
    return Table(table, "claims")


def skewed(draws: Draws, rows: int) -> Table:
    table = houses(draws, rows)
    table["income"] = np.exp(10 + 0.8 * draws.normal(0, 1, rows)).round(0)
    table["cost"] = np.exp(5 + 0.5 * signal(table) + draws.normal(0, 0.7, rows)).round(2)
    return Table(table, "cost")


def outliers(draws: Draws, rows: int) -> Table:
    """A few far values, each of them another one: real, and no code."""
    table = houses(draws, rows)
    table["assets"] = (draws.pareto(1.6, rows) * 1_000).round(0)
    table["price"] = amount(table, draws)
    return Table(table, "price")


def many_categories(draws: Draws, rows: int) -> Table:
    table = houses(draws, rows)
    table["street"] = draws.choice(
        [f"{name} street" for name in ["Ash", "Birch", "Cedar", "Elm", "Fir", "Oak", "Pine", "Rowan", "Yew"]], rows
    )
    table["floor_plan"] = draws.choice(["A1", "B2", "C3", "D4"], rows)
    table["price"] = amount(table, draws)
    return Table(table, "price")


def rating(draws: Draws, rows: int) -> Table:
    """A scale that ends at its most frequent value."""
    table = houses(draws, rows)
    table["stars"] = np.clip(np.round(4.2 + 0.7 * signal(table) + draws.normal(0, 0.8, rows)), 1, 5).astype(int)
    table["price"] = amount(table, draws)
    return Table(table, "price")


def zeros(draws: Draws, rows: int) -> Table:
    """Amounts that are zero where there is nothing."""
    table = houses(draws, rows)
    table["garage_m2"] = np.where(draws.random(rows) < 0.3, 0, draws.normal(28, 6, rows).clip(12)).round(0)
    table["pool_m2"] = np.where(draws.random(rows) < 0.9, 0, draws.normal(40, 9, rows).clip(15)).round(0)
    table["price"] = amount(table, draws)
    return Table(table, "price")


def frost(draws: Draws, rows: int) -> Table:
    table = houses(draws, rows)
    table["temperature_c"] = draws.normal(6, 9, rows).round(1)
    table["longitude"] = draws.normal(-3.6, 0.4, rows).round(4)
    table["use_kwh"] = (amount(table, draws) - 4 * table["temperature_c"]).round(1)
    return Table(table, "use_kwh")


def dates_without_order(draws: Draws, rows: int) -> Table:
    """A birthday is a date and no order of the rows."""
    table = houses(draws, rows)
    days = draws.integers(0, 18_000, rows)
    table["born"] = (pd.Timestamp("1955-01-01") + pd.to_timedelta(days, unit="D")).strftime("%Y-%m-%d")
    table["premium"] = amount(table, draws)
    return Table(table, "premium")


def own_id(draws: Draws, rows: int) -> Table:
    table = shuffled(houses(draws, rows), draws)
    table["price"] = amount(table, draws)
    table.insert(0, "id", np.arange(1, rows + 1))
    return Table(table, "price", expected=(Trap("identifier", ("id",)),))


def three_classes(draws: Draws, rows: int) -> Table:
    table = houses(draws, rows)
    score = signal(table) + draws.normal(0, 0.5, rows)
    table["grade"] = np.select([score < -0.5, score < 0.5], ["low", "middle"], "high")
    return Table(table, "grade")


CLEAN = [
    Disguise("a number", plain_number, 800),
    Disguise("a number, large", plain_number, 4000),
    Disguise("a number, small", plain_number, 120),
    Disguise("two classes", plain_classes, 900),
    Disguise("two classes, small", plain_classes, 150),
    Disguise("Chinese", chinese, 700),
    Disguise("Chinese, small", chinese, 160),
    Disguise("rare class", rare, 900),
    Disguise("rare class, large", rare, 3000),
    Disguise("gaps", with_gaps, 600),
    Disguise("gaps, small", with_gaps, 140),
    Disguise("separable together", separable_together, 500),
    Disguise("separable together, small", separable_together, 120),
    Disguise("separable together, large", separable_together, 2500),
    Disguise("two species", nearly_separable, 300),
    Disguise("two species, small", nearly_separable, 100),
    Disguise("two species, large", nearly_separable, 2000),
    Disguise("previous close", previous_close, 700),
    Disguise("previous close, short", previous_close, 260),
    Disguise("a good sensor", good_sensor, 500),
    Disguise("a good sensor, large", good_sensor, 2500),
    Disguise("25 rows", few_rows, 25),
    Disguise("40 rows", few_rows, 40),
    Disguise("counts", counts, 800),
    Disguise("counts, large", counts, 3000),
    Disguise("skewed", skewed, 500),
    Disguise("skewed, large", skewed, 2000),
    Disguise("far values", outliers, 600),
    Disguise("far values, large", outliers, 3000),
    Disguise("categories", many_categories, 700),
    Disguise("categories, small", many_categories, 200),
    Disguise("a rating", rating, 600),
    Disguise("a rating, small", rating, 180),
    Disguise("zeros", zeros, 700),
    Disguise("zeros, large", zeros, 2200),
    Disguise("frost", frost, 500),
    Disguise("birthdays", dates_without_order, 600),
    Disguise("birthdays, large", dates_without_order, 2500),
    Disguise("an id", own_id, 600),
    Disguise("three classes", three_classes, 900),
]
