"""What lets a planner that judges by evidence be judged: a kernel that computes, and a table to work on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from notebook_bcc.kernel.interface import Kernel

_TABLE = "bike_hours.csv"
_ROWS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """`variables` are those that the run is started with. The kernel stays its maker's to close."""

    kernel: Kernel
    variables: Mapping[str, Any] = field(default_factory=dict)  # Any: JSON


def bundled_table(folder: Path) -> dict[str, Any]:
    """Put a small table into the folder where the kernel works; the starting variables that name it.

    Once as our playbooks read it, once in the words of the protocol's first document.
    """
    with as_file(files("notebook_bcc") / "playbooks" / "demo" / _TABLE) as bundled, bundled.open() as whole:
        (folder / _TABLE).write_text("".join(line for _, line in zip(range(_ROWS + 1), whole, strict=False)))
    return {"inputs": {"data": _TABLE}, "csv_file_path": _TABLE}
