"""The head of Parquet and Feather files, where this process has pyarrow; else the run's own cells look."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from notebook_bcc.lifecycle.heads.head import UNKNOWN, Head, clean_names


def columnar_head(path: Path, form: Literal["parquet", "feather"]) -> Head:
    """The names of the columns, as the file's own schema tells them. A folder is one table in several files."""
    try:
        from pyarrow import ArrowException, dataset
    except ImportError:
        return UNKNOWN
    try:
        table = dataset.dataset(path, format=form, partitioning="hive" if path.is_dir() else None)
        names, rows = table.schema.names, table.count_rows()
    except (OSError, ValueError, NotImplementedError, ArrowException):
        return UNKNOWN
    return Head(names=clean_names(names)) if rows else Head(problem="has no rows of data")
