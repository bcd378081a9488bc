"""Traps that a good analyst sees: each is found and said, and what only looks like one is left alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")

from playbooks.test_integrity_parse import play  # noqa: E402

ROWS = 240


def honest(rows: int = ROWS, seed: int = 11) -> Any:
    """Three honest columns and a target that they explain in part."""
    draws = np.random.default_rng(seed)
    table = pd.DataFrame({"size": draws.normal(90, 20, rows).round(1), "kind": draws.choice(["a", "b", "c"], rows)})
    table["distance"] = draws.gamma(2, 3, rows).round(2)
    table["y"] = (table["size"] - 2 * table["distance"] + draws.normal(0, 8, rows)).round(1)
    return table


def wandering(rows: int = ROWS) -> Any:
    """The same, with a level of the target that drifts from row to row."""
    table = honest(rows)
    table["y"] += np.random.default_rng(5).normal(0, 8, rows).cumsum().round(1)
    return table


@pytest.mark.parametrize(
    ("code", "shown", "columns"),
    [(8888.0, "8888", ["size", "distance"]), (-1.0, "-1", ["distance"]), (70000.0, "70,000", ["y"])],
)
def test_a_repeated_value_far_from_all_others_is_a_code_for_missing(
    tmp_path: Path, code: float, shown: str, columns: list[str]
) -> None:
    table = honest()
    for at, name in enumerate(columns):
        table.loc[at::40, name] = code
    played = play(tmp_path, table, target="y")
    assert played.names["missing_codes"] == {name: [code] for name in columns}
    assert f"`{columns[0]}`: {shown} stands for a missing value (6 times; all other values lie between" in played.prose


def test_far_values_that_differ_and_frost_are_no_codes(tmp_path: Path) -> None:
    table = honest().assign(degrees=np.random.default_rng(1).normal(9, 4, ROWS).round(0))
    table["degrees"] = table["degrees"].clip(lower=-1)
    table.loc[:4, "size"] = [9000.0, 9500.5, 12000.0, 15000.0, 20000.0]
    assert play(tmp_path, table, target="y").names["missing_codes"] == {}


def test_names_with_digits_are_no_measurements(tmp_path: Path) -> None:
    seats = [f"{1 + row % 9}{'ABCF'[row % 4]}" for row in range(ROWS)]
    loci = [f"{1 + row % 7}p{11 + row % 3}" for row in range(ROWS)]
    power = [f"{90 + row % 50}HP {1 + row % 3}.0L" for row in range(ROWS)]
    played = play(tmp_path, honest().assign(seat=seats, locus=loci, engine=power), target="y")
    assert list(played.names["unit_numbers"]) == ["engine"]
    assert not {"seat", "locus"} & {*played.names["number_texts"], *played.names["numeric_columns"]}


def test_a_company_called_total_is_a_row_like_others(tmp_path: Path) -> None:
    table = honest().assign(company=np.where(np.arange(ROWS) == 80, "Total", "Shell"))
    assert play(tmp_path, table, target="y").names["total_rows"] == []


@pytest.mark.parametrize(
    "form", ["%b %Y", "%B %Y", "%Y年%m月", "%Y%m", "quarter", ("%Y-%m-%d", "%d.%m.%Y"), ("%Y-%m-%d", "%b %d, %Y")]
)
def test_months_quarters_and_mixed_dates_are_an_order_in_time(tmp_path: Path, form: str | tuple[str, str]) -> None:
    when = pd.date_range("2016-01-05", periods=ROWS, freq="9D")
    forms = (form, form) if isinstance(form, str) else form
    texts = [
        f"{day.year}-Q{day.quarter}" if form == "quarter" else day.strftime(forms[at % 2])
        for at, day in enumerate(when)
    ]
    table = wandering().assign(when=[int(text) for text in texts] if form == "%Y%m" else texts)
    played = play(tmp_path, table, target="y")
    assert (played.names["time_column"], played.names["split_kind"]) == ("when", "time")
    assert played.names["df_clean"]["when"].notna().all()
    assert ("when_day_of_week" in played.names["df_clean"]) is isinstance(form, tuple)
    by_chance, later = played.names["quick_scores"]["time"]
    assert f"{by_chance:.3f} where rows are picked by chance, and {later:.3f} on rows later" in played.prose


def test_columns_for_year_month_and_day_make_one_moment(tmp_path: Path) -> None:
    when = pd.date_range("2020-01-01", periods=ROWS)
    table = wandering().assign(Year=when.year, Month=when.month, Day=when.day)
    played = play(tmp_path, table, target="y")
    assert played.names["time_parts"] == ["Year", "Month", "Day"]
    assert (played.names["df_clean"]["moment"].to_numpy() == when.to_numpy()).all()
    assert "moment" not in played.names["numeric_columns"]
    assert "`moment` (of `Year`, `Month` and `Day`) runs from 2020-01-01 to 2020-08-27" in played.replans[-2]
    mixed = table.sample(frac=1, random_state=0, ignore_index=True).drop(columns="Day")
    assert play(tmp_path, mixed, target="y").names["time_column"] == ""


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_panel_is_ordered_in_time_whatever_the_order_of_its_rows(tmp_path: Path, shuffled: bool) -> None:
    days = pd.date_range("2020-01-01", periods=60).strftime("%Y-%m-%d")
    table = pd.concat([wandering(60).assign(store=f"S{at}", date=days) for at in range(4)], ignore_index=True)
    table = table.sample(frac=1, random_state=0, ignore_index=True) if shuffled else table
    played = play(tmp_path, table, target="y")
    assert (played.names["time_column"], played.names["panel_column"]) == ("date", "store")
    assert played.names["train"]["date"].max() < played.names["holdout"]["date"].min()
    assert "each of the 4 values of `store` has the same moments of `date`" in played.prose


def test_a_named_column_that_orders_or_groups_nothing_is_said_and_not_followed(tmp_path: Path) -> None:
    table = honest().assign(word=[f"word {row} of it" for row in range(ROWS)], same="x")
    played = play(tmp_path, table, target="y", time="word", group="same")
    assert (played.names["time_column"], played.names["group_column"]) == ("", "")
    assert "**`word` orders no rows in time**" in played.prose
    assert "**`same` puts no rows together**" in played.prose


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_of_dates_in_no_order_both_scores_are_told(tmp_path: Path, lang: str) -> None:
    table = wandering(360)
    days = np.sort(np.random.default_rng(2).integers(0, 900, 360))
    table["day"] = (pd.Timestamp("2022-01-01") + pd.to_timedelta(days, unit="D")).strftime("%Y-%m-%d")
    played = play(tmp_path, table.sample(frac=1, random_state=3, ignore_index=True), target="y", lang=lang)
    assert (played.names["time_column"], played.names["doubtful_time"]) == ("", "day")
    by_chance, later = played.names["quick_scores"]["later"]
    assert later < by_chance - 0.1
    assert "--time day" in played.prose
    assert {"en": "whether the future is asked for", "zh": "无从得知是否要预测未来"}[lang] in played.prose
    assert {"en": "No order in time", "zh": "没有发现检验时必须顾及"}[lang] not in played.prose
    assert {"en": "in no order of `day`", "zh": "不按 `day` 的先后"}[lang] in " ".join(played.replans)


def test_a_date_of_birth_raises_no_doubt_about_time(tmp_path: Path) -> None:
    table = honest(360)
    days = np.random.default_rng(2).integers(0, 9000, 360)
    table["birthday"] = (pd.Timestamp("1960-01-01") + pd.to_timedelta(days, unit="D")).strftime("%Y-%m-%d")
    assert (
        play(tmp_path, table.sample(frac=1, random_state=3, ignore_index=True), target="y").names["doubtful_time"] == ""
    )


def test_a_named_part_that_no_column_has_is_said_and_not_followed(tmp_path: Path) -> None:
    # From outside it may be a part that the cells make, such as `size_month`; here they find that there is none.
    played = play(tmp_path, honest().assign(size=range(ROWS)), target="y", time="size_month", group="size_1")
    assert (played.names["time_column"], played.names["group_column"]) == ("", "")
    assert "**`size_month` orders no rows in time**: there is no such column" in played.prose
    assert "**`size_1` puts no rows together**: there is no such column" in played.prose


def test_dates_in_no_order_are_no_order(tmp_path: Path) -> None:
    days = np.random.default_rng(3).integers(0, 15_000, ROWS)
    born = (pd.Timestamp("1960-01-01") + pd.to_timedelta(days, unit="D")).strftime("%Y-%m-%d")
    assert play(tmp_path, honest().assign(born=born), target="y").names["time_column"] == ""


def test_a_number_that_the_target_runs_along_is_an_order_and_a_feature(tmp_path: Path) -> None:
    played = play(tmp_path, wandering().assign(ID=range(1, ROWS + 1)), target="y")
    assert played.names["time_column"] == "ID"
    assert "ID" in played.names["numeric_columns"]
    for table in (honest(), honest().sort_values("y", ignore_index=True)):
        plain = play(tmp_path, table.assign(ID=range(1, ROWS + 1)), target="y")
        assert (plain.names["time_column"], plain.names["identifiers"]) == ("", ["ID"])


@pytest.mark.parametrize("case", ["few rows", "rows that are missing from the count", "rows in another order"])
def test_a_count_that_carries_the_target_is_a_feature(tmp_path: Path, case: str) -> None:
    table = honest(40 if case == "few rows" else ROWS).assign(ID=lambda rows: np.arange(1, len(rows) + 1))
    table["y"] = (table["y"] / 5 + table["ID"] * 60 / len(table)).round(1)
    if case == "rows that are missing from the count":
        table = table.sample(frac=0.5, random_state=0).sort_index(ignore_index=True)
    if case == "rows in another order":
        table = table.sample(frac=1, random_state=0, ignore_index=True)
    played = play(tmp_path, table, target="y")
    assert "ID" in played.names["numeric_columns"]
    assert played.names["time_column"] == ("" if case == "rows in another order" else "ID")


def test_a_row_number_that_continues_in_the_test_file_is_an_order_only_where_the_target_follows_it(
    tmp_path: Path,
) -> None:
    later = honest(40, seed=2).drop(columns="y").assign(row=range(ROWS, ROWS + 40))
    drifting = play(tmp_path, wandering().assign(row=range(ROWS)), target="y", test=later)
    assert drifting.names["time_column"] == "row"
    assert play(tmp_path, honest().assign(row=range(ROWS)), target="y", test=later).names["time_column"] == ""


def subjects(rows: int = ROWS, each: int = 6) -> Any:
    """Rows of subjects that have their own features and their own level."""
    at = np.repeat(np.arange(rows // each), each)
    table = honest(rows // each).iloc[at].reset_index(drop=True)
    draws = np.random.default_rng(8)
    table["size"] = (table["size"] + draws.normal(0, 2, rows)).round(1)
    table["y"] = (table["y"] + draws.normal(0, 60, rows // each)[at] + draws.normal(0, 5, rows)).round(1)
    return table.assign(voice=at + 17).sample(frac=1, random_state=0, ignore_index=True)


def test_numbers_that_name_subjects_keep_their_rows_together_and_both_figures_are_told(tmp_path: Path) -> None:
    played = play(tmp_path, subjects(), target="y")
    assert (played.names["group_column"], played.names["split_kind"]) == ("voice", "group")
    known, new = played.names["quick_scores"]["group"]
    assert known > new
    assert (
        f"R² {known:.3f} for subjects of `voice` that it knows from other rows, and {new:.3f} for new ones"
        in played.prose
    )


def test_an_age_and_what_follows_from_it_name_no_subject(tmp_path: Path) -> None:
    age = np.random.default_rng(2).integers(18, 70, ROWS)
    table = honest().assign(age=age, adult=np.where(age > 40, "old", "young"))
    table["y"] += 2 * age
    assert play(tmp_path, table, target="y").names["group_column"] == ""


@pytest.mark.parametrize("empty", ["yes", "no"])
def test_a_column_that_is_empty_in_one_class_is_left_out(tmp_path: Path, empty: str) -> None:
    table = honest().assign(churn=lambda rows: np.where(rows["y"] > 75, "yes", "no")).drop(columns="y")
    table["size"] += np.random.default_rng(0).normal(0, 15, ROWS)
    table["visits"] = pd.Series(np.random.default_rng(1).integers(1, 9, ROWS)).where(table["churn"] != empty)
    played = play(tmp_path, table, target="churn")
    assert played.names["leaks"] == {"visits": "missing decides"}
    assert played.names["missing_tells"] == {"visits": empty}
    assert f"`visits`: empty in the rows of class `{empty}` and filled in the others" in played.prose
    kept = play(tmp_path, table, target="churn", keep=["visits"])
    assert "visits" in kept.names["numeric_columns"]


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda a, b: a * b / 10_000, "`area` × `price_m2` / 10,000 = `y`"),
        (lambda a, b: 100 * a / b, "`area` / `price_m2` × 100 = `y`"),
        (lambda a, b: a * b / 60, "`area` × `price_m2` / 60 = `y`"),
        (lambda a, b: b / a**2, "`price_m2` / `area`² = `y`"),
    ],
)
def test_products_and_ratios_are_found_in_any_unit(tmp_path: Path, made: Any, words: str) -> None:
    draws = np.random.default_rng(4)
    area, price = draws.normal(120, 30, ROWS).clip(20).round(2), draws.normal(9_000, 2_000, ROWS).clip(900).round(0)
    table = honest().drop(columns="y").assign(area=area, price_m2=price, y=made(area, price).round(3))
    played = play(tmp_path, table, target="y")
    assert set(played.names["leaks"]) == {"area", "price_m2"}
    assert words in played.prose or words.replace("`area` × `price_m2`", "`price_m2` × `area`") in played.prose


def test_what_is_known_only_afterwards_is_doubted_by_name_and_both_scores_are_told(tmp_path: Path) -> None:
    table = honest().assign(bought=lambda rows: np.where(rows["y"] > 80, "yes", "no")).drop(columns="y")
    call = np.random.default_rng(6).gamma(2, 60, ROWS) * np.where(table["bought"] == "yes", 2.5, 1)
    played = play(tmp_path, table.assign(duration=call.round(0)), target="bought")
    assert list(played.names["doubtful_columns"]) == ["duration"]
    assert "duration" in played.names["numeric_columns"]
    with_it, without = played.names["quick_scores"]["doubtful"]
    assert f"{with_it:.3f} with `duration`, and {without:.3f} without" in played.prose
    before = play(tmp_path, table.assign(previous_duration=call.round(0)), target="bought")
    assert before.names["doubtful_columns"] == {}


def test_copies_under_another_number_are_copies(tmp_path: Path) -> None:
    table = pd.concat([honest(100)] * 3, ignore_index=True).sample(frac=1, random_state=0, ignore_index=True)
    played = play(tmp_path, table.assign(id=range(1, 301)), target="y")
    assert (played.names["copied_rows"], len(played.names["df_clean"])) == (200, 100)
    assert "200 rows are exact copies of others but for `id`, which numbers the rows: dropped" in played.prose


def test_people_who_agree_in_all_but_number_and_name_are_no_copies(tmp_path: Path) -> None:
    draws = np.random.default_rng(7)
    table = pd.DataFrame(
        {"id": range(ROWS), "sex": draws.choice(["m", "f"], ROWS), "level": draws.integers(1, 4, ROWS)}
    )
    table["y"] = draws.choice(["yes", "no"], ROWS)
    played = play(tmp_path, table, target="y")
    assert len(played.names["df_clean"]) == ROWS


def test_rows_that_were_saved_again_stay_together(tmp_path: Path) -> None:
    table = honest(100).assign(order=np.random.default_rng(0).permutation(100) + 5_000)
    table = pd.concat([table] * 3, ignore_index=True).sample(frac=1, random_state=0, ignore_index=True)
    table["saved"] = pd.date_range("2024-01-01", periods=300, freq="7min").strftime("%Y-%m-%d %H:%M")
    played = play(tmp_path, table, target="y")
    assert (played.names["near_copy_key"], played.names["near_copies"]) == ("order", 200)
    assert "order" not in played.names["numeric_columns"]


def test_numbers_of_tickets_are_identifiers_and_incomes_are_not(tmp_path: Path) -> None:
    draws = np.random.default_rng(9)
    table = honest().assign(
        ticket=draws.integers(100_000, 999_999, ROWS), income=draws.lognormal(11, 0.6, ROWS).round(0)
    )
    played = play(tmp_path, table, target="y")
    assert played.names["identifiers"] == ["ticket"]
    kept = play(tmp_path, table, target="y", keep=["ticket"])
    assert {"ticket", "income"} <= set(kept.names["numeric_columns"])


def test_a_code_beside_the_name_it_stands_for_is_said_once(tmp_path: Path) -> None:
    pairs = {"France": "FR", "Spain": "ES", "Italy": "IT"}
    country = np.random.default_rng(1).choice(list(pairs), ROWS)
    played = play(tmp_path, honest().assign(country=country, iso2=[pairs[each] for each in country]), target="y")
    assert played.names["same_columns"] == [["country", "iso2"]]
    assert played.names["dropped_columns"]["iso2"] == "says the same"
    assert "`iso2`: says the same as `country`" in played.prose


def test_honest_predictors_are_no_leaks(tmp_path: Path) -> None:
    draws = np.random.default_rng(12)
    level = 400 + draws.normal(0, 4, 300).cumsum()
    table = pd.DataFrame({"date": pd.date_range("2019-01-01", periods=300).strftime("%Y-%m-%d")})
    table["previous_close"] = np.r_[level[0], level[:-1]].round(2)
    table["close"] = (level + draws.normal(0, 1.5, 300)).round(2)
    played = play(tmp_path, table, target="close")
    assert (played.names["leaks"], played.names["suspects"], played.names["doubtful_columns"]) == ({}, {}, {})
    counter = honest(300).assign(day=range(300))
    counter["y"] = 0.5 * counter["day"] + draws.normal(0, 0.5, 300)
    assert "day" in play(tmp_path, counter, target="y").names["numeric_columns"]


def test_in_few_rows_values_that_do_not_repeat_decide_nothing(tmp_path: Path) -> None:
    table = honest(25).assign(won=lambda rows: np.where(rows["y"] > rows["y"].median(), "yes", "no")).drop(columns="y")
    played = play(tmp_path, table, target="won")
    assert played.names["leaks"] == {}
    assert played.names["can_model"]
