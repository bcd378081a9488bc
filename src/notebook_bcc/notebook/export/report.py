"""The notebook as a report: what was found, for somebody who does not read code. The code is there, folded.

One page that needs nothing else: no script, nothing to download, readable in the dark, on paper and on a phone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from html import escape
from typing import Any, Final
from urllib.parse import quote

from notebook_bcc.notebook.counting import Count
from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.export.html import contents_list, framed, without_title
from notebook_bcc.notebook.export.html_cells import CELL_WORDS, CellWords, cell_html
from notebook_bcc.notebook.export.markup import Markup
from notebook_bcc.notebook.export.report_head import HeadWords, has_parts, head_html
from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.vocabulary import CellType

# As HTML names languages: browsers choose the forms of Chinese characters by it.
_SPOKEN: Final = {"en": "en", "zh": "zh-CN"}
_HAN: Final = re.compile(r"[\u4e00-\u9fff]")
_LETTER: Final = re.compile(r"[^\W\d_]")
# A Chinese text has English names in it, an English one now and then a Chinese word.
_MOSTLY_HAN: Final = 0.2
_UNITS: Final = ("bytes", "kB", "MB", "GB", "TB")


@dataclass(frozen=True, slots=True)
class _Words:
    """What the report itself says."""

    untitled: str = "Report"
    contents: str = "Contents"
    files: str = "Files"
    unanswered: str = "Not answered: the run reached its end without what it was asked for"
    verified: str = "Verified: {cells:code cell|code cells} gave the same results when run again in a fresh kernel"
    differs: str = "Not verified: {count:difference|differences} when the code was run again in a fresh kernel"
    unverified: str = "Not verified: the code has not been run again in a fresh kernel"
    facts: Mapping[str, str] = field(
        default_factory=lambda: {
            "run_id": "Run",
            "started_at": "Started",
            "planner": "Planned by",
            "actions": "Actions",
            "code_cells": "Code cells",
            "left_out_cells": "Cells left out (failed, or only looked)",
        }
    )
    about: str = "About this run"
    method: str = "Method: how the table was read, prepared and modelled ({cells:code cell|code cells})"
    use: str = "Use it"
    use_model: str = "predict new rows"
    head: HeadWords = field(default_factory=HeadWords)
    cells: CellWords = field(default_factory=CellWords)


_ENGLISH: Final = _Words()
_CHINESE: Final = _Words(
    untitled="报告",
    contents="目录",
    files="文件",
    unanswered="未能回答：运行已结束，但没有得到所要求的结果",
    verified="已验证：全部 {cells} 个代码单元格在全新内核中重新执行，结果一致",
    differs="验证未通过：在全新内核中重新执行代码后有 {count} 处差异",
    unverified="未验证：代码尚未在全新内核中重新执行",
    facts={
        "run_id": "运行",
        "started_at": "开始时间",
        "planner": "规划器",
        "actions": "动作数",
        "code_cells": "代码单元格",
        "left_out_cells": "略去的单元格（失败或只用于查看）",
    },
    about="关于本次运行",
    method="方法：数据如何读取、整理和建模（{cells} 个代码单元格）",
    use="使用",
    use_model="预测新数据",
    head=HeadWords(
        in_short="要点", learnt="发现了什么", score="预测得有多好", trust="可以信任到什么程度", cell="单元格 {number}"
    ),
    cells=CELL_WORDS["zh"],
)


def report_page(
    document: Document,
    *,
    language: str = "python",
    reader: str = "",
    run: Mapping[str, Any] | None = None,
    files: Sequence[tuple[str, int]] = (),
) -> str:
    """The whole page. `reader` is the language it speaks, `en` or `zh`; without it the notebook's text decides.

    `files` are the names and sizes of what lies beside it. Everything in the cells is taken as untrusted.
    """
    # What a note says of the run stands in the head of the page.
    shown = [cell for cell in document.cells if not cell.metadata.get("note")]
    cells = [cell for cell in shown if cell.type is not CellType.THINKING]
    spoken = _SPOKEN.get(reader) or _spoken(cells)
    words = _CHINESE if spoken == _SPOKEN["zh"] else _ENGLISH
    title, cells = without_title(document.title, cells)
    markup = Markup()
    listing = "\n".join(
        cell_html(_quiet(cell), markup, words=words.cells, language=language, fold_code=True, count=False)
        for cell in cells
    )
    facts = run or {}
    shown_title = title or next((one.text for one in markup.headings if one.level == 1), "")
    head = _head(title, facts, words) + head_html(cells, words.head)
    contents = contents_list(markup.headings, label=words.contents)
    ending = f"{_files(files, words)}{_about(facts, words)}"
    if has_parts(cells):
        code = Count(sum(cell.type is CellType.CODE for cell in cells))
        method = f"<summary>{words.method.format(cells=code)}</summary>\n{contents}{listing}"
        body = (
            f'{head}<main>\n{_use(facts, files, words)}<details class="method">\n{method}\n</details>\n{ending}</main>'
        )
    else:
        body = f"{head}{contents}<main>\n{listing}\n{ending}</main>"
    return framed(
        body, title=shown_title or words.untitled, language=spoken, styles=("page.css", "cells.css", "report.css")
    )


def file_size(size: int) -> str:
    """A size as people say it: `1.4 MB`."""
    value = float(size)
    for unit in _UNITS:
        if value < 1000 or unit == _UNITS[-1]:
            break
        value /= 1000
    return f"{size} {_UNITS[0]}" if unit == _UNITS[0] else f"{value:.1f} {unit}"


def _spoken(cells: Sequence[Cell]) -> str:
    """The language that most of the text is in."""
    text = "".join(cell.source for cell in cells if cell.type is CellType.MARKDOWN)
    letters = len(_LETTER.findall(text))
    return _SPOKEN["zh"] if letters and len(_HAN.findall(text)) > _MOSTLY_HAN * letters else _SPOKEN["en"]


def _head(title: str, run: Mapping[str, Any], words: _Words) -> str:
    heading = f"<h1>{escape(title)}</h1>\n" if title else ""
    goal = run.get("goal")
    shown_goal = f'<p class="goal">{escape(str(goal))}</p>\n' if goal and str(goal).strip() != title else ""
    unanswered = f'<p class="stamp bad">{words.unanswered}</p>\n' if run.get("answered") == "no" else ""
    return f"<header>\n{heading}{shown_goal}{unanswered}{_stamp(run, words)}</header>\n"


def _use(run: Mapping[str, Any], files: Sequence[tuple[str, int]], words: _Words) -> str:
    """The command by which the model is used, where there is one."""
    run_id = run.get("run_id")
    if not run_id or all(name != "model.pkl" for name, _ in files):
        return ""
    command = f"nbcc predict {escape(str(run_id))} NEW.csv    # {words.use_model}"
    return (
        f'<section class="head use">\n<h2>{words.use}</h2>\n<pre class="hl"><code>{command}</code></pre>\n</section>\n'
    )


def _quiet(cell: Cell) -> Cell:
    """A cell that writes a file without its word that it did."""
    is_written = cell.type is CellType.CODE and cell.source.startswith("%%writefile")
    return replace(cell, outputs=()) if is_written else cell


def _stamp(run: Mapping[str, Any], words: _Words) -> str:
    if not run:
        return ""
    stamp = run.get("verified")
    if not isinstance(stamp, Mapping):
        return f'<p class="stamp">{words.unverified}</p>\n'
    at = _moment(str(stamp.get("at", "")))
    when = f' <span class="when">{at}</span>' if at else ""
    if stamp.get("ok"):
        return f'<p class="stamp good">{words.verified.format(cells=Count(stamp.get("cells", 0)))}{when}</p>\n'
    return f'<p class="stamp bad">{words.differs.format(count=Count(len(stamp.get("differences", ()))))}{when}</p>\n'


def _files(files: Sequence[tuple[str, int]], words: _Words) -> str:
    if not files:
        return ""
    # `./` keeps a name from being taken for the address of something else.
    items = "\n".join(
        f'<li><a href="./{quote(name)}">{escape(name)}</a> <span class="size">{file_size(size)}</span></li>'
        for name, size in files
    )
    return f'<section class="files">\n<h2>{words.files}</h2>\n<ul>\n{items}\n</ul>\n</section>\n'


def _about(run: Mapping[str, Any], words: _Words) -> str:
    rows = [
        (label, _moment(str(run[name])) if name.endswith("_at") else str(run[name]))
        for name, label in words.facts.items()
        if run.get(name)
    ]
    versions = run.get("versions")
    if isinstance(versions, Mapping):
        rows += [(str(name), str(version)) for name, version in versions.items()]
    if not rows:
        return ""
    listing = "\n".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in rows)
    return f"<footer>\n<details>\n<summary>{words.about}</summary>\n<dl>\n{listing}\n</dl>\n</details>\n</footer>\n"


def _moment(at: str) -> str:
    """A time of a record, to the minute."""
    try:
        return f"{datetime.fromisoformat(at):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return ""
