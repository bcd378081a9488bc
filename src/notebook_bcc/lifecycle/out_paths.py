"""May something be delivered to a path that the user named? Files that nbcc did not write are not replaced."""

from __future__ import annotations

from pathlib import Path

from notebook_bcc.errors import NotebookFailed
from notebook_bcc.lifecycle.folder import NOTEBOOK, check_writable, check_writable_folder
from notebook_bcc.notebook.reading import read_notebook

_OUR_PAGE = b'name="generator" content="notebook-bcc"'
_PAGE_HEAD = 4096


def check_out(path: Path, *, overwrite: bool) -> None:
    """Raises NotebookFailed unless the notebook may be written here. A file that is not ours is not replaced."""
    check_writable(path)
    page = path.with_suffix(".html")
    for file, ours in ((path, _is_our_notebook), (page, _is_our_page)):
        if not overwrite and file.exists() and not ours(file):
            reason = "there is a file that nbcc did not write; choose another path, or give --overwrite"
            raise NotebookFailed(path=str(file), reason=reason)


def check_out_folder(path: Path, *, overwrite: bool) -> None:
    """Raises NotebookFailed unless everything may be delivered here: into a new or empty folder, or over an earlier
    delivery."""
    check_writable_folder(path)
    if overwrite or not path.is_dir() or not any(path.iterdir()) or _is_our_notebook(path / NOTEBOOK):
        return
    reason = "this folder holds files that nbcc did not write; choose another one, or give --overwrite"
    raise NotebookFailed(path=str(path), reason=reason)


def _is_our_notebook(path: Path) -> bool:
    try:
        return bool(read_notebook(path).run.get("run_id"))
    except NotebookFailed:
        return False


def _is_our_page(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return _OUR_PAGE in file.read(_PAGE_HEAD)
    except OSError:
        return False
