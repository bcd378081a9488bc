"""A cell is looked at whole, whatever came before it and however the answer is cut into pieces."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notebook_bcc.llm import answers
from notebook_bcc.llm.guard.guard import Guardrails
from notebook_bcc.llm.stream.scanner import Scanner
from notebook_bcc.llm.writing import AnswerProgress, Demands
from notebook_bcc.planners.interface import Generated

RAILS = Guardrails(kept=frozenset({"df"}), own=frozenset({"n"}))
CODE = st.lists(
    st.sampled_from(
        ["n = 1", "df['a'] = 2", "mine = df.copy()", "mine['a'] = 1", "import os", "print(n)", "if n:", "    n = 2",
         "%matplotlib inline", "!ls", "for i in df:", "    print(i)", "open('x')", "a = = 1", "text = '''", "'''",
         "del df"]
    ),
    min_size=1,
    max_size=6,
).map("\n".join)  # fmt: skip


def read(sources: list[str], *, pieces: list[int]) -> tuple[list[Generated], AnswerProgress]:
    """An answer with these cells, cut at these places: what goes out for it, and how it went."""
    text = json.dumps({"actions": [{"kind": "code", "content": source} for source in sources]})
    ends = sorted({0, len(text), *(end % (len(text) + 1) for end in pieces)})
    writing, scanner = AnswerProgress(Demands(language="en", guardrails=RAILS)), Scanner()
    given_out = [
        item
        for begin, end in pairwise(ends)
        for found in scanner.feed(text[begin:end])
        for item in writing.take(answers.piece_of(found))
    ]
    return given_out, writing


@pytest.mark.parametrize(
    "dropped", ["abc = 1234\n!ls\n", "abc = 123\nb = 2\n!ls\n", "abc = 123\nb = 2\n" + "c" * 7_000]
)
@pytest.mark.parametrize("size", [1, 4, 16, 10_000])
def test_a_bad_cell_behind_one_that_was_dropped_is_refused(dropped: str, size: int) -> None:
    bad = "import os\nx = 1\nprint(x)\nprint(x)"
    given_out, writing = read([dropped, bad], pieces=list(range(0, 10_000, size)))
    assert given_out == []
    assert "the module os" in writing.refused


@given(st.lists(CODE, min_size=1, max_size=3), st.lists(st.integers(0, 5_000), max_size=60))
def test_however_an_answer_is_cut_the_same_goes_out(sources: list[str], pieces: list[int]) -> None:
    found, one_go = [read(sources, pieces=where) for where in (pieces, [])]
    assert found[0] == one_go[0]
    for name in ("reason", "refused", "code", "pieces"):
        assert getattr(found[1], name) == getattr(one_go[1], name)
