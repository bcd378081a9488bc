import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notebook_bcc.notebook.export.ansi import ansi_html, plain_text


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("plain <b>", "plain &lt;b&gt;"),
        ("\x1b[31mred\x1b[0m no", '<span class="ansi-red">red</span> no'),
        ("\x1b[1;92mok\x1b[22;39m no", '<span class="ansi-bold ansi-bright-green">ok</span> no'),
        ("\x1b[3;4mx", '<span class="ansi-italic ansi-underline">x</span>'),
        ("\x1b[43mback\x1b[49m", '<span class="ansi-bg-yellow">back</span>'),
        ("\x1b[38;5;196mx", '<span style="color:#ff0000">x</span>'),
        ("\x1b[38;5;3;48;5;240mx", '<span class="ansi-yellow" style="background-color:#585858">x</span>'),
        ("\x1b[38;2;1;2;300mx", '<span style="color:#0102ff">x</span>'),
        ("\x1b[38mx", "x"),
        ("\x1b[2Jx\x1b[3;4Hy\x1b]0;title\x07z\x1b(B", "xyz"),
        ("a\x00\x07\x08b", "ab"),
        ("10%\r50%\r100%\ndone\r\n", "100%\ndone\n"),
    ],
)
def test_colours_become_spans_and_the_rest_is_left_out(text: str, html: str) -> None:
    assert ansi_html(text) == html


def test_plain_text_has_neither_colours_nor_controls() -> None:
    assert plain_text("\x1b[31mred\x1b[0m\x00 <b>\n1\r2") == "red <b>\n2"


@given(st.text(st.sampled_from("\x1b[]0123456789;:mHJ\r\n\x07<>&\"'ab"), max_size=80))
def test_any_text_gives_balanced_safe_html(text: str) -> None:
    html = ansi_html(text)
    assert html.count("<span") == html.count("</span>")
    rest = re.sub(r'</?span(?: class="[a-z -]+")?(?: style="[a-z:#0-9;-]+")?>', "", html)
    assert "<" not in rest
    assert "\x1b" not in html
