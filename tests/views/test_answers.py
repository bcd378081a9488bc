"""The values that a goal asked for, in lines for people."""

from __future__ import annotations

from typing import Any

import pytest

from notebook_bcc.protocol.deliverables import AnswerItem, RunAnswer
from notebook_bcc.views.answers import answer_lines


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (12.5, "12.5"), (2018, "2018"), (2018.0, "2018"), (1234567.891, "1,234,570"), (-0.0, "0"),
        (float("nan"), "–"), (0.123456789, "0.123457"), ({"a": 1.5, "b": 2e7}, "a 1.5, b 20,000,000"),
    ],
)  # fmt: skip
def test_a_number_has_no_powers_of_ten_and_what_is_none_is_not_called_one(value: Any, shown: str) -> None:
    item = AnswerItem(name="answer", description="Answer", produced=True, value=value)
    assert list(answer_lines(RunAnswer(run_id="x", deliverables=(item,)))) == [f"Answer: {shown}"]
