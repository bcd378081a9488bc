"""Text columns become what they are, and prepare.py does it to any row."""

from __future__ import annotations

import datetime
import warnings
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")
pytest.importorskip("sklearn")
plt = pytest.importorskip("matplotlib.pyplot")

from playbooks.rehearsal import Rehearsal, at_work_in, cell_file  # noqa: E402

ROWS = 60


def play(
    folder: Path, raw: Any, *, target: str = "", stages: tuple[str, ...] = ("integrity",), **given: Any
) -> Rehearsal:
    """The stages on this table, as if the first stage had read it. Any: a DataFrame; pandas has no types here."""
    plt.switch_backend("agg")
    test, lang, goal = given.pop("test", None), given.pop("lang", "en"), given.pop("goal", "")
    inputs = {
        "data": "data.csv",
        **({"target": target} if target else {}),
        **({"test": "test.csv"} if test is not None else {}),
    }
    rehearsal = Rehearsal(inputs={**inputs, **given}, lang=lang, goal=goal)
    rehearsal.names |= {"raw": raw, "target": target, "readable": True, "problem": "", "cjk_font": ""}
    rehearsal.names |= {"row_count": len(raw), "column_count": raw.shape[1]}
    if "targets" in given:
        rehearsal.names["targets"] = given["targets"]
    if test is not None:
        rehearsal.names["raw_test"] = test
    with at_work_in(folder):
        rehearsal.run(cell_file("structure_setup").read_text(encoding="utf-8"))
        for stage in stages:
            rehearsal.play(stage)
    return rehearsal


def column(texts: list[str], rows: int = ROWS) -> Any:
    return pd.Series([texts[row % len(texts)] for row in range(rows)])


def other_columns(rows: int = ROWS) -> dict[str, Any]:
    """Something to stand beside the column in question."""
    generator = np.random.default_rng(0)
    return {"size": generator.normal(size=rows), "y": generator.normal(size=rows)}


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["$10,300 ", "$9,950 ", "$120,000 "], [10300.0, 9950.0, 120000.0]),
        (["51,000 mi.", "1,200 mi.", "987 mi."], [51000.0, 1200.0, 987.0]),
        (["1.234,56 EUR", "12,50 EUR", "1.000,00 EUR"], [1234.56, 12.5, 1000.0]),
        (["12 %", "7.5 %", "100 %"], [12.0, 7.5, 100.0]),
        (["(300)", "25", "1,250"], [-300.0, 25.0, 1250.0]),
        ([" 29.85", "1889.5", "108.15 "], [29.85, 1889.5, 108.15]),
        (["€110.5M", "€900K", "€1.2M"], [110.5e6, 9e5, 1.2e6]),
        (["1,23,456", "12,345", "1,00,000"], [123456.0, 12345.0, 100000.0]),
        (["10 Ω", "2.5 Ω", "-4 Ω"], [10.0, 2.5, -4.0]),
    ],
)
def test_numbers_in_disguise_are_read(tmp_path: Path, texts: list[str], numbers: list[float]) -> None:
    played = play(tmp_path, pd.DataFrame({"price": column(texts), **other_columns()}), target="y")
    assert list(played.names["number_texts"]) == ["price"]
    assert played.names["df_clean"]["price"].tolist() == pytest.approx([numbers[row % 3] for row in range(ROWS)])
    assert "`price`" in played.prose


@pytest.mark.parametrize(
    "texts",
    [
        [">50K", "<=50K"],
        ["A1", "B2", "C3"],
        ["007", "012", "130"],
        ["1.2.3", "2.0.1", "10.1.1"],
        ["10-20", "20-30", "30-40"],
    ],
)
def test_codes_and_classes_stay_text(tmp_path: Path, texts: list[str]) -> None:
    played = play(tmp_path, pd.DataFrame({"code": column(texts), **other_columns()}), target="y")
    assert played.names["number_texts"] == {}
    assert played.names["df_clean"]["code"].tolist() == [texts[row % len(texts)] for row in range(ROWS)]


def test_words_among_the_numbers_are_missing_and_named(tmp_path: Path) -> None:
    texts = [f"{row},5" for row in range(ROWS - 3)] + ["not supported"] * 3
    played = play(tmp_path, pd.DataFrame({"power": texts, **other_columns()}), target="y")
    assert played.names["number_texts"] == {"power": ","}
    assert played.names["unread"] == {"power": 3}
    assert "3 in `power` (such as `not supported`)" in played.prose


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        ([f"{day:02}/03/2021" for day in range(1, 29)], "%d/%m/%Y"),
        ([f"03/{day:02}/2021" for day in range(1, 29)], "%m/%d/%Y"),
        ([f"2021-03-{day:02} 12:{day:02}:00" for day in range(1, 29)], "%Y-%m-%d %H:%M:%S"),
        ([f"{day}.3.21" for day in range(1, 29)], "%d.%m.%y"),
        ([f"2021年3月{day}日" for day in range(1, 29)], "%Y年%m月%d日"),
        ([f"2021-03-{day:02}T00:00:00Z" for day in range(1, 29)], "%Y-%m-%dT%H:%M:%S%z"),
        ([f"{day}-Mar-2021" for day in range(1, 29)], "%d-%b-%Y"),
    ],
)
def test_dates_are_read_in_the_order_that_fits_all_values(tmp_path: Path, texts: list[str], form: str) -> None:
    played = play(tmp_path, pd.DataFrame({"when": column(texts), **other_columns()}), target="y")
    assert played.names["date_formats"] == {"when": form}
    table = played.names["df_clean"]
    assert table["when"].dt.month.eq(3).all()
    assert table["when_day_of_year"].tolist()[:3] == [60, 61, 62]
    assert "when" not in played.names["numeric_columns"]
    assert "when_day_of_week" in played.names["numeric_columns"]


def test_a_date_that_could_be_read_both_ways_is_called_unclear(tmp_path: Path) -> None:
    texts = [f"{month:02}/{day:02}/2020" for month in range(1, 11) for day in (1, 5, 9)]
    played = play(tmp_path, pd.DataFrame({"when": texts, **other_columns(30)}), target="y")
    assert played.names["date_formats"] == {"when": "%m/%d/%Y"}
    assert "may be wrong" in played.prose


def test_whole_numbers_that_are_days_are_dates(tmp_path: Path) -> None:
    days = pd.Series([20210101 + day for day in range(28)] + [20210201 + day for day in range(28)])
    played = play(tmp_path, pd.DataFrame({"day": days, **other_columns(56)}), target="y")
    assert played.names["date_formats"] == {"day": "%Y%m%d"}


def test_yes_and_no_become_one_and_zero_but_not_in_the_target(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {"smoker": column(["yes", "No", "Y"]), "size": other_columns()["size"], "y": column(["yes", "no"])}
    )
    table["vip"] = pd.Series([True, False, None] * (ROWS // 3), dtype=object)
    played = play(tmp_path, table, target="y")
    clean = played.names["df_clean"]
    assert clean["smoker"].tolist()[:3] == [1.0, 0.0, 1.0]
    assert clean["vip"].tolist()[:2] == [1.0, 0.0]
    assert np.isnan(clean["vip"].iloc[2])
    assert set(clean["y"]) == {"yes", "no"}


def test_codes_are_taken_apart_where_the_parts_tell_something(tmp_path: Path) -> None:
    rows = range(400)
    table = pd.DataFrame(
        {
            "cabin": [f"{'ABC'[row % 3]}/{row // 2}/{'PS'[row % 2]}" for row in rows],
            "passenger": [f"{row // 2:04}_{row % 2 + 1:02}" for row in rows],
            "customer": [f"{(row * 7919) % 9973:04}-{row:05}" for row in rows],
            "y": np.arange(400) % 7 * 1.5,
        }
    )
    played = play(tmp_path, table, target="y")
    assert played.names["code_parts"]["cabin"] == {"mark": "/", "numbers": [2], "words": [1, 3]}
    assert played.names["df_clean"]["cabin_2"].iloc[-1] == 199
    assert played.names["dropped_columns"]["customer"] == "identifier"
    assert played.names["group_column"] == "passenger_1"


def test_measurements_inside_text_become_columns(tmp_path: Path) -> None:
    texts = [f"{100 + row}.0HP {1 + row % 4}.{row % 10}L V{4 + 2 * (row % 3)} Cylinder Engine" for row in range(ROWS)]
    played = play(tmp_path, pd.DataFrame({"engine": texts, **other_columns()}), target="y")
    assert {"hp", "l"} <= set(played.names["unit_numbers"]["engine"])
    assert played.names["df_clean"]["engine_hp"].tolist()[:3] == [100.0, 101.0, 102.0]


def test_spellings_of_one_category_become_one(tmp_path: Path) -> None:
    table = pd.DataFrame({"sex": column(["male", "female", "Male", "F", " female", "male"]), **other_columns()})
    played = play(tmp_path, table, target="y")
    assert set(played.names["df_clean"]["sex"]) == {"male", "female"}


def test_prepare_works_on_one_row_and_on_values_never_seen(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {
            "price": column(["$1,000", "$2,500", "$30"]),
            "when": column([f"{day:02}/03/2021" for day in range(1, 29)]),
            "smoker": column(["yes", "no"]),
            "sex": column(["male", "Male", "female"]),
            "cabin": [f"{'ABC'[row % 3]}/{row % 30}/S" for row in range(ROWS)],
            "size": other_columns()["size"],
            "y": other_columns()["y"],
        }
    )
    played = play(tmp_path, table, target="y")
    prepare = played.names["prepare"]
    strange = pd.DataFrame(
        {
            "price": ["free"],
            "when": ["31/31/2021"],
            "smoker": ["perhaps"],
            "sex": ["x"],
            "cabin": ["?"],
            "size": ["large"],
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, odd = prepare(table.iloc[[7]]), prepare(strange)
        empty = prepare(table.iloc[:0])
        missing = prepare(pd.DataFrame({name: [None] for name in table.columns}))
    whole = prepare(table)
    assert one.iloc[0].equals(whole.iloc[7])
    assert odd[["price", "when", "smoker", "size"]].isna().all(axis=None)
    assert list(empty.columns) == list(whole.columns) == list(missing.columns)
    assert missing.isna().all(axis=None)


def test_names_of_columns_may_hold_anything(tmp_path: Path) -> None:
    wild = ['a"); import os', "价格 $", "new\nline", "{{ x }}", "quote's", "😀"]
    generator = np.random.default_rng(1)
    table = pd.DataFrame({name: generator.normal(size=ROWS) for name in wild})
    table[wild[1]] = column(["$1,200", "$900", "$15"])
    table[wild[3]] = column(["yes", "no"])
    table["y"] = generator.normal(size=ROWS)
    played = play(tmp_path, table, target="y")
    assert set(played.names["numeric_columns"]) == set(wild)


def test_no_cell_is_longer_than_forty_lines(tmp_path: Path) -> None:
    texts = [f"{100 + row}.0HP 1.{row % 10}L" for row in range(ROWS)]
    table = pd.DataFrame(
        {
            "price": column(["€1.2M", "€900K", "€15M"]),
            "when": column([f"{day:02}/03/2021" for day in range(1, 29)]),
            "smoker": column(["yes", "no"]),
            "engine": texts,
            "sex": column(["male", "Male", "female"]),
            "cabin": [f"{'ABC'[row % 3]}/{row % 30}/S" for row in range(ROWS)],
            **other_columns(),
        }
    )
    played = play(tmp_path, table, target="y", stages=("integrity", "exploration"))
    long = {source.splitlines()[0]: source.count("\n") + 1 for source in played.cells if source.count("\n") >= 45}
    assert not long


DAYS = [datetime.date(2020, 1 + row % 12, 1 + row % 28) for row in range(ROWS)]


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        (DAYS, ["month", "day_of_week", "day_of_year"]),
        (pd.Series(DAYS, dtype="category"), ["month", "day_of_year"]),
        (pd.period_range("2020-01", periods=ROWS, freq="M"), ["year", "month"]),
        (pd.period_range("2020-01-01", periods=ROWS, freq="D"), ["month", "day_of_week"]),
        ([datetime.time(row % 24, row % 60) for row in range(ROWS)], ["hour", "minute"]),
    ],
    ids=["dates", "categories of dates", "months", "days", "times"],
)
def test_dates_times_and_periods_that_are_no_text_are_read(tmp_path: Path, values: Any, parts: list[str]) -> None:
    done = play(tmp_path, pd.DataFrame({"x": values, **other_columns()}), target="y")
    assert {f"x_{part}" for part in parts} <= set(done.names["df_clean"].columns)
    assert done.names["unread"] == {}


@pytest.mark.parametrize("text", [["a"], []], ids=["with text", "numbers alone"])
def test_infinity_is_a_missing_value_whose_column_is_named(tmp_path: Path, text: list[str]) -> None:
    table = pd.DataFrame({"x": column([1.0, float("inf"), 2.0, float("-inf"), 3.0, 4.0]), **other_columns()})  # type: ignore[list-item]
    table.loc[3, "y"] = float("inf")
    for name in text:
        table[name] = column(["red", "green"])
    done = play(tmp_path, table, target="y")
    assert done.names["unread"] == {"x": 20, "y": 1}
    assert "missing from here on: 20 in `x` (such as `inf`), 1 in `y`" in done.prose
    assert np.isfinite(done.names["df_clean"][["size", "y"]]).all(axis=None)
    assert len(done.names["df_clean"]) == ROWS - 1
    with at_work_in(tmp_path):
        assert done.names["prepare"](table.head(2))["x"].isna().tolist() == [False, True]
