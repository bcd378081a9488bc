"""The head of a report: what was learnt, how well it can be predicted, how far to trust it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from notebook_bcc.notebook.encoding import clean_text
from notebook_bcc.notebook.export.html_cells import cell_anchor
from notebook_bcc.notebook.export.markup import Markup
from notebook_bcc.protocol.cells import ABSTRACT_PARTS, Bar, Cell
from notebook_bcc.protocol.vocabulary import CellType


@dataclass(frozen=True, slots=True)
class HeadWords:
    """What the head of a report says itself."""

    in_short: str = "In short"
    learnt: str = "What we learnt"
    score: str = "How well it can be predicted"
    trust: str = "How far to trust it"
    cell: str = "cell {number}"


def has_parts(cells: Sequence[Cell]) -> bool:
    """Whether the texts of a notebook make a head that can be read without the rest."""
    return any(cell.abstract_part for cell in cells)


def head_html(cells: Sequence[Cell], words: HeadWords) -> str:
    """Every text that is marked for the head, by part; those that name no part come first."""
    said = [cell for cell in cells if cell.type is CellType.MARKDOWN and cell.is_abstract]
    sources = _sources(cells)
    parts = [_in_short([cell for cell in said if not cell.abstract_part], words)]
    for part in ABSTRACT_PARTS:
        ours = [cell for cell in said if cell.abstract_part == part]
        if ours:
            title: str = getattr(words, part)
            shown = "\n".join(_finding(cell, sources.get(cell.id), words) for cell in ours)
            parts.append(f'<section class="head {part}">\n<h2>{title}</h2>\n<div>\n{shown}\n</div>\n</section>\n')
    return "".join(parts)


def _in_short(cells: Sequence[Cell], words: HeadWords) -> str:
    said = "\n\n".join(cell.source for cell in cells)
    if not said.strip():
        return ""
    shown = Markup().render_text(clean_text(said))
    return f'<aside class="abstract">\n<p class="label">{words.in_short}</p>\n{shown}</aside>\n'


def _finding(cell: Cell, source: tuple[int, Cell] | None, words: HeadWords) -> str:
    """One text of the head: its bars beside it, and a link to the code that its numbers come from."""
    link = ""
    if source is not None:
        number, code = source
        link = f' <a class="source" href="#{cell_anchor(code)}">{words.cell.format(number=number)}</a>'
    text = Markup().render_text(clean_text(cell.source)).rstrip()
    # The points of a list come from many cells: a link behind the last would speak of the wrong one.
    text = f"{text.removesuffix('</p>')}{link}</p>" if text.endswith("</p>") else text
    return f'<div class="item">\n<div class="said">{text}</div>{_bars(cell.bars)}\n</div>'


def _bars(bars: Sequence[Bar]) -> str:
    if not bars:
        return ""
    longest = max(bar.length for bar in bars)
    rows = "\n".join(
        f'<tr{" class=most" if bar.length == longest else ""}><th scope="row">{escape(bar.label)}</th>'
        f'<td class="line"><span style="width: {bar.length:.1%}"></span></td><td>{escape(bar.value)}</td></tr>'
        for bar in bars
    )
    return f'\n<table class="bars">\n{rows}\n</table>'


def _sources(cells: Sequence[Cell]) -> dict[str, tuple[int, Cell]]:
    """For each text the code cell that its first number came from, with its number among the code cells.

    A text with bars whose notes name no cell that is shown has the code before it.
    """
    code = {cell.id: (number, cell) for number, cell in enumerate(_code(cells), start=1)}
    found: dict[str, tuple[int, Cell]] = {}
    last: tuple[int, Cell] | None = None
    for cell in cells:
        if cell.type is CellType.CODE:
            last = code[cell.id]
            continue
        noted = next((code[note.cell] for note in cell.numbers if note.cell in code), None)
        source = noted or (last if cell.bars else None)
        if source is not None:
            found[cell.id] = source
    return found


def _code(cells: Sequence[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.type is CellType.CODE]
