"""What is known of a table before the run reads it, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# So much of a file is looked at. A smaller one is seen whole.
HEAD_BYTES = 1_000_000
_MOSTLY = 0.8


@dataclass(frozen=True, slots=True)
class Head:
    """The names of a table's columns and its first rows. `names` is None where only the run itself can tell them.

    `whole`: these are all the rows. `ascii_only`: the encoding is not certain, so only names in ASCII can be compared.
    `parts` are the sheets or tables of the file, None where it has none or they cannot be told.
    """

    names: tuple[str, ...] | None = None
    rows: tuple[tuple[str, ...], ...] = ()
    whole: bool = False
    ascii_only: bool = False
    parts: tuple[str, ...] | None = None
    problem: str = ""

    def values(self, name: str) -> set[str] | None:
        """All the values of a column, None where not all of its rows are known."""
        if not self.whole or self.names is None or name not in self.names:
            return None
        return set(self.first_values(name))

    def first_values(self, name: str) -> list[str]:
        """The values of a column in the rows that are known, empty ones left out."""
        if self.names is None or name not in self.names:
            return []
        at = self.names.index(name)
        return [value for row in self.rows if at < len(row) and (value := row[at].strip())]


UNKNOWN = Head()


def headed(rows: Sequence[Sequence[str]], *, whole: bool, ascii_only: bool = False) -> Head:
    """The head of a table whose first row is certain to hold its names; else UNKNOWN."""
    if len(rows) < 2 or not _is_header(rows[0], rows[1:]):
        return UNKNOWN
    body = tuple(tuple(row) for row in rows[1:])
    return Head(names=clean_names(rows[0]), rows=body, whole=whole, ascii_only=ascii_only)


def clean_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names as the playbook's cells write them: an empty one becomes its position, a repeated one gets a number."""
    cleaned: dict[str, None] = {}
    copies: dict[str, int] = {}
    for position, each in enumerate(names, 1):
        name = unique = " ".join(each.replace("\ufeff", "").split()) or f"column_{position}"
        while unique in cleaned:
            copies[name] = copies.get(name, 1) + 1
            unique = f"{name}_{copies[name]}"
        cleaned[unique] = None
    return tuple(cleaned)


def _is_header(first: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    filled = [sum(bool(cell.strip()) for cell in row) for row in (first, *body)]
    if first[0].startswith(("#", "%", "//")) or filled[0] <= max(filled) / 2 or any(map(_is_number, first)):
        return False
    columns = [[row[at].strip() for row in body if at < len(row)] for at in range(len(first))]
    if any(_is_numeric(cells) for cells in columns):
        return True
    return not any(name.strip() in cells for name, cells in zip(first, columns, strict=True))


def _is_numeric(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell]
    return bool(filled) and sum(map(_is_number, filled)) >= _MOSTLY * len(filled)


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True
