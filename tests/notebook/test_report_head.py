"""The head of a report: findings with their bars, figures, what to trust; the method is folded behind it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from notebook.conftest import MakeDocument
from notebook_bcc.notebook.export.report import report_page

FINDING = {"extra": {"abstract": "learnt", "bars": [["monthly", 1.0, "43 %"], ["<b>yearly</b>", 0.25, "11 %"]]}}


def part(name: str) -> dict[str, Any]:  # Any: metadata
    return {"extra": {"abstract": name}}


def test_a_finding_stands_at_the_head_with_bars_and_a_link_to_its_cell(make_document: MakeDocument) -> None:
    document = make_document(
        ("code", "a = 1"),
        ("code", "shares = 2"),
        ("markdown", "**43 % left.**", (), FINDING),
    )
    page = report_page(document)
    head, _, rest = page.partition("<main>")
    code = list(document.cells)[1]
    assert "What we learnt" in head
    assert f'<a class="source" href="#cell-{code.id}">cell 2</a>' in head
    assert f'id="cell-{code.id}"' in rest
    assert '<th scope="row">monthly</th>' in head
    assert "width: 25.0%" in head
    assert "&lt;b&gt;yearly&lt;/b&gt;" in head, "a label is text"


def test_a_link_leads_to_the_cell_that_the_number_came_from(make_document: MakeDocument) -> None:
    document = make_document(("code", "share = 0.43"), ("code", "other = 2"), ("markdown", "**43 % left.**"))
    first, other, text = document.cells
    note = {"text": "43 %", "variable": "v.share", "cell": first.id, "start": 2, "end": 6}
    noted = replace(text, metadata={"extra": {"abstract": "score", "numbers": [note]}})
    page = report_page(replace(document, cells=document.cells.replaced(noted)))
    assert f'<a class="source" href="#cell-{first.id}">cell 1</a>' in page.partition("<main>")[0]
    assert f"#cell-{other.id}" not in page


def test_the_method_is_folded_behind_a_head_that_can_stand_alone(make_document: MakeDocument) -> None:
    document = make_document(("code", "a = 1"), ("markdown", "**0.8** AUC.", (), part("score")))
    page = report_page(document)
    assert '<details class="method">' in page
    assert "(1 code cell)" in page
    plain = make_document(("code", "a = 1"), ("markdown", "Text."))
    assert '<details class="method">' not in report_page(plain)


def test_the_parts_come_in_the_order_of_a_reader(make_document: MakeDocument) -> None:
    document = make_document(
        ("markdown", "- trust it", (), part("trust")),
        ("markdown", "**0.8** AUC.", (), part("score")),
        ("markdown", "**It rains.**", (), part("learnt")),
    )
    head = report_page(document).partition("<main>")[0]
    places = [head.index(title) for title in ("What we learnt", "How well it can be predicted", "How far to trust it")]
    assert places == sorted(places)


def test_a_head_speaks_chinese(make_document: MakeDocument) -> None:
    document = make_document(("code", "a = 1"), ("markdown", "**43% 流失。**", (), FINDING))
    page = report_page(document, reader="zh")
    assert "发现了什么" in page
    assert "单元格 1" in page


def test_bars_that_are_none_are_not_drawn(make_document: MakeDocument) -> None:
    odd = {"extra": {"abstract": "learnt", "bars": [["a", 7, "x"], "b", ["c", 0.5]]}}
    document = make_document(("markdown", "Text.", (), odd))
    assert 'class="bars"' not in report_page(document)


def test_the_command_for_new_rows_is_said_where_there_is_a_model(make_document: MakeDocument) -> None:
    document = make_document(("markdown", "**0.8** AUC.", (), part("score")))
    files = (("model.pkl", 12),)
    assert "nbcc predict my-run NEW.csv" in report_page(document, run={"run_id": "my-run"}, files=files)
    assert "nbcc predict" not in report_page(document, run={"run_id": "my-run"})


def test_text_of_the_head_cannot_run(make_document: MakeDocument) -> None:
    document = make_document(("markdown", "<script>alert(1)</script> **x**", (), FINDING))
    (cell,) = document.cells
    assert "<script>" not in report_page(document)
    assert replace(cell, metadata={}).bars == ()
