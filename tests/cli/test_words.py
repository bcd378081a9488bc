from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

import notebook_bcc
from notebook_bcc.views.words import Words, catalogue, clock_time


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("key", catalogue())
def test_every_text_has_the_same_places_for_facts_in_both_languages(key: str) -> None:
    english, chinese = catalogue()[key]
    assert places(english) == places(chinese)
    assert english
    assert chinese


def test_every_key_that_is_used_exists_and_every_one_that_exists_is_used() -> None:
    speakers = [Path(notebook_bcc.__file__).parent / name for name in ("cli", "views", "api")]
    sources = [path.read_text(encoding="utf-8") for folder in speakers for path in folder.rglob("*.py")]
    text = "\n".join(source for source in sources if "_WORDS: Final" not in source)
    text = text.replace("'", '"')
    used = set(re.findall(r'words\(\s*"(\w+)"', text)) | set(re.findall(r'"(doing_\w+)"', text))
    unknown = used - set(catalogue())
    assert not unknown
    mentioned = {
        key
        for key in catalogue()
        if f'"{key}"' in text or key.startswith(("stop_", "left_", "progress_", "row_", "status_"))
    }
    assert set(catalogue()) - mentioned <= {"seconds"}


def test_durations_are_short_in_both_languages() -> None:
    assert [Words("en").seconds(value) for value in (0.004, 3.14159, 42.0, 75.4)] == [
        "0.00 s",
        "3.14 s",
        "42.0 s",
        "01:15",
    ]
    assert Words("zh").seconds(3.14159) == "3.14 秒"
    assert clock_time(3725) == "1:02:05"


def test_one_is_singular_and_all_others_are_plural() -> None:
    words = Words("en")
    assert words("not_verified", count=1) == "NOT verified: 1 difference when run again in a fresh kernel"
    assert words("not_verified", count=2) == "NOT verified: 2 differences when run again in a fresh kernel"
    assert words("rebuilt", cells=1) == "the kernel is rebuilt: 1 cell, no differences"
    assert words("verified", cells=1) == "verified:  1 code cell gives the same results in a fresh kernel"
    assert Words("zh")("not_verified", count=1) == "验证未通过：在全新内核中重新执行后有 1 处差异"
