"""The sizes of requests by part: they add up, and the page says what the program prints."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.exchange import PARTS, REST, parts_of, table_of

PAGE = Path(__file__).parents[2] / "docs" / "payloads.md"
BODY = json.dumps(
    {
        "observation": {
            "location": {"current": {"stage_id": "s"}, "progress": {"stages": {"current": "s"}}, "goals": {}},
            "context": {"variables": {"名": [1, 2]}, "effects": {"current": ["x"]}},
        },
        "options": {"request_id": "1"},
    },
    ensure_ascii=False,
    separators=(",", ":"),
).encode()


def test_the_parts_of_a_request_add_up_to_the_whole() -> None:
    parts = parts_of(BODY)
    assert sum(parts.values()) == len(BODY)
    assert parts["context.variables"] == len('{"名":[1,2]}'.encode())
    assert parts["effects.history"] == 0
    assert parts["behavior_feedback"] == 0


def test_the_table_has_a_row_for_each_part_and_a_column_for_each_endpoint() -> None:
    table = table_of([("/planning", BODY), ("/generating", BODY), ("/planning", BODY)])
    lines = table.splitlines()
    assert lines[0] == "| bytes, mean | /planning | /generating |"
    assert len(lines) == 2 + len(PARTS) + 1 + 4
    assert f"| **whole** | **{len(BODY)}** | **{len(BODY)}** |" in lines
    assert "| requests | 2 | 1 |" in lines


def test_the_page_has_every_part_and_its_columns_add_up() -> None:
    rows: dict[str, list[int]] = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip(" *`") for cell in line.strip("|").split("|")]
        if len(cells) == 4 and cells[1].replace(",", "").isdigit():
            rows[cells[0]] = [int(cell.replace(",", "")) for cell in cells[1:]]
    named = [".".join(path[-2:]) for path in PARTS] + [REST]
    assert list(rows) == [*named, "whole", "median", "largest"]
    for column, whole in enumerate(rows["whole"]):
        # Each mean is rounded by itself.
        assert abs(sum(rows[name][column] for name in named) - whole) <= len(named)
    assert rows["whole"][1] <= 16 * 1024
    assert rows["whole"][2] <= 5 * 1024
