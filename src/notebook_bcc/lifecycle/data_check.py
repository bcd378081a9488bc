"""Wrong input is refused before anything exists: what was said about the data against what the files show.

Only what is certain is refused. What a look at the beginning of a file cannot tell, the run's own cells find out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from notebook_bcc.errors import RunRefused
from notebook_bcc.lifecycle.data_files import FORMATS, SCRIPTS, DataSpec, parquet_files
from notebook_bcc.lifecycle.heads.head import Head
from notebook_bcc.lifecycle.heads.moments import looks_like_dates, may_hold_moments
from notebook_bcc.lifecycle.heads.reading import read_head
from notebook_bcc.playbook.goals.tasks import TaskWords

_ADDRESS: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]+):/+(.*)", re.DOTALL)
_NAMES_SHOWN: Final = 12
_MEANT_SHOWN: Final = 3
_SHOWN: Final = 30


def check_place(path: Path) -> None:
    """Raises RunRefused unless there is a file here that can be read, or a folder of Parquet files."""
    address = _ADDRESS.fullmatch(str(path))
    if address is not None and not path.exists():
        # A path loses the second slash.
        url = f"{address[1]}://{address[2]}"
        if address[1].lower() in ("http", "https", "ftp"):
            raise RunRefused(
                f"{url!r} is an address, and nbcc reads files of this machine; download it first: curl -LO {url}"
            )
        raise RunRefused(f"{url!r} is an address, and nbcc reads files of this machine; download it first")
    if not path.exists():
        raise RunRefused(
            f"data file {str(path)!r} does not exist{_hint(path.name, _files_beside(path), there='Data files there')}"
        )
    if path.is_dir():
        if not parquet_files(path):
            raise RunRefused(f"{str(path)!r} is a folder without Parquet files; give one file{_files_inside(path)}")
    elif not path.is_file():
        raise RunRefused(f"{str(path)!r} is no regular file; save the data as a file first")
    elif not os.access(path, os.R_OK):
        raise RunRefused(f"data file {str(path)!r} cannot be read: you have no permission to")


def check_data(spec: DataSpec) -> None:
    """Raises RunRefused where the files show that something which was said about them is wrong."""
    head = _readable(spec.data, read_head(spec.data, sheet=spec.sheet, table=spec.table), spec)
    for target in spec.targets:
        column = _check_column("--target", target, head, spec.data, exactly=False)
        _check_varies(column, head, spec.data)
    for column in spec.keep:
        _check_column("--keep", column, head, spec.data, exactly=True)
    if spec.time:
        _check_moments(_check_column("--time", spec.time, head, spec.data, exactly=True), head, spec.data)
    if spec.group:
        _check_repeats(_check_column("--group", spec.group, head, spec.data, exactly=True), head, spec.data)
    if spec.test is not None:
        _check_test(spec.test, head, spec)


def check_task(tasks: Sequence[TaskWords], spec: DataSpec) -> None:
    """Raises RunRefused unless the playbook knows the task that was asked for, and is told what that is about."""
    if not spec.task:
        return
    task = next((one for one in tasks if one.name == spec.task), None)
    if task is None:
        names = [one.name for one in tasks]
        known = f"; the playbook has {', '.join(names)}" if names else "; the playbook has no tasks"
        raise RunRefused(f"--task {spec.task!r} is not known{known}")
    if task.asks and not spec.goal:
        raise RunRefused(f"--task {spec.task} answers a question: give it with --goal")
    if task.about and not (spec.targets or spec.goal):
        raise RunRefused(f"--task {spec.task} is about a column: name it with --target")


def _readable(path: Path, head: Head, spec: DataSpec) -> Head:
    for option, part in (("--sheet", spec.sheet), ("--table", spec.table)):
        if path == spec.data and part and head.parts is not None and part not in head.parts:
            if option == "--sheet":
                raise RunRefused(f"{option} {part!r}: {path.name!r} has no such sheet{_hint(part, head.parts)}")
            raise RunRefused(f"{option} {part!r}: {path.name!r} has no such table{_hint(part, head.parts)}")
    if head.problem:
        raise RunRefused(f"{str(path)!r} {head.problem}: there is nothing to analyse")
    return head


def _check_column(option: str, wanted: str, head: Head, path: Path, *, exactly: bool) -> str:
    """The column that is meant, or an empty text where that cannot be told yet."""
    if head.names is None or (head.ascii_only and not wanted.isascii()):
        return ""
    sought = " ".join(wanted.split())
    if sought in head.names:
        return sought
    if exactly and any(sought.startswith(f"{name}_") and sought != f"{name}_" for name in head.names):
        return ""  # a part of that column, which the run makes
    # A target may be written in other letters, as long as it is clear: so the playbook's cells read it.
    meant = [name for name in head.names if name.casefold() == sought.casefold()]
    meant = meant or [name for name in head.names if _joined(name) == _joined(sought) != ""]
    if len(meant) == 1 and not exactly:
        return meant[0]
    if len(meant) > 1 and not exactly:
        raise RunRefused(f"{option} {wanted!r} may mean {_listed(meant)} of {path.name!r}; give the exact name")
    raise RunRefused(f"{option} {wanted!r}: {path.name!r} has no such column{_hint(sought, head.names)}")


def _check_varies(column: str, head: Head, path: Path) -> None:
    values = head.values(column)
    if values is not None and len(values) < 2:
        state = f"has no value but {next(iter(values))!r}" if values else "has no values"
        raise RunRefused(f"--target {column!r}: the column {state} in {path.name!r}, so there is nothing to predict")


def _check_moments(column: str, head: Head, path: Path) -> None:
    values = head.first_values(column)
    if not values or may_hold_moments(values):
        return
    others = [name for name in head.names or () if looks_like_dates(head.first_values(name))]
    meant = f"; dates stand in {_listed(others)}" if others else ""
    raise RunRefused(
        f"--time {column!r}: the column of {path.name!r} holds texts such as {values[0][:_SHOWN]!r}, no dates and no "
        f"numbers, and orders no rows in time{meant}"
    )


def _check_repeats(column: str, head: Head, path: Path) -> None:
    values = head.values(column)
    if values is None or 1 < len(values) < len(head.first_values(column)):
        return
    state = "has a value of its own in each row" if len(values) > 1 else "is the same in each row"
    others = [name for name in head.names or () if _may_group(name, head)]
    meant = f"; values repeat in {_listed(others)}" if others else ""
    raise RunRefused(f"--group {column!r}: the column {state} of {path.name!r}, so it puts no rows together{meant}")


def _may_group(name: str, head: Head) -> bool:
    """Whether a column may name what rows share: its values repeat, and there are several."""
    values = head.values(name) or ()
    return 1 < len(values) <= len(head.first_values(name)) / 2


def _joined(name: str) -> str:
    """A name without what stands between its words: `sale_price`, `Sale Price` and `SalePrice` are the same."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _check_test(path: Path, data: Head, spec: DataSpec) -> None:
    head = _readable(path, read_head(path), spec)
    if not (_is_certain(head) and _is_certain(data)) or head.names is None or data.names is None:
        return
    features = [name for name in data.names if name not in spec.targets]
    if features and not set(features) & set(head.names):
        raise RunRefused(
            f"--test {str(path)!r} has none of the columns of {spec.data.name!r}: it has {_listed(head.names)}, and a "
            f"model would need {_listed(features)}"
        )


def _is_certain(head: Head) -> bool:
    """Whether its names are read as they are meant: in an unclear encoding only those of plain letters are."""
    return head.names is not None and (not head.ascii_only or all(name.isascii() for name in head.names))


def _hint(wanted: str, names: Iterable[str], *, there: str = "It has") -> str:
    """What may have been meant, and what there is."""
    known = list(names)
    lower = {name.casefold(): name for name in reversed(known)}
    sought = wanted.casefold()
    # Who has begun a name means that one, however much of it is missing.
    begun = [name for name in known if sought and name.casefold().startswith(sought)][:_MEANT_SHOWN]
    close = begun or [lower[one] for one in get_close_matches(sought, lower, _MEANT_SHOWN)]
    meant = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
    return f"{meant or '.'} {there}: {_listed(known)}" if known else meant


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(map(repr, names[:_NAMES_SHOWN])) + more


def _files_beside(path: Path) -> list[str]:
    folder = path.parent
    return _data_files(folder) if folder.is_dir() else []


def _files_inside(path: Path) -> str:
    found = _data_files(path)
    return f" of it, such as {str(path / found[0])!r}" if found else ""


def _data_files(folder: Path) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    known = {*FORMATS, *SCRIPTS, ".gz", ".zip", ".bz2", ".xz"}
    return [name for name in names if Path(name).suffix.lower() in known and not name.startswith(".")]
