"""Numbers of a text lead to their cells, and nothing of a text gets into the link."""

from __future__ import annotations

import re
from typing import Any

import pytest

from notebook_bcc.notebook.export.html_cells import CELL_WORDS
from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.vocabulary import CellType
from notebook_bcc.web.cells import rendered
from notebook_bcc.web.numbers import with_sources

LINK = re.compile(r'<a class="number" href="#c-([^"]*)" data-variable="([^"]*)" title="([^"]*)">(.*?)</a>', re.DOTALL)


def note(source: str, text: str, variable: str, cell: str = "cell-1") -> dict[str, Any]:
    start = source.index(text)
    return {"text": text, "variable": variable, "cell": cell, "start": start, "end": start + len(text)}


def shown(source: str, *notes: dict[str, Any], assigned: dict[str, str] | None = None) -> str:
    cell = Cell("cell-9", CellType.MARKDOWN, source, metadata={"extra": {"numbers": list(notes)}})
    return with_sources(cell, lambda one: rendered(one, language="python", words=CELL_WORDS["en"]), assigned or {})


def test_a_number_is_a_link_to_the_cell_and_the_variable_it_comes_from() -> None:
    source = "The score is **0.848** on 800 rows."
    html = shown(source, note(source, "0.848", "v.score.value", "cell-3"), note(source, "800", "v.rows"))
    assert LINK.findall(html) == [("cell-3", "score", "score.value", "0.848"), ("cell-1", "rows", "rows", "800")]
    assert "<strong><a" in html


def test_a_number_without_a_cell_leads_to_the_one_that_assigned_its_variable() -> None:
    source = "There are 7 columns."
    assert LINK.findall(shown(source, note(source, "7", "v.width", ""), assigned={"width": "cell-2"}))[0][0] == "cell-2"
    assert not LINK.search(shown(source, note(source, "7", "v.width", "")))


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("The price is $x = 12$ today.", "12"),
        ("See [it](https://example.org/12/x).", "12"),
        ("12. a list", "12"),
        ("```python\nx = 12\n```", "12"),
        ('<b title="> 12 <img src=x onerror=alert(1)>">x</b>', "12"),
    ],
)
def test_where_a_link_cannot_stand_the_text_is_as_it_was(source: str, text: str) -> None:
    html = shown(source, note(source, text, "v.x"))
    # A number in code has another colour with a link in it.
    without = re.sub(r'<span class="\w+">', "<span>", LINK.sub(lambda found: found[4], html))
    assert without == re.sub(r'<span class="\w+">', "<span>", shown(source))
    assert "<img" not in html


def test_notes_that_lie_about_their_place_are_no_links() -> None:
    source = "There are 7 of 8 columns."
    lying = note(source, "7", "v.a") | {"start": 3, "end": 4}
    outside = note(source, "8", "v.b") | {"start": 900, "end": 901}
    assert shown(source, lying, outside) == shown(source)


def test_the_name_of_a_variable_is_text() -> None:
    source = "There are 7 columns."
    html = shown(source, note(source, "7", 'v.a["x\\"><script>"]', 'c"><script>'))
    assert "<script" not in html
    assert html.count("<a ") == 1
