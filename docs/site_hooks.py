"""Hooks of the documentation site: what lies beside docs/ in the repository becomes a page, or a plain name."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
# Page of the site -> file of the repository that it shows.
SHOWN = {"changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md", "security.md": "SECURITY.md"}
_PAGES = {file: page for page, file in SHOWN.items()} | {"README.md": "README.md", "README.zh-CN.md": "README.md"}

_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
# Which message a block of JSON shows, for the tests that read the page; the site's fences have no place for it.
_FENCE_NOTE = re.compile(r"^(```\w+) \w.*$", re.MULTILINE)


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:  # Any: mkdocs hands over its own, untyped things
    """The text of a page, with links that lead somewhere on the site."""
    place = page.file.src_uri
    if place in SHOWN:
        return relinked((ROOT / SHOWN[place]).read_text(encoding="utf-8"), folder="", place=place)
    return relinked(markdown, folder=posixpath.join("docs", posixpath.dirname(place)), place=place)


def relinked(markdown: str, *, folder: str, place: str) -> str:
    """`markdown`, a file in `folder` of the repository shown at `place`, with links as the site needs them.

    Links to files outside docs/ lead to the page that shows the file; where none does, the text of the link stays.
    """

    def link(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        if "://" in target or target.startswith("mailto:"):
            return found[0]
        file = posixpath.normpath(posixpath.join(folder, target))
        page = file.removeprefix("docs/") if file.startswith("docs/") else _PAGES.get(file)
        if page is None:
            return text
        return f"[{text}]({posixpath.relpath(page, posixpath.dirname(place) or '.')}{anchor})"

    parts, end = [], 0
    for fenced in _FENCED.finditer(markdown):
        parts += [_LINK.sub(link, markdown[end : fenced.start()]), _FENCE_NOTE.sub(r"\1", fenced[0], count=1)]
        end = fenced.end()
    return "".join([*parts, _LINK.sub(link, markdown[end:])])
