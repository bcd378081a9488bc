"""The checker finds a number without a source, one that differs from the kernel, a comparative without a variable."""

from __future__ import annotations

from typing import Any

import pytest

from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.vocabulary import CellType
from notebook_bcc.views.numbers import check_text, unknown_numbers

# Any, throughout: variables of a kernel.


def problems(text: str, *notes: tuple[str, str], constants: tuple[str, ...] = (), **variables: Any) -> list[str]:
    """What is wrong with a text of which these words have these variables."""
    made = [
        {"text": words, "variable": variable, "start": text.index(words), "end": text.index(words) + len(words)}
        for words, variable in notes
    ]
    cell = Cell("cell-1", CellType.MARKDOWN, text, metadata={"extra": {"numbers": made}})
    found = check_text(cell, {"v": variables, "inputs": {}, "goal": ""}, constants=dict.fromkeys(constants, "why"))
    return [f"{one.text}: {one.problem.split(':')[0].split(' (')[0]}" for one in found.problems]


@pytest.mark.parametrize(
    ("shown", "value"),
    [
        ("0.815", 0.81473), ("81.5 %", 0.81473), ("81%", 0.81473), ("1,235", 1234.6), ("1,234", 1234), ("-3.2", -3.18),
        ("178,270", 178268.4), ("0", 0), ("2018", 2018), ("7", "the last 7 rows"), ("2018-01-31", "2018-01-31"),
    ],
)  # fmt: skip
def test_a_number_agrees_with_the_value_that_it_rounds(shown: str, value: Any) -> None:
    assert problems(f"It is {shown} now.", (shown, "v.x"), x=value) == []


@pytest.mark.parametrize(
    ("shown", "value"), [("0.816", 0.8147), ("1,235", 1234), ("3.2", -3.18), ("81.5 %", 81.5), ("179,000", 178268.4)]
)
def test_a_planted_wrong_number_is_found(shown: str, value: Any) -> None:
    assert problems(f"It is {shown} now.", (shown, "v.x"), x=value) == [f"{shown}: differs"]


def test_a_number_without_a_note_is_found() -> None:
    assert problems("It has 7 rows and 3 columns.", ("7", "v.rows"), rows=7) == ["3: has no source"]


def test_a_number_in_words_needs_a_source_too() -> None:
    assert problems("Half of the rows.") == ["Half: is a number in words without a source"]
    assert problems("占一半。") == ["一半: is a number in words without a source"]


def test_a_comparative_without_a_variable_is_found() -> None:
    assert problems("The model is better.") == ["better: compares without a source"]
    assert problems("The model is better.", ("better", "v.gain"), gain=0.1) == []


def test_a_constant_with_a_reason_needs_no_variable() -> None:
    assert problems("A 95 % interval.", constants=("95 % interval",)) == []
    assert problems("A 95 % share.", constants=("95 % interval",)) == ["95 %: has no source"]


def test_a_variable_that_is_not_there_and_a_note_at_the_wrong_place_are_found() -> None:
    assert problems("It is 7.", ("7", "v.gone")) == ["7: speaks of a variable that is not there"]
    cell = Cell("c", CellType.MARKDOWN, "It is 7.", metadata={"extra": {"numbers": [{"text": "7", "variable": "v.x"}]}})
    found = check_text(cell, {"v": {"x": 7}}, constants={}).problems
    assert [one.problem for one in found] == ["has no source", "is not where its note says (v.x)"]


def test_an_expression_is_computed_again() -> None:
    assert problems("It is 2 wide.", ("2", "v.high - v.low"), high=5, low=3) == []
    assert problems("It is 3 wide.", ("3", "v.high - v.low"), high=5, low=3) == ["3: differs"]


def test_the_count_beside_names_is_how_many_there_are() -> None:
    assert problems("In `a` and 2 more.", ("`a` and 2 more", "v.x"), x=["a", "b", "c"]) == []
    assert problems("In `a` and 3 more.", ("`a` and 3 more", "v.x"), x=["a", "b", "c"]) == ["`a` and 3 more: differs"]


def test_bars_are_those_of_the_variable() -> None:
    extra = {"bars": [["a", 1.0, "7"]], "numbers": [{"text": "bars", "variable": "v.found[0].bars"}]}
    cell = Cell("c", CellType.MARKDOWN, "text", metadata={"extra": extra})
    assert check_text(cell, {"v": {"found": [{"bars": [["a", 1.0, "7"]]}]}}, constants={}).problems == ()
    assert check_text(cell, {"v": {"found": [{"bars": [["a", 1.0, "8"]]}]}}, constants={}).problems


def test_a_digit_inside_a_name_is_no_number() -> None:
    assert problems("R² and F1 of `column_1` and x2.") == []


def test_the_numbers_of_a_line_are_explained_by_the_values_beside_it() -> None:
    line = "result: rmse 30,700 (26,900 to 35,100), naive 44,500"
    assert unknown_numbers(line, [30700.2, [26869.0, 35077.0], 44490.0], constants={}) == []
    assert unknown_numbers(line, [30700.2, [26869.0, 35077.0]], constants={}) == ["44,500"]
