"""Cells and their outputs as HTML: untrusted content made safe, nothing that runs or loads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Final, assert_never
from urllib.parse import quote

from notebook_bcc.notebook.encoding import clean_text
from notebook_bcc.notebook.export.ansi import ansi_html, plain_text
from notebook_bcc.notebook.export.markup import Markup, highlighted
from notebook_bcc.notebook.export.outputs import (
    Html,
    Interactive,
    MarkdownOutput,
    PictureOutput,
    TextOutput,
    is_active,
    shown,
)
from notebook_bcc.notebook.export.paper import fit
from notebook_bcc.notebook.export.sanitising import safe_html, shows_something
from notebook_bcc.notebook.export.thinking import is_finished, thinking_label
from notebook_bcc.protocol.cells import Cell, Output
from notebook_bcc.protocol.vocabulary import CellType, Language


@dataclass(frozen=True, slots=True)
class CellWords:
    """What a page itself says about cells, in its reader's language."""

    code: str = "Code, 1 line"
    codes: str = "Code, {lines} lines"
    not_executed: str = "Not executed"
    figure: str = "Figure"
    interactive: str = "Interactive output: open the notebook in Jupyter to see it."
    parts_left_out: str = "Interactive parts of this output were left out."


CELL_WORDS: Final[Mapping[Language, CellWords]] = {
    "en": CellWords(),
    "zh": CellWords(
        code="代码，1 行",
        codes="代码，{lines} 行",
        not_executed="未执行",
        figure="图",
        interactive="交互式输出：请在 Jupyter 中打开笔记本查看。",
        parts_left_out="此输出中的交互部分已略去。",
    ),
}


def cell_html(
    cell: Cell, markup: Markup, *, words: CellWords, language: str, fold_code: bool = False, count: bool = True
) -> str:
    """One cell of a page. `fold_code` hides all code behind a click; `count` shows when a code cell was run."""
    match cell.type:
        case CellType.MARKDOWN:
            anchor = str(cell.metadata.get("section_id") or cell.metadata.get("chapter_id") or "")
            body = markup.render(clean_text(cell.source), attachments=cell.metadata.get("attachments"), anchor=anchor)
            return f'<section class="text">\n{body}</section>'
        case CellType.CODE:
            return _code_cell(cell, markup, words=words, language=language, fold_code=fold_code, count=count)
        case CellType.THINKING:
            state = "" if is_finished(cell) else " open"
            body = markup.render_text(clean_text(cell.source))
            label = escape(thinking_label(cell))
            return f'<details class="thinking"{state}>\n<summary>{label}</summary>\n<div>{body}</div>\n</details>'
        case _:
            assert_never(cell.type)


def cell_anchor(cell: Cell) -> str:
    """What a link to a code cell of a page names."""
    return f"cell-{quote(cell.id)}"


def _code_cell(cell: Cell, markup: Markup, *, words: CellWords, language: str, fold_code: bool, count: bool) -> str:
    shown_count = count and cell.execution_count is not None
    number = f'<span class="count">{cell.execution_count}</span>' if shown_count else ""
    source = cell.source.strip("\n")
    code = f'<pre class="hl"><code>{highlighted(clean_text(source), language=language)}</code></pre>'
    if fold_code or cell.is_folded:
        lines = source.count("\n") + 1
        label = words.codes.format(lines=lines) if lines > 1 else words.code
        code = f"<details>\n<summary>{label}</summary>\n{code}\n</details>"
    outputs = "\n".join(_output(output, markup, words) for output in cell.outputs)
    outputs = outputs or (_note(words.not_executed) if cell.is_unexecuted else "")
    shown_outputs = f'\n<div class="outputs">\n{outputs}\n</div>' if outputs else ""
    body = f'<div class="input">{number}{code}</div>{shown_outputs}'
    return f'<section class="code" id="{cell_anchor(cell)}">\n{body}\n</section>'


def _output(output: Output, markup: Markup, words: CellWords) -> str:
    form = shown(output)
    match form:
        case TextOutput():
            kind = "error" if output["output_type"] == "error" else "stderr" if form.is_error else "stream"
            return f'<pre class="{kind}">{ansi_html(form.text.rstrip())}</pre>' if form.text.strip() else ""
        case PictureOutput():
            width = f' width="{form.width}"' if form.width else ""
            return f'<div class="picture"><img alt="{words.figure}"{width} src="{form.data_uri}"></div>'
        case Html():
            return _foreign_html(form, words)
        case MarkdownOutput():
            return f'<div class="rich">{markup.render_text(form.source)}</div>'
        case Interactive():
            return _plain_block(form.text) + _note(words.interactive)
        case _:
            assert_never(form)


def _foreign_html(form: Html, words: CellWords) -> str:
    html = safe_html(form.html)
    if not shows_something(html):
        return _plain_block(form.fallback) + _note(words.interactive)
    note = _note(words.parts_left_out) if is_active(form.html) else ""
    return f'<div class="rich"{_for_paper(html)}>{html}</div>{note}'


def _for_paper(html: str) -> str:
    """What the style sheet needs to know to print a table."""
    how = fit(html)
    if how is None:
        return ""
    broken = "all" if how.breaks_values else "headers" if how.breaks_headers else ""
    breaks = f' data-break="{broken}"' if broken else ""
    wide = ' data-wide=""' if how.lying else ""
    return f' style="--paper-size: {how.size:g}pt"{breaks}{wide}'


def _plain_block(text: str) -> str:
    return f'<pre class="stream">{escape(plain_text(text))}</pre>' if text.strip() else ""


def _note(words: str) -> str:
    return f'<p class="note">{words}</p>'
