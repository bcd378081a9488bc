"""Reads the files of Chinese texts that lie beside this module."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml


@cache
def read_texts(name: str) -> Mapping[str, Any]:  # Any: as the file has it; tests compare it with the command line
    """All texts of the file."""
    texts: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    return texts
