"""The notebook as one HTML page: nothing to download, nothing that runs, made to be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import escape
from importlib.resources import files
from typing import Any, assert_never

from notebook_bcc.notebook.ansi import ansi_html, plain_text
from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.encoding import clean_text
from notebook_bcc.notebook.markup import Heading, Markup, highlighted
from notebook_bcc.notebook.outputs import Html, Interactive, Markdown, Picture, Text, is_active, shown
from notebook_bcc.notebook.sanitising import safe_html, shows_something
from notebook_bcc.notebook.thinking import is_finished, thinking_label
from notebook_bcc.protocol.cells import Cell, Output
from notebook_bcc.protocol.vocabulary import CellType

_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_INTERACTIVE = "Interactive output: open the notebook in Jupyter to see it."
_PARTS_LEFT_OUT = "Interactive parts of this output were left out."


def html_page(
    document: Document,
    *,
    language: str = "python",
    run: Mapping[str, Any] | None = None,
    fold_code: bool = False,
    thinking: bool = True,
) -> str:
    """The whole page. `run` is shown at its end; `fold_code` hides code behind a click; `thinking` keeps thoughts.

    Everything in the cells is taken as untrusted: it cannot run, load or cover anything.
    """
    markup = Markup()
    wanted = [cell for cell in document.cells if thinking or cell.type is not CellType.THINKING]
    cells = "\n".join(_cell(cell, markup, language=language, fold_code=fold_code) for cell in wanted)
    title = document.title or next((one.text for one in markup.headings if one.level == 1), "") or "Notebook"
    page = f"""<!DOCTYPE html>
<html lang="{_page_language(wanted)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="notebook-bcc">
<title>{escape(title)}</title>
<style>
{_style_sheet()}</style>
</head>
<body>
{_contents(markup.headings)}<main>
{cells}
{_about(run or {})}</main>
</body>
</html>
"""
    return _CONTROL.sub("", clean_text(page))


def _style_sheet() -> str:
    return files("notebook_bcc.notebook").joinpath("page.css").read_text(encoding="utf-8")


def _page_language(cells: Iterable[Cell]) -> str:
    # Browsers choose between Chinese and Japanese forms of the same character by this.
    text = "".join(cell.source for cell in cells if cell.type is CellType.MARKDOWN)
    return "zh-CN" if _HAN.search(text) and not _KANA.search(text) else "en"


def _contents(headings: list[Heading]) -> str:
    listed = [one for one in headings if one.level in (2, 3)]
    if len(listed) < 2:
        return ""
    items = "\n".join(
        f'<li class="level-{one.level}"><a href="#{escape(one.anchor)}">{escape(one.text)}</a></li>' for one in listed
    )
    return f'<nav aria-label="Contents">\n<p>Contents</p>\n<ul>\n{items}\n</ul>\n</nav>\n'


def _about(run: Mapping[str, Any]) -> str:
    rows = "\n".join(
        f"<dt>{escape(str(key).replace('_', ' '))}</dt><dd>{escape(str(value))}</dd>"
        for key, value in run.items()
        if isinstance(value, str | int | float) and value != ""
    )
    return (
        f"<footer>\n<details>\n<summary>About this run</summary>\n<dl>\n{rows}\n</dl>\n</details>\n</footer>\n"
        if rows
        else ""
    )


def _cell(cell: Cell, markup: Markup, *, language: str, fold_code: bool) -> str:
    match cell.type:
        case CellType.MARKDOWN:
            anchor = str(cell.metadata.get("section_id") or cell.metadata.get("chapter_id") or "")
            body = markup.render(clean_text(cell.source), attachments=cell.metadata.get("attachments"), anchor=anchor)
            return f'<section class="text">\n{body}</section>'
        case CellType.CODE:
            return _code_cell(cell, markup, language=language, fold_code=fold_code)
        case CellType.THINKING:
            state = "" if is_finished(cell) else " open"
            body = markup.render_text(clean_text(cell.source))
            label = escape(thinking_label(cell))
            return f'<details class="thinking"{state}>\n<summary>{label}</summary>\n<div>{body}</div>\n</details>'
        case _:
            assert_never(cell.type)


def _code_cell(cell: Cell, markup: Markup, *, language: str, fold_code: bool) -> str:
    count = "" if cell.execution_count is None else f'<span class="count">{cell.execution_count}</span>'
    source = cell.source.strip("\n")
    code = f'<pre class="hl"><code>{highlighted(clean_text(source), language=language)}</code></pre>'
    if fold_code:
        lines = source.count("\n") + 1
        size = f"{lines} lines" if lines > 1 else "1 line"
        code = f"<details>\n<summary>Code, {size}</summary>\n{code}\n</details>"
    outputs = "\n".join(_output(output, markup) for output in cell.outputs)
    shown_outputs = f'\n<div class="outputs">\n{outputs}\n</div>' if outputs else ""
    return f'<section class="code">\n<div class="input">{count}{code}</div>{shown_outputs}\n</section>'


def _output(output: Output, markup: Markup) -> str:
    form = shown(output)
    match form:
        case Text():
            kind = "error" if output["output_type"] == "error" else "stderr" if form.is_error else "stream"
            return f'<pre class="{kind}">{ansi_html(form.text.rstrip())}</pre>' if form.text.strip() else ""
        case Picture():
            width = f' width="{form.width}"' if form.width else ""
            return f'<div class="picture"><img alt="Figure"{width} src="{form.data_uri}"></div>'
        case Html():
            return _foreign_html(form)
        case Markdown():
            return f'<div class="rich">{markup.render_text(form.source)}</div>'
        case Interactive():
            return _plain_block(form.text) + _note(_INTERACTIVE)
        case _:
            assert_never(form)


def _foreign_html(form: Html) -> str:
    html = safe_html(form.html)
    if not shows_something(html):
        return _plain_block(form.fallback) + _note(_INTERACTIVE)
    note = _note(_PARTS_LEFT_OUT) if is_active(form.html) else ""
    return f'<div class="rich">{html}</div>{note}'


def _plain_block(text: str) -> str:
    return f'<pre class="stream">{escape(plain_text(text))}</pre>' if text.strip() else ""


def _note(words: str) -> str:
    return f'<p class="note">{words}</p>'
