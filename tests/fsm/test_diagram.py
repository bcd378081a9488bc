"""Every picture of the table shows all of it."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from notebook_bcc.fsm.diagram import PageWords, fill_document, markdown_tables, mermaid, text_table
from notebook_bcc.fsm.table import ROWS, TABLE, Group, Row

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "protocol" / "state-machine.md"


def arrows_of(rows: tuple[Row, ...]) -> list[tuple[str, str, str]]:
    return [(row.state.value, row.next_state.value, row.event.value) for row in rows]


def drawn(diagram: str) -> list[tuple[str, str, str]]:
    return re.findall(r"^    (\w+) --> (\w+) : (\w+)$", diagram, re.MULTILINE)


def test_the_diagram_has_one_arrow_for_every_row() -> None:
    assert mermaid().startswith("stateDiagram-v2\n    [*] --> idle\n")
    assert drawn(mermaid()) == arrows_of(ROWS)


@pytest.mark.parametrize("group", Group)
def test_a_diagram_of_one_group_has_its_arrows_only(group: Group) -> None:
    assert drawn(mermaid(group)) == arrows_of(TABLE[group])


def test_the_text_table_has_a_line_for_every_row_and_a_heading_for_every_group() -> None:
    lines = text_table().splitlines()
    assert [line.split()[:4] for line in lines if line.startswith("  ")] == [
        [row.state, row.event, row.next_state, row.owner] for row in ROWS
    ]
    assert [line for line in lines if line and not line.startswith(" ")] == list(Group)


def test_the_text_table_of_one_group_keeps_the_columns_of_the_whole() -> None:
    assert text_table(Group.RECOVERY) in text_table()


BUILDER = runpy.run_path(str(DOCS / "build_state_machine.py"))


@pytest.mark.parametrize("name", BUILDER["PAGES"])
def test_the_protocol_page_is_what_the_table_makes_of_it_in_each_language(name: str) -> None:
    page = (DOCS / "protocol" / name).read_text(encoding="utf-8")
    words = BUILDER["PAGES"][name]
    assert fill_document(page, words) == page, "the page is out of date; run: python docs/build_state_machine.py"
    for generated in (markdown_tables(words), *(mermaid(group) for group in Group)):
        assert generated in page, "the page lost one of its fsm: markers"


def test_a_row_that_nobody_has_translated_is_an_error() -> None:
    with pytest.raises(KeyError):
        markdown_tables(PageWords(translations={"Core": "核心"}))
    unused = {*BUILDER["CHINESE"].translations} - {text for row in ROWS for text in (row.owner, row.endpoint_or_note)}
    assert unused == {group.value.capitalize() for group in Group}


def test_filling_a_document_replaces_what_is_between_markers_and_nothing_else() -> None:
    filled = fill_document("before\n<!-- fsm:table -->\nold\n<!-- /fsm:table -->\nafter\n")
    assert filled == f"before\n<!-- fsm:table -->\n{markdown_tables()}\n<!-- /fsm:table -->\nafter\n"
    assert fill_document(filled) == filled
    assert fill_document("no markers\n") == "no markers\n"


def test_the_python_example_of_the_protocol_page_is_true() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(example, str(PAGE), "exec"), {})
