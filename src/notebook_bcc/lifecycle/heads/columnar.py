"""The head of Parquet and Feather files, where this process has pyarrow; else the run's own cells look."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal

from notebook_bcc.lifecycle.heads.head import UNKNOWN, Head, clean_names

# A table of so many cells is read whole.
_FEW_CELLS: Final = 200_000


def columnar_head(path: Path, form: Literal["parquet", "feather"]) -> Head:
    """The names of the columns, as the file's own schema tells them, and the rows of a small table. A folder is one
    table in several files."""
    try:
        from pyarrow import ArrowException, dataset
    except ImportError:
        return UNKNOWN
    try:
        table = dataset.dataset(path, format=form, partitioning="hive" if path.is_dir() else None)
        names, count = table.schema.names, table.count_rows()
        small = 0 < count * len(names) <= _FEW_CELLS
        columns = [map(_text, column.to_pylist()) for column in table.to_table().columns] if small else []
        rows = tuple(zip(*columns, strict=True))
    except (OSError, ValueError, NotImplementedError, ArrowException):
        return UNKNOWN
    if not count:
        return Head(problem="has no rows of data")
    return Head(names=clean_names(names), rows=rows, whole=len(rows) == count)


def _text(value: Any) -> str:  # Any: a cell of any type
    return "" if value is None or value != value else str(value)
