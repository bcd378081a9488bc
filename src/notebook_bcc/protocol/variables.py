"""A variable of an observation whose value is left out: its kind and its size, as kernels tell of what is too large."""

from __future__ import annotations

from typing import Any


def summary_of(value: Any) -> str:  # Any: JSON
    """`list(79)`, `dict(12)`, `str(5000)`; of anything else its kind alone."""
    kind = type(value).__name__
    return f"{kind}({len(value)})" if isinstance(value, list | tuple | dict | str) else kind
