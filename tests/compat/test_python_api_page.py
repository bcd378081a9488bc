"""The page about the Python API: its blocks run, one after the other, and it names every name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from api.test_front_door import NAMES, PROMISED

PAGE = Path(__file__).parents[2] / "docs" / "python-api.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_every_block_of_the_page_runs(capsys: pytest.CaptureFixture[str], untouched_settings: Path) -> None:
    names: dict[str, Any] = {"__name__": "page"}
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))
    assert len(blocks) >= 7
    for block in blocks:
        # Blank lines before it: an error names the line of the page.
        before = "\n" * TEXT[: block.start(1)].count("\n")
        exec(compile(before + block[1], str(PAGE), "exec"), names)
    said = capsys.readouterr().out
    assert "Current State: step_running" in said
    assert "completed: 5 actions, 2 code cells" in said
    assert (untouched_settings / "prices.ipynb").stat().st_size


def test_every_name_of_the_front_door_is_on_the_page() -> None:
    named = {*NAMES, *PROMISED} - {"load_ipython_extension"}
    assert [name for name in sorted(named) if f"`{name}`" not in TEXT] == []
