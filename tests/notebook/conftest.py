"""Documents to write and export."""

from collections.abc import Callable
from typing import Any

import pytest

from notebook_bcc.notebook.document import Document
from notebook_bcc.protocol.cells import Cell, Output
from notebook_bcc.protocol.vocabulary import CellType

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

MakeDocument = Callable[..., Document]


@pytest.fixture
def pixel() -> str:
    return PIXEL


@pytest.fixture
def make_document() -> MakeDocument:
    """Makes a document of `(kind, source)` or `(kind, source, outputs, metadata)` tuples."""

    def make(*cells: tuple[Any, ...], title: str = "") -> Document:
        document = Document(title=title)
        for number, (kind, source, *rest) in enumerate(cells, start=1):
            outputs: tuple[Output, ...] = tuple(rest[0]) if rest else ()
            metadata = rest[1] if len(rest) > 1 else {}
            count = number if kind == "code" else None
            cell = Cell(f"cell-{number}", CellType(kind), source, outputs, count, metadata)
            document = document.with_cell(cell)
        return document

    return make


@pytest.fixture
def document(make_document: MakeDocument) -> Document:
    """One of everything a notebook can hold."""
    stream = {"output_type": "stream", "name": "stdout", "text": "one\ntwo\n"}
    figure = {"output_type": "display_data", "data": {"image/png": PIXEL, "text/plain": "<Figure>"}, "metadata": {}}
    table = {
        "output_type": "execute_result",
        "data": {"text/html": "<table><tr><td>1</td></tr></table>", "text/plain": "   a\n0  1"},
        "metadata": {},
        "execution_count": 5,
    }
    error = {
        "output_type": "error",
        "ename": "KeyError",
        "evalue": "'x'",
        "traceback": ["\x1b[31mKeyError\x1b[0m: 'x'"],
    }
    return make_document(
        ("markdown", "# A title 标题"),
        ("markdown", "## Chapter one", (), {"is_chapter": True, "chapter_id": "chapter-1", "chapter_number": 1}),
        (
            "thinking",
            "First <look>.\n\nThen & go.",
            (),
            {"thinking": True, "agent_name": "planner", "finished_thinking": True},
        ),
        ("markdown", "### Section one\n\nText with $x^2$.", (), {"is_section": True, "section_id": "section-1"}),
        ("code", "print('one')\nprint('two')\ndf", (stream, figure, table)),
        ("code", "{}['x']", (error,), {"tags": ["raises-exception"], "shot_type": "action"}),
        title="A title 标题",
    )
