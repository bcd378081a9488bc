import json
from pathlib import Path
from typing import Any

import pytest

from notebook_bcc.errors import NotebookFailed
from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.ipynb import write_notebook
from notebook_bcc.notebook.reading import read_notebook, stamp_notebook
from notebook_bcc.protocol.vocabulary import CellType


def written(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def foreign(*cells: dict[str, Any], minor: int = 5, **metadata: Any) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": minor}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "not JSON"),
        ('{"cells": [', "not JSON"),
        ("hello", "not JSON"),
        ("[]", "not a notebook"),
        ("7", "not a notebook"),
        ("{}", "notebook"),
        ({"cells": 7, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, "notebook"),
        ({"cells": [7], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, "notebook"),
        (foreign({"cell_type": "code", "id": "a", "metadata": {}}), "not a valid notebook"),
        (foreign({"cell_type": "poem", "id": "a", "metadata": {}, "source": ""}), "not a valid notebook"),
        ({"cells": [], "metadata": {}, "nbformat": 99, "nbformat_minor": 0}, "notebook"),
    ],
)
def test_a_broken_file_is_told_with_its_reason(tmp_path: Path, content: Any, reason: str) -> None:
    path = written(tmp_path / "n.ipynb", content)
    with pytest.raises(NotebookFailed, match=reason) as caught:
        read_notebook(path)
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there_or_not_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotebookFailed, match="cannot be read"):
        read_notebook(tmp_path / "none.ipynb")
    with pytest.raises(NotebookFailed, match="cannot be read"):
        read_notebook(tmp_path)
    (tmp_path / "n.ipynb").write_bytes(b"\xff\xfe{}")
    with pytest.raises(NotebookFailed, match="not UTF-8"):
        read_notebook(tmp_path / "n.ipynb")


def test_a_notebook_of_an_older_minor_gets_the_same_ids_each_time(tmp_path: Path) -> None:
    markdown = {"cell_type": "markdown", "metadata": {}, "source": ["# a\n", "b"]}
    code: dict[str, Any] = {
        "cell_type": "code",
        "metadata": {"tags": ["x"]},
        "source": "1",
        "outputs": [],
        "execution_count": None,
    }
    path = written(tmp_path / "n.ipynb", foreign(markdown, code, minor=2))
    first, second = read_notebook(path), read_notebook(path)
    assert [cell.id for cell in first.document.cells] == ["cell-1", "cell-2"]
    assert first.document.cells == second.document.cells
    assert first.document.cell("cell-1").source == "# a\nb"
    assert first.document.cell("cell-2").metadata == {"tags": ["x"]}


def test_a_notebook_of_version_three_is_upgraded(tmp_path: Path) -> None:
    sheet = {"cells": [{"cell_type": "code", "input": "1", "language": "python", "outputs": [], "collapsed": False}]}
    old = {"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [sheet]}
    document = read_notebook(written(tmp_path / "n.ipynb", old)).document
    assert [(cell.type, cell.source) for cell in document.cells] == [(CellType.CODE, "1")]


def test_repeated_ids_become_different_ones(tmp_path: Path) -> None:
    cell = {"cell_type": "markdown", "id": "cell-2", "metadata": {}, "source": ""}
    document = read_notebook(written(tmp_path / "n.ipynb", foreign(cell, dict(cell), dict(cell)))).document
    assert len({cell.id for cell in document.cells}) == 3


def test_a_raw_cell_is_shown_as_it_stands(tmp_path: Path) -> None:
    raw = {"cell_type": "raw", "id": "r", "metadata": {}, "source": "<b>raw"}
    cell = read_notebook(written(tmp_path / "n.ipynb", foreign(raw))).document.cell("r")
    assert cell.type is CellType.MARKDOWN
    assert "<b>raw" in cell.source


def test_attachments_and_language_are_read(tmp_path: Path) -> None:
    attached = {"a.png": {"image/png": "AAAA"}}
    cell = {
        "cell_type": "markdown",
        "id": "m",
        "metadata": {},
        "source": "![](attachment:a.png)",
        "attachments": attached,
    }
    read = read_notebook(written(tmp_path / "n.ipynb", foreign(cell, language_info={"name": "R"})))
    assert read.document.cell("m").metadata["attachments"] == attached
    assert read.language == "R"
    write_notebook(tmp_path / "again.ipynb", read.document)
    assert read_notebook(tmp_path / "again.ipynb").document.cells == read.document.cells
    assert read_notebook(tmp_path / "again.ipynb").language == "python"


def test_a_stamp_changes_nothing_else(tmp_path: Path, document: Document) -> None:
    path = tmp_path / "n.ipynb"
    write_notebook(path, document)
    before = path.read_bytes()
    stamp_notebook(path, verified=False)
    stamp_notebook(path, verified=True, verified_at="2026-01-01T00:00:00Z")
    read = read_notebook(path)
    assert read.run == {"verified": True, "verified_at": "2026-01-01T00:00:00Z"}
    assert read.document.cells == document.cells
    content = json.loads(path.read_bytes())
    del content["metadata"]["notebook_bcc"]
    assert content == json.loads(before)


def test_a_broken_notebook_is_not_stamped(tmp_path: Path) -> None:
    path = written(tmp_path / "n.ipynb", "{}")
    with pytest.raises(NotebookFailed):
        stamp_notebook(path, verified=True)
    assert path.read_text() == "{}"
