"""Numbers in a model's texts: only those that it was told."""

from __future__ import annotations

import pytest

from notebook_bcc.llm.guard.claims import left_out, unfounded, unheard

TOLD = "row_count: 344, missing_share: 0.00675, 3 classes; price 12,345.678; bias -0.25; score 0.9812"


@pytest.mark.parametrize(
    "text",
    [
        "The table has 344 rows.",
        "0.7 % of the cells are empty.",
        "0.68% of the cells, 98 % right, 0.98 or 0.981.",
        "Of the 12,346 dollars.",
        "We look at 7 columns in two ways.",
        "The bias is \u22120.25.",
        "`column_2024` is first.",
        "See x2 and v1.17.3 of it.",
    ],
)
def test_a_told_number_may_be_rounded_or_said_as_a_share(text: str) -> None:
    assert unfounded(text, TOLD) == ""


@pytest.mark.parametrize(
    ("text", "number"), [("345 rows.", "345"), ("About 99 %.", "99"), ("12,400 dollars", "12,400"), ("0.97", "0.97")]
)
def test_a_number_that_nobody_told_is_found(text: str, number: str) -> None:
    assert unfounded(text, TOLD) == number


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The columns 'feature_1' and 'feature_2' are left.", "feature_1"),
        ("`weight` matters most.", "weight"),
        ("We keep bill_length here.", "bill_length"),
        ("It's the model's own \"score\", not 'price'.", ""),
        ("`row_count` is known, and so is missing_share.", ""),
        ("Plain words need no leave.", ""),
    ],
)
def test_a_name_that_nobody_told_is_found(text: str, name: str) -> None:
    assert unheard(text, TOLD) == name


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("The forecast reaches 0.4318, in 12 cases.", ""),
        ("About 43 % with a dozen cases, 12.", ""),
        ("It reaches 0.43 in 12 cases.", ""),
        ("It reaches little in 12.", "0.4318"),
        ("It reaches 0.4318.", "12"),
        ("It reaches 0.9 in 12 cases.", "0.4318"),
    ],
)
def test_a_fact_that_a_text_leaves_out_is_found(text: str, number: str) -> None:
    assert left_out(text, "It reaches 0.4318 (`x_99`) in 12 cases.") == number


def test_of_many_numbers_one_may_be_missing_and_small_ones_may_be_spelled() -> None:
    facts = "7 of the 12 columns were read as numbers, 5 as text. 8.1 % of all cells are empty, in 99 rows."
    assert left_out("Seven columns are numbers and five are text; 8.1 % of the cells are empty.", facts) == ""
    assert left_out("Seven columns are numbers.", facts)
