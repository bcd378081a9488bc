"""Traps of time and of subjects: orders that no date column tells, and rows that belong together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from benchmarks.detect.tables import Disguise, Draws, Table, Trap, amount, drift, houses, shuffled, signal
from notebook_bcc.protocol.vocabulary import Language


def _moments(rows: int, every: str, start: str = "2018-01-03") -> pd.DatetimeIndex:
    return pd.date_range(start, periods=rows, freq=every)


def _dated(draws: Draws, rows: int, *, lang: Language = "en") -> tuple[pd.DataFrame, str]:
    """Rows in order of time whose target wanders; the columns that tell the time are still to come."""
    table = houses(draws, rows, lang=lang)
    target = "销量" if lang == "zh" else "demand"
    table[target] = (amount(table, draws) + drift(rows, draws)).round(1)
    return table, target


def _parts(
    draws: Draws,
    rows: int,
    every: str,
    parts: dict[str, Callable[[pd.DatetimeIndex], object]],
    *,
    lang: Language = "en",
) -> Table:
    table, target = _dated(draws, rows, lang=lang)
    when = _moments(rows, every)
    for at, (name, part) in enumerate(parts.items()):
        table.insert(at, name, np.asarray(part(when)))
    return Table(table, target, (Trap("time_order", tuple(parts)),), lang=lang)


def year_month_day(draws: Draws, rows: int) -> Table:
    parts = {"year": lambda t: t.year, "month": lambda t: t.month, "day": lambda t: t.day}
    return _parts(draws, rows, "D", parts)


def year_month(draws: Draws, rows: int) -> Table:
    return _parts(draws, rows, "2D", {"Year": lambda t: t.year, "Month": lambda t: t.month})


def chinese_parts(draws: Draws, rows: int) -> Table:
    return _parts(draws, rows, "D", {"年": lambda t: t.year, "月": lambda t: t.month, "日": lambda t: t.day}, lang="zh")


def hours(draws: Draws, rows: int) -> Table:
    parts = {"yr": lambda t: t.year, "mnth": lambda t: t.month, "mday": lambda t: t.day, "hr": lambda t: t.hour}
    return _parts(draws, rows, "3h", parts)


def day_of_year(draws: Draws, rows: int) -> Table:
    return _parts(draws, rows, "D", {"season_year": lambda t: t.year, "day_of_year": lambda t: t.day_of_year})


def weeks(draws: Draws, rows: int) -> Table:
    return _parts(draws, rows, "D", {"iso_year": lambda t: t.isocalendar().year, "wk": lambda t: t.isocalendar().week})


def _written(draws: Draws, rows: int, name: str, form: str, *, every: str = "D", lang: Language = "en") -> Table:
    table, target = _dated(draws, rows, lang=lang)
    when = _moments(rows, every)
    texts = [f"{t.year}-Q{t.quarter}" for t in when] if form == "quarter" else list(when.strftime(form))
    table.insert(0, name, pd.Series(texts).astype(int) if form == "%Y%m" else texts)
    return Table(table, target, (Trap("time_order", (name,)),), lang=lang)


def short_month(draws: Draws, rows: int) -> Table:
    return _written(draws, rows, "when", "%b %Y")


def quarters(draws: Draws, rows: int) -> Table:
    return _written(draws, rows, "quarter", "quarter", every="4D")


def chinese_month(draws: Draws, rows: int) -> Table:
    return _written(draws, rows, "月份", "%Y年%m月", lang="zh")


def long_month(draws: Draws, rows: int) -> Table:
    return _written(draws, rows, "billing_month", "%B %Y")


def month_number(draws: Draws, rows: int) -> Table:
    return _written(draws, rows, "yyyymm", "%Y%m")


def month_and_short_year(draws: Draws, rows: int) -> Table:
    return _written(draws, rows, "issued", "%b-%y")


def _mixed(draws: Draws, rows: int, name: str, forms: list[str], *, lang: Language = "en") -> Table:
    table, target = _dated(draws, rows, lang=lang)
    used = draws.choice(forms, rows)
    texts = [moment.strftime(form) for moment, form in zip(_moments(rows, "D"), used, strict=True)]
    table.insert(0, name, texts)
    return Table(table, target, (Trap("time_order", (name,)),), lang=lang)


def iso_and_european(draws: Draws, rows: int) -> Table:
    return _mixed(draws, rows, "date", ["%Y-%m-%d", "%d.%m.%Y"])


def iso_and_words(draws: Draws, rows: int) -> Table:
    return _mixed(draws, rows, "sold_on", ["%Y-%m-%d", "%b %d, %Y"])


def slashes_and_chinese(draws: Draws, rows: int) -> Table:
    return _mixed(draws, rows, "日期", ["%Y/%m/%d", "%Y年%m月%d日"], lang="zh")


def with_and_without_hours(draws: Draws, rows: int) -> Table:
    return _mixed(draws, rows, "logged", ["%Y-%m-%d", "%Y-%m-%d %H:%M", "%d %B %Y"])


def digits_and_dashes(draws: Draws, rows: int) -> Table:
    return _mixed(draws, rows, "day", ["%Y%m%d", "%Y-%m-%d"])


def _continues(draws: Draws, rows: int, name: str, first: int, *, lang: Language = "en") -> Table:
    """A number that only counts the rows, and goes on in the test file: what is asked for comes later."""
    table, target = _dated(draws, rows + rows // 4, lang=lang)
    table.insert(0, name, np.arange(first, first + len(table)))
    train, test = table.iloc[:rows], table.iloc[rows:].drop(columns=target).reset_index(drop=True)
    return Table(train, target, (Trap("time_order", (name,)),), test=test, lang=lang)


def counted_from_one(draws: Draws, rows: int) -> Table:
    return _continues(draws, rows, "row", 1)


def instants(draws: Draws, rows: int) -> Table:
    return _continues(draws, rows, "instant", 0)


def chinese_number(draws: Draws, rows: int) -> Table:
    return _continues(draws, rows, "序号", 1, lang="zh")


def records(draws: Draws, rows: int) -> Table:
    return _continues(draws, rows, "record_no", 10_001)


def _running(draws: Draws, rows: int, name: str, period: float, *, lang: Language = "en") -> Table:
    """A number that runs on with time, called an identifier: an order, and a feature."""
    table = houses(draws, rows, lang=lang)
    number = np.arange(rows)
    target = "用电" if lang == "zh" else "load"
    table[target] = (300 + 120 * np.sin(2 * np.pi * number / period) + 0.1 * number + 20 * signal(table)).round(1)
    table.insert(0, name, number + 1)
    return Table(table, target, (Trap("running_number", (name,)),), lang=lang)


def hour_of_year(draws: Draws, rows: int) -> Table:
    return _running(draws, rows, "ID", rows / 2)


def sample_number(draws: Draws, rows: int) -> Table:
    return _running(draws, rows, "sample_id", rows / 3)


def chinese_hour(draws: Draws, rows: int) -> Table:
    return _running(draws, rows, "编号", rows / 2, lang="zh")


def cycle_counter(draws: Draws, rows: int) -> Table:
    return _running(draws, rows, "cycle_index", rows * 1.5)


def _panel(draws: Draws, series: int, days: int, name: str, *, mixed: bool, lang: Language = "en") -> Table:
    """Several series over the same days, one below the other: time does not follow the row number."""
    parts, when = [], _moments(days, "D")
    for number in range(series):
        table, target = _dated(draws, days, lang=lang)
        table.insert(0, name, f"{name[0].upper()}{number + 1}")
        table.insert(1, "日期" if lang == "zh" else "date", when.strftime("%Y-%m-%d"))
        table[target] += 200 * number
        parts.append(table)
    whole = pd.concat(parts, ignore_index=True)
    whole = shuffled(whole, draws) if mixed else whole
    return Table(whole, target, (Trap("time_order", (str(whole.columns[1]),)),), lang=lang)


def stores(draws: Draws, rows: int) -> Table:
    return _panel(draws, 6, rows // 6, "store", mixed=False)


def shuffled_stores(draws: Draws, rows: int) -> Table:
    return _panel(draws, 4, rows // 4, "shop", mixed=True)


def countries(draws: Draws, rows: int) -> Table:
    return _panel(draws, 10, rows // 10, "country", mixed=False)


def chinese_cities(draws: Draws, rows: int) -> Table:
    return _panel(draws, 5, rows // 5, "城市", mixed=False, lang="zh")


def _subjects(
    draws: Draws, rows: int, name: str, *, each: int, scale: float = 1.0, start: int = 1, lang: Language = "en"
) -> Table:
    """Subjects with several rows whose own level decides the target; their column holds plain numbers."""
    subjects = rows // each
    own = houses(draws, subjects, lang=lang)
    level = draws.normal(0, 60, subjects)
    at = np.repeat(np.arange(subjects), each)
    table = own.iloc[at].reset_index(drop=True)
    table.iloc[:, 0] = (table.iloc[:, 0] + draws.normal(0, 2, len(table))).round(1)
    target = "得分" if lang == "zh" else "score"
    table[target] = (300 + 20 * signal(table) + level[at] + draws.normal(0, 5, len(table))).round(1)
    table.insert(0, name, scale * (at + start))
    return Table(shuffled(table, draws), target, (Trap("groups", (name,)),), lang=lang)


def patients(draws: Draws, rows: int) -> Table:
    return _subjects(draws, rows, "patient", each=12)


def cases(draws: Draws, rows: int) -> Table:
    return _subjects(draws, rows, "case", each=6, start=1001)


def voices(draws: Draws, rows: int) -> Table:
    return _subjects(draws, rows, "voice", each=4)


def chinese_subjects(draws: Draws, rows: int) -> Table:
    return _subjects(draws, rows, "对象", each=8, lang="zh")


def plots(draws: Draws, rows: int) -> Table:
    return _subjects(draws, rows, "plot", each=10, scale=10.0)


def speakers(draws: Draws, rows: int) -> Table:
    return _subjects(draws, rows, "speaker_no", each=5, start=17)


TIME_PARTS = [
    Disguise("year, month, day", year_month_day, 900),
    Disguise("year and month", year_month, 600),
    Disguise("parts, Chinese", chinese_parts, 800),
    Disguise("down to hours", hours, 1500),
    Disguise("day of the year", day_of_year, 900, held_back=True),
    Disguise("ISO weeks", weeks, 1000, held_back=True),
]
TIME_TEXTS = [
    Disguise("Jan 2018", short_month, 900),
    Disguise("2018-Q3", quarters, 500),
    Disguise("month, Chinese", chinese_month, 800),
    Disguise("March 2018", long_month, 1000),
    Disguise("201803", month_number, 900, held_back=True),
    Disguise("Mar-18", month_and_short_year, 1100, held_back=True),
]
MIXED_DATES = [
    Disguise("ISO and European", iso_and_european, 700),
    Disguise("ISO and words", iso_and_words, 500),
    Disguise("slashes and Chinese", slashes_and_chinese, 600),
    Disguise("with and without hours", with_and_without_hours, 800, held_back=True),
    Disguise("digits and dashes", digits_and_dashes, 600, held_back=True),
]
CONTINUED = [
    Disguise("row", counted_from_one, 600),
    Disguise("instant", instants, 900),
    Disguise("number, Chinese", chinese_number, 500, held_back=True),
    Disguise("record_no", records, 700, held_back=True),
]
RUNNING = [
    Disguise("an hour of the year", hour_of_year, 1000),
    Disguise("a sample's number", sample_number, 600),
    Disguise("hour, Chinese", chinese_hour, 700, held_back=True),
    Disguise("a counter of cycles", cycle_counter, 500, held_back=True),
]
PANELS = [
    Disguise("six stores", stores, 1200),
    Disguise("four shops, shuffled", shuffled_stores, 800),
    Disguise("ten countries", countries, 1000, held_back=True),
    Disguise("cities, Chinese", chinese_cities, 900, held_back=True),
]
GROUPS = [
    Disguise("patients", patients, 600),
    Disguise("cases from 1001", cases, 480),
    Disguise("voices", voices, 400),
    Disguise("subjects, Chinese", chinese_subjects, 640),
    Disguise("plots in tens", plots, 500, held_back=True),
    Disguise("speakers from 17", speakers, 450, held_back=True),
]
