"""A thinking cell as markdown that every viewer folds, and back: nothing of the text is lost on the way."""

from __future__ import annotations

import re
from html import escape

from notebook_bcc.protocol.cells import Cell

_QUOTE = "> "
_TAG_START = re.compile(r"<(?=[A-Za-z/!?])")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_ESCAPED = re.compile(r"&lt;|&amp;(?=#?\w+;)")
_FOLDED = re.compile(r"<details(?: open)?>\n<summary>[^\n]*</summary>\n(?:\n(?P<text>.*)\n)?\n</details>", re.DOTALL)


def thinking_label(cell: Cell) -> str:
    """What stands on the folded cell: the planner's own words if it gave any, and who was thinking."""
    words = str(cell.metadata.get("custom_text") or "Thinking")
    agent = str(cell.metadata.get("agent_name") or "")
    return f"{words} ({agent})" if agent else words


def is_finished(cell: Cell) -> bool:
    return bool(cell.metadata.get("finished_thinking"))


def folded_source(cell: Cell) -> str:
    """The markdown of a thinking cell: a `<details>` element, open while the thinking goes on.

    JupyterLab, GitHub and nbconvert all draw it as a fold. The text stands in a block quote, so that an unclosed
    fence in it cannot swallow the end of the fold, and tags in it are escaped.
    """
    opening = "<details>" if is_finished(cell) else "<details open>"
    label = escape(" ".join(thinking_label(cell).split()), quote=False)
    text = "".join(f"\n{_quoted(line)}" for line in _escaped(cell.source).split("\n")) if cell.source else ""
    body = f"{text}\n" if text else ""
    return f"{opening}\n<summary>{label}</summary>\n{body}\n</details>"


def unfolded_text(source: str) -> str:
    """The text that `folded_source` was made of; other markdown comes back as it is."""
    found = _FOLDED.fullmatch(source)
    if found is None:
        return source
    text = found["text"]
    if text is None:
        return ""
    return _ESCAPED.sub(_unescape, "\n".join(_unquoted(line) for line in text.split("\n")))


def _escaped(text: str) -> str:
    return _TAG_START.sub("&lt;", _ENTITY.sub("&amp;", text))


def _unescape(found: re.Match[str]) -> str:
    return "<" if found[0] == "&lt;" else "&"


def _quoted(line: str) -> str:
    return _QUOTE + line if line else _QUOTE.rstrip()


def _unquoted(line: str) -> str:
    return line.removeprefix(_QUOTE) if line.startswith(_QUOTE) else line.removeprefix(_QUOTE.rstrip())
