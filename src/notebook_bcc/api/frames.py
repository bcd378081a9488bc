"""Tables that a caller holds in memory: written to a file that a run can load, and predictions read back as one."""

from __future__ import annotations

import hashlib
import io
import re
from pathlib import Path
from typing import Any, Final

from notebook_bcc.errors import RunRefused

_SUFFIXES: Final = {
    "parquet": ".parquet",
    "csv": ".csv",
    "feather": ".feather",
    "json": ".json",
    "jsonl": ".jsonl",
    "excel": ".xlsx",
}
_NOT_IN_NAMES = re.compile(r"[^\w.-]+")


def is_frame(data: Any) -> bool:  # Any: whatever a caller gave
    """Whether this is a table in memory, by what it can do: pandas and polars are not imported for the question."""
    return hasattr(data, "to_parquet") or hasattr(data, "write_parquet")


def write_frame(frame: Any, folder: Path, *, name: str, form: str = "parquet", sheet: str = "") -> Path:
    """Keep the table in a file of this folder: as Parquet, whose types stay as they are, or in another form that runs
    begin with. Raises RunRefused.

    An index that has a name is a column; one without counts rows, and is left out.
    """
    # `frame` is Any: a DataFrame of a library that we need not have.
    path = folder / f"{_NOT_IN_NAMES.sub('-', name).strip('-.') or 'frame'}{_SUFFIXES.get(form, '')}"
    table = _pandas(frame)
    try:
        match form:
            case "parquet":
                table.to_parquet(path, index=False)
            case "csv":
                table.to_csv(path, index=False)
            case "feather":
                table.to_feather(path)
            case "json" | "jsonl":
                table.to_json(path, orient="records", lines=form == "jsonl", date_format="iso", force_ascii=False)
            case "excel":
                table.to_excel(path, index=False, sheet_name=sheet or "Sheet1")
            case _:
                raise RunRefused(f"a DataFrame cannot be written as {form}, which this run reads; give a file")
    except ImportError as error:
        raise RunRefused(f"keeping a DataFrame in a file needs a package more: {error}") from error
    except (TypeError, ValueError, OverflowError, NotImplementedError, OSError) as error:
        reason = " ".join(str(part) for part in error.args)
        what = f"the DataFrame cannot be kept as {form.capitalize()}"
        raise RunRefused(f"{what}{_culprit(table)}: {reason}") from error
    return path


def _culprit(table: Any) -> str:  # Any: a DataFrame
    """Which column it is that no file can hold, as part of a sentence; empty where each of them can be."""
    for name in table.columns:
        try:
            table[[name]].to_parquet(io.BytesIO(), index=False)
        except (TypeError, ValueError, OverflowError, NotImplementedError):
            kind = str(table[name].dtype).split(",")[0]
            return f" because of column {name!r} ({kind}); convert it first, as with .astype(str)"
    return ""


def digest_of(frame: Any) -> str:  # Any: a DataFrame
    """The same for the same table, whichever version of a library would write it."""
    # Here and not at the top: whoever gives files needs no pandas.
    import pandas

    table = _pandas(frame)
    found = hashlib.sha256("\0".join(map(str, table.columns)).encode())
    for number in range(table.shape[1]):
        column = table.iloc[:, number]
        try:
            found.update(pandas.util.hash_pandas_object(column, index=False).to_numpy().tobytes())
        except TypeError:
            # Lists and the like have no hash of their own.
            found.update(pandas.util.hash_pandas_object(column.astype(str), index=False).to_numpy().tobytes())
    return f"sha256:{found.hexdigest()}"


def read_frame(content: bytes) -> Any:  # Any: a DataFrame
    """The table of a CSV text. Raises RunRefused without pandas."""
    try:
        import pandas
    except ImportError as error:
        raise RunRefused(
            f"predictions are given as a DataFrame, which needs pandas: pip install pandas ({error})"
        ) from error
    return pandas.read_csv(io.BytesIO(content))


def _pandas(frame: Any) -> Any:  # Any: a DataFrame
    """As a DataFrame of pandas whose columns have texts for names."""
    table = frame if hasattr(frame, "to_parquet") else frame.to_pandas()
    if any(name is not None for name in table.index.names):
        table = table.reset_index()
    names = [" ".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in table.columns]
    if len(set(names)) != len(names):
        twice = next(one for one in names if names.count(one) > 1)
        raise RunRefused(f"the DataFrame has two columns called {twice!r}; rename one of them")
    table = table.set_axis(names, axis=1)
    # Attributes may hold anything, and are no part of the table.
    table.attrs = {}
    return table
