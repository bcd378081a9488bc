"""What the report says was learnt: sentences whose numbers are those of the table, and only what is beyond chance."""

from __future__ import annotations

import re
from typing import Any

import pytest
from markdown_it import MarkdownIt

from notebook_bcc.playbook.templates.environment import Kind, Templates
from notebook_bcc.protocol.cells import Bar
from playbooks.rehearsal import Rehearsal, cell_file, text_file

numpy = pytest.importorskip("numpy")
pandas = pytest.importorskip("pandas")

# Any, throughout: tables and what a cell leaves behind.


def customers(rows: int = 900) -> Any:
    """Whether somebody leaves hangs on the contract and on the age of it; the lucky number says nothing."""
    chance = numpy.random.default_rng(4)
    contract = chance.choice(["monthly", "yearly", "two years"], size=rows, p=[0.5, 0.3, 0.2])
    months = chance.integers(0, 72, size=rows)
    likely = pandas.Series(contract).map({"monthly": 0.6, "yearly": 0.2, "two years": 0.05}) * (1.2 - months / 100)
    left = numpy.where(chance.random(rows) < likely, "yes", "no")
    return pandas.DataFrame({"contract": contract, "months": months, "lucky": chance.random(rows), "left": left})


def found(table: Any, target: str, task: str, *, lang: str = "en", **more: Any) -> Rehearsal:
    features = [name for name in table if name != target]
    names = {"np": numpy, "pd": pandas, "df_clean": table, "target": target, "task": task}
    play = Rehearsal(lang=lang)
    play.names |= names | {
        "association": dict.fromkeys(features, 0.5),
        "correlated_groups": [],
        "importance_top": {},
        **more,
    }
    source = cell_file("report_findings").read_text(encoding="utf-8")
    play.run(Templates().read(source, kind=Kind.CELL, at="report_findings").render(play.facts()))
    return play


def sentences(play: Rehearsal) -> list[str]:
    source = text_file("report_finding", play.lang).read_text(encoding="utf-8")
    template = Templates().read(source, kind=Kind.PROSE, at="report_finding")
    facts = play.facts()
    return [template.render({**facts, "item": item}).strip() for item in facts["v"]["findings"]]


def test_the_shares_of_a_sentence_are_those_of_the_table() -> None:
    table = customers()
    play = found(table, "left", "binary")
    assert [one["column"] for one in play.names["findings"]] == ["contract", "months"], "luck is no finding"
    first = sentences(play)[0]
    share = (table["left"] == "yes").groupby(table["contract"]).mean()
    assert first.startswith(f"**{share['monthly']:.0%} of the rows")
    assert f"{share['two years']:.0%} of those" in first
    assert "`contract` monthly" in first
    assert "`left` yes" in first


def test_means_rise_with_a_number_or_do_not() -> None:
    chance = numpy.random.default_rng(5)
    size = chance.uniform(30, 200, size=400)
    hour = chance.integers(0, 24, size=400)
    price = 1000 * size + 90_000 * numpy.sin(hour / 24 * 6.283) + chance.normal(size=400)
    table = pandas.DataFrame({"size": size, "hour": hour, "price": price})
    play = found(table, "price", "regression")
    by_size, by_hour = play.names["findings"]
    assert (by_size["way"], by_hour["way"]) == ("up", "")
    told = sentences(play)[0]
    assert told.startswith("**`price` rises with `size`:**")
    fifth = table.loc[table["size"] >= table["size"].quantile(0.8), "price"].mean()
    assert f"{float(f'{fifth:.4g}'):,.0f}" in told, "an average has four digits that count"


def test_of_many_classes_the_one_is_told_that_differs_most() -> None:
    chance = numpy.random.default_rng(6)
    kind = chance.choice(["a", "b", "c"], size=600)
    other = numpy.where((kind == "a") & (chance.random(600) < 0.8), "red", chance.choice(["blue", "green"], size=600))
    play = found(pandas.DataFrame({"kind": kind, "colour": other}), "colour", "multiclass")
    (only,) = play.names["findings"]
    assert (only["label"], only["high"][0]) == ("red", "a")


def test_columns_that_say_the_same_are_told_once() -> None:
    table = customers()
    table["days"] = table["months"] * 30
    play = found(table, "left", "binary", correlated_groups=[["months", "days"]])
    assert [one["column"] for one in play.names["findings"]] == ["contract", "months"]


def test_what_the_model_relies_on_comes_first() -> None:
    play = found(customers(), "left", "binary", importance_top={"months": 0.1})
    assert [one["column"] for one in play.names["findings"]] == ["months", "contract"]


def test_a_date_that_the_model_relies_on_is_told_by_its_part() -> None:
    table = customers()
    table["began"] = pandas.Timestamp("2024-01-01") + pandas.to_timedelta(table["months"], "D")
    table["began_day"] = table["months"]
    told = {"contract": 0.5, "began_day": 0.4}
    play = found(table, "left", "binary", importance_top={"began": 0.2}, association=told)
    assert [one["column"] for one in play.names["findings"]] == ["began_day", "contract"]


def test_noise_is_no_finding_in_either_direction() -> None:
    chance = numpy.random.default_rng(7)
    for _ in range(30):
        table = pandas.DataFrame(chance.normal(size=(200, 8)), columns=[*"abcdefgh"]).round(2)
        table["y"] = chance.choice(["p", "q"], size=200)
        assert found(table, "y", "binary").names["findings"] == []


def test_bars_have_a_length_of_at_most_one_and_say_their_value() -> None:
    for one in found(customers(), "left", "binary").names["findings"]:
        bars = [Bar.read(bar) for bar in one["bars"]]
        assert None not in bars
        assert max(bar.length for bar in bars if bar is not None) == 1.0
        assert all(bar is not None and re.fullmatch(r"\d+%", bar.value) for bar in bars)


def test_a_year_has_no_comma_and_a_flag_is_said_as_it_is() -> None:
    chance = numpy.random.default_rng(8)
    year = chance.integers(1990, 2020, size=500)
    table = pandas.DataFrame({"year": year, "new": year > 2010, "price": year * 10.0 + chance.normal(size=500)})
    by_year, by_flag = found(table, "price", "regression").names["findings"]
    assert all("," not in bar[0] for bar in by_year["bars"])
    assert {bar[0] for bar in by_flag["bars"]} == {"True", "False"}


def test_the_same_is_said_in_chinese() -> None:
    play = found(customers(), "left", "binary", lang="zh")
    assert sentences(play)[0].startswith("**`contract` 为 monthly 的行中，")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_bold_is_read_as_bold(lang: str) -> None:
    told = sentences(found(customers(), "left", "binary", lang=lang))
    assert told
    assert all("**" not in MarkdownIt("commonmark").render(one) for one in told)


def test_a_trend_over_many_groups_is_told_though_the_last_group_is_small() -> None:
    chance = numpy.random.default_rng(9)
    calls = chance.choice([0, 1, 2, 3, 4], size=1500, p=[0.36, 0.3, 0.2, 0.115, 0.025])
    left = numpy.where(chance.random(1500) < 0.02 + 0.045 * calls, "yes", "no")
    (told,) = found(pandas.DataFrame({"calls": calls, "left": left}), "left", "binary").names["findings"]
    assert told["column"] == "calls"


@pytest.mark.parametrize(("lang", "names"), [("en", {"Saturday", "Monday"}), ("zh", {"周六", "周一"})])
def test_a_weekday_is_called_by_its_name(lang: str, names: set[str]) -> None:
    chance = numpy.random.default_rng(6)
    day = chance.integers(0, 7, size=700)
    table = pandas.DataFrame({"sold_day_of_week": day, "visitors": 10 + 90 * (day >= 5) + chance.normal(size=700)})
    play = found(table, "visitors", "regression", lang=lang)
    groups = {word for bar in play.names["findings"][0]["bars"] for word in re.findall(r"[^\W\d]+", bar[0])}
    assert names <= groups
    assert not any(character.isdigit() for bar in play.names["findings"][0]["bars"] for character in bar[0])
