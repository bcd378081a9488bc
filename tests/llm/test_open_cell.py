"""A cell is known while it is written, never otherwise than it will be, and to know it changes nothing."""

from __future__ import annotations

import json
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notebook_bcc.planners.llm import answers
from notebook_bcc.planners.llm.guard import Rails
from notebook_bcc.planners.llm.open_cell import OpenCell
from notebook_bcc.planners.llm.scanner import Scanner
from notebook_bcc.planners.llm.writing import Demands, Writing

CONTENT = st.text() | st.lists(st.sampled_from(['a = "b"', "x\\n", "\\", '"', "{", "}", "\n", "数据", "\t"])).map(
    "".join
)
CODE = st.lists(
    st.sampled_from(
        ["n = 1", "df['a'] = 2", "mine = df.copy()", "mine['a'] = 1", "import os", "print(n)", "if n:", "    n = 2",
         "%matplotlib inline", "for i in df:", "    print(i)", "open('x')", "a = = 1", "text = '''", "'''", "del df"]
    ),
    min_size=1,
    max_size=6,
).map("\n".join)  # fmt: skip


def _pieces(text: str, cuts: list[int]) -> list[str]:
    ends = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[a:b] for a, b in pairwise(ends)]


LONGEST = 6_000
CUTS = st.lists(st.integers(0, 5_000), max_size=60)


@given(CONTENT, CUTS, st.booleans())
def test_what_is_known_is_how_the_cell_begins(content: str, cuts: list[int], plain: bool) -> None:
    item = json.dumps({"kind": "code", "content": content}, ensure_ascii=plain)[:-1]
    cell = OpenCell(longest=LONGEST)
    for piece in _pieces('{"actions": [' + item, cuts):
        more = cell.feed(piece)
        assert not more or cell.text or cell.is_whole
        # A pair of surrogates may be torn: then it is another text, which nobody will ask for.
        assert content.startswith(cell.text) or any("\ud800" <= sign <= "\udfff" for sign in cell.text)
    assert cell.is_whole
    assert cell.text == content or any("\ud800" <= sign <= "\udfff" for sign in cell.text)


def test_a_text_and_a_judgement_are_no_cell() -> None:
    for item in ({"kind": "text", "content": "a\nb"}, {"achieved": True, "reason": "x"}, {"content": "a\nb"}):
        cell = OpenCell(longest=LONGEST)
        assert not any(cell.feed(sign) for sign in json.dumps({"actions": [item]}))
        assert cell.text == ""


def test_each_cell_of_an_answer_is_known() -> None:
    items = [{"kind": "code", "content": f"n = {number}\nprint(n)"} for number in range(3)]
    cell, scanner, whole = OpenCell(longest=LONGEST), Scanner(), []
    for sign in json.dumps({"actions": items}):
        if scanner.feed(sign):
            whole.append(cell.text)
            cell.close(sign)
        else:
            cell.feed(sign)
    assert whole == [item["content"] for item in items]


@pytest.mark.parametrize(
    "endless",
    ['no cell "', '{"kind": "code", "content": "', "\\n", "\\q", "\\", "\\u", "text", '\\"', "\\ud83d", '"kind" : '],
)
def test_an_answer_without_end_takes_time_in_proportion(endless: str) -> None:
    begin = '{"actions": [{"kind": "code", "content": "'
    for first in ("", begin):
        cell = OpenCell(longest=LONGEST)
        spent = time.process_time()
        cell.feed(first)
        for _ in range(100_000):
            cell.feed(endless)
        assert len(cell.text) <= LONGEST
        assert time.process_time() - spent < 5.0


def test_a_piece_of_any_size_is_read() -> None:
    content = "x = 1\n" * 900
    cell = OpenCell(longest=LONGEST)
    assert cell.feed('{"actions": [{"kind": "code", "content": ' + json.dumps(content)[:-1] + "\\")
    assert cell.text == content
    assert cell.feed('"')
    assert not cell.is_whole
    assert cell.text == content + '"'


@given(st.lists(CODE, min_size=1, max_size=3), CUTS)
def test_to_look_ahead_changes_nothing(sources: list[str], cuts: list[int]) -> None:
    rails = Rails(kept=frozenset({"df"}), own=frozenset({"n"}))
    answer = json.dumps({"actions": [{"kind": "code", "content": source} for source in sources]})

    def written(*, ahead: bool) -> tuple[object, ...]:
        writing, scanner, cell = Writing(Demands(language="en", rails=rails)), Scanner(), OpenCell(longest=LONGEST)
        given_out = []
        for piece in _pieces(answer, cuts):
            closed = scanner.feed(piece)
            for found in closed:
                given_out += writing.take(answers.piece_of(found))
            if closed:
                cell.close(piece)
            elif ahead and cell.feed(piece):
                writing.foresee(cell.text, whole=cell.is_whole)
        return given_out, writing.reason, writing.refused, writing.code, writing.pieces

    assert written(ahead=True) == written(ahead=False)
