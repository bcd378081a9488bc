"""The notebook as a script: cells marked `# %%`, text as comments. A Python script always compiles."""

from __future__ import annotations

import ast
import re
import warnings
from typing import assert_never

from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.encoding import clean_text
from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.vocabulary import CellType

_MAGIC = re.compile(r"(?m)^(?P<indent>[ \t]*)(?P<line>[%!?].*|(?![ \t]).*\?{1,2}[ \t]*)$")
_LINE_END = re.compile(r"\r\n?")
_UNEXECUTED = "This cell was not executed."
_REFUSED = "This cell is not Python that a script can run."


def script_text(document: Document, *, language: str = "python") -> str:
    """The code of the notebook, runnable from top to bottom. Thoughts and outputs are left out.

    What only a notebook understands (magics, shell lines, top-level await) is kept as comments.
    """
    blocks = [_block(cell, language) for cell in document.cells if cell.type is not CellType.THINKING]
    # The first line settles the encoding: a comment below that speaks of "coding: x" could change it otherwise.
    header = "# -*- coding: utf-8 -*-" if language == "python" else ""
    text = "\n\n".join(block for block in [header, *blocks] if block)
    if language == "python":
        text = _with_future_first(text, header)
    return clean_text(text) + "\n"


def _block(cell: Cell, language: str) -> str:
    match cell.type:
        case CellType.MARKDOWN:
            return f"# %% [markdown]\n{_commented(cell.source)}"
        case CellType.CODE:
            source = clean_text(_LINE_END.sub("\n", cell.source)).strip("\n")
            if cell.is_unexecuted:
                return f"# %%\n# {_UNEXECUTED}\n{_commented(source)}"
            return f"# %%\n{_runnable(source) if language == 'python' else source}"
        case CellType.THINKING:
            return ""
        case _:
            assert_never(cell.type)


def _runnable(source: str) -> str:
    if source.lstrip().startswith("%%"):
        return _commented(source)
    if _compiles(source):
        return source
    plain = _MAGIC.sub(lambda found: f"{found['indent']}pass  # {found['line']}", source)
    return plain if _compiles(plain) else f"# {_REFUSED}\n{_commented(source)}"


def _with_future_first(text: str, header: str) -> str:
    """Python wants `from __future__` before all other code, wherever the notebook has it."""
    if _compiles(text):
        return text
    try:
        statements = [one for one in ast.parse(text).body if _is_future(one)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        statements = []
    lines = text.split("\n")
    for statement in statements:
        for number in range(statement.lineno - 1, statement.end_lineno or statement.lineno):
            lines[number] = f"# {lines[number]}"
    first = list(dict.fromkeys(ast.unparse(statement) for statement in statements))
    moved = "\n".join([header, *first, *lines[1:]])
    # Cells that compile one by one and still not together are a rarity; nothing may be lost over it.
    return moved if _compiles(moved) else f"{header}\n\n# {_REFUSED}\n{_commented(text.removeprefix(header))}"


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _compiles(source: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(source, "<cell>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def _commented(text: str) -> str:
    # NUL is refused by Python even inside a comment.
    return "\n".join(f"# {line}".rstrip() for line in text.replace("\0", "\ufffd").splitlines())
