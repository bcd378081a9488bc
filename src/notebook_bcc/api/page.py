"""A run as a cell of a notebook shows it: the head of its report, with links.

All of it is escaped; only of the answer, which is Markdown, what is no HTML is drawn.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

from notebook_bcc.notebook.export.markup import Markup


@dataclass(frozen=True, slots=True)
class RunPage:
    """What is shown of a run. Empty texts are left out."""

    title: str
    run: str
    status: str
    reason: str = ""
    score: str = ""
    answer: str = ""
    files: Sequence[Path] = ()


def run_html(page: RunPage) -> str:
    """The page as a piece of HTML without styles of its own: it looks like the notebook around it."""
    reason = f": {page.reason}" if page.reason and page.status != "completed" else ""
    about = escape(f"run {page.run}, {page.status}{reason}")
    parts = [
        f"<p><strong>{escape(page.title)}</strong><br><small>{about}</small></p>",
        f"<p>{escape(page.score)}</p>" if page.score else "",
        Markup().render_text(page.answer) if page.answer else "",
        f"<p>{' · '.join(_link(path) for path in page.files)}</p>" if page.files else "",
    ]
    return f"<div>{''.join(parts)}</div>"


def _link(path: Path) -> str:
    """Relative where it can be: Jupyter opens files below the notebook's own folder."""
    try:
        below = path.relative_to(Path.cwd())
    except ValueError:
        target = path.as_uri()
    else:
        target = quote(below.as_posix() if os.sep == "/" else str(below))
    return f'<a href="{escape(target)}" target="_blank">{escape(path.name)}</a>'
