"""Clean what a planner writes before it becomes a cell. Pure."""

from __future__ import annotations

import re

from notebook_bcc.protocol.vocabulary import ShotType

_FENCED = re.compile(r"\s*```[ \t]*(?![ \t])([\w+.#-]*)(?![\w+.#-])[^\n`]*\n(.*)```\s*", re.DOTALL)
_TEXT_LANGUAGES = frozenset({"", "markdown", "md", "text", "txt"})
_LANGUAGE_LINE = re.compile(r"(?:python3?|py|ipython)[ \t]*\n", re.IGNORECASE)


def clean_content(content: str, shot_type: ShotType) -> str:
    """The content without outer code fences, language tags and a leading `>>> `."""
    return _clean_code(content) if shot_type is ShotType.ACTION else _clean_text(content)


def clean_heading(content: str) -> str:
    """A heading's text without the marks a planner may have put before it."""
    return content.strip().lstrip("#").strip() or content.strip()


def _clean_code(content: str) -> str:
    fenced = _fenced(content)
    code = content if fenced is None else fenced[1]
    code = _LANGUAGE_LINE.sub("", code, count=1) if _LANGUAGE_LINE.match(code) else code
    code = code.strip("\n").rstrip()
    if code.lstrip().startswith(">>> "):
        lines = [line for line in code.splitlines() if line.startswith((">>> ", "... ", ">>>", "..."))]
        return "\n".join(line[4:] for line in lines)
    return code


def _clean_text(content: str) -> str:
    fenced = _fenced(content)
    if fenced is not None and fenced[0].lower() in _TEXT_LANGUAGES:
        content = fenced[1]
    return content.removeprefix(">>> ").strip("\n").rstrip()


def _fenced(content: str) -> tuple[str, str] | None:
    """The language and the inside of a content that is one fenced block, and nothing else."""
    found = _FENCED.fullmatch(content)
    if found is None:
        return None
    inside = found[2].rstrip(" \t").removesuffix("\n")
    # Two fenced blocks with prose between them are not one fenced block.
    return None if "\n```" in inside else (found[1], inside)
