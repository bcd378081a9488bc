"""One run, checked: the texts of its notebook, its report, and the last lines of its terminal."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

from benchmarks.numbers.constants import CONSTANTS
from notebook_bcc.journal.interface import Entry
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.lifecycle.history import read_entries
from notebook_bcc.views.numbers import NUMBER, NumberProblem, check_numbers, unknown_numbers
from notebook_bcc.wiring import journals

# Any, throughout: JSON of a notebook and a summary.
# What code has printed and drawn is not the report's own word, and neither are names of files and packages.
_NOT_TOLD: Final = frozenset({"pre", "svg", "style", "footer"})
_NOT_TOLD_CLASSES: Final = frozenset({"code", "files", "when", "goal"})
_EMPTY_TAGS: Final = frozenset({"br", "img", "hr", "meta", "link", "input", "wbr"})
_RESULTS: Final = ("result:", "结果：", "Answer:", "答案:", "What goes along with it:", "相关因素:")


@dataclass(frozen=True, slots=True)
class RunChecked:
    """How many numbers and comparatives there were, and what is wrong with them."""

    texts: int
    numbers: int
    comparatives: int
    problems: tuple[NumberProblem, ...]


def check_run(folder: Path, terminal: str) -> RunChecked:
    """Everything that a finished run tells. `terminal` is what its command printed."""
    checked = check_numbers(asyncio.run(_entries(folder)), constants=CONSTANTS)
    notebook = json.loads((folder / "notebook.ipynb").read_text(encoding="utf-8"))
    page = told_by((folder / "report.html").read_text(encoding="utf-8"))
    lines = [line.strip() for line in terminal.splitlines() if line.strip().startswith(_RESULTS)]
    problems = (*checked.problems, *_report_problems(page, notebook), *_terminal_problems(lines, folder))
    numbers = sum(len(NUMBER.findall(text)) for text in (page, *lines))
    return RunChecked(checked.texts, checked.numbers + numbers, checked.comparatives, problems)


def _report_problems(page: str, notebook: dict[str, Any]) -> list[NumberProblem]:
    """What the report says that no checked text, bar or count of the notebook says."""
    cells = notebook["cells"]
    texts = ["".join(cell["source"]).replace("\\", "") for cell in cells if cell["cell_type"] == "markdown"]
    extras = [cell["metadata"].get("notebook_bcc", {}).get("extra", {}) for cell in cells]
    bars = [str(part) for extra in extras for bar in extra.get("bars", ()) for part in bar]
    known = {token for text in (*texts, *bars) for token in NUMBER.findall(text)}
    known |= {str(number) for number in range(1, sum(cell["cell_type"] == "code" for cell in cells) + 1)}
    strange = [token for token in NUMBER.findall(page) if token not in known]
    return [NumberProblem("report", token, "stands in no checked text") for token in strange]


def _terminal_problems(lines: Sequence[str], folder: Path) -> list[NumberProblem]:
    """The result line against the summary, the lines of answers against the answer."""
    known = [json.loads(path.read_text(encoding="utf-8")) for path in map(folder.joinpath, _SAID) if path.is_file()]
    return [
        NumberProblem("terminal", token, "is in no summary and no answer", line)
        for line in lines
        for token in unknown_numbers(line, known, constants={})
    ]


_SAID: Final = ("summary.json", "answer.json")


async def _entries(folder: Path) -> list[Entry]:
    return [entry async for entry in read_entries(RunFolder(folder), journals())]


def told_by(page: str) -> str:
    """The words of a report that are its own."""
    reader = _Told()
    reader.feed(page)
    return re.sub(r"[ \t]+", " ", "".join(reader.words))


class _Told(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._open: list[bool] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _EMPTY_TAGS:
            return
        classes = set((dict(attrs).get("class") or "").split())
        self._open.append(tag in _NOT_TOLD or bool(classes & _NOT_TOLD_CLASSES))
        self.words.append("\n" if tag in ("p", "li", "tr", "td", "th", "h2", "h3") else "")

    def handle_endtag(self, tag: str) -> None:
        if tag not in _EMPTY_TAGS and self._open:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if not any(self._open):
            self.words.append(data)
