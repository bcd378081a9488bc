from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from notebook_bcc.notebook.export.thinking import folded_source, unfolded_text
from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.vocabulary import CellType


def thought(source: str, **metadata: object) -> Cell:
    return Cell("t", CellType.THINKING, source, metadata=metadata)


class _Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)


def test_a_thought_is_open_while_it_goes_on_and_folded_after() -> None:
    assert folded_source(thought("hm")).startswith("<details open>\n<summary>Thinking</summary>")
    assert folded_source(thought("hm", finished_thinking=True)).startswith("<details>\n")


def test_the_label_says_who_thought_and_is_escaped() -> None:
    cell = thought("hm", agent_name="<b>ann", custom_text="Looking\nat data")
    assert "<summary>Looking at data (&lt;b&gt;ann)</summary>" in folded_source(cell)


@given(st.text(st.characters(codec=None)) | st.text("<>&/!abclt;amp#\n \r`~d", max_size=40))
def test_folding_loses_nothing(text: str) -> None:
    assert unfolded_text(folded_source(thought(text, finished_thinking=True))) == text


@pytest.mark.parametrize(
    "text",
    [
        "</details><script>alert(1)</script>",
        "```\nan unclosed fence",
        "<!-- an unclosed comment",
        "<pre>\n\n<style>",
        "&lt;b&gt; and &copy;",
    ],
)
def test_no_text_breaks_out_of_its_fold(text: str) -> None:
    html = MarkdownIt("commonmark", {"html": True}).render(folded_source(thought(text)) + "\n\nafter")
    assert html.rstrip().endswith("</details>\n<p>after</p>")
    assert not {"script", "style", "b"} & set(_Tags(html).tags)


def test_other_markdown_comes_back_as_it_is() -> None:
    assert unfolded_text("edited by hand") == "edited by hand"


def test_an_empty_thought_has_only_its_label() -> None:
    assert folded_source(thought("")) == "<details open>\n<summary>Thinking</summary>\n\n</details>"
    assert unfolded_text(folded_source(thought(""))) == ""
