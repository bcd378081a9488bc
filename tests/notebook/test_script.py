from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.export.script import script_text
from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.vocabulary import CellType

MakeDocument = Callable[..., Document]


def test_code_stays_text_becomes_comments_and_thoughts_are_left_out(document: Document) -> None:
    script = script_text(document)
    compile(script, "script", "exec")
    assert "# %% [markdown]\n# # A title 标题\n" in script
    assert "# %%\nprint('one')\nprint('two')\ndf\n" in script
    assert "look" not in script


def test_the_script_does_what_the_cells_do(make_document: MakeDocument) -> None:
    cells = [("code", "x = 1"), ("markdown", "coding: latin-1"), ("code", "%time y = 2\nif x:\n    !ls\nx += 1\nx?")]
    names: dict[str, Any] = {}
    exec(compile(script_text(make_document(*cells)).encode(), "script", "exec"), names)
    assert names["x"] == 2


@pytest.mark.parametrize("source", ["%%bash\nls", "await f()", "return 1", "x = (", "a\0b", "print 'two'", "x = \\"])
def test_what_a_script_cannot_run_is_kept_as_a_comment(make_document: MakeDocument, source: str) -> None:
    script = script_text(make_document(("code", source), ("code", "y = 1")))
    compile(script, "script", "exec")
    assert f"# {source.splitlines()[0]}".replace("\0", "\ufffd").rstrip() in script
    assert "\ny = 1\n" in script


def test_future_imports_move_to_the_top(make_document: MakeDocument) -> None:
    later = "from __future__ import (\n    annotations,\n)\ny: Unknown = 1"
    script = script_text(make_document(("code", "x = 1"), ("code", later)))
    names: dict[str, Any] = {}
    exec(compile(script, "script", "exec", dont_inherit=True), names)
    assert (names["x"], names["y"]) == (1, 1)


def test_cells_that_only_fail_together_are_not_lost(make_document: MakeDocument) -> None:
    script = script_text(make_document(("code", "x = 1"), ("code", "global x")))
    compile(script, "script", "exec")
    assert "# x = 1" in script


def test_another_language_is_written_as_it_is(make_document: MakeDocument) -> None:
    assert (
        script_text(make_document(("code", "x <- 1"), ("markdown", "t")), language="R")
        == "# %%\nx <- 1\n\n# %% [markdown]\n# t\n"
    )


PIECES = [
    "x = 1",
    "if x:",
    "    y",
    "%ls",
    "!ls",
    "x?",
    "from __future__ import annotations",
    '"""',
    "# c",
    "\\",
    "\x0c",
    "\ud800",
]
SOURCE = st.lists(st.sampled_from(PIECES), max_size=4).map("\n".join) | st.text(st.characters(codec=None), max_size=15)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["code", "markdown"]), SOURCE), max_size=4))
def test_every_notebook_becomes_a_script_that_compiles(parts: list[tuple[str, str]]) -> None:
    document = Document()
    for number, (kind, source) in enumerate(parts):
        document = document.with_cell(Cell(f"c{number}", CellType(kind), source))
    compile(script_text(document).encode(), "script", "exec", dont_inherit=True)
