"""The notebook as one HTML page: nothing to download, nothing that runs, made to be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from importlib.resources import files
from typing import Any

from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.encoding import clean_text
from notebook_bcc.notebook.export.html_cells import CellWords, cell_html
from notebook_bcc.notebook.export.markup import Heading, Markup
from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.vocabulary import CellType

_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")


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
    shown = [cell for cell in document.cells if thinking or cell.type is not CellType.THINKING]
    heading, wanted = without_title(document.title, shown)
    head = f"<header>\n{markup.render(f'# {heading}')}</header>\n" if heading else ""
    cells = "\n".join(
        cell_html(cell, markup, words=CellWords(), language=language, fold_code=fold_code) for cell in wanted
    )
    title = document.title or next((one.text for one in markup.headings if one.level == 1), "") or "Notebook"
    body = f"{head}{contents_list(markup.headings)}<main>\n{cells}\n{_about(run or {})}</main>"
    return framed(body, title=heading or title, language=page_language(shown), styles=("page.css", "cells.css"))


def without_title(title: str, cells: list[Cell]) -> tuple[str, list[Cell]]:
    """The title, and the cells without the heading that says it: the head of the page does."""
    first = cells[0] if cells else None
    if first is None or first.type is not CellType.MARKDOWN or not first.source.lstrip().startswith("# "):
        return title, cells
    heading, _, rest = first.source.lstrip().partition("\n")
    said = heading.removeprefix("# ").strip()
    if title and said != title.strip():
        return title, cells
    left = [replace(first, source=rest)] if rest.strip() else []
    return said, [*left, *cells[1:]]


def framed(body: str, *, title: str, language: str, styles: Sequence[str]) -> str:
    """A whole page around its body: nothing of it runs, and nothing is loaded."""
    folder = files("notebook_bcc.notebook.export")
    sheets = "".join(folder.joinpath(name).read_text(encoding="utf-8") for name in styles)
    page = f"""<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="notebook-bcc">
<title>{escape(title)}</title>
<style>
{sheets}</style>
</head>
<body>
{body}
</body>
</html>
"""
    return _CONTROL.sub("", clean_text(page))


def page_language(cells: Iterable[Cell]) -> str:
    """The language of a page's text, as HTML names it: Chinese where there is any, else English."""
    # Browsers choose between Chinese and Japanese forms of the same character by this.
    text = "".join(cell.source for cell in cells if cell.type is CellType.MARKDOWN)
    return "zh-CN" if _HAN.search(text) and not _KANA.search(text) else "en"


def contents_list(headings: Sequence[Heading], *, label: str = "Contents") -> str:
    """The chapters and sections as links, or nothing where there are too few to need a list."""
    listed = [one for one in headings if one.level in (2, 3)]
    if len(listed) < 2:
        return ""
    items = "\n".join(
        f'<li class="level-{one.level}"><a href="#{escape(one.anchor)}">{escape(one.text)}</a></li>' for one in listed
    )
    return f'<nav aria-label="{label}">\n<p>{label}</p>\n<ul>\n{items}\n</ul>\n</nav>\n'


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
