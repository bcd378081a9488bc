"""What a run found, read from the variables that its integrity stage leaves, beside what is true.

The variables: `missing_codes` {column: values}, `time_column`, `time_parts` [columns], `group_column`, `leaks` and
`suspects` {column: why}, `missing_tells` {column: class}, `doubtful_columns` {column: why}, `copied_rows`,
`near_copies` and `near_copy_key`, `identifiers`, `same_columns` [[column, ...]], `dropped_columns` {column: why},
`number_texts` and `unit_numbers` {column: ...}, `total_rows`, `numeric_columns`. One that does not exist found nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.detect.tables import Table, Trap

Variables = Mapping[str, Any]  # Any: whatever the cells made


@dataclass(frozen=True)
class Verdict:
    """`missed` are traps that were not found, `alarms` findings that are not true."""

    missed: tuple[Trap, ...]
    alarms: tuple[str, ...]


def judge(table: Table, found: Variables) -> Verdict:
    missed = tuple(trap for trap in table.traps if not _is_found(trap, found))
    true = (*table.traps, *table.expected)
    alarms = tuple(
        f"{kind}: {', '.join(columns)}" for kind, columns in _findings(found) if not _explained(kind, columns, true)
    )
    return Verdict(missed, alarms)


def _is_found(trap: Trap, found: Variables) -> bool:
    columns = set(trap.columns)
    match trap.kind:
        case "missing_code":
            return all(set(trap.values) <= set(_map(found, "missing_codes").get(name, ())) for name in columns)
        case "time_order":
            return found.get("time_column") in columns or columns <= set(_list(found, "time_parts"))
        case "running_number":
            return found.get("time_column") in columns and columns <= set(_list(found, "numeric_columns"))
        case "groups":
            return found.get("group_column") in columns
        case "leak_alone":
            return columns <= {*_map(found, "leaks"), *_map(found, "suspects")}
        case "made_of_columns":
            return columns <= set(_map(found, "leaks"))
        case "missing_decides":
            return columns <= {*_map(found, "missing_tells"), *_map(found, "leaks")}
        case "known_afterwards":
            return columns <= set(_map(found, "doubtful_columns"))
        case "copies":
            return _count(found, "copied_rows") > 0
        case "near_copies":
            return _count(found, "near_copies") > 0 or found.get("group_column") in columns
        case "identifier":
            return columns <= set(_list(found, "identifiers"))
        case "same_said_twice":
            return any(columns <= set(group) for group in _list(found, "same_columns"))
        case "not_numbers":
            read = {*_map(found, "number_texts"), *_map(found, "unit_numbers"), *_list(found, "numeric_columns")}
            return not columns & read
        case "real_total_row":
            return not _list(found, "total_rows")
        case kind:
            raise ValueError(f"no rule for the trap {kind!r}")


def _findings(found: Variables) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Everything that a reader would take for a warning."""
    for name in _map(found, "missing_codes"):
        yield "missing_code", (name,)
    if found.get("time_column"):
        yield "time_order", tuple(_list(found, "time_parts")) or (str(found["time_column"]),)
    if found.get("group_column"):
        yield "groups", (str(found["group_column"]),)
    for name in {**_map(found, "leaks"), **_map(found, "suspects"), **_map(found, "missing_tells")}:
        yield "leak", (name,)
    for name in _map(found, "doubtful_columns"):
        yield "known_afterwards", (name,)
    for name in _list(found, "identifiers"):
        yield "identifier", (name,)
    if _count(found, "near_copies"):
        yield "near_copies", (str(found.get("near_copy_key", "")),)
    if _count(found, "copied_rows") and not found.get("copies_natural"):
        yield "copies", ()
    if _list(found, "total_rows"):
        yield "real_total_row", ()


_SAME = {
    "leak": {"leak_alone", "made_of_columns", "missing_decides", "known_afterwards"},
    "known_afterwards": {"known_afterwards", "leak_alone"},
    "time_order": {"time_order", "running_number"},
    # Rows that stand nearly twice under one key are a group as well, and the key of copies is an identifier.
    "groups": {"groups", "near_copies"},
    "identifier": {"identifier", "copies", "near_copies", "time_order"},
    "near_copies": {"near_copies", "copies"},
}


def _explained(kind: str, columns: tuple[str, ...], true: tuple[Trap, ...]) -> bool:
    kinds = _SAME.get(kind, {kind})
    return any(trap.kind in kinds and (set(columns) & set(trap.columns) or not columns) for trap in true)


def _map(found: Variables, name: str) -> Mapping[str, Any]:
    value = found.get(name)
    return value if isinstance(value, Mapping) else {}


def _list(found: Variables, name: str) -> list[Any]:
    value = found.get(name)
    return list(value) if isinstance(value, list | tuple) else []


def _count(found: Variables, name: str) -> int:
    value = found.get(name)
    return value if isinstance(value, int) else 0
