from __future__ import annotations

import re
from dataclasses import replace

import pytest

from notebook.conftest import MakeDocument
from notebook_bcc.notebook.export.report import file_size, report_page
from notebook_bcc.notebook.reading import document_of

PRINTED = {"output_type": "stream", "name": "stdout", "text": "42 rows"}
STAMP = {"at": "2026-11-15T20:47:12Z", "ok": True, "cells": 3, "differences": []}


def visible(page: str) -> str:
    """The text of the page's body, tags taken out."""
    return re.sub(r"<[^>]+>", " ", page[page.index("<body>") :])


def test_code_is_there_folded_and_its_outputs_are_not(make_document: MakeDocument) -> None:
    page = report_page(make_document(("code", "a = 1\nprint(a)", [PRINTED])))
    folded = page[page.index("<details>") : page.index("</details>")]
    assert "<summary>Code, 2 lines</summary>" in folded
    assert "42 rows" not in folded
    assert "42 rows" in page
    assert "<details open" not in page
    assert "<script" not in page
    assert 'class="count"' not in page[page.index("<body>") :]


def test_the_title_stands_once_at_the_head_with_goal_and_stamp(make_document: MakeDocument) -> None:
    document = make_document(("markdown", "# Houses\n\nAn introduction."), title="Houses")
    page = report_page(document, run={"goal": "Know the price", "verified": STAMP})
    assert page.count("<h1>") == 1
    head = page[page.index("<header>") : page.index("</header>")]
    assert "Houses" in head
    assert "Know the price" in head
    assert "3 code cells gave the same results" in head
    assert "2026-11-15 20:47 UTC" in head
    assert "An introduction." in page


def test_a_first_heading_that_is_not_the_title_stays(make_document: MakeDocument) -> None:
    page = report_page(make_document(("markdown", "# Another\n\ntext"), title="Houses"))
    assert "Another" in page[page.index("<main>") :]


@pytest.mark.parametrize(
    ("run", "text"),
    [
        ({"goal": "x"}, "has not been run again"),
        ({"verified": {**STAMP, "ok": False, "differences": [{}, {}]}}, "2 differences"),
        ({"verified": STAMP}, "Verified"),
    ],
)
def test_the_stamp_says_how_far_the_code_was_verified(
    make_document: MakeDocument, run: dict[str, object], text: str
) -> None:
    assert text in visible(report_page(make_document(("markdown", "x")), run=run))


def test_chapters_are_listed_and_thoughts_are_not_shown(make_document: MakeDocument) -> None:
    document = make_document(("markdown", "## One"), ("thinking", "hm"), ("markdown", "## Two"))
    page = report_page(document)
    assert re.findall(r'<a href="#([\w-]+)">', page) == ["one", "two"]
    assert "hm" not in visible(page)


def test_the_report_speaks_the_language_it_is_asked_for_or_that_of_the_text(make_document: MakeDocument) -> None:
    chinese = make_document(("markdown", "## 数据表\n\n目标列 SalePrice 的分布。"), ("code", "x = 1", [PRINTED]))
    english = make_document(("markdown", "The festival 中秋节 is in the training days only."), ("code", "x = 1"))
    assert "代码，1 行" in report_page(chinese)
    assert 'lang="zh-CN"' in report_page(chinese)
    assert "Code, 1 line" in report_page(english)
    assert "Code, 1 line" in report_page(chinese, reader="en")
    assert "未验证" in report_page(english, reader="zh", run={"run_id": "r"})


def test_files_are_links_to_what_lies_beside_the_page(make_document: MakeDocument) -> None:
    files = [("model.pkl", 1_400_000), ("figures/图 1.png", 10), ('javascript:alert("x")', 3)]
    page = report_page(make_document(("markdown", "x")), files=files)
    assert '<a href="./model.pkl">model.pkl</a> <span class="size">1.4 MB</span>' in page
    assert 'href="./figures/%E5%9B%BE%201.png"' in page
    assert 'href="javascript' not in page


def test_what_is_planted_in_title_goal_and_names_stays_text(make_document: MakeDocument) -> None:
    evil = "<script>alert(1)</script>"
    document = make_document(("markdown", f"# {evil}"), title=evil)
    page = report_page(
        document, run={"goal": evil, "run_id": evil, "verified": {**STAMP, "at": evil}}, files=[(evil, 1)]
    )
    assert "<script" not in page


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (2_500_000, "2.5 MB"), (3e12, "3.0 TB")]
)
def test_sizes_are_said_as_people_say_them(size: float, text: str) -> None:
    assert file_size(int(size)) == text


def test_what_is_marked_as_abstract_stands_at_the_head_and_in_its_place(make_document: MakeDocument) -> None:
    document = make_document(("markdown", "Long words."), ("markdown", "- **Found:** 42"))
    plain, last = document.cells
    page = report_page(document_of([plain, replace(last, metadata={"extra": {"abstract": True}})]))
    before, main = page[page.index("<body>") : page.index("<main>")], page[page.index("<main>") :]
    assert "In short" in before
    assert "Found:" in before
    assert "Long words." not in before
    assert "Found:" in main


def test_a_cell_that_writes_a_file_does_not_say_so(make_document: MakeDocument) -> None:
    written = {"output_type": "stream", "name": "stdout", "text": "Writing prepare.py\n"}
    page = report_page(make_document(("code", "%%writefile prepare.py\nx = 1", [written])))
    assert "Writing prepare.py" not in page
    assert "writefile" in visible(page)
