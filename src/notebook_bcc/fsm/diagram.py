"""The table made readable: Mermaid for documents, Markdown for the protocol page, aligned text for a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from notebook_bcc.fsm.table import ROWS, TABLE, Group, Row
from notebook_bcc.protocol.vocabulary import State

_BLOCK: Final = re.compile(r"(<!-- fsm:(\w+) -->\n)(?:(?!<!-- fsm:).)*?(<!-- /fsm:\2 -->)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PageWords:
    """What a protocol page says around the names of the table. The default is English, the language of the table.

    `translations` has every group, owner and note of the table in the page's language; a missing one is a KeyError.
    Empty: they stay as they are. A translated heading keeps the anchor of the English one.
    """

    columns: tuple[str, str, str, str] = ("State", "Event", "Next state", "Owner")
    endpoint: str = "Endpoint"
    why: str = "Why"
    title: str = "{group} ({count} rows)"
    drawn: str = "{title}, drawn"
    translations: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, text: str) -> str:
        return self.translations[text] if self.translations and text else text


_ENGLISH: Final = PageWords()


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


def markdown_tables(words: PageWords = _ENGLISH) -> str:
    """The four tables as the protocol page shows them."""
    return "\n\n".join(_markdown_table(group, words) for group in Group)


def fill_document(document: str, words: PageWords = _ENGLISH) -> str:
    """The protocol page with everything between its `fsm:` markers made anew; the rest is untouched."""
    return _BLOCK.sub(lambda found: f"{found[1]}{_GENERATED[found[2]](words)}\n{found[3]}", document)


def _rows(group: Group | None) -> tuple[Row, ...]:
    return ROWS if group is None else TABLE[group]


def _cells(row: Row) -> tuple[str, str, str, str, str]:
    return row.state.value, row.event.value, row.next_state.value, row.owner.value, row.endpoint_or_note


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=False)]
    return "  ".join(["", *padded, cells[-1]]).rstrip()


def _markdown_table(group: Group, words: PageWords) -> str:
    columns = (*words.columns, words.endpoint if group is Group.CORE else words.why)
    lines = [f"| {' | '.join(columns)} |", "| --- | --- | --- | --- | --- |"]
    for state, event, following, owner, remark in map(_cells, TABLE[group]):
        shown = f"`{remark}`" if group is Group.CORE and remark else words(remark) or "-"
        lines.append(f"| `{state}` | `{event}` | `{following}` | {words(owner)} | {shown} |")
    return "\n".join([_heading(_title(group, words), _title(group, _ENGLISH)), "", *lines])


def _markdown_diagrams(words: PageWords) -> str:
    return "\n\n".join(
        f"{_heading(_drawn(group, words), _drawn(group, _ENGLISH))}\n\n```mermaid\n{mermaid(group)}\n```"
        for group in Group
    )


def _heading(title: str, english: str) -> str:
    if title == english:
        return f"### {title}"
    anchor = re.sub(r"[^a-z0-9 -]", "", english.lower()).replace(" ", "-")
    return f'<a id="{anchor}"></a>\n\n### {title}'


def _title(group: Group, words: PageWords) -> str:
    return words.title.format(group=words(group.value.capitalize()), count=len(TABLE[group]))


def _drawn(group: Group, words: PageWords) -> str:
    return words.drawn.format(title=_title(group, words))


_GENERATED: Final[Mapping[str, Callable[[PageWords], str]]] = MappingProxyType(
    {"table": markdown_tables, "diagram": _markdown_diagrams}
)
