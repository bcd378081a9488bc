"""The numbers of a text as links to the cell and the variable that they come from."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import Final

from notebook_bcc.protocol.cells import Cell, NumberNote

# Attributes stand in double quotes, as the sanitiser and the exporters write them: a tag ends outside of them.
_TAG: Final = re.compile(r"""(<(?:[^<>"]|"[^"]*")*>)""")
_VARIABLE: Final = re.compile(r"\bv\.(\w+)")
# A number that begins a line makes a list of it: a mark before it would undo that.
_LIST: Final = re.compile(r"(?:^|\n)[ \t]*\Z")


@dataclass(frozen=True, slots=True)
class _Link:
    note: NumberNote
    cell: str
    variable: str

    @property
    def opening(self) -> str:
        title = self.note.variable.replace("v.", "")
        return (
            f'<a class="number" href="#c-{escape(self.cell)}" data-variable="{escape(self.variable)}" '
            f'title="{escape(title)}">'
        )


def with_sources(cell: Cell, render: Callable[[Cell], str], assigned: Mapping[str, str]) -> str:
    """The HTML of a text with its noted numbers as links. `assigned` names the cell of each variable.

    Marks that nobody can guess go through the renderer with the text. Where one does not come out as text (in a
    formula, in an address), that number is no link.
    """
    links = list(_links(cell, assigned))
    while links:
        secret = f"mark{secrets.token_hex(12)}n"
        html = render(replace(cell, source=_marked(cell.source, links, secret)))
        shown, lost = _exchanged(html, links, secret)
        if not lost:
            return shown
        links = [link for at, link in enumerate(links) if at not in lost]
    return render(cell)


def _links(cell: Cell, assigned: Mapping[str, str]) -> Iterator[_Link]:
    """In the order of the text, none inside another."""
    end = 0
    for note in sorted(cell.numbers, key=lambda note: note.start):
        found = _VARIABLE.search(note.variable)
        variable = found[1] if found is not None else ""
        source = note.cell or assigned.get(variable, "")
        is_there = note.start >= end and 0 <= note.start < note.end and cell.source[note.start : note.end] == note.text
        if source and is_there and not _LIST.search(cell.source[: note.start]):
            yield _Link(note, source, variable)
            end = note.end


def _marked(source: str, links: list[_Link], secret: str) -> str:
    parts, at = [], 0
    for number, link in enumerate(links):
        start, end = link.note.start, link.note.end
        parts += [source[at:start], f"{secret}{number}b", source[start:end], f"{secret}{number}e"]
        at = end
    return "".join([*parts, source[at:]])


def _exchanged(html: str, links: list[_Link], secret: str) -> tuple[str, set[int]]:
    """The HTML with links for marks, and the numbers of those whose two marks do not stand in one piece of text."""
    lost = set(range(len(links)))

    def exchanged(found: re.Match[str]) -> str:
        number = int(found[1])
        lost.discard(number)
        return f"{links[number].opening}{found[2]}</a>"

    complete = re.compile(f"{secret}([0-9]+)b(.*?){secret}\\1e", re.DOTALL)
    pieces = _TAG.split(html)
    # Every second piece is a tag.
    pieces[::2] = [complete.sub(exchanged, one) for one in pieces[::2]]
    return "".join(pieces), lost
