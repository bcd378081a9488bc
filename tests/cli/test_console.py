from __future__ import annotations

import pytest

from notebook_bcc.cli.console import meant_option, option_lines
from notebook_bcc.protocol.messages import Question
from notebook_bcc.views.words import Words


@pytest.mark.parametrize(
    ("typed", "meant"), [("2", "Size"), ("Size", "Size"), ("SIZE", "Size"), ("7", "7"), ("0", None), ("9", None)]
)
def test_an_option_is_meant_by_its_name_or_its_number(typed: str, meant: str | None) -> None:
    assert meant_option(typed, Question(text="Which?", options=("7", "Size", "price"))) == meant


def test_names_that_differ_in_case_only_are_taken_exactly() -> None:
    question = Question(text="Which?", options=("a", "A"))
    assert meant_option("A", question) == "A"
    assert meant_option("b", question) is None


def test_without_options_anything_is_an_answer() -> None:
    assert meant_option("anything", Question(text="What?")) == "anything"


def test_long_lists_are_shown_in_part_and_steer_no_terminal() -> None:
    question = Question(text="Which?", options=("\x1b[31mred", *(f"c{n}" for n in range(50))))
    lines = option_lines(question, Words("en"), limit=3)
    assert [line.strip() for line in lines] == ["1. red", "2. c0", "3. c1", "... and 48 more"]
