"""The table made readable: Mermaid for documents, Markdown for the protocol page, aligned text for a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from notebook_bcc.fsm.table import ROWS, TABLE, Group, Row
from notebook_bcc.protocol.vocabulary import State

_BLOCK: Final = re.compile(r"(<!-- fsm:(\w+) -->\n)(?:(?!<!-- fsm:).)*?(<!-- /fsm:\2 -->)", re.DOTALL)


def mermaid(group: Group | None = None) -> str:
    """A `stateDiagram-v2` of the whole table, or of one group: one arrow a row, in the table's order."""
    rows = _rows(group)
    start = ["    [*] --> idle"] if any(row.state is State.IDLE for row in rows) else []
    arrows = [f"    {row.state} --> {row.next_state} : {row.event}" for row in rows]
    return "\n".join(["stateDiagram-v2", *start, *arrows])


def text_table(group: Group | None = None) -> str:
    """The rows as columns of plain text, under a heading a group."""
    groups = [group] if group is not None else list(Group)
    widths = [max(len(line[column]) for line in map(_cells, ROWS)) for column in range(4)]
    blocks = ["\n".join([each.value, *(_aligned(_cells(row), widths) for row in TABLE[each])]) for each in groups]
    return "\n\n".join(blocks)


def markdown_tables() -> str:
    """The four tables as the protocol page shows them."""
    return "\n\n".join(_markdown_table(group) for group in Group)


def fill_document(document: str) -> str:
    """The protocol page with everything between its `fsm:` markers made anew; the rest is untouched."""
    return _BLOCK.sub(lambda found: f"{found[1]}{_GENERATED[found[2]]()}\n{found[3]}", document)


def _rows(group: Group | None) -> tuple[Row, ...]:
    return ROWS if group is None else TABLE[group]


def _cells(row: Row) -> tuple[str, str, str, str, str]:
    return row.state.value, row.event.value, row.next_state.value, row.owner.value, row.endpoint_or_note


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=False)]
    return "  ".join(["", *padded, cells[-1]]).rstrip()


def _markdown_table(group: Group) -> str:
    last = "Endpoint" if group is Group.CORE else "Why"
    lines = [f"| State | Event | Next state | Owner | {last} |", "| --- | --- | --- | --- | --- |"]
    for state, event, following, owner, remark in map(_cells, TABLE[group]):
        shown = f"`{remark}`" if group is Group.CORE and remark else remark or "-"
        lines.append(f"| `{state}` | `{event}` | `{following}` | {owner} | {shown} |")
    return "\n".join([f"### {_title(group)}", "", *lines])


def _markdown_diagrams() -> str:
    return "\n\n".join(f"### {_title(group)}, drawn\n\n```mermaid\n{mermaid(group)}\n```" for group in Group)


def _title(group: Group) -> str:
    return f"{group.value.capitalize()} ({len(TABLE[group])} rows)"


_GENERATED: Final[Mapping[str, Callable[[], str]]] = MappingProxyType(
    {"table": markdown_tables, "diagram": _markdown_diagrams}
)
