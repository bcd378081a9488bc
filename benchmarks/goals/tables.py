"""The tables that goals are asked of. Their rows are plain mappings, so that a truth needs no library of tables."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

Row = dict[str, str]
ROWS = 360


@dataclass(frozen=True)
class GoalTableFile:
    """A generated table: the name of its file, and its rows as they are written into it."""

    name: str
    rows: Sequence[Row]

    def write(self, folder: Path) -> Path:
        path = folder / self.name
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(self.rows[0]))
            writer.writeheader()
            writer.writerows(self.rows)
        return path


def shop(seed: int) -> GoalTableFile:
    """Customers of a shop: leaving depends on the contract and on the bill, and on nothing else."""
    chance = random.Random(f"shop {seed}")
    return GoalTableFile("customers.csv", [_customer(chance, at) for at in range(ROWS)])


def _customer(chance: random.Random, at: int) -> Row:
    contract = chance.choice(["monthly", "yearly"])
    bill = round(chance.uniform(20, 120), 2)
    leaves = chance.random() < (0.75 if contract == "monthly" else 0.08) * (0.5 + bill / 140)
    return {
        "customer_id": str(1000 + at),
        "region": chance.choice(["North", "South", "East", "West"]),
        "gender": chance.choice(["female", "male"]),
        "age": str(chance.randint(18, 80)) if at % 23 else "",
        "contract": contract,
        "monthly_bill": f"{bill:.2f}",
        "support_calls": str(chance.randint(0, 12)),
        "Churn": "Yes" if leaves else "No",
    }


def homes(seed: int) -> GoalTableFile:
    """Homes in Chinese: the price depends on area and district, not on the floor."""
    chance = random.Random(f"homes {seed}")
    return GoalTableFile("房屋.csv", [_home(chance) for _ in range(ROWS)])


def _home(chance: random.Random) -> Row:
    area, district = chance.randint(40, 180), chance.choice(["城东", "城西", "城南"])
    price = 2.1 * area + {"城东": 120, "城西": 20, "城南": 0}[district] + chance.gauss(0, 15)
    return {
        "区域": district,
        "面积": str(area),
        "楼层": str(chance.randint(1, 30)),
        "电梯": chance.choice(["是", "否"]),
        "朝向": chance.choice(["南", "北", "东"]),
        "价格": f"{price:.1f}",
    }


def messy(seed: int) -> GoalTableFile:
    """Readings with an empty, a constant, an uneven and a copied column, and rows that stand twice."""
    chance = random.Random(f"messy {seed}")
    rows = [_reading(chance, at) for at in range(ROWS)]
    return GoalTableFile("readings.csv", rows + rows[:7])


def _reading(chance: random.Random, at: int) -> Row:
    level = chance.gauss(50, 10)
    return {
        "sensor": chance.choice(["a", "b", "c"]),
        "level": f"{level:.2f}",
        "level_mm": f"{level * 10:.1f}",
        "note": "",
        "site": "harbour",
        "alarm": "yes" if chance.random() < 0.03 else "no",
        "rain": "0" if chance.random() < 0.6 else f"{chance.uniform(0.5, 20):.2f}",
        "wind": f"{chance.uniform(0, 20):.1f}" if chance.random() > 0.2 else "",
    }


TABLES: dict[str, Callable[[int], GoalTableFile]] = {"shop": shop, "homes": homes, "messy": messy}
