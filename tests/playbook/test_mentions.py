from __future__ import annotations

import pytest

from notebook_bcc.playbook.mentions import mentions

COLUMNS = ["Id", "SalePrice", "Sale Type", "age", "房价", "面积", "y", "LotArea"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Predict SalePrice.", ["SalePrice"]),
        ("predict the sale price of a house", ["SalePrice"]),
        ("What are sale prices like by LotArea?", ["LotArea", "SalePrice"]),
        ("the average of everything", []),
        ("the age", ["age"]),
        ("预测房价", ["房价"]),
        ("predict y", ["y"]),
        ("why id matters", []),
        ("", []),
        ("sale_type and ID", ["Sale Type"]),
    ],
)
def test_a_goal_in_words_finds_its_columns_best_match_first(text: str, found: list[str]) -> None:
    assert mentions(COLUMNS, text) == found
