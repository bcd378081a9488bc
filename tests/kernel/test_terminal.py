"""Text as a terminal leaves it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notebook_bcc.kernel.terminal import Line


def shown(*pieces: str) -> str:
    line = Line()
    return "".join(line.write(piece) for piece in pieces) + line.close()


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("plain", "plain"),
        ("two\nlines\n", "two\nlines\n"),
        ("old\rnew", "new"),
        ("longer\rab", "abnger"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("10%\r20%\r30%\n", "30%\n"),
        ("abc\b\bX", "aXc"),
        ("\b\bx", "x"),
        ("gone\r\x1b[Knew", "new"),
        ("gone\x1b[2K\rnew", "new"),
        ("kept\r\x1b[1Cx", "\x1b[1Cxept"),
        ("\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"),
        ("\x1b[31m10%\x1b[0m\r\x1b[31m20%\x1b[0m\n", "\x1b[0m\x1b[31m20%\x1b[0m\n"),
        ("first\nlonger\rab\nthird", "first\nabnger\nthird"),
        ("\r\r\rstart", "start"),
        ("进度 1\r进度 2", "进度 2"),
        ("", ""),
    ],
)
def test_a_terminal_would_leave_this(text: str, left: str) -> None:
    assert shown(text) == left


@given(st.text(alphabet="ab中\r\n\b", max_size=30), st.integers(0, 30))
def test_it_does_not_matter_where_text_is_torn(text: str, at: int) -> None:
    # A carriage return before a newline is a line's end; torn between them it is not known to be one, and does nothing.
    assert shown(text[:at], text[at:]) == shown(text)


@given(st.text(max_size=50).filter(lambda text: not set(text) & set("\r\b\x1b")))
def test_text_without_control_characters_is_left_alone(text: str) -> None:
    assert shown(*text) == text


def test_a_line_without_end_is_not_held_for_ever() -> None:
    line = Line()
    returned = "".join(line.write("x" * 1_000) for _ in range(1_000))
    assert len(returned) + len(line.peek()) == 1_000_000
    assert len(line.peek()) <= 65_536
