from __future__ import annotations

from pathlib import Path

import pytest

from lifecycle.places import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(root=tmp_path / "runs")
