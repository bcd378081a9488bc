"""Traps in what columns know: the answer, what is known only afterwards, and nothing at all."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.detect.tables import Disguise, Draws, Table, Trap, amount, houses, some, yes_no
from notebook_bcc.protocol.vocabulary import Language


def _classes(
    draws: Draws, rows: int, *, lang: Language = "en", share: float = 0.35
) -> tuple[pd.DataFrame, str, np.ndarray]:
    table = houses(draws, rows, lang=lang)
    target = "流失" if lang == "zh" else "churned"
    table[target] = yes_no(table, draws, share=share, words=("否", "是") if lang == "zh" else ("no", "yes"))
    return table, target, (table[target] == ("是" if lang == "zh" else "yes")).to_numpy()


def _alone(
    draws: Draws, rows: int, name: str, known: np.ndarray, table: pd.DataFrame, target: str, lang: Language = "en"
) -> Table:
    table.insert(2, name, known)
    return Table(table, target, (Trap("leak_alone", (name,)),), lang=lang)


def gap(draws: Draws, rows: int) -> Table:
    table, target, positive = _classes(draws, rows)
    return _alone(draws, rows, "balance", (draws.normal(40, 8, rows) + 120 * positive).round(2), table, target)


def nearly_the_label(draws: Draws, rows: int) -> Table:
    table, target, positive = _classes(draws, rows)
    stray = np.zeros(rows, dtype=bool)
    stray[draws.integers(rows)] = True
    return _alone(draws, rows, "segment", np.where(positive ^ stray, "B4", "A1"), table, target)


def a_later_score(draws: Draws, rows: int) -> Table:
    table, target, positive = _classes(draws, rows, lang="zh")
    return _alone(draws, rows, "评分", (draws.beta(2, 30, rows) + 0.8 * positive).round(4), table, target, "zh")


def a_code_for_each(draws: Draws, rows: int) -> Table:
    table, target, positive = _classes(draws, rows)
    codes = np.where(positive, draws.choice([31, 32, 35], rows), draws.choice([11, 12, 18, 19], rows))
    return _alone(draws, rows, "status_code", codes, table, target)


def other_unit(draws: Draws, rows: int) -> Table:
    table = houses(draws, rows)
    table["price"] = amount(table, draws)
    table.insert(2, "value_eur", (table["price"] * 0.9183 * (1 + draws.normal(0, 1e-4, rows))).round(2))
    return Table(table, "price", (Trap("leak_alone", ("value_eur",)),))


def _missing(
    draws: Draws, rows: int, name: str, values: np.ndarray, *, of_positive: bool, lang: Language = "en"
) -> Table:
    table, target, positive = _classes(draws, rows, lang=lang)
    table.insert(3, name, pd.Series(values, dtype=object).where(positive != of_positive))
    return Table(table, target, (Trap("missing_decides", (name,)),), lang=lang)


def empty_where_yes(draws: Draws, rows: int) -> Table:
    return _missing(draws, rows, "last_visit_days", draws.integers(1, 90, rows), of_positive=True)


def filled_where_yes(draws: Draws, rows: int) -> Table:
    return _missing(draws, rows, "complaint_length", draws.gamma(2, 50, rows).round(0), of_positive=False)


def text_where_yes(draws: Draws, rows: int) -> Table:
    return _missing(draws, rows, "offer", draws.choice(["gold", "silver", "bronze"], rows), of_positive=False)


def chinese_empty(draws: Draws, rows: int) -> Table:
    return _missing(draws, rows, "回访次数", draws.integers(1, 9, rows), of_positive=True, lang="zh")


def empty_in_a_third_class(draws: Draws, rows: int) -> Table:
    table = houses(draws, rows)
    table["grade"] = draws.choice(["low", "middle", "high"], rows)
    table.insert(3, "bonus", pd.Series(draws.normal(500, 80, rows).round(0)).where(table["grade"] != "low"))
    return Table(table, "grade", (Trap("missing_decides", ("bonus",)),))


def _made(draws: Draws, rows: int, first: str, second: str, target: str, form: str, *, lang: Language = "en") -> Table:
    table = houses(draws, rows, lang=lang)
    own = draws.normal(120, 30, rows).clip(20).round(2)
    other = draws.normal(9_000, 2_500, rows).clip(900).round(0)
    table.insert(1, first, own)
    table.insert(2, second, other)
    results = {
        "ten thousands": own * other / 10_000,
        "percent": 100 * own / other,
        "thousands": own * other / 1_000,
        "minutes": 60 * own + other,
        "per square": other / own**2,
    }
    table[target] = results[form].round(3)
    return Table(table, target, (Trap("made_of_columns", (first, second)),), lang=lang)


def price_by_area(draws: Draws, rows: int) -> Table:
    return _made(draws, rows, "floor_area", "price_per_m2", "total_price", "ten thousands")


def chinese_total(draws: Draws, rows: int) -> Table:
    return _made(draws, rows, "建筑面积", "单价", "总价", "ten thousands", lang="zh")


def percent(draws: Draws, rows: int) -> Table:
    return _made(draws, rows, "hits", "shots", "hit_rate", "percent")


def energy(draws: Draws, rows: int) -> Table:
    return _made(draws, rows, "current", "voltage", "power_kw", "thousands")


def minutes(draws: Draws, rows: int) -> Table:
    return _made(draws, rows, "whole_hours", "rest_minutes", "minutes", "minutes")


def per_square(draws: Draws, rows: int) -> Table:
    return _made(draws, rows, "height", "weight", "index_value", "per square")


def _afterwards(draws: Draws, rows: int, name: str, values: np.ndarray, *, lang: Language = "en") -> Table:
    """A column that helps, honestly measured, but known only when the answer is known."""
    table, target, positive = _classes(draws, rows, lang=lang)
    if values.dtype.kind in "if":
        told = pd.Series(np.where(positive, values * 2.2, values)).round(1)
    else:
        told = pd.Series(values).where(positive | some(draws, rows, 0.2), "无" if lang == "zh" else "none")
    table.insert(3, name, told)
    return Table(table, target, (Trap("known_afterwards", (name,)),), lang=lang)


def call_duration(draws: Draws, rows: int) -> Table:
    return _afterwards(draws, rows, "duration", draws.gamma(2, 90, rows))


def closing_reason(draws: Draws, rows: int) -> Table:
    return _afterwards(draws, rows, "closing_reason", draws.choice(["price", "moved", "service"], rows))


def refund(draws: Draws, rows: int) -> Table:
    return _afterwards(draws, rows, "refund_amount", draws.gamma(2, 30, rows))


def leaving_reason(draws: Draws, rows: int) -> Table:
    return _afterwards(draws, rows, "离职原因", draws.choice(["薪资", "家庭", "发展"], rows), lang="zh")


def discharge(draws: Draws, rows: int) -> Table:
    return _afterwards(draws, rows, "length_of_stay_at_discharge", draws.gamma(2, 4, rows))


def _copies(
    draws: Draws, rows: int, key: str, *, times: int, id_only: bool, jitter: str = "", lang: Language = "en"
) -> Table:
    """Rows that stand several times, with another identifier or a small difference each time."""
    table, target, _ = _classes(draws, rows // times, lang=lang)
    table.insert(0, key, draws.permutation(len(table)) + 5_000)
    whole = pd.concat([table] * times, ignore_index=True)
    if id_only:
        whole[key] = draws.permutation(len(whole)) + 1
    elif jitter == "time":
        whole.insert(
            1, "saved_at", pd.date_range("2024-01-01", periods=len(whole), freq="7min").strftime("%Y-%m-%d %H:%M")
        )
    else:
        whole.iloc[:, 1] = (whole.iloc[:, 1] + draws.normal(0, 0.02, len(whole))).round(2)
    whole = whole.iloc[draws.permutation(len(whole))].reset_index(drop=True)
    return Table(whole, target, (Trap("copies" if id_only else "near_copies", (key,)),), lang=lang)


def copies_with_id(draws: Draws, rows: int) -> Table:
    return _copies(draws, rows, "id", times=3, id_only=True)


def copies_with_record(draws: Draws, rows: int) -> Table:
    return _copies(draws, rows, "record", times=2, id_only=True)


def chinese_copies(draws: Draws, rows: int) -> Table:
    return _copies(draws, rows, "编号", times=2, id_only=True, lang="zh")


def copies_with_row_id(draws: Draws, rows: int) -> Table:
    return _copies(draws, rows, "RowID", times=4, id_only=True)


def saved_again(draws: Draws, rows: int) -> Table:
    return _copies(draws, rows, "order", times=3, id_only=False, jitter="time")


def measured_again(draws: Draws, rows: int) -> Table:
    return _copies(draws, rows, "house_key", times=3, id_only=False)


def chinese_again(draws: Draws, rows: int) -> Table:
    return _copies(draws, rows, "合同号", times=2, id_only=False, jitter="time", lang="zh")


def measured_twice(draws: Draws, rows: int) -> Table:
    return _copies(draws, rows, "parcel", times=2, id_only=False)


def _number(
    draws: Draws, rows: int, name: str, low: int, high: int, *, lang: Language = "en", scale: float = 1
) -> Table:
    """A number that names rows, nearly each one its own; it says nothing."""
    table = houses(draws, rows, lang=lang)
    numbers = draws.integers(low, high, rows)
    twice = some(draws, rows, 0.02)
    numbers[twice] = draws.choice(numbers[~twice], twice.sum())
    table.insert(0, name, numbers * scale if scale != 1 else numbers)
    target = "价格" if lang == "zh" else "price"
    table[target] = amount(table.drop(columns=name), draws)
    return Table(table, target, (Trap("identifier", (name,)),), lang=lang)


def tickets(draws: Draws, rows: int) -> Table:
    return _number(draws, rows, "ticket_no", 100_000, 999_999)


def telephones(draws: Draws, rows: int) -> Table:
    return _number(draws, rows, "电话", 13_000_000_000, 19_000_000_000, lang="zh")


def references(draws: Draws, rows: int) -> Table:
    return _number(draws, rows, "ref", 10_000_000, 99_999_999)


def accounts(draws: Draws, rows: int) -> Table:
    return _number(draws, rows, "account_number", 10**9, 10**10)


def _twin(draws: Draws, rows: int, name: str, other: str, pairs: dict[str, object], *, lang: Language = "en") -> Table:
    """A column of codes beside the column of names they stand for."""
    table = houses(draws, rows, lang=lang)
    names = draws.choice(list(pairs), rows)
    table.insert(0, name, names)
    table.insert(1, other, [pairs[one] for one in names])
    target = "价格" if lang == "zh" else "price"
    table[target] = amount(table.drop(columns=[name, other]), draws)
    return Table(table, target, (Trap("same_said_twice", (name, other)),), lang=lang)


def country_codes(draws: Draws, rows: int) -> Table:
    pairs: dict[str, object] = {"France": "FR", "Spain": "ES", "Italy": "IT", "Norway": "NO", "Poland": "PL"}
    return _twin(draws, rows, "country", "iso2", pairs)


def province_codes(draws: Draws, rows: int) -> Table:
    pairs: dict[str, object] = {"广东": 440000, "江苏": 320000, "浙江": 330000, "四川": 510000}
    return _twin(draws, rows, "省份", "省份代码", pairs, lang="zh")


def weekdays(draws: Draws, rows: int) -> Table:
    pairs: dict[str, object] = {day: at for at, day in enumerate(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"])}
    return _twin(draws, rows, "weekday", "weekday_number", pairs)


def departments(draws: Draws, rows: int) -> Table:
    pairs: dict[str, object] = {
        name: 10 * at for at, name in enumerate(["sales", "legal", "it", "hr", "labs"], start=3)
    }
    return _twin(draws, rows, "department", "dept", pairs)


ALONE = [
    Disguise("a gap", gap, 500),
    Disguise("the label, one stray", nearly_the_label, 900),
    Disguise("a later score, Chinese", a_later_score, 400),
    Disguise("codes for each class", a_code_for_each, 600, held_back=True),
    Disguise("another currency", other_unit, 500, held_back=True),
]
MISSING_DECIDES = [
    Disguise("empty where yes", empty_where_yes, 500),
    Disguise("filled where yes", filled_where_yes, 800),
    Disguise("a text where yes", text_where_yes, 400),
    Disguise("empty, Chinese", chinese_empty, 600, held_back=True),
    Disguise("empty in one of three", empty_in_a_third_class, 500, held_back=True),
]
MADE = [
    Disguise("area by price", price_by_area, 500),
    Disguise("total, Chinese", chinese_total, 700),
    Disguise("percent", percent, 400),
    Disguise("kilowatts", energy, 900),
    Disguise("hours and minutes", minutes, 300, held_back=True),
    Disguise("by the square", per_square, 600, held_back=True),
]
AFTERWARDS = [
    Disguise("duration", call_duration, 800),
    Disguise("closing reason", closing_reason, 600),
    Disguise("refund", refund, 500),
    Disguise("reason, Chinese", leaving_reason, 500, held_back=True),
    Disguise("at discharge", discharge, 400, held_back=True),
]
COPIES = [
    Disguise("three times, id", copies_with_id, 750),
    Disguise("twice, record", copies_with_record, 500),
    Disguise("twice, Chinese", chinese_copies, 600),
    Disguise("four times, RowID", copies_with_row_id, 800, held_back=True),
]
NEAR_COPIES = [
    Disguise("saved again", saved_again, 600),
    Disguise("measured again", measured_again, 450),
    Disguise("saved again, Chinese", chinese_again, 500),
    Disguise("measured twice", measured_twice, 700, held_back=True),
]
IDENTIFIERS = [
    Disguise("ticket numbers", tickets, 600),
    Disguise("telephones, Chinese", telephones, 400),
    Disguise("references", references, 900, held_back=True),
    Disguise("accounts", accounts, 500, held_back=True),
]
TWINS = [
    Disguise("country and code", country_codes, 500),
    Disguise("province, Chinese", province_codes, 400),
    Disguise("weekday and number", weekdays, 700),
    Disguise("department", departments, 300, held_back=True),
]
