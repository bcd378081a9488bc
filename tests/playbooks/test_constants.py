"""What texts of the playbook say by heart stands in a list with reasons, and agrees with the cells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import jinja2
import pytest
from benchmarks.numbers.constants import ALL, CONSTANTS, Constant
from jinja2 import nodes

from notebook_bcc.planners.marked_yaml import load_marked
from notebook_bcc.playbook.templates.comparatives import COMPARATIVE, comparatives_marked
from notebook_bcc.views.numbers import IN_WORDS, NUMBER
from playbooks.rehearsal import DSLC

# Any, throughout: a YAML file.


def texts() -> Iterator[tuple[str, str]]:
    """Every text of the playbook that becomes a cell, with its name."""
    for path in sorted(DSLC.glob("*/text/*.md")):
        yield path.name, path.read_text(encoding="utf-8")
    for path in sorted(DSLC.glob("*/stage.yaml")):
        for text in _inline(load_marked(path.read_bytes(), source=path.name).value):
            yield str(path.relative_to(DSLC)), text


def _inline(part: Any) -> Iterator[str]:
    if isinstance(part, list):
        for each in part:
            yield from _inline(each)
    elif isinstance(part, dict):
        for name, each in part.items():
            if name in ("text", "because"):
                yield from each.values()
            else:
                yield from _inline(each)


def unexplained(words: str, *patterns: re.Pattern[str]) -> list[str]:
    known = [found.span() for one in CONSTANTS for found in re.finditer(re.escape(one), words, re.IGNORECASE)]
    return [
        f"«{found[0]}» in {words[max(0, found.start() - 40) : found.end() + 40]!r}"
        for pattern in patterns
        for found in pattern.finditer(words)
        if not any(start <= found.start() and found.end() <= end for start, end in known)
    ]


def test_a_number_or_comparative_that_a_text_says_by_heart_has_a_reason() -> None:
    missing: list[str] = []
    for name, source in texts():
        tree = jinja2.Environment().parse(source)
        words = [each.data for each in tree.find_all(nodes.TemplateData)]
        unmarked = [each.data for each in comparatives_marked(tree).find_all(nodes.TemplateData)]
        missing += [f"{name}: {each}" for text in words for each in unexplained(text, NUMBER, IN_WORDS)]
        missing += [f"{name}: {each}" for text in unmarked for each in unexplained(text, COMPARATIVE)]
    assert missing == []


@pytest.mark.parametrize("one", [each for each in ALL if each.cell], ids=lambda one: one.phrase)
def test_a_limit_that_a_text_names_is_that_of_the_cell(one: Constant) -> None:
    assert one.code in (DSLC / one.cell).read_text(encoding="utf-8")
