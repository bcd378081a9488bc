from pathlib import Path

import pytest

from notebook_bcc.errors import NotebookFailed
from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.export.formats import ExportFormat, export_notebook
from notebook_bcc.notebook.ipynb import write_notebook
from notebook_bcc.notebook.reading import read_notebook


@pytest.mark.parametrize("form", ExportFormat)
def test_a_document_and_its_file_export_to_the_same(tmp_path: Path, document: Document, form: ExportFormat) -> None:
    write_notebook(tmp_path / "n.ipynb", document)
    for name, one in (("a", document), ("b", read_notebook(tmp_path / "n.ipynb").document)):
        (tmp_path / name).mkdir()
        export_notebook(one, tmp_path / name / f"n{form.suffix()}", form=form)
    first, second = ((tmp_path / name / f"n{form.suffix()}").read_bytes() for name in "ab")
    assert first == second


def test_pictures_are_written_beside_the_markdown(tmp_path: Path, document: Document) -> None:
    files = export_notebook(document, tmp_path / "n.md", form=ExportFormat.MARKDOWN)
    assert [file.relative_to(tmp_path).as_posix() for file in files] == ["n.md", "n_files/cell-5-2.png"]
    assert all(file.stat().st_size for file in files)
    assert export_notebook(document, tmp_path / "n.md", form=ExportFormat.MARKDOWN) == files


def test_embedded_pictures_need_no_folder(tmp_path: Path, document: Document) -> None:
    files = export_notebook(document, tmp_path / "n.md", form=ExportFormat.MARKDOWN, embed_pictures=True)
    assert files == [tmp_path / "n.md"]
    assert not (tmp_path / "n_files").exists()


@pytest.mark.parametrize("form", ExportFormat)
def test_a_missing_folder_is_told(tmp_path: Path, document: Document, form: ExportFormat) -> None:
    with pytest.raises(NotebookFailed):
        export_notebook(document, tmp_path / "no" / "n.x", form=form)


def test_every_form_has_its_suffix() -> None:
    assert [form.suffix() for form in ExportFormat] == [".html", ".html", ".md", ".py"]
    assert ExportFormat.SCRIPT.suffix(language="R") == ".r"
    assert ExportFormat.SCRIPT.suffix(language="brainfuck") == ".txt"
