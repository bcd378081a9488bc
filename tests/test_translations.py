"""A page and its translation say the same: the same headings, blocks of code, names and links, section by section."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
TRANSLATED = [
    "extending", "quick-reference", "endpoints/docs", "endpoints/generate", "endpoints/generating", "endpoints/health",
    "endpoints/metrics", "endpoints/openapi", "endpoints/planning", "endpoints/v1-actions", "endpoints/v1-reflection",
    "protocol/actions", "protocol/messages", "protocol/names", "protocol/observation", "protocol/state-machine",
]  # fmt: skip
# Their examples are in the reader's own language too.
WRITTEN_ANEW = ["README", "glossary", "tutorial"]

FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
ANCHORED = re.compile(r'<a id="([^"]+)"></a>\n\n\Z')
CODE = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
CHINESE = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True)
class Section:
    """What stands under one heading."""

    level: int
    anchors: frozenset[str]
    text: str


def slug(title: str) -> str:
    """The anchor that GitHub and the site make of a heading."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def sections(text: str) -> list[Section]:
    """The sections of a page, without its blocks of code."""
    prose = FENCE.sub("", text)
    ends = [*(found.start() for found in HEADING.finditer(prose)), len(prose)]
    found = []
    for heading, (_, end) in zip(HEADING.finditer(prose), pairwise(ends), strict=True):
        given = ANCHORED.search(prose[: heading.start()])
        anchors = {slug(heading[2]), *([given[1]] if given else [])}
        found.append(Section(len(heading[1]), frozenset(anchors), prose[heading.end() : end]))
    return found


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("|")]


def names(text: str) -> set[str]:
    return set(CODE.findall(text))


def links(text: str) -> Counter[str]:
    return Counter(target.replace(".zh.md", ".md") for target in LINK.findall(text))


@pytest.mark.parametrize("name", [*TRANSLATED, "README"])
def test_a_translation_has_the_sections_of_its_page_under_the_same_anchors(name: str) -> None:
    original, translated = sections(page(name)), sections(page(f"{name}.zh"))
    assert [one.level for one in translated] == [one.level for one in original]
    for ours, theirs in zip(original[1:], translated[1:], strict=True):
        assert ours.anchors <= theirs.anchors, f'put <a id="{min(ours.anchors)}"></a> before the heading'


@pytest.mark.parametrize("name", TRANSLATED)
def test_a_translation_shows_the_same_blocks_of_code(name: str) -> None:
    assert FENCE.findall(page(f"{name}.zh")) == FENCE.findall(page(name))


@pytest.mark.parametrize("name", TRANSLATED)
def test_a_translation_speaks_of_the_same_names_in_each_section_and_row(name: str) -> None:
    for ours, theirs in zip(sections(page(name)), sections(page(f"{name}.zh")), strict=True):
        place = min(ours.anchors)
        assert names(theirs.text) == names(ours.text), place
        assert [names(row) for row in rows(theirs.text)] == [names(row) for row in rows(ours.text)], place


@pytest.mark.parametrize("name", [*TRANSLATED, "README"])
def test_a_translation_links_to_the_same_pages(name: str) -> None:
    for ours, theirs in zip(sections(page(name)), sections(page(f"{name}.zh")), strict=True):
        assert links(theirs.text) == links(ours.text), min(ours.anchors)


@pytest.mark.parametrize("name", [*TRANSLATED, *WRITTEN_ANEW])
def test_a_translation_is_in_chinese_and_leads_to_chinese_pages_where_there_are_any(name: str) -> None:
    text = page(f"{name}.zh")
    assert all(CHINESE.search(one.text) for one in sections(text) if re.search(r"[a-z]{3,} [a-z]{3,}", one.text))
    folder = (DOCS / f"{name}.md").parent
    targets = [target.partition("#")[0] for target in LINK.findall(text)]
    english = [target for target in targets if target.endswith(".md") and not target.endswith(".zh.md")]
    assert [target for target in english if (folder / target).with_suffix(".zh.md").exists()] == []


def test_the_chinese_readme_leads_to_chinese_pages_where_there_are_any() -> None:
    targets = LINK.findall((DOCS.parent / "README.zh-CN.md").read_text(encoding="utf-8"))
    english = [target for target in targets if target.endswith(".md") and not target.endswith(".zh.md")]
    assert [target for target in english if (DOCS.parent / target).with_suffix(".zh.md").exists()] == []


def test_every_translation_is_compared_with_its_page() -> None:
    there = {path.relative_to(DOCS).as_posix().removesuffix(".zh.md") for path in DOCS.rglob("*.zh.md")}
    assert there == {*TRANSLATED, *WRITTEN_ANEW}
