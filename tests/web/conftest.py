from __future__ import annotations

from pathlib import Path

import pytest

from lifecycle.places import Place
from web.living import CHANGES


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(root=tmp_path / "runs", script=CHANGES)
