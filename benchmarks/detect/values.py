"""Traps in single values: codes for "not measured", names that look like numbers, rows that look like totals."""

from __future__ import annotations

import pandas as pd

from benchmarks.detect.tables import Disguise, Draws, Table, Trap, amount, houses, some, yes_no
from notebook_bcc.protocol.vocabulary import Language


def _coded(table: pd.DataFrame, draws: Draws, names: list[str], code: float, share: float = 0.04) -> None:
    for name in names:
        table[name] = table[name].astype(float).where(~some(draws, len(table), share), code)


def _code(
    draws: Draws,
    rows: int,
    *,
    names: list[str],
    code: float,
    lang: Language = "en",
    with_target: bool = False,
    binary: bool = False,
) -> Table:
    table = houses(draws, rows, lang=lang)
    target = "价格" if lang == "zh" else "sold" if binary else "price"
    table[target] = yes_no(table, draws) if binary else amount(table, draws)
    coded = [*names, *([target] if with_target else [])]
    _coded(table, draws, coded, code)
    return Table(table, target, (Trap("missing_code", tuple(coded), (code,)),), lang=lang)


def code_8888(draws: Draws, rows: int) -> Table:
    return _code(draws, rows, names=["area", "distance_km", "age_years"], code=8888)


def code_minus_one(draws: Draws, rows: int) -> Table:
    return _code(draws, rows, names=["area", "distance_km"], code=-1, binary=True)


def code_in_target(draws: Draws, rows: int) -> Table:
    return _code(draws, rows, names=[], code=1_000_000, with_target=True)


def code_minus_888(draws: Draws, rows: int) -> Table:
    return _code(draws, rows, names=["面积", "楼龄"], code=-888, lang="zh", with_target=True)


def code_int16(draws: Draws, rows: int) -> Table:
    table = houses(draws, rows)
    for number in range(1, 5):
        table[f"sensor_{number}"] = draws.normal(20 + number, 3, rows).round(2)
    table["load"] = amount(table, draws)
    names = ["sensor_1", "sensor_2", "sensor_4"]
    _coded(table, draws, names, 32767, share=0.02)
    return Table(table, "load", (Trap("missing_code", tuple(names), (32767,)),))


def code_with_decimals(draws: Draws, rows: int) -> Table:
    return _code(draws, rows, names=["area", "distance_km"], code=6553.5, with_target=True)


def _words(draws: Draws, rows: int, name: str, words: list[str], *, target: str = "delay") -> Table:
    table = houses(draws, rows)
    table.insert(0, name, words)
    table[target] = amount(table.drop(columns=name), draws)
    return Table(table, target, (Trap("not_numbers", (name,)),))


def tail_numbers(draws: Draws, rows: int) -> Table:
    fleet = [f"N{draws.integers(100, 999)}{''.join(draws.choice(list('ABJKMW'), 2))}" for _ in range(rows // 12)]
    return _words(draws, rows, "tailnum", list(draws.choice(fleet, rows)))


def android_versions(draws: Draws, rows: int) -> Table:
    kinds = ["4.0.3 and up", "4.1 and up", "5.0 and up", "2.3 and up", "Varies with device", "4.4 and up"]
    return _words(draws, rows, "android", list(draws.choice(kinds, rows)), target="installs")


def seats(draws: Draws, rows: int) -> Table:
    kinds = [f"{row}{letter}" for row in range(1, 9) for letter in "ABCF"]
    return _words(draws, rows, "seat", list(draws.choice(kinds, rows)))


def brands_with_digits(draws: Draws, rows: int) -> Table:
    return _words(draws, rows, "maker", list(draws.choice(["3M", "7up", "20th Century", "5G Corp", "B2B Ltd"], rows)))


def gene_names(draws: Draws, rows: int) -> Table:
    kinds = [f"{number}p{arm}" for number in (1, 3, 7, 12, 17) for arm in (11, 13, 22)]
    return _words(draws, rows, "locus", list(draws.choice(kinds, rows)), target="level")


def _total(draws: Draws, rows: int, name: str, words: list[str], odd: str, *, lang: Language = "en") -> Table:
    table = houses(draws, rows, lang=lang)
    said = draws.choice(words, rows).astype(object)
    said[rows // 3] = odd
    table.insert(0, name, said)
    target = "价格" if lang == "zh" else "price"
    table[target] = amount(table.drop(columns=name), draws)
    return Table(table, target, (Trap("real_total_row", (name,)),), lang=lang)


def oil_company(draws: Draws, rows: int) -> Table:
    return _total(draws, rows, "company", ["Shell", "Eni", "BP", "Repsol"], "Total")


def fitness_chain(draws: Draws, rows: int) -> Table:
    return _total(draws, rows, "club", ["Gold", "Planet", "Pure"], "Total Fitness")


def album(draws: Draws, rows: int) -> Table:
    return _total(draws, rows, "band", ["Blur", "Oasis", "Pulp"], "Sum 41")


def total_store(draws: Draws, rows: int) -> Table:
    return _total(draws, rows, "店名", ["万家", "大润", "永辉"], "总和便利", lang="zh")


def total_war(draws: Draws, rows: int) -> Table:
    return _total(draws, rows, "game", ["Civ", "Anno", "Settlers", "Tropico"], "Total War")


MISSING_CODES = [
    Disguise("8888 in three columns", code_8888, 700),
    Disguise("-1 in lengths", code_minus_one, 400),
    Disguise("a million in the target", code_in_target, 300),
    Disguise("-888, Chinese", code_minus_888, 500),
    Disguise("32767 in sensors", code_int16, 1200, held_back=True),
    Disguise("6553.5 with the target", code_with_decimals, 260, held_back=True),
]
NOT_NUMBERS = [
    Disguise("tail numbers", tail_numbers, 900),
    Disguise("versions and up", android_versions, 500),
    Disguise("seats", seats, 350),
    Disguise("brands with digits", brands_with_digits, 250, held_back=True),
    Disguise("places on chromosomes", gene_names, 450, held_back=True),
]
REAL_TOTALS = [
    Disguise("an oil company", oil_company, 300),
    Disguise("a fitness chain", fitness_chain, 200),
    Disguise("a band", album, 500),
    Disguise("a shop, Chinese", total_store, 260, held_back=True),
    Disguise("a game", total_war, 150, held_back=True),
]
