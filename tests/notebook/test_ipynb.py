import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.encoding import clean_text
from notebook_bcc.notebook.ipynb import NAMESPACE, NotebookMetadata, NotebookWriter, notebook_bytes, write_notebook
from notebook_bcc.notebook.reading import document_of, read_notebook
from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.vocabulary import CellType

TEXT = st.text(st.characters(codec=None), max_size=40) | st.text('a\n\r\0\x0c\u2028\ud83d\ude00\\"', max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
METADATA = st.dictionaries(st.sampled_from(["chapter_id", "section_number", "shot_type", "agent_name", "extra"]), JSON)
BUNDLE = st.dictionaries(st.sampled_from(["text/plain", "text/html", "image/svg+xml", "image/png"]), TEXT, min_size=1)
OUTPUT = st.one_of(
    st.fixed_dictionaries(
        {"output_type": st.just("stream"), "name": st.sampled_from(["stdout", "stderr"]), "text": TEXT}
    ),
    st.fixed_dictionaries({"output_type": st.just("display_data"), "data": BUNDLE, "metadata": st.just({})}),
    st.fixed_dictionaries(
        {
            "output_type": st.just("execute_result"),
            "data": st.fixed_dictionaries({"application/json": JSON, "text/plain": TEXT}),
            "metadata": st.dictionaries(TEXT, JSON, max_size=2),
            "execution_count": st.none() | st.integers(0, 99),
        }
    ),
    st.fixed_dictionaries(
        {"output_type": st.just("error"), "ename": TEXT, "evalue": TEXT, "traceback": st.lists(TEXT, max_size=3)}
    ),
)
CELL = st.builds(
    lambda kind, source, outputs, count, metadata: (kind, source, outputs if kind == "code" else (), count, metadata),
    st.sampled_from(["code", "markdown", "thinking"]),
    TEXT,
    st.lists(OUTPUT, max_size=3).map(tuple),
    st.none() | st.integers(0, 9),
    METADATA,
)


def make(parts: list[tuple[Any, ...]], title: str = "") -> Document:
    cells = [
        Cell(f"c{number}", CellType(kind), source, outputs, count if kind == "code" else None, metadata)
        for number, (kind, source, outputs, count, metadata) in enumerate(parts)
    ]
    return document_of(cells, title=title)


def loaded(content: bytes) -> Any:
    notebook = nbformat.reads(content.decode(), as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    return notebook


def as_nbformat_writes(content: bytes) -> bytes:
    text: str = nbformat.writes(loaded(content))  # type: ignore[no-untyped-call]
    return text.encode() + b"\n"


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(CELL, max_size=5), TEXT, st.dictionaries(TEXT, JSON, max_size=3))
def test_any_document_becomes_a_valid_notebook(parts: list[tuple[Any, ...]], title: str, run: dict[str, Any]) -> None:
    document = make(parts, title)
    notebook = loaded(notebook_bytes(document, metadata=NotebookMetadata(run=run)))
    assert [cell["id"] for cell in notebook.cells] == [cell.id for cell in document.cells]
    for written, cell in zip(notebook.cells, document.cells, strict=True):
        if cell.type is not CellType.THINKING:
            assert written["source"] == clean_text(cell.source)
        for output, kept in zip(written.get("outputs", ()), cell.outputs, strict=True):
            if kept["output_type"] == "stream":
                assert output["text"] == clean_text(kept["text"])


def test_the_bytes_are_those_that_nbformat_writes(document: Document) -> None:
    content = notebook_bytes(document, metadata=NotebookMetadata(run={"run_id": "r1", "goal": "目标"}))
    assert content == as_nbformat_writes(content)


def test_an_empty_document_is_a_valid_notebook() -> None:
    content = notebook_bytes(Document())
    assert loaded(content).cells == []
    assert content == as_nbformat_writes(content)


def test_text_is_written_as_lines_for_good_diffs(document: Document) -> None:
    cell = json.loads(notebook_bytes(document))["cells"][4]
    assert cell["source"] == ["print('one')\n", "print('two')\n", "df"]
    assert cell["outputs"][0]["text"] == ["one\n", "two\n"]
    assert cell["outputs"][2]["data"]["text/plain"] == ["   a\n", "0  1"]


def test_our_metadata_has_its_own_namespace(document: Document) -> None:
    notebook = loaded(
        notebook_bytes(document, metadata=NotebookMetadata(run={"run_id": "r1"}, language_version="3.11"))
    )
    assert notebook.metadata["title"] == "A title 标题"
    assert notebook.metadata["kernelspec"]["name"] == "python3"
    assert notebook.metadata["language_info"]["version"] == "3.11"
    assert notebook.metadata[NAMESPACE] == {"run_id": "r1"}
    assert notebook.cells[1].metadata == {
        NAMESPACE: {"is_chapter": True, "chapter_id": "chapter-1", "chapter_number": 1}
    }
    assert notebook.cells[5].metadata == {NAMESPACE: {"shot_type": "action"}, "tags": ["raises-exception"]}


def test_a_thought_is_markdown_with_metadata(document: Document) -> None:
    cell = loaded(notebook_bytes(document)).cells[2]
    assert cell["cell_type"] == "markdown"
    assert cell["metadata"][NAMESPACE] == {"thinking": True, "agent_name": "planner", "finished_thinking": True}
    assert cell["metadata"]["tags"] == ["thinking"]
    assert cell["source"].startswith("<details>")


def test_surrogates_are_joined_or_replaced() -> None:
    document = make([("code", "a\ud83d\ude00b\ud800c", (), None, {"\udc00": float("nan"), "big": 1 << 70})])
    cell = loaded(notebook_bytes(document)).cells[0]
    assert cell["source"] == "a\U0001f600b\ufffdc"
    assert cell["metadata"][NAMESPACE] == {"\ufffd": None, "big": 1 << 70}


def test_fields_that_nbformat_does_not_know_are_left_out() -> None:
    output = {"output_type": "display_data", "data": {}, "metadata": {}, "transient": {"display_id": "x"}}
    assert "transient" not in loaded(notebook_bytes(make([("code", "", (output,), 1, {})]))).cells[0].outputs[0]


def test_another_language_is_stated() -> None:
    metadata = NotebookMetadata(kernel_name="ir", display_name="R", language="R", file_extension=".r")
    assert loaded(notebook_bytes(Document(), metadata=metadata)).metadata["language_info"] == {
        "name": "R",
        "file_extension": ".r",
    }


def test_a_writer_encodes_again_only_what_changed(tmp_path: Path, document: Document) -> None:
    writer = NotebookWriter(tmp_path / "n.ipynb")
    writer.write(document)
    before = dict(writer._encoder._encoded)
    changed = document.with_changed_cell("cell-5", source="2").with_cell(Cell("new", CellType.MARKDOWN, "x"))
    writer.write(changed)
    after = writer._encoder._encoded
    assert {cell_id for cell_id in after if after[cell_id] is not before.get(cell_id)} == {"cell-5", "new"}
    assert writer.path.read_bytes() == notebook_bytes(changed)


def test_a_writer_forgets_cells_that_are_gone(tmp_path: Path, document: Document) -> None:
    writer = NotebookWriter(tmp_path / "n.ipynb")
    writer.write(document)
    writer.write(Document())
    assert writer._encoder._encoded == {}
    assert writer.path.read_bytes() == notebook_bytes(Document())


def test_what_was_written_is_read_back_equal(tmp_path: Path, document: Document) -> None:
    path = tmp_path / "n.ipynb"
    write_notebook(path, document, metadata=NotebookMetadata(run={"run_id": "r1"}))
    read = read_notebook(path)
    assert read.document.cells == document.cells
    assert (read.document.title, read.document.chapters, read.document.sections) == (document.title, 1, 1)
    assert read.document.last_code_id == "cell-6"
    assert read.run == {"run_id": "r1"}


@pytest.mark.parametrize("size", [0, 1, 300])
def test_a_notebook_of_any_size_is_read_back(tmp_path: Path, size: int) -> None:
    document = make([("code", f"x = {number}", (), number, {}) for number in range(size)])
    write_notebook(tmp_path / "n.ipynb", document)
    assert read_notebook(tmp_path / "n.ipynb").document.cells == document.cells


def test_a_folded_cell_is_closed_in_jupyter() -> None:
    document = make([("code", "x = 1", (), 1, {"extra": {"folded": True}}), ("code", "y = 2", (), 2, {})])
    folded, plain = loaded(notebook_bytes(document)).cells
    assert folded["metadata"]["jupyter"] == {"source_hidden": True}
    assert "jupyter" not in plain["metadata"]
