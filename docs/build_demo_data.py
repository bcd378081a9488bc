"""Write the data of the demo anew: hourly rentals of a bike-share scheme that does not exist.

Run from anywhere: python docs/build_demo_data.py. The seed is fixed, the table always the same. It is generated, and
the demo's notebook says so; the faults a real table would have (gaps, impossible values, untidy labels, repeated rows)
are put in on purpose.
"""

from __future__ import annotations

import csv
import io
import math
import random
from datetime import datetime, timedelta
from pathlib import Path

PAGE = Path(__file__).parents[1] / "src" / "notebook_bcc" / "playbooks" / "demo" / "bike_hours.csv"
SEED = 3
FIRST = datetime(2024, 9, 2)
HOURS = 24 * 24
COLUMNS = ["time", "temperature_c", "humidity_pct", "wind_kmh", "weather", "event", "rentals"]

# Mean rentals an hour in mild, dry weather: commuters on working days, outings at the weekend.
WORKING = [4, 2, 1, 1, 3, 14, 48, 110, 152, 84, 52, 56, 70, 66, 58, 70, 112, 168, 138, 86, 54, 36, 22, 11]
WEEKEND = [14, 9, 6, 3, 2, 4, 10, 22, 42, 68, 92, 112, 124, 130, 132, 126, 114, 98, 78, 58, 42, 32, 26, 20]
# Commuters ride in any weather; outings are put off.
ON_COMMUTES = {"clear": 1.0, "cloudy": 0.97, "rain": 0.72, "brouillard": 0.92}
ON_OUTINGS = {"clear": 1.08, "cloudy": 0.93, "rain": 0.36, "brouillard": 0.78}
EVENTS = {"2024-09-14": "Fête du lac", "2024-09-15": "Fête du lac", "2024-09-17": "中秋节"}


def main() -> None:
    """Replace the table."""
    PAGE.write_bytes(table())


def table() -> bytes:
    """The table as CSV."""
    chance = random.Random(SEED)
    rows = spoiled(hours(chance), chance)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([row[name] for name in COLUMNS] for row in rows)
    return text.getvalue().encode()


def hours(chance: random.Random) -> list[dict[str, str]]:
    """The hours as they would have been measured by perfect instruments."""
    rows: list[dict[str, str]] = []
    weather, front, wind = "clear", 0.0, 9.0
    for number in range(HOURS):
        now = FIRST + timedelta(hours=number)
        front = 0.98 * front + chance.gauss(0, 0.45)
        wind = max(0.0, 0.9 * wind + 0.95 + chance.gauss(0, 1.8))
        if number % 3 == 0:
            weather = next_weather(weather, now.hour, chance)
        wet = weather in ("rain", "brouillard")
        temperature = 17.5 + 5.5 * math.sin((now.hour - 9) / 24 * math.tau) - 0.06 * number / 24 + front - 2.0 * wet
        humidity = min(99.0, max(28.0, 88 - 1.9 * (temperature - 8) + 16 * wet + chance.gauss(0, 4)))
        event = EVENTS.get(f"{now:%Y-%m-%d}", "none")
        expected = demand(now, temperature, wind, weather, event)
        rentals = max(0, round(chance.gauss(expected, 1.1 * math.sqrt(expected + 1))))
        row = [f"{now:%Y-%m-%d %H:%M}", f"{temperature:.1f}", f"{humidity:.0f}", f"{wind:.1f}", weather, event]
        rows.append(dict(zip(COLUMNS, [*row, str(rentals)], strict=True)))
    return rows


def next_weather(weather: str, hour: int, chance: random.Random) -> str:
    """Weather lasts; fog comes in the early morning only."""
    if weather == "brouillard" or chance.random() < 0.3:
        return "brouillard" if hour in (3, 6) and chance.random() < 0.6 else chance.choice(("clear", "cloudy", "rain"))
    return weather


def demand(now: datetime, temperature: float, wind: float, weather: str, event: str) -> float:
    """The mean number of rentals in an hour like this."""
    outing = now.weekday() >= 5 or event == "Fête du lac"
    mean = (WEEKEND if outing else WORKING)[now.hour] * (ON_OUTINGS if outing else ON_COMMUTES)[weather]
    mean *= 1 + (0.045 if outing else 0.018) * (temperature - 16) - 0.006 * max(0.0, wind - 15)
    if event == "Fête du lac" and 11 <= now.hour <= 23:
        mean *= 1.3
    if event == "中秋节" and now.hour >= 18:
        mean *= 1.5
    return max(0.5, mean)


def spoiled(rows: list[dict[str, str]], chance: random.Random) -> list[dict[str, str]]:
    """The faults, some at random and some at fixed places so that the text can rely on their kinds."""
    for row in rows:
        if chance.random() < 0.025:
            row["temperature_c"] = ""
        if chance.random() < 0.02:
            row["weather"] = ""
        elif chance.random() < 0.05:
            row["weather"] = chance.choice((str.upper, str.title, "{} ".format))(row["weather"])
    for number in range(200, 207):
        rows[number]["wind_kmh"] = ""
    for number in (131, 398):
        rows[number]["temperature_c"] = "-99.0"
    for number in (83, 257, 352):
        rows[number]["rentals"] = "9999"
    for number in (45, 46, 310, 471):
        rows[number]["rentals"] = ""
    return [*rows[:120], rows[119], *rows[120:400], rows[399], *rows[400:]]


if __name__ == "__main__":
    main()
