"""Plain JSON values: what every journal, wire and notebook can hold."""

from __future__ import annotations

import math
from typing import Any

import orjson


def canonical_bytes(value: Any) -> bytes | None:
    """The value as JSON with sorted keys, the same for equal values; None if it is not plain JSON."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError, RecursionError):
        return None


def plain(value: Any, *, depth: int = 100) -> Any:
    """The value made of plain JSON: lone surrogates replaced, NaN and infinities as text, the rest by its repr."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode() if not value.isascii() else value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth <= 0:
        return "..."
    if isinstance(value, dict):
        return {str(plain(str(key))): plain(one, depth=depth - 1) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one, depth=depth - 1) for one in value]
    return plain(repr(value)[:1000])
