"""Values in text: shown as they are, and never markup."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.playbook.templates.environment import Kind, Templates

TEMPLATES = Templates()
MARKDOWN = MarkdownIt("commonmark").enable("table")
MARKUP = st.text(alphabet="`*_{}[]()<>#|~$&!\\-+=.1aé \n", max_size=30) | st.text(max_size=30)


def render(source: str, *, lang: str = "en", kind: Kind = Kind.PROSE, **variables: Any) -> str:
    return TEMPLATES.read(source, kind=kind, at="text/test.en.md").render({"v": variables, "lang": lang})


def shown(markdown: str) -> str:
    """The text that a reader sees, and only if there is nothing but text in one paragraph."""
    tokens = MARKDOWN.parse(markdown)
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"], markdown
    children = tokens[1].children or []
    assert {child.type for child in children} <= {"text", "text_special"}, markdown
    return "".join(child.content for child in children)


def visible(text: str) -> str:
    return "".join(each if each.isprintable() else " " for each in text)


@given(MARKUP)
def test_a_value_is_shown_as_it_is(text: str) -> None:
    assert shown(render("see {{ v.x }}!", x=text)) == f"see {visible(text)}!"


@given(MARKUP)
def test_a_value_at_the_start_of_a_line_begins_no_list_or_heading(text: str) -> None:
    assert shown(render("{{ v.x }} end", x=text)).strip() == f"{visible(text)} end".strip()


@given(MARKUP)
def test_an_item_of_a_list_stays_one_item(text: str) -> None:
    for start in ("- ", "1. ", "> "):
        tokens = MARKDOWN.parse(render(f"{start}{{{{ v.x }}}} end", x=text))
        assert [token.type for token in tokens].count("paragraph_open") == 1
        assert len(tokens) in (5, 7)


@pytest.mark.parametrize("kind", [Kind.PROSE, Kind.CELL])
def test_a_line_that_ends_with_a_block_stays_a_line_and_a_line_of_blocks_leaves_none(kind: Kind) -> None:
    source = "{% if v.x %}\n# one{% if v.x %}, first{% endif %}\n{% endif %}{% if v.x %}\n# two\n{% endif %}\n# three\n"
    assert render(source, kind=kind, x=True).splitlines() == ["# one, first", "# two", "# three"]
    assert render("{% if v.x %}# one{% endif %}\n# two", kind=kind, x=True).splitlines() == ["# one", "# two"]


@given(MARKUP)
def test_a_value_set_as_code_is_one_code_span(text: str) -> None:
    (_, inline, _) = MARKDOWN.parse(render("see {{ v.x | code }} there", x=text))
    spans = [child for child in inline.children or [] if child.type == "code_inline"]
    assert [child.content.strip() for child in spans] == [visible(text).strip()]


@given(MARKUP, MARKUP)
def test_a_value_keeps_to_its_cell_of_a_table(first: str, second: str) -> None:
    source = "| a | b | c |\n| --- | --- | --- |\n| {{ v.x }} | {{ v.y | code }} | end |"
    tokens = MARKDOWN.parse(render(source, x=first, y=second))
    assert len([token for token in tokens if token.type == "td_open"]) == 3
    assert [token.content for token in tokens if token.type == "inline"][-1] == "end"


def test_a_value_inside_backticks_is_not_escaped() -> None:
    assert render("`{{ v.x }}` and {{ v.x }}", x="row_count") == "`row_count` and row\\_count"
    assert render("`{{ v.x }}`", x="a`b") == "`a'b`"


def test_a_fenced_block_of_python_is_written_like_a_cell() -> None:
    source = "Try:\n\n```python\nx = {{ v.x }}\n```\n\n```text\n{{ v.x }}\n```\n{{ v.x }}"
    assert render(source, x="a_b") == 'Try:\n\n```python\nx = "a_b"\n```\n\n```text\na_b\n```\na\\_b'


@pytest.mark.parametrize(
    ("source", "en", "zh"),
    [
        (
            "{{ 1234567 | num }} {{ 1234.5678 | num }} {{ 0.82071 | num }} {{ 2.0 | num }}",
            "1,234,567 1,234.6 0.8207 2",
            "",
        ),
        ("{{ 0.00003 | num }} {{ -0.000012345 | num }} {{ 1.5e-9 | num }}", "0.00003 -0.00001234 0.0000000015", ""),
        ("{{ 1e-30 | num }} {{ 0.00099999 | num }} {{ 0.0 | num }}", "1e-30 0.001 0", ""),
        ("{{ 3.14159 | num(2) }} {{ -1234 | num(0) }}", "3.14 -1,234", ""),
        ("{{ -0.001 | num(2) }} {{ -0.0 | num }} {{ -0.0001 | pct }}", "0.00 0 0.0 %", "0.00 0 0.0%"),
        ("{{ 0.1234 | pct }} {{ 1 | pct(0) }}", "12.3 % 100 %", "12.3% 100%"),
        ("{{ ['a', 'b', 'c'] | names }}", "`a`, `b` and `c`", "`a`、`b`、`c`"),
        ("{{ ['a', 'b', 'c'] | names(2) }}", "`a`, `b` and 1 more", "`a`、`b` 等 3 项"),
        ("{{ ['a'] | names }}{{ [] | names }}", "`a`", "`a`"),
        ("{{ ['a', 2] }} {{ 2.5 }} {{ 3.0 }} {{ 1/3 }} {{ true }}", "a, 2 2.5 3 0.333333 True", ""),
    ],
)
def test_numbers_and_names_read_well_in_both_languages(source: str, en: str, zh: str) -> None:
    assert render(source) == en
    assert render(source, lang="zh") == (zh or en)


def test_a_goal_is_one_plain_line() -> None:
    assert render("Predict\n  {{ v.x }}.", kind=Kind.PLAIN, x="a_b\n c") == "Predict a_b c."


def test_only_cells_have_literals_and_only_texts_have_code_spans() -> None:
    with pytest.raises(MessageInvalid, match="no filter 'wrapped'"):
        render("{{ v.x | wrapped }}", x=[])
    with pytest.raises(MessageInvalid, match="no filter 'names'"):
        TEMPLATES.read("{{ v.x | names }}", kind=Kind.CELL, at="cells/x.py")
