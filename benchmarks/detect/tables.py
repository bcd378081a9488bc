"""What a generated table is, and the plain matter that traps are put into."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from notebook_bcc.protocol.vocabulary import Language

Draws = np.random.Generator


@dataclass(frozen=True)
class Trap:
    """What is wrong with a table. `columns` are those that a finding must name, `values` what it must name in them."""

    kind: str
    columns: tuple[str, ...] = ()
    values: tuple[float, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table, the question, and the truth. Without traps it is clean.

    `expected` are findings that are right in a table without that being a trap: a date that orders the rows.
    """

    rows: pd.DataFrame
    target: str
    traps: tuple[Trap, ...] = ()
    test: pd.DataFrame | None = None
    lang: Language = "en"
    expected: tuple[Trap, ...] = ()


Maker = Callable[[Draws, int], Table]


@dataclass(frozen=True)
class Disguise:
    """One way in which a trap shows. Those held back were not looked at while detectors were written."""

    name: str
    make: Maker
    rows: int
    held_back: bool = False
    kind: str = field(default="")


HOUSES = ("area", "rooms", "age_years", "distance_km", "district", "heating")
房屋 = ("面积", "房间数", "楼龄", "距离公里", "区域", "供暖")


def houses(draws: Draws, rows: int, *, lang: Language = "en") -> pd.DataFrame:
    """Six honest columns about houses; `signal(...)` of them is what a target may rest on."""
    names = 房屋 if lang == "zh" else HOUSES
    districts = ["东城", "西城", "南山", "北苑"] if lang == "zh" else ["north", "south", "harbour", "old town"]
    heating = ["集中", "自采", "无"] if lang == "zh" else ["gas", "electric", "district"]
    return pd.DataFrame(
        {
            names[0]: draws.normal(95, 25, rows).clip(25, 240).round(1),
            names[1]: draws.integers(1, 7, rows),
            names[2]: draws.gamma(2.0, 14.0, rows).clip(0, 110).round(0),
            names[3]: draws.gamma(2.2, 2.4, rows).clip(0.1, 30).round(2),
            names[4]: draws.choice(districts, rows, p=[0.4, 0.3, 0.2, 0.1]),
            names[5]: draws.choice(heating, rows),
        }
    )


def signal(table: pd.DataFrame) -> np.ndarray:
    """What the columns of `houses` say about a target, with mean 0 and spread about 1."""
    area, rooms, age, distance, district = (table.iloc[:, at] for at in range(5))
    rank = pd.Series(pd.factorize(district, sort=True)[0], index=table.index)
    said = 0.02 * (area - 95) + 0.15 * (rooms - 3.5) - 0.01 * (age - 28) - 0.08 * (distance - 5) + 0.2 * (rank - 1)
    return np.asarray(said, dtype=float)


def amount(table: pd.DataFrame, draws: Draws, *, noise: float = 0.6) -> np.ndarray:
    """A number that the columns explain in part."""
    return (300 + 60 * (signal(table) + draws.normal(0, noise, len(table)))).round(1)


def yes_no(
    table: pd.DataFrame, draws: Draws, *, share: float = 0.35, words: tuple[str, str] = ("no", "yes")
) -> np.ndarray:
    """Two classes that the columns explain in part; `share` of the rows are of the second."""
    score = signal(table) + draws.logistic(0, 0.5, len(table))
    return np.where(score > np.quantile(score, 1 - share), words[1], words[0])


def some(draws: Draws, rows: int, share: float) -> np.ndarray:
    """A random choice of rows, at least six of them."""
    wanted = max(6, round(share * rows))
    chosen = np.zeros(rows, dtype=bool)
    chosen[draws.choice(rows, wanted, replace=False)] = True
    return chosen


def shuffled(table: pd.DataFrame, draws: Draws) -> pd.DataFrame:
    return table.iloc[draws.permutation(len(table))].reset_index(drop=True)


def drift(rows: int, draws: Draws, *, size: float = 80.0) -> np.ndarray:
    """A level that wanders: rows picked by chance would flatter every model."""
    return np.asarray(size * np.cumsum(draws.normal(0, 1, rows)) / np.sqrt(rows))
